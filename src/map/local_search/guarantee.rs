//! The guarantee of theorem 4.1.

use super::SearchSpace;
use crate::{
    Result,
    engine::{RowMap, in_double},
    linalg,
    map::{
        Stats,
        rounding::{of_eigenvalues, of_sum},
    },
};

/// The most features for which the spectrum is cheap compared with the search.
const CHEAP: usize = 128;

/// Fills in the bound on swaps, κ(A) and the guarantee for sets of k items without parts.
///
/// # Cost
/// 2mn² operations for AᵀA and O(n³) for its spectrum; nothing above 128 features.
pub(super) fn fill(space: &SearchSpace<'_>, stats: &mut Stats) -> Result<()> {
    let candidates = space.candidates;
    let (&[k], true) = (&candidates.counts.low[..], candidates.counts.is_fixed()) else { return Ok(()) };
    // Greedy is within (k!)² of the optimum, and every swap gains 1 + ε/k.
    let greedy = 2.0 * (1..=k).map(|i| (i as f64).ln()).sum::<f64>();
    stats.swap_bound = Some((greedy / (space.epsilon / k as f64).ln_1p()).ceil());
    if candidates.features().dims() > CHEAP {
        return Ok(());
    }
    let map = candidates.ground.beyond().map(|beyond| RowMap { weights: &[1.0], factor: beyond.as_ref() });
    let grams = in_double(space.engine).part_grams(space.rows, map.as_ref())?;
    let eigenvalues = linalg::eigen(grams[0].as_ref())?.values;
    let others = space.rows.len() - k + 1;
    let tail: f64 = eigenvalues[k - 1..].iter().map(|value| value.max(0.0)).sum();
    let largest = eigenvalues[0];
    stats.condition = Some(largest * others as f64 / tail);
    // The guarantee must hold despite rounding errors of small eigenvalues.
    let trace: f64 = eigenvalues.iter().map(|value| value.abs()).sum();
    let each = trace * (of_sum(space.rows.len()) + of_eigenvalues(eigenvalues.len()));
    let tail = (tail - eigenvalues.len() as f64 * each).max(0.0);
    let condition = (largest + each) * others as f64 / tail;
    stats.log_guarantee = Some(greedy.min(k as f64 * condition.ln() + space.epsilon));
    Ok(())
}

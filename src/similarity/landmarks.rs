//! Landmarks by randomly pivoted Cholesky.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    KernelFunction, RbfKernel,
    factor::{Factor, NextRow},
    nystrom::Nystrom,
};
use crate::{Result, engine::Engine};

/// Proposals that may be rejected before the residuals of all items are computed.
///
/// This many, and one more per [`ITEMS_PER_PROPOSAL`] items.
const PATIENCE: usize = 64;
/// The number of items for which a pass takes about as long as proposing one.
const ITEMS_PER_PROPOSAL: usize = 16;

/// Chooses at most `limit` landmarks, and returns the Cholesky factor of their kernel.
///
/// Each item is chosen with probability proportional to its residual given the items before it. Items are proposed by
/// their residuals at the last pass (at first K_ii = 1), and accepted with the ratio of their current residual to
/// that. Residuals only ever fall, so landmarks have the law of pivots drawn one by one.
///
/// It ends early if the residuals of all items sum to less than `nothing` per item, or if no proposal by fresh
/// residuals is accepted. In both cases, only rounding is left.
pub(super) fn choose<'k>(
    kernel: &'k RbfKernel,
    limit: usize,
    seed: u64,
    nothing: f64,
    engine: &Engine,
) -> Result<Factor<'k>> {
    let mut factor = Factor::new(kernel, limit);
    let mut next = NextRow::default();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut proposals = Proposals::Alike(kernel.items());
    let patience = PATIENCE + kernel.items() / ITEMS_PER_PROPOSAL;
    let (mut rejected, mut passed_in_vain) = (0, false);
    while factor.len() < limit {
        engine.proceed()?;
        let (item, weight) = proposals.draw(&mut rng);
        let residual = factor.residual(item, 1.0, &mut next)?;
        if residual > nothing && rng.random::<f64>() * weight < residual {
            factor.push(item, residual, &next);
            passed_in_vain = false;
            continue;
        }
        rejected += 1;
        if rejected > patience {
            if passed_in_vain {
                break;
            }
            let mut residuals = Nystrom::new(kernel, &factor).residuals(engine)?;
            residuals.iter_mut().for_each(|residual| *residual = residual.max(0.0));
            let trace: f64 = residuals.iter().sum();
            if trace <= nothing * residuals.len() as f64 {
                break;
            }
            proposals = Proposals::by_residual(residuals);
            (rejected, passed_in_vain) = (0, true);
        }
    }
    Ok(factor)
}

/// The law of proposals.
enum Proposals {
    /// All of this many items are equally likely.
    Alike(usize),
    /// Residuals, and their running sums.
    ByResidual(Vec<f64>, Vec<f64>),
}

impl Proposals {
    fn by_residual(residuals: Vec<f64>) -> Self {
        let sums = residuals.iter().scan(0.0, |sum, residual| {
            *sum += residual;
            Some(*sum)
        });
        let sums = sums.collect();
        Proposals::ByResidual(residuals, sums)
    }

    /// Draws one item, and returns it with the residual that it was proposed for.
    fn draw(&self, rng: &mut ChaCha8Rng) -> (usize, f64) {
        match self {
            Proposals::Alike(items) => (rng.random_range(0..*items), 1.0),
            Proposals::ByResidual(residuals, sums) => {
                let total = sums.last().copied().unwrap_or_default();
                let at = rng.random::<f64>() * total;
                let item = sums.partition_point(|&sum| sum <= at).min(sums.len() - 1);
                (item, residuals[item])
            }
        }
    }
}

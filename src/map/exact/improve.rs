//! Swaps that improve a set of a small subproblem.

use faer::{
    Mat, Side,
    linalg::solvers::{DenseSolveCore, Solve},
};

use crate::map::{Place, bounds::Subproblem, watch::Clock};

/// Repeats the best swap, addition or removal that the counts allow, as long as it gains and time is left.
///
/// # Cost
/// O(k³ + k²m) per move.
pub(in crate::map) fn improve(problem: &Subproblem, set: Vec<Place>, clock: &Clock) -> Vec<Place> {
    const LEAST_GAIN: f64 = 1e-9;
    const MOST_MOVES: usize = 1000;
    let mut chosen: Vec<usize> = Vec::with_capacity(set.len());
    for &place in &set {
        let Some(item) = problem.position(place) else { return set };
        chosen.push(item);
    }
    for _ in 0..MOST_MOVES {
        if clock.ended().is_some() {
            break;
        }
        let Some((gain, leaving, entering)) = best_move(problem, &chosen) else { break };
        if gain <= LEAST_GAIN {
            break;
        }
        if let Some(slot) = leaving {
            chosen.remove(slot);
        }
        chosen.extend(entering);
    }
    chosen.into_iter().map(|item| problem.place(item)).collect()
}

/// Returns the gain of the best move, the slot that leaves and the item that enters.
///
/// ```text
/// det(K_{S−i+j}) / det(K_S) = M_ii d_j + C_ij²,   M = K_S⁻¹,  C = M K_{S,·},  d_j = K_jj − K_{j,S} C_j
/// ```
fn best_move(problem: &Subproblem, chosen: &[usize]) -> Option<(f64, Option<usize>, Option<usize>)> {
    let size = chosen.len();
    let rows = problem.rows();
    let own = Mat::from_fn(rows.nrows(), size, |j, slot| rows[(j, chosen[slot])]);
    let factor = (own.transpose() * &own).llt(Side::Lower).ok()?;
    let inverse = factor.inverse();
    let products = own.transpose() * rows;
    let coefficients = factor.solve(&products);
    let mut counts = vec![0; problem.counts.low.len()];
    chosen.iter().for_each(|&item| counts[problem.group(item)] += 1);
    let allowed = |leaving: Option<usize>, entering: Option<usize>| {
        let group = |item: usize| problem.group(item);
        problem.counts.allow_move(&counts, leaving.map(group), entering.map(group))
    };
    let mut best = (f64::NEG_INFINITY, None, None);
    let mut consider = |gain: f64, leaving: Option<usize>, entering: Option<usize>| {
        if gain > best.0 {
            best = (gain, leaving, entering);
        }
    };
    for item in (0..problem.len()).filter(|item| !chosen.contains(item)) {
        let explained: f64 = (0..size).map(|slot| products[(slot, item)] * coefficients[(slot, item)]).sum();
        let residual = (rows.col(item).squared_norm_l2() - explained).max(0.0);
        for (slot, &leaving) in chosen.iter().enumerate() {
            if allowed(Some(leaving), Some(item)) {
                let c = coefficients[(slot, item)];
                let ratio = inverse[(slot, slot)] * residual + c * c;
                let gain = ratio.ln() + problem.weights[item] - problem.weights[leaving];
                consider(gain, Some(slot), Some(item));
            }
        }
        if allowed(None, Some(item)) {
            consider(residual.ln() + problem.weights[item], None, Some(item));
        }
    }
    for (slot, &leaving) in chosen.iter().enumerate().filter(|(_, leaving)| allowed(Some(**leaving), None)) {
        consider(inverse[(slot, slot)].ln() - problem.weights[leaving], Some(slot), None);
    }
    Some(best)
}

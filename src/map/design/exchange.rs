//! Exchanges that improve a design.

use faer::Mat;

use crate::map::{
    bounds::{DesignRows, information_root},
    watch::Clock,
};

/// Exchanges that raise the determinant by a smaller fraction count as rounding.
const LEAST_GAIN: f64 = 1e-9;
const MOST_EXCHANGES: usize = 10_000;

/// Repeats the best exchange of a chosen row for another, or the best addition, that the counts allow.
///
/// Stops when no move multiplies the determinant by more than 1 + `least`, or when time is up. Returns the rows and
/// the number of exchanges made.
///
/// ```text
/// det M' / det M = (1 + d_j)(1 − d_i) + d_ij²,   d_ij = a_iᵀ M⁻¹ a_j,   d_i = d_ii
/// ```
///
/// d_ij² ≤ d_i d_j, so the factor is at most 1 + d_j − d_i. Rows j are tried by decreasing d_j until none can gain
/// more.
///
/// # Cost
/// 2mn² per exchange, and 2nk per row that is tried.
///
/// # Source
/// Fedorov, *Theory of optimal experiments* (1972), chapter 3.
pub(super) fn exchange(
    rows: &DesignRows,
    mut chosen: Vec<usize>,
    least: f64,
    clock: &Clock,
) -> (Vec<usize>, u64) {
    let mut made = 0;
    while made < MOST_EXCHANGES as u64 && clock.ended().is_none() {
        let (factor, leaving, entering) = best_exchange(rows, &chosen);
        if factor <= 1.0 + least.max(LEAST_GAIN) {
            break;
        }
        if let Some(slot) = leaving {
            chosen.swap_remove(slot);
        }
        chosen.extend(entering);
        made += 1;
    }
    (chosen, made)
}

/// Returns the factor of the best exchange, the slot that leaves and the row that enters.
fn best_exchange(rows: &DesignRows, chosen: &[usize]) -> (f64, Option<usize>, Option<usize>) {
    let all = rows.rows();
    let own = Mat::from_fn(rows.dims, chosen.len(), |j, slot| all[(j, chosen[slot])]);
    let root = information_root(own.as_ref(), rows.base());
    let images = &root * all;
    let variances: Vec<f64> = (0..rows.len()).map(|item| images.col(item).squared_norm_l2()).collect();
    let group = |item: usize| rows.places[item].group;
    let mut counts = vec![0; rows.counts.low.len()];
    chosen.iter().for_each(|&item| counts[group(item)] += 1);
    let lowest = chosen.iter().map(|&item| variances[item]).fold(f64::INFINITY, f64::min);
    let mut is_chosen = vec![false; rows.len()];
    chosen.iter().for_each(|&item| is_chosen[item] = true);
    let mut others: Vec<usize> = (0..rows.len()).filter(|&item| !is_chosen[item]).collect();
    others.sort_by(|&i, &j| variances[j].total_cmp(&variances[i]).then(i.cmp(&j)));
    let mut best = (f64::NEG_INFINITY, None, None);
    for entering in others {
        let variance = variances[entering];
        if rows.counts.allow_move(&counts, None, Some(group(entering))) && 1.0 + variance > best.0 {
            best = (1.0 + variance, None, Some(entering));
        }
        if 1.0 + variance - lowest <= best.0 {
            break;
        }
        for (slot, &leaving) in chosen.iter().enumerate() {
            let own = variances[leaving];
            let promises = 1.0 + variance - own > best.0;
            if promises && rows.counts.allow_move(&counts, Some(group(leaving)), Some(group(entering))) {
                let shared = images.col(entering).transpose() * images.col(leaving);
                let factor = (1.0 + variance) * (1.0 - own) + shared * shared;
                if factor > best.0 {
                    best = (factor, Some(slot), Some(entering));
                }
            }
        }
    }
    best
}

/// Weights for another start.
///
/// Three of four starts use the best set, with random changes that replace some of its rows. The others are random.
pub(super) fn shaken(is_best: &[bool], restart: u64, random: &mut impl rand::RngExt) -> Vec<f64> {
    /// The weight of chance relative to the best set.
    const CHANCE: f64 = 1.3;
    const SCATTER_EVERY: u64 = 4;
    let is_kick = !restart.is_multiple_of(SCATTER_EVERY);
    let weight = |&is_best: &bool| f64::from(is_best && is_kick) + CHANCE * random.random::<f64>();
    is_best.iter().map(weight).collect()
}

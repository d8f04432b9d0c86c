//! Rounding to a corner of the cube without loss.

use super::{
    SoftmaxExtension,
    extension::{Point, is_inside},
};
use crate::{
    Result,
    engine::Engine,
    linalg::OrthonormalBasis,
    map::{Candidates, Place, watch::Clock},
};

/// The relative decrease of F that counts as a rounding error.
const SLACK: f64 = 1e-12;

impl SoftmaxExtension<'_> {
    /// Finds odds of 0 and ∞ at which F is no less than `at`, its value at the given odds; `None` if the clock ended
    /// the rounding.
    ///
    /// Rounding one coordinate to its better end never lowers F. Many are rounded at once, the most decided first,
    /// and fewer if that lowers F. If the climb has converged, this takes one evaluation.
    pub(super) fn round_odds(
        &self,
        engine: &Engine,
        odds: &[f64],
        at: &Point,
        clock: &Clock,
    ) -> Result<Option<Vec<f64>>> {
        let (mut odds, mut at) = (odds.to_vec(), at.clone());
        let mut batch = odds.len();
        loop {
            let mut inside: Vec<usize> = (0..odds.len()).filter(|&i| is_inside(odds[i])).collect();
            if inside.is_empty() {
                return Ok(Some(odds));
            }
            if clock.ended().is_some() {
                return Ok(None);
            }
            let decided = |i: usize| (odds[i] * at.ratios[i]).ln().abs();
            inside.sort_by(|&i, &j| decided(j).total_cmp(&decided(i)));
            inside.truncate(batch);
            let mut next = odds.clone();
            for &i in &inside {
                next[i] = if at.ratios[i] > 1.0 { f64::INFINITY } else { 0.0 };
            }
            let mut reached = self.point_or_nowhere(engine, &next)?;
            let enough = at.value - SLACK * at.value.abs().max(1.0);
            if reached.value < enough && inside.len() > 1 {
                batch = inside.len() / 2;
                continue;
            }
            if reached.value < enough {
                // Rounding errors chose this end, or this end makes rows dependent.
                let mut other = next.clone();
                other[inside[0]] = if next[inside[0]] > 0.0 { 0.0 } else { f64::INFINITY };
                let there = self.point_or_nowhere(engine, &other)?;
                if there.value >= reached.value {
                    (next, reached) = (other, there);
                }
            }
            (odds, at) = (next, reached);
            batch = inside.len().saturating_mul(2);
        }
    }
}

/// A set that needs no further evaluations of F: goes through the items, the most likely under the weights of F
/// first, and takes each that raises the determinant.
///
/// # Cost
/// 4nr² for rank r.
pub(super) fn likeliest(candidates: &Candidates<'_>, odds: &[f64], at: &Point) -> Vec<Place> {
    let mut span = candidates.ground.span();
    let likely = |i: usize| odds[i] * at.ratios[i];
    let mut order: Vec<usize> = (0..odds.len()).filter(|&i| likely(i) > 0.0).collect();
    let by_odds = |i: &usize, j: &usize| likely(*j).total_cmp(&likely(*i)).then(i.cmp(j));
    let most = 2 * candidates.counts.most;
    if order.len() > most {
        order.select_nth_unstable_by(most, by_odds);
        order.truncate(most);
    }
    order.sort_unstable_by(by_odds);
    let places = order.into_iter().map(|position| Place { group: 0, position });
    let raises = |place: &Place| {
        let item = candidates.item(*place);
        let mut unit = candidates.features().row(item);
        let Some(log_norm) = OrthonormalBasis::normalise(&mut unit) else { return false };
        let Some(residual) = span.extend(&unit) else { return false };
        let raises = log_norm + candidates.features().log_weight(item) + residual.ln() > 0.0;
        if !raises {
            span.drop_last();
        }
        raises
    };
    places.filter(raises).collect()
}

//! From the inside of the cube to a corner, without loss.

use super::SoftmaxExtension;
use crate::{Result, engine::Engine};

/// F may fall by this much of itself: rounding errors.
const SLACK: f64 = 1e-12;

impl SoftmaxExtension<'_> {
    /// Odds of 0 and ∞ at which F is at least what it is at the given odds.
    ///
    /// One coordinate at a time the better end is never worse than the inside. Many coordinates are rounded at
    /// once, the most decided first, and fewer where that lowers F: one evaluation where the climb has converged.
    pub(super) fn round_odds(&self, engine: &dyn Engine, mut odds: Vec<f64>) -> Result<Vec<f64>> {
        let mut at = self.point_or_nowhere(engine, &odds)?;
        let mut batch = odds.len();
        loop {
            let mut inside: Vec<usize> =
                (0..odds.len()).filter(|&i| odds[i] > 0.0 && odds[i].is_finite()).collect();
            if inside.is_empty() {
                return Ok(odds);
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
                // Rounding errors decided, or this end makes rows dependent.
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

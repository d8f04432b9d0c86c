//! Climbs the relaxation by growth transformations.

use super::{Clock, SoftmaxExtension, extension::Point};
use crate::{Result, engine::Engine};

/// The climb ends when a step changes no inclusion probability by more than this.
const TOLERANCE: f64 = 1e-6;
/// The factor by which steps grow while they raise F.
///
/// A larger factor is faster; a much larger one finds lower maxima.
const GROWTH: f64 = 1.1;
/// Odds x/(1−x) are kept below this and above its reciprocal.
const LARGEST_ODDS: f64 = 1e12;

/// The end of a climb.
pub(super) struct Ascended {
    pub(super) odds: Vec<f64>,
    /// The value and ratios of F at these odds.
    pub(super) at: Point,
    pub(super) steps: u64,
}

/// Climbs from these odds to a local maximum, or until the clock ends it. Odds of 0 and ∞ stay.
pub(super) fn ascend(
    extension: &SoftmaxExtension<'_>,
    engine: &Engine,
    mut odds: Vec<f64>,
    clock: &Clock,
    report: impl Fn(u64),
) -> Result<Ascended> {
    let (mut steps, mut length) = (0, 1.0);
    let mut at = extension.point_or_nowhere(engine, &odds)?;
    if at.value == f64::NEG_INFINITY {
        return Ok(Ascended { odds, at, steps });
    }
    while at.largest_change(&odds) > TOLERANCE {
        if clock.ended().is_some() {
            break;
        }
        let next = step(&odds, &at, length);
        steps += 1;
        match extension.point(engine, &next)? {
            Some(reached) if reached.value >= at.value => {
                (odds, at) = (next, reached);
                length *= GROWTH;
            }
            // The transformation itself never lowers F, so only rounding is left.
            _ if length <= 1.0 => break,
            _ => length = 1.0,
        }
        report(steps);
    }
    Ok(Ascended { odds, at, steps })
}

/// Multiplies the odds by the ratios, which gives the odds of the inclusion probabilities.
///
/// Longer steps raise the ratios to a power.
fn step(odds: &[f64], at: &Point, length: f64) -> Vec<f64> {
    let step = |(&odds, &ratio): (&f64, &f64)| match odds {
        0.0 | f64::INFINITY => odds,
        _ => (odds * ratio.powf(length)).clamp(LARGEST_ODDS.recip(), LARGEST_ODDS),
    };
    odds.iter().zip(&at.ratios).map(step).collect()
}

//! A law under a chosen bound, and statistics of a few weighted draws from it.

use super::{Bound, BoundCost, BoundedLaw, Chosen, RejectionSetup, halving::Halves};
use crate::{
    Error, Result, engine::Engine, linalg::log_sum, polynomial::spectrum::TiltedSpectrum,
    sample::SamplerOptions,
};

/// Tasks for the weighted draws of a pilot run.
const TASKS: usize = 8;

/// Halves are used if their predicted cost is lower by this factor.
const GAIN: f64 = 1.5;

impl RejectionSetup<'_> {
    /// The law under a chosen bound.
    pub(in crate::sample) fn bounded(
        &self,
        chosen: Chosen,
        options: SamplerOptions,
        engine: &Engine,
    ) -> Result<Bounded> {
        let mut law = BoundedLaw::new(self, chosen, options.projection, engine)?;
        if matches!(options.bound, Bound::Auto | Bound::Halves) {
            law.note_picks();
        }
        let pilot = Pilot::of(&law, Pilot::DRAWS, engine)?;
        let proposals = (law.log_bound() - pilot.log_normaliser).exp().max(1.0);
        Ok(Bounded { law, pilot, proposals })
    }

    /// Switches to halves, and returns their cost, if they are requested or predicted to cost less.
    pub(super) fn halved(
        &self,
        bounded: Bounded,
        asked: Bound,
        chosen: &[Chosen],
        options: SamplerOptions,
        engine: &Engine,
    ) -> Result<(Bounded, Option<BoundCost>)> {
        let by_items = chosen.iter().find(|chosen| chosen.bound == Bound::Hadamard);
        let (Some(by_items), Some(first)) = (by_items, chosen.first()) else { return Ok((bounded, None)) };
        if !matches!(asked, Bound::Auto | Bound::Halves) || !bounded.proposals.is_finite() {
            return Ok((bounded, None));
        }
        let proposals = (by_items.log_bound - bounded.law.log_bound()).exp() * bounded.proposals;
        let picks = bounded.law.exact_picks();
        let (rank, read) = (by_items.whitening.rank(), bounded.law.rows.read_operations());
        let best = picks.and_then(|picks| Halves::best(&picks, proposals, rank, read));
        let Some((halves, cost)) = best else { return Ok((bounded, None)) };
        if asked == Bound::Auto && GAIN * cost.cost() > bounded.proposals * first.operations {
            return Ok((bounded, None));
        }
        if first.bound == Bound::Hadamard {
            let (with, cost) = bounded.halved(halves, cost);
            if asked == Bound::Auto && with.error(&self.found) > options.law_error {
                return Ok((with.at_once(), None));
            }
            return Ok((with, Some(cost)));
        }
        // The first law is accurate enough, so its replacement must be, too.
        match self.bounded(by_items.clone(), options, engine) {
            Err(Error::IllConditioned { .. }) => Ok((bounded, None)),
            Err(error) => Err(error),
            Ok(other) => {
                let (other, halves) = other.halved(halves, cost);
                let is_accurate = other.error(&self.found) <= options.law_error;
                Ok(if is_accurate { (other, Some(halves)) } else { (bounded, None) })
            }
        }
    }
}

/// A law under a bound.
#[derive(Debug)]
pub(in crate::sample) struct Bounded {
    pub(super) law: BoundedLaw,
    pilot: Pilot,
    /// Proposals per draw under the bound of the law.
    pub(super) proposals: f64,
}

impl Bounded {
    /// The same law with proposals of all items at once.
    fn at_once(mut self) -> Self {
        self.law.halves = None;
        self.law.rows.forget_units();
        self
    }

    /// The same law with proposals in halves, and their cost.
    fn halved(mut self, halves: Halves, cost: BoundCost) -> (Self, BoundCost) {
        self.law.halves = Some(halves);
        self.law.rows.keep_units();
        let proposals = self.pilot.log_above.exp().max(1.0);
        (self, BoundCost { proposals, ..cost })
    }

    /// Total variation error of the law.
    pub(super) fn error(&self, found: &TiltedSpectrum) -> f64 {
        let Self { law, pilot, proposals } = self;
        let ([of_factor, of_parts], depth) = (law.rounding(), law.halves.as_ref().map_or(0, Halves::depth));
        // Accepted proposals have the relative errors of their factors. Proposals that end at rounding may be the
        // same share of the bound.
        let of_ends = if pilot.has_dead_ends { of_factor * proposals } else { 0.0 };
        let of_factors = of_factor * pilot.amplification + of_ends;
        found.spectrum.error + of_factors * (1 + depth) as f64 + of_parts
    }
}

/// Statistics of weighted sequential draws from a law.
#[derive(Debug)]
pub(in crate::sample) struct Pilot {
    /// ln of the normaliser, estimated by the mean weight.
    pub(in crate::sample) log_normaliser: f64,
    /// The amplification of rounding errors, averaged over the law.
    pub(in crate::sample) amplification: f64,
    /// Whether some draws found nothing left to pick.
    has_dead_ends: bool,
    /// ln of the number of proposals of two halves per draw.
    log_above: f64,
}

impl Pilot {
    /// The number of draws of a pilot run.
    pub(in crate::sample) const DRAWS: usize = 64;
    /// The number of draws of a pilot run that only finds dead ends and rounding errors.
    pub(in crate::sample) const FEW: usize = 16;

    pub(in crate::sample) fn of(law: &BoundedLaw, draws: usize, engine: &Engine) -> Result<Self> {
        let drawn = law.weigh_many((0..TASKS, draws / TASKS), 0, engine)?;
        let sum = log_sum(&drawn.iter().map(|weighed| weighed.log).collect::<Vec<_>>());
        let alive = || drawn.iter().filter(|weighed| weighed.log.is_finite());
        let above: Vec<f64> = drawn.iter().map(|weighed| weighed.log + weighed.above).collect();
        // A weight that is zero in f64 may come with an infinite amplification.
        let weighed = drawn.iter().map(|weighed| ((weighed.log - sum).exp(), weighed.amplification));
        let weighed = weighed.filter(|(weight, _)| *weight > 0.0);
        let amplified = weighed.map(|(weight, amplification)| weight * amplification).sum();
        Ok(Self {
            log_normaliser: sum - (draws as f64).ln(),
            amplification: if sum.is_finite() { amplified } else { f64::INFINITY },
            has_dead_ends: alive().count() < drawn.len(),
            log_above: log_sum(&above) - sum,
        })
    }
}

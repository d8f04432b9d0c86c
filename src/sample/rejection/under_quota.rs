//! Draws under a quota by rejection, against the bound with the lowest predicted cost.

use std::sync::Arc;

use rand::Rng;

use super::{Bound, BoundedLaw, Pilot, WeightedLaw, choose};
use crate::{
    Error, PartitionDpp, Result,
    engine::{Engine, Rows},
    estimate::accurate,
    linalg::softplus,
    model::{Correction, Fill},
    polynomial::{ConditionalBernoulli, spectrum::TiltedSpectrum},
    sample::{
        Attempts, SamplerOptions, acceptance,
        batches::Batched,
        spectral::{self, SpectralLaw},
    },
};

/// A law that draws by rejection.
#[derive(Debug)]
pub(crate) struct Rejection {
    way: Way,
    /// A lower bound of the acceptance.
    acceptance_bound: f64,
    /// All bounds that were considered; the first is used.
    bounds: Vec<BoundCost>,
    tilt: Option<Vec<f64>>,
    /// ln of the bound of Z that proposals are accepted against; with halves, of the bound for proposals at once.
    log_bound: f64,
    /// Whether no other coordinates of the rows would lower the error of the law.
    is_settled: bool,
}

#[derive(Debug)]
enum Way {
    Tilted(SpectralLaw),
    Bounded(BoundedLaw),
}

/// The predicted cost of draws against a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct BoundCost {
    /// The bound.
    pub bound: Bound,
    /// Average proposals per sample.
    ///
    /// For the bound that is used, weighted draws estimate them. For the tilted bound, a pilot run of proposals
    /// predicts them under ranges, and they are guaranteed under exact counts. For the other bounds, they follow from
    /// the ratio of the bounds.
    pub proposals: f64,
    /// Average floating-point operations per proposal; many proposals are rejected early. Independent items count a
    /// quarter if a GPU proposes them.
    pub operations: f64,
}

impl BoundCost {
    /// Average operations per sample.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.proposals * self.operations
    }
}

/// The data of a law that all bounds need.
#[derive(Debug)]
pub(in crate::sample) struct RejectionSetup<'q> {
    pub(in crate::sample) dpp: &'q PartitionDpp,
    pub(in crate::sample) rows: Rows<'q>,
    pub(in crate::sample) found: Arc<TiltedSpectrum>,
    pub(in crate::sample) correction: Correction,
    /// How proposals are filled up with further items.
    pub(in crate::sample) fill: Option<Arc<Fill>>,
}

impl Rejection {
    /// The law under a quota, and its error.
    pub(crate) fn new(
        dpp: &PartitionDpp,
        fill: Option<Arc<Fill>>,
        options: SamplerOptions,
        engine: &Engine,
    ) -> Result<(Self, f64)> {
        RejectionSetup::new(dpp, fill, engine)?.answer(options, engine)
    }

    /// The bound that is used.
    pub(crate) fn bound(&self) -> Bound {
        self.bounds[0].bound
    }

    /// All bounds that were considered; the first is used.
    pub(crate) fn bounds(&self) -> &[BoundCost] {
        &self.bounds
    }

    /// The predicted average number of proposals per sample.
    pub(crate) fn proposals(&self) -> f64 {
        self.bounds[0].proposals
    }

    /// The predicted average number of operations per sample.
    pub(crate) fn cost(&self) -> f64 {
        self.bounds[0].cost()
    }

    /// A lower bound of the draws per proposal, or a quarter of the acceptance that a trial measured.
    pub(crate) fn acceptance_bound(&self) -> f64 {
        self.acceptance_bound
    }

    /// The part of the law's error that other coordinates of the rows may reduce.
    pub(crate) fn error_of_coordinates(&self, error: f64) -> f64 {
        if self.is_settled { 0.0 } else { error }
    }

    pub(crate) fn tilt(&self) -> Option<&[f64]> {
        self.tilt.as_deref()
    }

    /// Makes many draws on the engine's device, if it can. Returns the error that this adds.
    pub(in crate::sample) fn make_batches_on(&mut self, engine: &Engine) -> f64 {
        match &mut self.way {
            Way::Tilted(law) => law.make_batches_on(engine),
            Way::Bounded(law) => law.make_batches_on(engine, self.acceptance_bound),
        }
    }

    /// The law with the device that makes many draws.
    pub(in crate::sample) fn batched(&self) -> Option<Batched<'_>> {
        match &self.way {
            Way::Tilted(law) => law.batched(),
            Way::Bounded(law) => law.batched(self.acceptance_bound),
        }
    }

    /// ln W. Z is W times the acceptance, and with halves also times the acceptance of each half.
    pub(in crate::sample) fn log_bound(&self) -> f64 {
        self.log_bound
    }

    /// Predicted operations per draw of every half, at all levels.
    pub(in crate::sample) fn halves_below(&self) -> Vec<f64> {
        let Way::Bounded(law) = &self.way else { return Vec::new() };
        law.halves_below().iter().map(|(half, _)| half.operations).collect()
    }

    /// Makes proposals until `acceptances` are accepted: from the law if `number` is 0, otherwise from the half with
    /// that number.
    pub(in crate::sample) fn accept<R: Rng + ?Sized>(
        &self,
        number: usize,
        acceptances: u64,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<()> {
        match &self.way {
            Way::Bounded(law) if number > 0 => law.accept_half(number - 1, acceptances, rng, attempts),
            _ => (0..acceptances).try_for_each(|_| self.sample(rng, attempts).map(|_| ())),
        }
    }

    /// Draws proposals until one is accepted.
    pub(crate) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<Vec<u32>> {
        match &self.way {
            Way::Tilted(law) => law.sample(rng, attempts),
            Way::Bounded(law) => law.sample(rng, attempts),
        }
    }
}

impl<'q> RejectionSetup<'q> {
    pub(in crate::sample) fn new(
        dpp: &'q PartitionDpp,
        fill: Option<Arc<Fill>>,
        engine: &Engine,
    ) -> Result<Self> {
        let rows = dpp.rows();
        let found = dpp.spectrum(engine, &rows)?;
        spectral::refuse_unreachable(&dpp.counts(), found.spectrum.values.len())?;
        let correction = dpp.correction(&spectral::log_weights(&found, &rows));
        Ok(Self { dpp, rows, found: Arc::new(found), correction, fill })
    }

    /// The difference between ln Z and its value in the units of bounds and weights.
    pub(in crate::sample) fn log_shift(&self) -> f64 {
        self.dpp.ground().log_det_included().value - self.correction.least
    }

    fn answer(self, options: SamplerOptions, engine: &Engine) -> Result<(Rejection, f64)> {
        let Self { dpp, rows, found, correction, .. } = &self;
        let log_tilted = self.log_tilted()?;
        let acceptance = acceptance::bound(dpp, found, &rows.scales(), correction, engine)?;
        let operations = spectral::operations(dpp, rows, found);
        let tilted = BoundCost { bound: Bound::Tilted, proposals: acceptance.recip(), operations };
        let by_eigenvectors = self.is_best_tilted() && options.bound == Bound::Auto;
        let asked = if by_eigenvectors { Bound::Tilted } else { options.bound };
        let mut chosen = match asked {
            Bound::Tilted => Vec::new(),
            _ => choose(&self, asked, engine)?,
        };
        for by_items in chosen.iter_mut().filter(|chosen| chosen.bound == Bound::Hadamard) {
            let acceptance = (acceptance.ln() + log_tilted - by_items.log_bound).exp();
            by_items.operations /= self.gain_of_device(acceptance, options.draws, engine);
        }
        chosen.sort_by(|a, b| a.log_cost().total_cmp(&b.log_cost()));
        let log_cost = log_tilted + operations.ln();
        let first = chosen.first().filter(|first| asked != Bound::Auto || first.log_cost() < log_cost);
        let bounded = match first.map(|first| self.bounded(first.clone(), options, engine)) {
            // Draws by eigenvectors still work if rows are nearly dependent, or too small for squares.
            Some(Err(Error::IllConditioned { .. })) if asked == Bound::Auto => None,
            Some(Ok(bounded)) if asked == Bound::Auto && bounded.error(found) > options.law_error => None,
            bounded => bounded.transpose()?,
        };
        let tilt = spectral::tilt_of(dpp, spectral::log_weights(found, rows));
        if let Some(bounded) = bounded {
            let log_draw = bounded.law.log_bound() - bounded.proposals.ln();
            let of = |(bound, operations, log_bound): (Bound, f64, f64)| BoundCost {
                bound,
                proposals: (log_bound - log_draw).exp(),
                operations,
            };
            let (bounded, halves) = self.halved(bounded, asked, &chosen, options, engine)?;
            let of_chosen =
                chosen.iter().map(|chosen| of((chosen.bound, chosen.operations, chosen.log_bound)));
            let mut bounds: Vec<_> = halves.into_iter().chain(of_chosen).collect();
            if asked == Bound::Auto {
                bounds.push(of((Bound::Tilted, operations, log_tilted)));
            }
            let of_fill = self.fill.as_ref().map_or(0.0, |fill| fill.least_log_acceptance());
            let log_acceptance = acceptance.ln() + of_fill + log_tilted - bounded.law.log_bound();
            let acceptance_bound = log_acceptance.exp().min(1.0);
            let error = accurate(bounded.error(found))?;
            let log_bound = self.log_shift() + bounded.law.log_bound();
            let way = Way::Bounded(bounded.law);
            let law = Rejection { way, acceptance_bound, bounds, tilt, log_bound, is_settled: false };
            return Ok((law, error));
        }
        let how = (options.projection, options.proposal_budget);
        let (law, error) = SpectralLaw::under_quota(&self, acceptance, how, engine)?;
        let (acceptance_bound, proposals) = (law.acceptance_bound(), law.proposals());
        let mut bounds = vec![BoundCost { proposals, ..tilted }];
        bounds.extend(chosen.iter().map(|other| BoundCost {
            bound: other.bound,
            proposals: (other.log_bound - log_tilted).exp() * proposals,
            operations: other.operations,
        }));
        // The rest of the error comes from products with rows, divided by the acceptance.
        let is_settled = found.is_at_rounding(spectral::expected_size(dpp, found));
        let (way, log_bound) = (Way::Tilted(law), self.log_shift() + log_tilted);
        Ok((Rejection { way, acceptance_bound, bounds, tilt, log_bound, is_settled }, error))
    }

    /// Whether the tilted bound is best in any case. With one part under exact counts, nothing is rejected; in graded
    /// coordinates, the eigenvalues of single parts are not computed to every digit.
    pub(in crate::sample) fn is_best_tilted(&self) -> bool {
        let settled = self.dpp.open().len() == 1 && self.dpp.counts().exact().is_some();
        settled || self.dpp.ground().is_graded()
    }

    /// ln of the normaliser of the sets that tilted proposals are accepted from.
    pub(in crate::sample) fn log_tilted(&self) -> Result<f64> {
        let values = &self.found.spectrum.values;
        match self.dpp.counts().total() {
            Some(k) => Ok(ConditionalBernoulli::new(values, k)?.log_normalizer()),
            None => Ok(values.iter().map(|value| softplus(value.ln())).sum()),
        }
    }

    /// The number of tilted proposals per draw, estimated by a few weighted draws; infinite if all of these met dead
    /// ends.
    pub(in crate::sample) fn tilted_proposals(&self, engine: &Engine) -> Result<f64> {
        let law = WeightedLaw::new(self, engine)?;
        Ok((self.log_tilted()? - Pilot::of(law.law(), Pilot::DRAWS, engine)?.log_normaliser).exp().max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Partition, Quota, engine::Engine};

    /// Other coordinates are tried only if they may help: rows that are nearly in a plane lose digits, others do not.
    #[test]
    fn laws_at_rounding_are_left_alone() {
        for (height, settled) in [(1.0, true), (1e-7, false)] {
            let row = |i: usize| {
                let [x, y, z] = [1.7, 2.3, 3.1].map(|c: f64| (c * i as f64 + 0.4).sin());
                [x, y, x - y + height * z]
            };
            let features = Features::from_rows(24, 3, (0..24).flat_map(row).collect::<Vec<_>>()).unwrap();
            let partition = Partition::from_labels(&(0..24).map(|i| i % 3).collect::<Vec<_>>()).unwrap();
            let quota = Quota::new(&partition, [..=1, ..=2, ..=2]).unwrap().with_total(3).unwrap();
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let options = SamplerOptions::default().with_bound(Bound::Tilted);
            let (law, error) = Rejection::new(&dpp, None, options, Engine::host()).unwrap();
            assert_eq!(law.is_settled, settled, "{height}: {error:e}");
            // This holds for any error.
            assert_eq!(law.error_of_coordinates(1e-6) > 0.0, !settled);
        }
    }
}

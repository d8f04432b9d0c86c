//! Rejection under an upper bound of determinants. Its cost does not depend on the number of items. Unlike the cost
//! of a tilted k-DPP, it is not exponential in the number of parts either.

mod bound;
mod bounded;
mod by_part;
mod candidate;
mod candidates;
mod chance;
mod choice;
mod count_law;
mod elementary;
mod halves;
mod halving;
mod inclusion;
mod independent;
mod item_table;
mod one_by_one;
mod outside;
mod part_law;
mod part_picks;
mod proposal;
mod rows;
mod sequential;
mod share;
#[cfg(test)]
mod tests;
mod under_quota;
mod weighted;
mod whitening;

use std::sync::Arc;

use faer::Mat;
use rand::Rng;

pub use bound::Bound;
pub(super) use bounded::Pilot;
pub(super) use candidate::typical;
pub(super) use candidates::MANY_CANDIDATES;
pub(super) use choice::{Chosen, choose, least_log_bound, operations_with_candidates, weighted_operations};
pub(super) use inclusion::InclusionSums;
pub(super) use rows::{STORED_BYTES, WEIGHTED_BYTES, stored_bytes};
pub use under_quota::BoundCost;
pub(super) use under_quota::{Rejection, RejectionSetup};
pub(super) use weighted::WeightedLaw;

use candidate::Tables;
use candidates::Lookahead;
use chance::Drawn;
use count_law::CountLaw;
use elementary::ElementaryTable;
use halving::Halves;
use part_law::{Part, PartLaw, PartScratch};
use proposal::Buffers;
use rows::{Reading, WhitenedRows};
use whitening::Whitening;

use super::{
    Attempts, Projection,
    batches::{Batched, Batches},
    options::Draws,
    pool::{Pool, Reused},
};
use crate::{
    Result,
    engine::Engine,
    linalg::span::{Span, log_volume},
    model::{Correction, Fill},
    polynomial::tilt::are_many,
};

/// A law that accepts proposals against a bound.
#[derive(Debug)]
pub(crate) struct BoundedLaw {
    bound: Bound,
    rows: WhitenedRows,
    counts: CountLaw,
    /// The groups of all picks, for proposals in halves.
    picks: Vec<usize>,
    /// The division of the picks into halves, if proposals are made that way.
    halves: Option<Halves>,
    /// The k-DPPs of groups; `None` if single items suffice.
    parts: Vec<Option<PartLaw>>,
    /// Ĝ_l in the coordinates of the rows; empty if traces are estimated.
    grams: Vec<Mat<f64>>,
    /// How candidates estimate the traces, if they do.
    lookahead: Option<Lookahead>,
    symmetric: Vec<ElementaryTable>,
    /// S_{r−t}(Ĝ_l) for every t.
    largest: Vec<Vec<f64>>,
    /// β_j in the coordinates of the eigenvectors, if B is not the identity.
    beta: Option<Vec<f64>>,
    log_products: Vec<f64>,
    correction: Correction,
    /// How proposals are filled up with further items.
    fill: Option<Arc<Fill>>,
    /// Whether the rows are residuals beyond included rows.
    is_beyond: bool,
    /// The device that makes many draws.
    batches: Option<Batches>,
    /// Total variation error of the law from rounding in a factor of the acceptance near 1, and in draws from parts.
    rounding: [f64; 2],
    pool: Pool<BoundedScratch>,
}

/// Buffers of one draw.
#[derive(Debug, Default)]
pub(super) struct BoundedScratch {
    buffers: Buffers,
    /// Buffers of the k-DPPs of the groups.
    parts: Vec<PartScratch>,
}

impl Reused for BoundedScratch {
    fn forget(&mut self) {
        self.parts.iter_mut().for_each(|part| part.spectral.forget());
    }
}

impl BoundedLaw {
    pub(super) fn new(
        setup: &RejectionSetup<'_>,
        chosen: Chosen,
        way: Projection,
        engine: &Engine,
    ) -> Result<Self> {
        let RejectionSetup { dpp, rows, found, correction, fill } = setup;
        let Chosen { bound, whitening, reading, .. } = chosen;
        let counts = dpp.counts();
        let features = dpp.ground().features();
        let whitened = WhitenedRows::new(engine, features, rows, found, &whitening, reading)?;
        let totals: Vec<f64> = (0..rows.groups().len()).map(|l| whitened.table(l).total()).collect();
        let tables = Tables::new(&whitening, &counts);
        let law = tables.count_law(bound, &counts, correction, &totals);
        let (mut factor, roots) = (whitening.factor(found), found.tilt.root_weights());
        let by_sets =
            |number: usize| counts.high[number] > 1 && matches!(bound, Bound::Fischer | Bound::Block);
        let groups = rows.groups().len();
        let are_many = are_many(groups, whitened.rank()) && counts.exact().is_some();
        let needs_matrices = matches!(bound, Bound::Block | Bound::Sequential) || (0..groups).any(by_sets);
        let may_estimate = are_many && !needs_matrices;
        let matrices = || match reading {
            // Transform from eigenvectors to the coordinates of the features.
            Reading::Thinned => whitening.grams(found, Some(&whitening::vectors(found))),
            _ => whitening.grams(found, None),
        };
        let grams = if may_estimate { Vec::new() } else { matrices() };
        if reading == Reading::Thinned {
            factor = factor * whitening::vectors(found).transpose();
        }
        let part = |number: usize| {
            if !by_sets(number) {
                return Ok(None);
            }
            let range = [counts.low[number].max(1), counts.high[number]];
            let (group, gram, weight) = (rows.groups()[number], &grams[number], roots[number]);
            let part = Part { features, rows: &whitened, number, group, gram, factor: &factor, weight };
            PartLaw::new(engine, part, range, way).map(Some)
        };
        let parts = (0..groups).map(part).collect::<Result<Vec<_>>>()?;
        let of_parts = parts.iter().flatten().map(PartLaw::error).sum();
        let rounding = [rounding(&whitening), of_parts];
        let in_eigenvectors = reading != Reading::Thinned && whitening.heavy() > 0;
        let beta = in_eigenvectors.then(|| whitening.beta.clone());
        let Tables { symmetric, largest, log_products } = tables;
        let (correction, fill, counts) = (correction.clone(), fill.clone(), law);
        let mut bounded = Self {
            bound,
            rows: whitened,
            counts,
            picks: Vec::new(),
            halves: None,
            parts,
            grams,
            lookahead: None,
            symmetric,
            largest,
            beta,
            log_products,
            correction,
            fill,
            is_beyond: dpp.ground().beyond().is_some(),
            batches: None,
            rounding,
            pool: Pool::new(),
        };
        if may_estimate {
            let size = dpp.counts().total().unwrap_or_default() as f64;
            // If rows take the place of Gram matrices, these are too large.
            let wanted = bounded.candidates_wanted(size, !found.keeps_rows(), engine)?;
            bounded.lookahead = wanted.map(Lookahead::of);
            if wanted.is_none() {
                bounded.grams = matrices();
            }
        }
        Ok(bounded)
    }

    /// ln W, in the units of the correction.
    pub(super) fn log_bound(&self) -> f64 {
        self.counts.log_bound()
    }

    /// Total variation error of the law from rounding in a factor of the acceptance near 1, and in draws from parts.
    pub(super) fn rounding(&self) -> [f64; 2] {
        self.rounding
    }

    /// Makes many draws on the engine's device, if it has one that accepts the proposals. Returns the error that this
    /// adds to the law, given a lower bound of its acceptance.
    pub(super) fn make_batches_on(&mut self, engine: &Engine, acceptance: f64) -> f64 {
        self.batches = self.independent().and_then(|items| Batches::on(engine, &items, acceptance));
        self.batched(acceptance).map_or(0.0, |batched| batched.error())
    }

    /// The law with the device that makes many draws.
    pub(super) fn batched(&self, acceptance_bound: f64) -> Option<Batched<'_>> {
        let (batches, items) = (self.batches.as_ref()?, self.independent()?);
        Some(Batched { batches, proposals: Box::new(items), acceptance_bound })
    }

    /// Draws proposals until one is accepted.
    pub(super) fn sample<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        attempts: &mut Attempts<'_>,
    ) -> Result<Vec<u32>> {
        self.lend(|scratch| {
            loop {
                attempts.another()?;
                if let Some(items) = self.proposal(rng, scratch, || attempts.go_on()) {
                    return Ok(items.to_vec());
                }
            }
        })
    }

    /// Lends buffers to a draw.
    pub(in crate::sample) fn lend<T>(&self, draw: impl FnOnce(&mut BoundedScratch) -> T) -> T {
        self.pool.lend(|| self.scratch(), draw)
    }

    pub(super) fn scratch(&self) -> BoundedScratch {
        let parts = if self.parts.iter().any(Option::is_some) { self.parts.len() } else { 0 };
        let mut scratch = BoundedScratch::default();
        scratch.parts.resize_with(parts, PartScratch::default);
        scratch
    }

    /// Makes one proposal; `None` if it is rejected.
    pub(super) fn proposal<'s, R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        scratch: &'s mut BoundedScratch,
        go_on: impl FnMut() -> bool,
    ) -> Option<&'s [u32]> {
        let BoundedScratch { buffers, parts } = scratch;
        let mut chance = Drawn { rng, scratch: parts, go_on };
        self.propose(&mut chance, buffers).then_some(&buffers.items)
    }

    /// ln det(QᵀBQ); 0 if B is the identity.
    fn log_det_of_span(&self, span: &Span) -> f64 {
        if let Some(thinning) = self.rows.thinning() {
            return thinning.log_det(span);
        }
        let Some(beta) = &self.beta else { return 0.0 };
        let roots: Vec<f64> = beta.iter().map(|beta| beta.sqrt()).collect();
        let mut columns = span.directions().to_vec();
        for column in columns.chunks_exact_mut(roots.len()) {
            column.iter_mut().zip(&roots).for_each(|(value, root)| *value *= root);
        }
        log_volume(&mut columns, roots.len())
    }

    fn log_of_fill(&self, items: &[u32]) -> f64 {
        self.fill.as_ref().map_or(0.0, |fill| fill.log_acceptance(items))
    }
}

/// The relative error of a factor ‖P v‖² / ‖v‖² near 1: a few ε√r, and more if B scales down large directions.
fn rounding(whitening: &Whitening) -> f64 {
    let (first, last) = (whitening.beta.first(), whitening.beta.last());
    let condition = first.zip(last).map_or(1.0, |(first, last)| first / last);
    16.0 * f64::EPSILON * (whitening.rank() as f64 * condition).sqrt()
}

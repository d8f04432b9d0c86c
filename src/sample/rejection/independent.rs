//! Numbered proposals of independent items, accepted against Hadamard's bound: the reference for the device's
//! results.

use super::{
    Bound, BoundedLaw, BoundedScratch, Draws, RejectionSetup, item_table::ItemTable, proposal::Buffers,
};
use crate::{
    Features, Result,
    engine::{
        Engine,
        proposals::{ItemTables, ProposalDevice, ProposalShape, Proposer, Stream, Trial},
    },
    sample::{
        Attempts,
        batches::{self, Proposals, UPLOAD, trial_error},
    },
    watch::Watch,
};

/// The number of proposals of independent items that a large GPU makes while all threads of its host make one.
const GAIN: f64 = 4.0;
/// Features that a device need not have are uploaded whole if at least one row in this many may be drawn.
const SPARSE: usize = 8;

/// Below this fraction of the number that decides, rounding cannot turn a rejection into an acceptance.
const ROUNDED: f64 = 0.999;

/// Proposals whose items are drawn independently; one random number accepts or rejects them together.
#[derive(Debug)]
pub(in crate::sample) struct IndependentItems<'l> {
    law: &'l BoundedLaw,
    /// The group of every pick.
    picks: Vec<usize>,
}

impl BoundedLaw {
    /// The law's proposals, if they consist of independent items whose rows are used as given.
    pub(super) fn independent(&self) -> Option<IndependentItems<'_>> {
        let rows = &self.rows;
        let is_simple = self.bound == Bound::Hadamard && self.halves.is_none() && self.fill.is_none();
        if !is_simple || self.is_beyond || !is_dense(rows.len(), rows.features()) {
            return None;
        }
        Some(IndependentItems { law: self, picks: self.exact_picks()? })
    }
}

impl RejectionSetup<'_> {
    /// The factor by which a proposal of independent items costs less on the engine's device than on the host, given
    /// a lower bound of the acceptance; 1 without a device that accepts them.
    ///
    /// It is the same for every GPU, because it affects the choice of the bound, and the bound determines the draws.
    pub(super) fn gain_of_device(&self, acceptance: f64, draws: Draws, engine: &Engine) -> f64 {
        let (dpp, rows) = (self.dpp, &self.rows);
        let size = dpp.counts().exact().map(|counts| counts.iter().sum());
        let (Some(device), Some(size), Draws::InBatches) = (engine.proposal_device(), size, draws) else {
            return 1.0;
        };
        let shape = shape([rows.len(), rows.features().dims()], size, rows.groups().len());
        let is_beyond = dpp.ground().beyond().is_some();
        let is_simple = self.fill.is_none() && !is_beyond && is_dense(rows.len(), rows.features());
        if is_simple && batches::may_take(acceptance) && device.takes_items(&shape) { GAIN } else { 1.0 }
    }
}

/// Whether enough of the rows may be drawn to upload all of them.
fn is_dense(items: usize, features: &Features) -> bool {
    items >= features.items() / SPARSE
}

fn shape([items, rank]: [usize; 2], size: usize, parts: usize) -> ProposalShape {
    ProposalShape { items, rank, size, parts, expected_trials: size as f64 }
}

impl IndependentItems<'_> {
    fn shape(&self) -> ProposalShape {
        let rows = &self.law.rows;
        shape([rows.len(), rows.features().dims()], self.picks.len(), self.law.parts.len())
    }

    /// f_i at every position, with Π f_i² det(A_S A_Sᵀ) = det(A_S A_Sᵀ) / (Π β_j · Π w_i).
    fn factors(&self) -> Vec<f64> {
        let law = self.law;
        let bound = (-0.5 * law.log_products[self.picks.len()] / self.picks.len() as f64).exp();
        let mut factors = Vec::with_capacity(self.shape().items);
        for (group, table) in law.rows.tables().iter().enumerate() {
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            let positions = 0..table.len() as u32;
            factors.extend(positions.map(|position| {
                // Items with zero weight are never drawn.
                let own = law.rows.weight(group, table.item(position)) * table.root_scale(position);
                if own.is_finite() { bound * own } else { 0.0 }
            }));
        }
        factors
    }

    /// Whether the proposal with this number is accepted; its items are then in the buffers.
    fn accepts(&self, stream: Stream, number: u32, buffers: &mut Buffers) -> bool {
        let law = self.law;
        let Trial { uniform, .. } = stream.trial(number, 0);
        buffers.clear(law.rows.rank());
        let Buffers { items, span, row, scratch, .. } = buffers;
        let mut kept = 1.0;
        for (trial, &group) in (0..).zip(&self.picks) {
            let table = law.rows.table(group);
            let Some(position) = table.look_up(stream.trial(number, trial).word) else { return false };
            let item = table.item(position);
            // The residual of a picked row is a rounding error: its probability is zero.
            if items.contains(&item) {
                return false;
            }
            law.rows.read(group, position, scratch, row);
            let distance = span.distance(row);
            kept *= distance / table.weight(position);
            // The remaining factors are at most 1, up to rounding.
            if distance <= 0.0 || kept < ROUNDED * uniform {
                return false;
            }
            span.extend(row, distance);
            items.push(item);
        }
        uniform < kept * (law.log_det_of_span(span) - law.log_products[items.len()]).exp()
    }
}

impl Proposals for IndependentItems<'_> {
    fn fit(&self, device: &dyn ProposalDevice) -> bool {
        device.takes_items(&self.shape())
    }

    fn prepare(&self, device: &dyn ProposalDevice) -> Result<Box<dyn Proposer>> {
        let trials: Vec<_> = self.law.rows.tables().iter().map(ItemTable::alias).collect();
        device.prepare_items(&ItemTables {
            shape: self.shape(),
            features: self.law.rows.features(),
            trials: &trials,
            picks: &self.picks,
            factors: &self.factors(),
        })
    }

    fn replayed(&self, stream: Stream, number: u32, watch: &Watch) -> Result<Option<Vec<u32>>> {
        Attempts::under(watch, 1.0).another()?;
        self.law.lend(|BoundedScratch { buffers, .. }| {
            let is_accepted = self.accepts(stream, number, buffers);
            Ok(is_accepted.then(|| buffers.items.clone()))
        })
    }

    fn name(&self, positions: &mut [u32]) {
        self.law.rows.name(&self.picks, positions);
    }

    fn operations(&self) -> f64 {
        let (size, rank) = (self.picks.len() as f64, self.law.rows.rank() as f64);
        size * (0.5 * self.law.rows.read_operations() + rank * size)
    }

    /// The tables hold an entry, a row number and a factor per item.
    fn operations_of_tables(&self) -> f64 {
        4.0 * UPLOAD * self.shape().items as f64
    }

    /// Each item uses at most one word of 64 bits and one number of 53 bits.
    fn error(&self) -> f64 {
        self.picks.len() as f64 * trial_error(self.law.rows.len())
    }
}

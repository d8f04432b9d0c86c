//! Proposals of independent items by their numbers, accepted against the bound of Hadamard: what a device is to find.

use super::{Bound, BoundedLaw, BoundedScratch, RejectionSetup, item_table::ItemTable, proposal::Buffers};
use crate::{
    Result,
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

/// Proposals of independent items that a device makes while the host makes one.
const GAIN: f64 = 8.0;

/// Proposals whose items are drawn by themselves, and all accepted by one number.
#[derive(Debug)]
pub(in crate::sample) struct IndependentItems<'l> {
    law: &'l BoundedLaw,
    /// The group of every pick.
    picks: Vec<usize>,
}

impl BoundedLaw {
    /// Its proposals, if they are independent items of rows as they are.
    pub(super) fn independent(&self) -> Option<IndependentItems<'_>> {
        let is_simple = self.bound == Bound::Hadamard && self.halves.is_none() && self.fill.is_none();
        if !is_simple || self.is_beyond {
            return None;
        }
        Some(IndependentItems { law: self, picks: self.exact_picks()? })
    }
}

impl RejectionSetup<'_> {
    /// How many times less a proposal of independent items costs on the engine's device than on the host. The same for all
    /// devices, as draws depend on the bound that it decides on; 1 without one that takes them, if so few are accepted at least.
    pub(super) fn gain_of_device(&self, acceptance: f64, engine: &Engine) -> f64 {
        let (dpp, rows) = (self.dpp, &self.rows);
        let (Some(device), Some(size)) =
            (engine.proposal_device(), dpp.counts().exact().map(|counts| counts.iter().sum()))
        else {
            return 1.0;
        };
        let (items, parts) = (rows.len(), rows.groups().len());
        let shape = shape([items, rows.features().dims()], size, parts);
        let is_simple = self.fill.is_none() && dpp.ground().beyond().is_none();
        if is_simple && batches::may_take(acceptance) && device.takes_items(&shape) { GAIN } else { 1.0 }
    }
}

fn shape([items, rank]: [usize; 2], size: usize, parts: usize) -> ProposalShape {
    ProposalShape { items, rank, size, parts, expected_trials: size as f64 }
}

impl IndependentItems<'_> {
    fn tables(&self) -> impl Iterator<Item = &ItemTable> {
        (0..self.law.parts.len()).map(|group| self.law.rows.table(group))
    }

    fn shape(&self) -> ProposalShape {
        let items = self.tables().map(ItemTable::len).sum();
        shape([items, self.law.rows.features().dims()], self.picks.len(), self.law.parts.len())
    }

    /// f_i at every position, with Π f_i² det(A_S A_Sᵀ) = det(A_S A_Sᵀ) / (Π β_j · Π w_i).
    fn factors(&self) -> Vec<f64> {
        let law = self.law;
        let bound = (-0.5 * law.log_products[self.picks.len()] / self.picks.len() as f64).exp();
        let mut factors = Vec::with_capacity(self.shape().items);
        for (group, table) in self.tables().enumerate() {
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            let positions = 0..table.len() as u32;
            factors.extend(positions.map(|position| {
                // Items of no weight are never drawn.
                let own = law.rows.weight(group, table.item(position)) * table.root_scale(position);
                if own.is_finite() { bound * own } else { 0.0 }
            }));
        }
        factors
    }

    /// The probability to accept a proposal of these numbers, whose items are in the buffers; 0 if one was drawn twice.
    fn acceptance(&self, stream: Stream, number: u32, buffers: &mut Buffers) -> f64 {
        let law = self.law;
        buffers.clear(law.rows.rank());
        let Buffers { items, span, row, scratch, .. } = buffers;
        let mut kept = 1.0;
        for (trial, &group) in (0..).zip(&self.picks) {
            let table = law.rows.table(group);
            let Some(position) = table.look_up(stream.trial(number, trial).word) else { return 0.0 };
            let item = table.item(position);
            // The residual of a picked row is a rounding error: its probability is zero.
            if items.contains(&item) {
                return 0.0;
            }
            law.rows.read(group, position, scratch, row);
            let distance = span.distance(row);
            if distance <= 0.0 {
                return 0.0;
            }
            kept *= distance / table.weight(position);
            span.extend(row, distance);
            items.push(item);
        }
        kept * (law.log_det_of_span(span) - law.log_products[items.len()]).exp()
    }
}

impl Proposals for IndependentItems<'_> {
    fn fit(&self, device: &dyn ProposalDevice) -> bool {
        device.takes_items(&self.shape())
    }

    fn prepare(&self, device: &dyn ProposalDevice) -> Result<Box<dyn Proposer>> {
        let trials: Vec<_> = self.tables().map(ItemTable::alias).collect();
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
        let Trial { uniform, .. } = stream.trial(number, 0);
        self.law.pool.lend(
            || self.law.scratch(),
            |BoundedScratch { buffers, .. }| {
                let is_accepted = uniform < self.acceptance(stream, number, buffers);
                Ok(is_accepted.then(|| buffers.items.clone()))
            },
        )
    }

    fn name(&self, positions: &mut [u32]) {
        let rows = &self.law.rows;
        for (position, &group) in positions.iter_mut().zip(&self.picks) {
            *position = rows.table(group).item(*position - rows.first(group));
        }
    }

    fn operations(&self) -> f64 {
        let (size, rank) = (self.picks.len() as f64, self.law.rows.rank() as f64);
        size * (0.5 * self.law.rows.read_operations() + rank * size)
    }

    /// Of every item an entry, its row's number and its factor.
    fn operations_of_tables(&self) -> f64 {
        4.0 * UPLOAD * self.shape().items as f64
    }

    fn error(&self) -> f64 {
        self.picks.len() as f64 * trial_error(self.shape().items)
    }
}

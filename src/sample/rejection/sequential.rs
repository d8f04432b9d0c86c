//! Numbered sequential draws, kept up to a cap of their weights: the reference for the device's results.

use faer::Mat;

use super::{
    BoundedScratch, WeightedLaw, candidate::log_factorial, item_table::ItemTable, one_by_one::Numbered,
    outside::trace, rows::RowScratch,
};
use crate::{
    Result,
    engine::proposals::{NUMBERED_TRIALS, ProposalDevice, ProposalShape, Proposer, SequentialTables, Stream},
    linalg::column,
    sample::batches::{Proposals, UPLOAD, trial_error},
    watch::Watch,
};

/// Draws of a law, kept with probability min(1, w / c).
#[derive(Debug)]
pub(in crate::sample) struct SequentialDraws<'l> {
    law: &'l WeightedLaw,
    /// ln c.
    log_cap: f64,
    /// The group of every pick.
    picks: Vec<usize>,
}

impl WeightedLaw {
    /// Draws kept up to a cap with this logarithm, if their counts are exact and their weights come from the picks
    /// alone.
    pub(in crate::sample) fn kept_up_to(&self, log_cap: f64) -> Option<SequentialDraws<'_>> {
        let law = &self.law;
        let weighs = |group: &Mat<f64>| trace(group.as_ref()) > 0.0;
        let is_simple = law.fill.is_none() && law.rows.thinning().is_none() && !law.grams.is_empty();
        if !is_simple || !law.grams.iter().all(weighs) {
            return None;
        }
        Some(SequentialDraws { law: self, log_cap, picks: law.exact_picks()? })
    }
}

impl SequentialDraws<'_> {
    fn shape(&self) -> ProposalShape {
        let (rank, size) = (self.law.roots.len(), self.picks.len());
        let expected_trials = size as f64 * (1.0 + size as f64 / rank as f64);
        ProposalShape {
            items: self.law.law.rows.len(),
            rank,
            size,
            parts: self.law.groups(),
            expected_trials,
        }
    }

    /// f with f^k Π (tr(P_t Ĝ_l) / tr Ĝ_l) det(QᵀBQ) = w / c.
    fn factor(&self, size: usize) -> f64 {
        let law = &self.law.law;
        let of = |picks: &[usize]| {
            let (group, count) = (picks[0], picks.len());
            let traces = count as f64 * trace(law.grams[group].as_ref()).ln();
            traces + law.correction.log_factor(group, count) - log_factorial(count)
        };
        let log = self.picks.chunk_by(|one, other| one == other).map(of).sum::<f64>() - self.log_cap;
        (log / size as f64).exp()
    }

    /// Writes v_i divided by the square root of its weight.
    fn unit_row(&self, (group, position): (usize, u32), scratch: &mut RowScratch, out: &mut [f64]) {
        let rows = &self.law.law.rows;
        rows.read(group, position, scratch, out);
        let weight = rows.table(group).weight(position);
        let scale = if weight > 0.0 { weight.sqrt().recip() } else { 0.0 };
        out.iter_mut().for_each(|value| *value *= scale);
    }

    fn replay(&self, mut numbered: Numbered<'_>, scratch: &mut BoundedScratch) -> Result<Option<Vec<u32>>> {
        let log = self.law.law.log_weight(&mut numbered, &mut scratch.buffers);
        numbered.check()?;
        let kept = log > f64::NEG_INFINITY && numbered.is_kept((log - self.log_cap).exp());
        Ok(kept.then(|| scratch.items().to_vec()))
    }
}

impl Proposals for SequentialDraws<'_> {
    fn fit(&self, device: &dyn ProposalDevice) -> bool {
        let shape = self.shape();
        let factor = self.factor(shape.size.max(1));
        // The factor must also fit single precision.
        (1e-20..1e20).contains(&factor) && device.takes_sequential(&shape)
    }

    fn prepare(&self, device: &dyn ProposalDevice) -> Result<Box<dyn Proposer>> {
        let (shape, law) = (self.shape(), &self.law.law);
        let trials: Vec<_> = law.rows.tables().iter().map(ItemTable::alias).collect();
        let unit_gram = |gram: &Mat<f64>| -> Vec<f64> {
            let whole = trace(gram.as_ref());
            let columns = (0..gram.ncols()).flat_map(|j| column(gram.as_ref(), j));
            columns.map(|value| value / whole).collect()
        };
        let grams: Vec<Vec<f64>> = law.grams.iter().map(unit_gram).collect();
        let unit_row = |position: u32, out: &mut [f64]| {
            self.unit_row(law.rows.at(position), &mut RowScratch::default(), out);
        };
        device.prepare_sequential(&SequentialTables {
            shape,
            trials: &trials,
            picks: &self.picks,
            grams: &grams,
            roots: &self.law.roots,
            factor: self.factor(shape.size),
            unit_row: &unit_row,
        })
    }

    fn replayed(&self, stream: Stream, number: u32, watch: &Watch) -> Result<Option<Vec<u32>>> {
        let (law, numbered) = (&self.law.law, Numbered::new(stream, number, watch));
        law.lend(|scratch| self.replay(numbered, scratch))
    }

    fn name(&self, positions: &mut [u32]) {
        self.law.law.rows.name(&self.picks, positions);
    }

    fn operations(&self) -> f64 {
        0.5 * self.law.operations()
    }

    fn operations_of_tables(&self) -> f64 {
        let ProposalShape { items, rank, parts, .. } = self.shape();
        let row = 0.5 * self.law.law.rows.read_operations() + rank as f64 * UPLOAD;
        items as f64 * row + (parts * rank * rank) as f64 * UPLOAD
    }

    /// Every trial and the coin at the end have 53 bits, and the number of trials per pick is limited.
    fn error(&self) -> f64 {
        let shape = self.shape();
        let trials = shape.size as f64 * (f64::from(NUMBERED_TRIALS) + 1.0);
        trials * trial_error(shape.items) + f64::EPSILON
    }
}

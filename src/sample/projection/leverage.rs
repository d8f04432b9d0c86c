//! Picks by leverage-score rejection, whose cost does not depend on m.

use faer::Mat;
use rand::Rng;

use super::remaining_basis::RemainingBasis;
use crate::{
    Features,
    engine::{Rows, proposals::alias::AliasTable},
    linalg::{column, kernels::dot},
};

/// The lag of the pipeline: a trial's alias entry is prefetched 3·LAG trials ahead, its item 2·LAG, and its row LAG,
/// while earlier trials are computed.
const LAG: usize = 8;
/// The number of trials in the pipeline; a power of two above 3·LAG.
const RING: usize = 32;

/// Trials of items in proportion to h_i = ‖w_l s_l Fᵀ a_i‖², accepted with probability ‖w_l s_l Bᵀ a_i‖² / h_i, where
/// B holds the columns of F not yet used up.
///
/// The law depends only on B: h_i need only bound the numerator, so the table may round it up.
#[derive(Debug)]
pub(in crate::sample) struct LeverageTrials {
    features: Features,
    trials: AliasTable,
    /// The positions in the table at which groups begin.
    groups: Vec<u32>,
    /// w_l s_l by group.
    row_weights: Vec<f64>,
    /// F, n×r.
    whitener: Mat<f64>,
    /// Σ h_i.
    total: f64,
}

#[derive(Debug, Default)]
pub(crate) struct LeverageScratch {
    remaining: RemainingBasis,
    pipeline: Pipeline,
}

impl LeverageScratch {
    /// Discards the trials drawn ahead.
    pub(super) fn forget(&mut self) {
        self.pipeline.next = 0;
    }
}

/// Trials in progress: words drawn, items looked up, rows prefetched.
///
/// Trial t of a draw is at position t mod [`RING`]. Acceptance does not affect which items are tried, so trials are
/// drawn ahead, and unused trials serve the next proposal of the same draw.
#[derive(Debug)]
struct Pipeline {
    words: [u64; RING],
    /// Positions in the table of trials.
    trials: [u32; RING],
    next: usize,
    /// The row of the current trial, scaled so that ‖Bᵀ row‖² is its probability of acceptance.
    row: Vec<f64>,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self { words: [0; RING], trials: [0; RING], next: 0, row: Vec::new() }
    }
}

impl LeverageTrials {
    pub(super) fn new(
        features: &Features,
        rows: &Rows<'_>,
        weights: &[f64],
        whitener: Mat<f64>,
        leverages: &[f64],
    ) -> Self {
        let total = leverages.iter().sum();
        let mut groups = Vec::with_capacity(rows.groups().len());
        let mut start = 0;
        for group in rows.groups() {
            groups.push(start);
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            let len = group.items.len() as u32;
            start += len;
        }
        let trials = AliasTable::new(rows.len(), |at| {
            let group = groups.partition_point(|&start| start as usize <= at) - 1;
            let item = rows.groups()[group].items.at(at - groups[group] as usize);
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            (item as u32, leverages[at])
        });
        let row_weights =
            rows.groups().iter().zip(weights).map(|(group, weight)| group.scale * weight).collect();
        Self { features: features.clone(), trials, groups, row_weights, whitener, total }
    }

    /// Picks items until the chosen eigenvectors are used up, `keep` rejects one, or no trial is accepted.
    pub(super) fn draw<R: Rng + ?Sized>(
        &self,
        chosen: &[usize],
        rng: &mut R,
        scratch: &mut LeverageScratch,
        picks: &mut Vec<u32>,
        mut keep: impl FnMut(u32) -> bool,
    ) -> bool {
        let LeverageScratch { remaining, pipeline } = scratch;
        let columns = chosen.iter().map(|&j| column(self.whitener.as_ref(), j));
        remaining.begin(self.features.dims(), columns);
        while remaining.columns() > 0 {
            let accepted = self.accepted_trial(remaining, picks, pipeline, rng);
            let Some((item, norm)) = accepted else { return false };
            picks.push(item);
            if !keep(item) {
                return false;
            }
            remaining.use_up(norm);
        }
        true
    }

    /// Tries items until one is accepted, and returns it with ‖Bᵀ row‖. `None` if far more trials fail than the size
    /// of B explains.
    fn accepted_trial<R: Rng + ?Sized>(
        &self,
        remaining: &mut RemainingBasis,
        picked: &[u32],
        pipeline: &mut Pipeline,
        rng: &mut R,
    ) -> Option<(u32, f64)> {
        for _ in 0..remaining.most_trials(self.total) {
            let item = self.next_trial(pipeline, rng);
            // The residual of a picked row is a rounding error: its probability is zero.
            if let Some(norm) = remaining.accept(&pipeline.row, rng)
                && !picked.contains(&item)
            {
                return Some((item, norm));
            }
        }
        None
    }

    /// Returns the item of the next trial, and leaves its row in the pipeline; advances later trials.
    fn next_trial<R: Rng + ?Sized>(&self, pipeline: &mut Pipeline, rng: &mut R) -> u32 {
        let now = pipeline.next;
        if now == 0 {
            pipeline.row.resize(self.features.dims(), 0.0);
            (0..3 * LAG).for_each(|trial| self.draw_word(trial, pipeline, rng));
            (0..2 * LAG).for_each(|trial| self.look_up(trial, pipeline));
            (0..LAG).for_each(|trial| self.prefetch_row(trial, pipeline));
        }
        self.draw_word(now + 3 * LAG, pipeline, rng);
        self.look_up(now + 2 * LAG, pipeline);
        self.prefetch_row(now + LAG, pipeline);
        pipeline.next += 1;
        let trial = pipeline.trials[now % RING];
        self.read(trial, &mut pipeline.row)
    }

    /// Reads the row at a position, scaled so that ‖Bᵀ row‖² is its probability of acceptance, and returns its item.
    fn read(&self, position: u32, row: &mut [f64]) -> u32 {
        let item = self.trials.item(position);
        // The null entry's weight is infinite, so the row becomes zero and is never accepted.
        let weight = self.row_weights[self.group(position)] / f64::from(self.trials.weight(position)).sqrt();
        self.features.read_row(item as usize, weight, row);
        item
    }

    /// The group of a position.
    pub(in crate::sample) fn group(&self, position: u32) -> usize {
        self.groups.partition_point(|&start| start <= position) - 1
    }

    /// The positions at which groups begin.
    pub(in crate::sample) fn starts(&self) -> &[u32] {
        &self.groups
    }

    /// The table of the items tried.
    pub(in crate::sample) fn table(&self) -> &AliasTable {
        &self.trials
    }

    pub(in crate::sample) fn dims(&self) -> usize {
        self.features.dims()
    }

    /// Σ h_i.
    pub(in crate::sample) fn total(&self) -> f64 {
        self.total
    }

    /// Writes the row at a position in coordinates of some columns of F, scaled so that its squared length is a
    /// probability of acceptance; zero for rows that are never drawn. The bits of a coordinate do not depend on the
    /// other columns.
    pub(in crate::sample) fn unit_row(&self, position: u32, columns: &[usize], out: &mut [f64]) {
        if self.trials.weight(position) <= 0.0 {
            out.fill(0.0);
            return;
        }
        let mut row = vec![0.0; self.features.dims()];
        self.read(position, &mut row);
        for (out, &j) in out.iter_mut().zip(columns) {
            *out = dot(column(self.whitener.as_ref(), j), &row);
        }
    }

    fn draw_word<R: Rng + ?Sized>(&self, at: usize, pipeline: &mut Pipeline, rng: &mut R) {
        let word = rng.next_u64();
        pipeline.words[at % RING] = word;
        self.trials.prefetch(word);
    }

    fn look_up(&self, at: usize, pipeline: &mut Pipeline) {
        let trial = self.trials.look_up(pipeline.words[at % RING]);
        pipeline.trials[at % RING] = trial;
        self.trials.prefetch_item(trial);
    }

    fn prefetch_row(&self, at: usize, pipeline: &Pipeline) {
        let item = self.trials.item(pipeline.trials[at % RING]);
        self.features.prefetch_row(item as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Items;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// If rounding corrupts the eigenvectors, nothing is accepted, but the draw must still end.
    #[test]
    fn trials_without_hope_end() {
        let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, -1.0]).unwrap();
        let rows = Rows::scaled(&features, vec![Items::All(4)]);
        for spoilt in [0.0, f64::NAN] {
            let whitener = Mat::from_fn(2, 2, |_, _| spoilt);
            let trials = LeverageTrials::new(&features, &rows, &[1.0], whitener, &[0.5; 4]);
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let (mut scratch, mut picks) = (LeverageScratch::default(), Vec::new());
            assert!(!trials.draw(&[0, 1], &mut rng, &mut scratch, &mut picks, |_| true));
            assert!(picks.is_empty());
        }
    }
}

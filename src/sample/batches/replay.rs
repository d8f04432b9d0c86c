//! Proposals of a projection DPP replayed in f64: the reference for the device's results.

use super::{Proposals, trial_error};
use crate::{
    Result,
    engine::proposals::{
        Coin, ProposalDevice, ProposalShape, ProposalTables, Proposer, Stream, Trial, alias::AliasTable,
    },
    linalg::kernels::{add_scaled, dot, scale},
    polynomial::ConditionalBernoulli,
    sample::{Attempts, projection::LeverageTrials},
    watch::Watch,
};

/// Trials after which rounding must have corrupted the eigenvectors, in units of the expected number.
const PATIENCE: f64 = 64.0;
/// The cost of a trial apart from its row, in multiply-adds: its random words, and reads from random addresses.
const TRIAL: f64 = 50.0;
/// The cost of uploading a value, in multiply-adds.
pub(in crate::sample) const UPLOAD: f64 = 8.0;

/// The data that proposals are made from.
#[derive(Clone, Copy, Debug)]
pub(in crate::sample) struct Replay<'l> {
    pub(in crate::sample) trials: &'l LeverageTrials,
    pub(in crate::sample) eigenvectors: &'l ConditionalBernoulli,
    pub(in crate::sample) size: usize,
    /// The most items per group; `None` without limits.
    pub(in crate::sample) most: Option<&'l [usize]>,
}

impl Replay<'_> {
    fn shape(&self) -> ProposalShape {
        ProposalShape {
            items: self.trials.table().len(),
            rank: self.eigenvectors.support().len(),
            size: self.size,
            parts: self.most.map_or(1, <[usize]>::len),
            expected_trials: self.expected_trials(),
        }
    }

    fn table(&self) -> &AliasTable {
        self.trials.table()
    }

    /// Σ h Σ 1/c over c = 1 … k columns left.
    fn expected_trials(&self) -> f64 {
        let harmonic: f64 = (1..=self.size).map(|left| (left as f64).recip()).sum();
        self.trials.total() * harmonic + self.size as f64
    }

    /// The position at which each part begins, and the most items from it.
    fn parts(&self) -> Vec<[u32; 2]> {
        let Some(most) = self.most else { return vec![[0, u32::MAX]] };
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let parts =
            self.trials.starts().iter().zip(most).map(|(&start, &most)| [start, most as u32]).collect();
        parts
    }

    /// ⌊2³² Pr(take j | c are wanted)⌋ for c = 1 … k, for every eigenvector j.
    fn thresholds(&self) -> Vec<u32> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "casts of floats saturate"
        )]
        let threshold = |p: f64| (p * 2_f64.powi(32)) as u32;
        let rank = self.eigenvectors.support().len();
        let all = (0..rank).flat_map(|j| (1..=self.size).map(move |wanted| (j, wanted)));
        all.map(|(j, wanted)| threshold(self.eigenvectors.probability_of_taking(j, wanted))).collect()
    }

    /// The row at a position, in coordinates of all eigenvectors.
    fn unit_row(&self, position: u32, out: &mut [f64]) {
        self.trials.unit_row(position, self.eigenvectors.support(), out);
    }

    /// The eigenvectors that a proposal chooses.
    fn chosen(&self, stream: Stream, proposal: u32) -> Vec<usize> {
        let mut chosen = Vec::with_capacity(self.size);
        for (j, (number, &eigenvector)) in (0..).zip(self.eigenvectors.support()).enumerate() {
            let wanted = self.size - chosen.len();
            if wanted == 0 {
                break;
            }
            let Coin(coin) = stream.coin(proposal, number);
            if coin < self.eigenvectors.probability_of_taking(j, wanted) {
                chosen.push(eigenvector);
            }
        }
        chosen
    }

    /// The positions that a proposal picks; `None` if it is rejected.
    fn positions(&self, stream: Stream, proposal: u32, watch: &Watch) -> Result<Option<Vec<u32>>> {
        let mut attempts = Attempts::under(watch, 1.0);
        let chosen = self.chosen(stream, proposal);
        let (table, size) = (self.trials.table(), self.size);
        let mut directions: Vec<f64> = Vec::with_capacity(size * size);
        let mut residual = vec![0.0; size];
        let mut picked = Vec::with_capacity(size);
        let mut found = vec![0; self.most.map_or(0, <[usize]>::len)];
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "casts of floats saturate"
        )]
        let last = (PATIENCE * self.expected_trials()) as u32;
        for number in 0..last {
            if !attempts.go_on() {
                break;
            }
            let Trial { word, uniform } = stream.trial(proposal, number);
            let position = table.look_up(word);
            // The residual of a picked row is a rounding error: its probability is zero.
            if table.is_null(position) || picked.contains(&position) {
                continue;
            }
            self.trials.unit_row(position, &chosen, &mut residual);
            for direction in directions.chunks_exact(size) {
                let along = dot(direction, &residual);
                add_scaled(&mut residual, -along, direction);
            }
            let square = dot(&residual, &residual);
            if uniform >= square {
                continue;
            }
            picked.push(position);
            if let Some(most) = self.most {
                let group = self.trials.group(position);
                found[group] += 1;
                if found[group] > most[group] {
                    return Ok(None);
                }
            }
            if picked.len() == size {
                return Ok(Some(picked));
            }
            scale(&mut residual, square.sqrt().recip());
            directions.extend_from_slice(&residual);
        }
        attempts.check().map(|()| None)
    }
}

impl Proposals for Replay<'_> {
    fn fit(&self, device: &dyn ProposalDevice) -> bool {
        device.takes(&self.shape())
    }

    fn prepare(&self, device: &dyn ProposalDevice) -> Result<Box<dyn Proposer>> {
        let (coins, parts) = (self.thresholds(), self.parts());
        let unit_row = |position: u32, out: &mut [f64]| self.unit_row(position, out);
        device.prepare(&ProposalTables {
            shape: self.shape(),
            trials: self.table(),
            coins: &coins,
            parts: &parts,
            unit_row: &unit_row,
        })
    }

    fn replayed(&self, stream: Stream, number: u32, watch: &Watch) -> Result<Option<Vec<u32>>> {
        let mut positions = self.positions(stream, number, watch)?;
        positions.iter_mut().for_each(|positions| self.name(positions));
        Ok(positions)
    }

    fn name(&self, positions: &mut [u32]) {
        positions.iter_mut().for_each(|position| *position = self.table().item(*position));
    }

    /// Each trial computes the row in coordinates of the eigenvectors, and its residual beyond the directions picked
    /// so far.
    fn operations(&self) -> f64 {
        let size = self.size as f64;
        self.expected_trials() * (size * (self.trials.dims() as f64 + size) + TRIAL)
    }

    /// The tables hold a row in coordinates of all eigenvectors per item.
    fn operations_of_tables(&self) -> f64 {
        let ProposalShape { items, rank, .. } = self.shape();
        items as f64 * rank as f64 * (self.trials.dims() as f64 + UPLOAD)
    }

    fn error(&self) -> f64 {
        let ProposalShape { items, rank, .. } = self.shape();
        self.expected_trials() * trial_error(items) + rank as f64 * 0.5 * f64::EPSILON
    }
}

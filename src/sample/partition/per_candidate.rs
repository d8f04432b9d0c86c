//! Algorithm 2 of the paper, literally: project the rows, take one determinant per candidate and node.

use faer::Mat;
use rand::Rng;

use super::{PartitionDpp, interpolation::choose, stage::Stage};
use crate::{
    Error, Result,
    engine::{CandidateGrid, Engine, PhaseGrid, RowMap, cpu::candidate_determinants::project},
    linalg::kernels::dot,
    polynomial::torus::less_one,
};

/// The conditional law of the next pick, given the picks made so far.
///
/// Item i of part l comes next with probability ∝ ‖b_i‖² c_i: b_i is what row i has beyond the picks, and
/// c_i the coefficient of z^{κ−e_l} of the generating function after projecting all rows off b_i.
///
/// # Cost
/// 8/3·r³ per candidate, node and pick. The nodes are those of the shared evaluation.
///
/// # Source
/// Kathuria and Deshpande (2016), algorithm 2; with one part it is their algorithm 1 (Deshpande and
/// Rademacher 2010).
#[derive(Clone, Debug)]
pub(crate) struct PerCandidate<'a> {
    stage: Stage<'a>,
    /// N_l after the picks.
    shares: Vec<Mat<f64>>,
    /// B, row-major, group after group: the rows of all free items after the picks.
    rows: Vec<f64>,
    /// ‖b_i‖².
    norms: Vec<f64>,
    /// The coefficient of every candidate, position by position.
    coefficients: Vec<f64>,
    determinants: u64,
}

impl<'a> PerCandidate<'a> {
    pub(crate) fn new(dpp: &PartitionDpp<'a>, engine: &'a dyn Engine) -> Result<Self> {
        Self::on(Stage::start(dpp, engine)?, 0)
    }

    fn on(stage: Stage<'a>, determinants: u64) -> Result<Self> {
        let function = &stage.function;
        let map = RowMap { weights: &function.weights, factor: function.map.as_ref() };
        let candidates = stage.problem.rows(&stage.groups);
        let mut rows = stage.problem.engine.whiten_rows(&candidates, &map)?;
        // What rounding leaves of the items picked before is nothing.
        for ((item, _), row) in candidates.iter().zip(rows.chunks_exact_mut(function.rank())) {
            if stage.picks.contains(&item) {
                row.fill(0.0);
            }
        }
        let norms = rows.chunks_exact(function.rank()).map(|row| dot(row, row)).collect();
        let shares = function.shares.clone();
        let mut law = Self { stage, shares, rows, norms, coefficients: Vec::new(), determinants };
        law.evaluate()?;
        Ok(law)
    }

    pub(crate) fn error(&self) -> f64 {
        let total = self.stage.total() as f64;
        let weights: f64 = self.norms.iter().zip(&self.coefficients).map(|(n, c)| n * c).sum();
        4.0 * self.stage.function.rank() as f64 * f64::EPSILON * total * total / weights
            + self.stage.problem.error
    }

    pub(super) fn stage(&self) -> &Stage<'a> {
        &self.stage
    }

    /// Determinants taken so far.
    pub(super) fn determinants(&self) -> u64 {
        self.determinants
    }

    /// One determinant per candidate and node.
    fn evaluate(&mut self) -> Result<()> {
        let Stage { problem, groups, torus, left, .. } = &self.stage;
        let rank = self.stage.function.rank();
        self.coefficients.clear();
        let mut start = 0;
        for (at, &group) in groups.iter().enumerate() {
            let len = problem.items(group).len();
            if left[at] == 0 {
                self.coefficients.resize(self.coefficients.len() + len, 0.0);
            } else {
                let candidates = CandidateGrid {
                    grid: PhaseGrid { shares: &self.shares, phases: &torus.phases },
                    coefficients: &torus.extractors(&less_one(left, at)),
                    rows: &self.rows[start * rank..(start + len) * rank],
                };
                let found = problem.engine.candidate_determinants(&candidates)?;
                self.determinants += found.determinants;
                self.coefficients.extend(found.sums);
            }
            start += len;
        }
        Ok(())
    }

    /// Weight of every free item, group after group: Pr(next) in proportion; they sum to what is left times the
    /// coefficient wanted.
    pub(super) fn weights(&self) -> impl Iterator<Item = f64> + '_ {
        self.norms.iter().zip(&self.coefficients).map(|(norm, coefficient)| (norm * coefficient).max(0.0))
    }

    /// Conditions on an item of an open group: projects all rows off its own.
    pub(super) fn pick(&mut self, item: usize, at: usize) -> Result<()> {
        let rank = self.stage.function.rank();
        let position = self.position(item, at);
        // The row itself, orthogonal to all picks beyond rounding.
        let direction = self.stage.direction(item, at)?;
        let coefficient = self.coefficients[position];
        self.norms = self.stage.problem.engine.project_rows(&mut self.rows, &direction)?;
        self.rows[position * rank..(position + 1) * rank].fill(0.0);
        self.norms[position] = 0.0;
        self.shares.iter_mut().for_each(|share| *share = project(share, &direction));
        self.stage.record(item, at, &direction);
        if self.stage.total() == 0 {
            return Ok(());
        }
        // The picked candidate's coefficient is the one wanted now.
        if self.stage.has_faded(coefficient) {
            *self = Self::on(self.stage.renewed()?, self.determinants)?;
            return Ok(());
        }
        self.evaluate()
    }

    fn position(&self, item: usize, at: usize) -> usize {
        let before: usize =
            self.stage.groups[..at].iter().map(|&group| self.stage.problem.items(group).len()).sum();
        let items = self.stage.problem.items(self.stage.groups[at]);
        before + (0..items.len()).position(|position| items.at(position) == item).unwrap_or_default()
    }

    /// A subset, from all candidates at every step.
    pub(crate) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<u32> {
        super::stage::infallible(|engine| {
            let mut law = self.clone();
            law.stage.compute_on(engine);
            law.sample_rest(rng)
        })
    }

    fn sample_rest<R: Rng + ?Sized>(&mut self, rng: &mut R) -> Result<Vec<u32>> {
        while self.stage.total() > 0 {
            let mut weights: Vec<f64> = self.weights().collect();
            loop {
                let position = choose(&weights, rng);
                let (at, item) = self.stage.candidate(position);
                match self.pick(item, at) {
                    // Rounding gave it a weight; it has none.
                    Err(Error::ImpossiblePick { .. }) if weights[position] > 0.0 => weights[position] = 0.0,
                    picked => {
                        picked?;
                        break;
                    }
                }
            }
        }
        Ok(self.stage.drawn())
    }
}

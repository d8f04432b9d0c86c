//! Algorithm 2 of the paper, literally: projected rows, and one determinant per candidate and node.

use faer::Mat;
use rand::{Rng, RngExt};

use super::{
    conditioning::{choose, project_rows},
    stage::{Pick, Stage, attempted},
};
use crate::{
    PartitionDpp, Result,
    engine::{CandidateGrid, Engine, PhaseGrid, RowMap},
    linalg::{kernels::dot, project},
    polynomial::torus::less_one,
    watch::Watch,
};

/// The conditional law of the next pick, given the picks made so far.
///
/// Item i of part l comes next with probability ∝ ‖b_i‖² c_i. Here b_i is the residual of row i beyond the picks, and
/// c_i is the coefficient of z^{κ−e_l} of the generating function after projecting all rows off b_i.
///
/// # Cost
/// 8/3·r³ operations per candidate, node and pick, at the nodes of the shared evaluation. 8r bytes per item.
///
/// # Source
/// Kathuria and Deshpande (2016), algorithm 2; with one part it is their algorithm 1 (Deshpande and
/// Rademacher 2010).
#[derive(Clone, Debug)]
pub(super) struct ProjectedCandidates {
    /// N_l after the picks.
    shares: Vec<Mat<f64>>,
    /// B, row-major, group after group: the rows of all free items after the picks.
    rows: Vec<f64>,
    /// ‖b_i‖².
    norms: Vec<f64>,
    /// The coefficient of every candidate, in order of position.
    coefficients: Vec<f64>,
    /// Determinants computed so far.
    pub(super) determinants: u64,
}

impl ProjectedCandidates {
    pub(super) fn on(stage: &Stage, determinants: u64) -> Result<Self> {
        let function = &stage.function;
        let map = RowMap { weights: &function.weights, factor: function.map.as_ref() };
        let candidates = stage.setup.rows(&stage.groups);
        let mut rows = stage.setup.engine.whiten_rows(&candidates, &map)?;
        // The residuals of items picked before are rounding errors.
        for ((item, _), row) in candidates.iter().zip(rows.chunks_exact_mut(function.rank())) {
            if stage.picks.contains(&item) {
                row.fill(0.0);
            }
        }
        let norms = rows.chunks_exact(function.rank()).map(|row| dot(row, row)).collect();
        let shares = function.shares.clone();
        let mut law = Self { shares, rows, norms, coefficients: Vec::new(), determinants };
        law.evaluate(stage)?;
        Ok(law)
    }

    /// Computes one determinant per candidate and node.
    fn evaluate(&mut self, stage: &Stage) -> Result<()> {
        let Stage { setup, groups, torus, left, .. } = stage;
        let rank = stage.function.rank();
        self.coefficients.clear();
        let mut start = 0;
        for (at, &group) in groups.iter().enumerate() {
            let len = setup.items(group).len();
            if left[at] == 0 {
                self.coefficients.resize(self.coefficients.len() + len, 0.0);
            } else {
                let candidates = CandidateGrid {
                    grid: PhaseGrid { shares: &self.shares, phases: &torus.phases },
                    coefficients: &torus.extractors(&less_one(left, at)),
                    rows: &self.rows[start * rank..(start + len) * rank],
                };
                let found = setup.engine.candidate_determinants(&candidates)?;
                self.determinants += found.determinants;
                self.coefficients.extend(found.sums);
            }
            start += len;
        }
        Ok(())
    }

    /// The weight of every free item, proportional to Pr(next), group after group. The weights sum to the number of
    /// items left times the coefficient wanted.
    pub(super) fn weights(&self) -> impl Iterator<Item = f64> + '_ {
        self.norms.iter().zip(&self.coefficients).map(|(norm, coefficient)| (norm * coefficient).max(0.0))
    }

    /// Conditions on an item of an open group: projects all rows off the item's row, and makes a new grid if the old
    /// one is spent.
    pub(super) fn pick(&mut self, stage: &mut Stage, item: usize, pick: &Pick) -> Result<()> {
        let rank = stage.function.rank();
        let position = stage.position(item, pick.at);
        let coefficient = self.coefficients[position];
        self.norms = project_rows(&mut self.rows, &pick.direction);
        self.rows[position * rank..(position + 1) * rank].fill(0.0);
        self.norms[position] = 0.0;
        self.shares.iter_mut().for_each(|share| *share = project(share, &pick.direction));
        stage.record(pick);
        if stage.total() == 0 {
            return Ok(());
        }
        // The coefficient of the picked candidate is the one wanted now.
        if stage.has_faded(coefficient) {
            *stage = stage.renewed()?;
            *self = Self::on(stage, self.determinants)?;
            return Ok(());
        }
        self.evaluate(stage)
    }
}

/// Draws from all candidates at every step.
#[derive(Debug)]
pub(crate) struct PerCandidate {
    start: Stage,
    first: ProjectedCandidates,
    error: f64,
}

impl PerCandidate {
    pub(crate) fn new(dpp: &PartitionDpp, engine: &Engine) -> Result<Self> {
        let start = Stage::start(dpp, engine)?;
        let first = ProjectedCandidates::on(&start, 0)?;
        let error = start.error_of(&first.weights().collect::<Vec<f64>>())?;
        Ok(Self { start, first, error })
    }

    /// Estimated total variation error of the law.
    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    /// # Errors
    /// [`Error::LostDraw`](crate::Error::LostDraw), [`Error::Ended`](crate::Error::Ended); engine errors.
    pub(crate) fn sample<R: Rng + ?Sized>(&self, rng: &mut R, watch: &Watch) -> Result<Vec<u32>> {
        let engine = self.start.setup.engine.watched(watch);
        attempted(&self.start.on(&engine), watch, |stage| finish(stage, self.first.clone(), rng))
    }
}

fn finish<R: Rng + ?Sized>(
    mut stage: Stage,
    mut candidates: ProjectedCandidates,
    rng: &mut R,
) -> Result<Vec<u32>> {
    while stage.total() > 0 {
        let mut weights: Vec<f64> = candidates.weights().collect();
        let (item, pick) = loop {
            let position = choose(&weights, rng.random()).ok_or_else(|| stage.lost())?;
            let (at, item) = stage.candidate(position);
            match stage.consider(item, at) {
                Some(pick) => break (item, pick),
                // The item's weight is a rounding error.
                None => weights[position] = 0.0,
            }
        };
        candidates.pick(&mut stage, item, &pick)?;
    }
    Ok(stage.drawn())
}

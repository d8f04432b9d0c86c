//! Algorithm 2 of the paper with shared candidate evaluation: one matrix per part instead of one
//! determinant per candidate.

use std::sync::Arc;

use faer::{Mat, MatMut, MatRef, c64};
use rand::{Rng, RngExt};

use super::{PartitionDpp, stage::Stage};
use crate::{
    Error, Result,
    engine::{GridRequest, PhaseGrid},
    linalg::{self, column, column_mut},
    polynomial::torus::{add_real_part, less_one, real_sum},
};

/// Where qᵀP⁻¹q is larger than this at some node, P is so close to singular there that its conditioned
/// inverse is better formed anew.
const NEAR_SINGULAR: f64 = 1e4;

/// The conditional law of the next pick, given the picks made so far.
///
/// With φ = det P and P⁻¹ known at every node, item i of part l comes next with probability ∝ u_iᵀ W_l u_i,
///
/// ```text
/// W_l = Re mean over nodes of φ(θ) P(θ)⁻¹ e^{−i(κ−e_l)·θ}
/// ```
///
/// and a pick with direction q conditions every node by a rank-one update: P⁻¹ ← P⁻¹ − vvᵀ/(qᵀv),
/// φ ← φ·(qᵀv), v = P⁻¹q.
///
/// # Source
/// Kathuria and Deshpande (2016), algorithm 2 and theorem 3.2, by the matrix determinant lemma.
#[derive(Clone, Debug)]
pub(crate) struct Interpolation<'a> {
    stage: Stage<'a>,
    values: Vec<c64>,
    inverses: Arc<Vec<Mat<c64>>>,
    /// Weights of the first draw's candidates, by group.
    first: Arc<Vec<Vec<f64>>>,
}

impl<'a> Interpolation<'a> {
    pub(crate) fn new(dpp: &PartitionDpp<'a>, engine: &'a dyn crate::engine::Engine) -> Result<Self> {
        let mut law = Self::on(Stage::start(dpp, engine)?)?;
        let all = (0..law.stage.groups.len()).map(|at| law.evaluate(at)).collect::<Result<_>>()?;
        law.first = Arc::new(all);
        Ok(law)
    }

    fn on(stage: Stage<'a>) -> Result<Self> {
        let grid = PhaseGrid { shares: &stage.function.shares, phases: &stage.torus.phases };
        let points = stage.problem.engine.grid_determinants(&grid, GridRequest::Inverses)?;
        let values = points.iter().map(|point| point.determinant.value()).collect();
        let inverse = |inverse: Option<Mat<c64>>| match inverse {
            Some(inverse) => inverse,
            None => unreachable!("inverses were asked for"),
        };
        let inverses = Arc::new(points.into_iter().map(|point| inverse(point.inverse)).collect());
        Ok(Self { stage, values, inverses, first: Arc::default() })
    }

    pub(crate) fn error(&self) -> f64 {
        let found = self.stage.torus.coefficient(&self.values, &self.stage.left, self.stage.function.rank());
        found.error / found.value * self.stage.total() as f64 + self.stage.problem.error
    }

    pub(super) fn stage(&self) -> &Stage<'a> {
        &self.stage
    }

    /// The coefficient wanted, as a fraction of φ at the real node.
    pub(super) fn coefficient(&self) -> f64 {
        real_sum(&self.stage.torus.extractors(&self.stage.left), &self.values)
    }

    /// Weight of every free item of an open group: Pr(next) in proportion; they sum to what is left of the
    /// group times the coefficient wanted.
    pub(super) fn weights(&self, at: usize) -> Result<Vec<f64>> {
        match self.first.get(at) {
            Some(weights) => Ok(weights.clone()),
            None => self.evaluate(at),
        }
    }

    fn evaluate(&self, at: usize) -> Result<Vec<f64>> {
        let Stage { problem, groups, function, torus, left, .. } = &self.stage;
        let rank = function.rank();
        let mut form = Mat::zeros(rank, rank);
        let extractors = torus.extractors(&less_one(left, at));
        for ((extractor, value), inverse) in extractors.iter().zip(&self.values).zip(&*self.inverses) {
            add_real_part(&mut form, extractor * value, inverse);
        }
        let weight = function.weights[at];
        let root = linalg::positive_root(form.as_ref(), weight * weight)?;
        let factor = linalg::square_root(&function.map * root);
        problem.engine.row_forms(&problem.rows(&groups[at..=at]), &[factor.as_ref()])
    }

    /// Conditions on an item of an open group.
    pub(super) fn pick(&mut self, item: usize, at: usize) -> Result<()> {
        let direction = self.stage.direction(item, at)?;
        let mut largest = 0.0;
        for (inverse, value) in Arc::make_mut(&mut self.inverses).iter_mut().zip(&mut self.values) {
            let along = condition(inverse.as_mut(), &direction);
            *value *= along;
            largest = f64::max(largest, along.norm());
        }
        self.stage.record(item, at, &direction);
        self.first = Arc::default();
        let done = self.stage.left[at] == 0 && self.stage.total() > 0;
        if (done || largest > NEAR_SINGULAR || self.stage.has_faded(self.coefficient()))
            && let Some(stage) = self.stage.renewed()
        {
            *self = Self::on(stage)?;
        }
        Ok(())
    }

    /// A subset, part by part, the smallest quota first: its grid is the largest.
    pub(crate) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<u32> {
        super::stage::infallible(|engine| {
            let mut law = self.clone();
            law.stage.compute_on(engine);
            law.sample_rest(rng)
        })
    }

    fn sample_rest<R: Rng + ?Sized>(&mut self, rng: &mut R) -> Result<Vec<u32>> {
        let mut part = None;
        while self.stage.total() > 0 {
            let at = self.stage.current(part);
            let group = self.stage.groups[at];
            part = Some(group);
            let problem = Arc::clone(&self.stage.problem);
            let items = problem.items(group);
            let mut weights = self.weights(at)?;
            for (position, weight) in weights.iter_mut().enumerate() {
                if self.stage.picks.contains(&items.at(position)) {
                    *weight = 0.0;
                }
            }
            loop {
                let position = choose(&weights, rng);
                match self.pick(items.at(position), at) {
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

/// A position with probability in proportion to its weight.
pub(super) fn choose<R: Rng + ?Sized>(weights: &[f64], rng: &mut R) -> usize {
    let total: f64 = weights.iter().sum();
    let mut left = rng.random::<f64>() * total;
    let mut last = 0;
    for (position, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            last = position;
            if left < weight {
                break;
            }
            left -= weight;
        }
    }
    last
}

/// P⁻¹ ← P⁻¹ − vvᵀ/(qᵀv) with v = P⁻¹q; returns qᵀv.
fn condition(mut inverse: MatMut<'_, c64>, direction: &[f64]) -> c64 {
    let image = product(inverse.as_ref(), direction);
    let along: c64 = image.iter().zip(direction).map(|(v, q)| v * q).sum();
    for j in 0..inverse.ncols() {
        let factor = image[j] / along;
        for (out, v) in column_mut(inverse.as_mut(), j).iter_mut().zip(&image) {
            *out -= v * factor;
        }
    }
    along
}

/// X q for a real q.
fn product(matrix: MatRef<'_, c64>, vector: &[f64]) -> Vec<c64> {
    let mut out = vec![c64::new(0.0, 0.0); matrix.nrows()];
    for (j, &q) in vector.iter().enumerate() {
        for (out, x) in out.iter_mut().zip(column(matrix, j)) {
            *out += x * q;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Partition, Quota, engine::Cpu};

    fn two_parts(size: usize) -> (Features<'static>, Partition) {
        let items = 2 * size;
        let values = (0..items * items).map(|i| f64::sin(0.7 * (i * i % 10_007) as f64) + 0.05);
        let features = Features::from_rows(items, items, values.collect::<Vec<f64>>()).unwrap();
        let labels: Vec<usize> = (0..items).map(|i| i / size).collect();
        (features, Partition::from_labels(&labels).unwrap())
    }

    /// Largest gap between the probabilities of two laws' next picks from an open group.
    fn gap(one: &Interpolation<'_>, other: &Interpolation<'_>, picks: &[usize], at: usize) -> f64 {
        let probabilities = |law: &Interpolation<'_>| {
            let items = law.stage.problem.items(law.stage.groups[at]);
            let weights = law.weights(at).unwrap();
            let free = (0..items.len()).filter(|&i| !picks.contains(&items.at(i)));
            let free: Vec<f64> = free.map(|i| weights[i]).collect();
            let total: f64 = free.iter().sum();
            free.into_iter().map(move |weight| weight / total).collect::<Vec<f64>>()
        };
        probabilities(one).iter().zip(probabilities(other)).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn a_stale_inverse_is_seen() {
        let (features, partition) = two_parts(6);
        let quota = Quota::each(&partition, 3).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let start = Interpolation::new(&dpp, &Cpu).unwrap();
        let fresh = Interpolation::new(&dpp.clone().including(&[2]).unwrap(), &Cpu).unwrap();
        let mut law = start.clone();
        law.pick(2, 0).unwrap();
        assert!(gap(&law, &fresh, &[2], 0) < 1e-13);
        law.inverses = Arc::clone(&start.inverses);
        assert!(gap(&law, &fresh, &[2], 0) > 1e-3);
    }

    /// Why grids are renewed: at a fixed radius late picks lose their digits.
    #[test]
    fn a_fixed_radius_loses_late_picks() {
        let (features, partition) = two_parts(40);
        let quota = Quota::each(&partition, 30).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let mut renewed = Interpolation::new(&dpp, &Cpu).unwrap();
        let mut fixed = renewed.clone();
        let picks: Vec<usize> = (0..29).collect();
        for &item in &picks {
            renewed.pick(item, 0).unwrap();
            let direction = fixed.stage.direction(item, 0).unwrap();
            for (inverse, value) in Arc::make_mut(&mut fixed.inverses).iter_mut().zip(&mut fixed.values) {
                *value *= condition(inverse.as_mut(), &direction);
            }
            fixed.stage.record(item, 0, &direction);
        }
        fixed.first = Arc::default();
        let fresh = Interpolation::new(&dpp.including(&picks).unwrap(), &Cpu).unwrap();
        let (renewed, fixed) = (gap(&renewed, &fresh, &picks, 0), gap(&fixed, &fresh, &picks, 0));
        assert!(renewed < 1e-12, "{renewed:e}");
        assert!(fixed > 1e-12 && fixed > 100.0 * renewed, "{fixed:e} {renewed:e}");
    }
}

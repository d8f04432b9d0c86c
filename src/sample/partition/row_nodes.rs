//! Shared candidate evaluation with one matrix per node in the coordinates of the rows: any number of items.

use std::sync::Arc;

use faer::{Mat, MatMut, MatRef, c64};

use super::stage::Stage;
use crate::{
    Result,
    engine::{PhaseGrid, grid_inverses},
    linalg::{self, column, column_mut},
    polynomial::torus::{add_real_part, less_one, real_sum},
};

/// Where qᵀP⁻¹q is larger than this at some node, P is so close to singular there that its conditioned
/// inverse is better formed anew.
pub(super) const NEAR_SINGULAR: f64 = 1e4;

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
/// # Cost
/// 16r² operations per node and pick, and 2m_l·n·r for the candidates; 16r² bytes per node.
#[derive(Clone, Debug)]
pub(crate) struct RowNodes<'a> {
    pub(super) stage: Stage<'a>,
    values: Vec<c64>,
    inverses: Arc<Vec<Mat<c64>>>,
    near_singular: bool,
}

impl<'a> RowNodes<'a> {
    pub(super) fn on(stage: Stage<'a>) -> Result<Self> {
        let grid = PhaseGrid { shares: &stage.function.shares, phases: &stage.torus.phases };
        let (values, inverses) = grid_inverses(stage.problem.engine, &grid)?.into_iter().unzip();
        Ok(Self { stage, values, inverses: Arc::new(inverses), near_singular: false })
    }

    /// Weight of every free item of an open group: Pr(next) in proportion; they sum to what is left of the
    /// group times the coefficient wanted.
    pub(super) fn weights(&self, at: usize) -> Result<Vec<f64>> {
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
        for (inverse, value) in Arc::make_mut(&mut self.inverses).iter_mut().zip(&mut self.values) {
            let along = condition(inverse.as_mut(), &direction);
            *value *= along;
            self.near_singular |= along.norm() > NEAR_SINGULAR;
        }
        self.stage.record(item, at, &direction);
        Ok(())
    }

    /// Whether a new grid serves the rest better, and there is a rest.
    pub(super) fn is_spent(&self) -> bool {
        let Stage { torus, left, .. } = &self.stage;
        self.stage.total() > 0
            && (self.near_singular || self.stage.has_faded(real_sum(&torus.extractors(left), &self.values)))
    }
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
    use crate::{Features, Partition, PartitionDpp, Quota, engine::Cpu};

    fn two_parts(size: usize) -> (Features<'static>, Partition) {
        let items = 2 * size;
        let values = (0..items * items).map(|i| f64::sin(0.7 * (i * i % 10_007) as f64) + 0.05);
        let features = Features::from_rows(items, items, values.collect::<Vec<f64>>()).unwrap();
        let labels: Vec<usize> = (0..items).map(|i| i / size).collect();
        (features, Partition::from_labels(&labels).unwrap())
    }

    fn start<'a>(dpp: &PartitionDpp<'a>) -> RowNodes<'a> {
        RowNodes::on(Stage::start(dpp, &Cpu).unwrap()).unwrap()
    }

    /// Largest gap between the probabilities of two laws' next picks from an open group.
    fn gap(one: &RowNodes<'_>, other: &RowNodes<'_>, picks: &[usize], at: usize) -> f64 {
        let probabilities = |law: &RowNodes<'_>| {
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
        let before = start(&dpp);
        let fresh = start(&dpp.clone().including(&[2]).unwrap());
        let mut law = before.clone();
        law.pick(2, 0).unwrap();
        assert!(gap(&law, &fresh, &[2], 0) < 1e-13);
        law.inverses = Arc::clone(&before.inverses);
        assert!(gap(&law, &fresh, &[2], 0) > 1e-3);
    }

    /// Why grids are renewed: at a fixed radius late picks lose their digits.
    #[test]
    fn a_fixed_radius_loses_late_picks() {
        let (features, partition) = two_parts(40);
        let quota = Quota::each(&partition, 30).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let mut renewed = start(&dpp);
        let mut fixed = renewed.clone();
        let picks: Vec<usize> = (0..29).collect();
        for &item in &picks {
            renewed.pick(item, 0).unwrap();
            if renewed.is_spent() {
                renewed = RowNodes::on(renewed.stage.renewed().unwrap()).unwrap();
            }
            fixed.pick(item, 0).unwrap();
        }
        let fresh = start(&dpp.including(&picks).unwrap());
        let (renewed, fixed) = (gap(&renewed, &fresh, &picks, 0), gap(&fixed, &fresh, &picks, 0));
        assert!(renewed < 1e-12, "{renewed:e}");
        assert!(fixed > 1e-12 && fixed > 100.0 * renewed, "{fixed:e} {renewed:e}");
    }
}

//! Shared candidate evaluation with one matrix per node in the coordinates of the rows, for any number of items.

use std::sync::Arc;

use faer::{Mat, c64};

use super::{
    conditioning::condition,
    stage::{Pick, Stage},
};
use crate::{
    Result,
    engine::{PhaseGrid, grid_inverses},
    linalg::{self, add_real_part},
    polynomial::torus::{less_one, real_sum},
};

/// Whether conditioning by a pivot qᵀP⁻¹q makes its node inaccurate, because P is close to singular before or after
/// the pick. Such a node should be recomputed.
pub(super) fn is_near_singular(pivot: c64) -> bool {
    !(1e-6..1e4).contains(&pivot.norm())
}

/// The conditional law of the next pick, given the picks made so far.
///
/// Let φ = det P and P⁻¹ be known at every node. Then item i of part l comes next with probability ∝ u_iᵀ W_l u_i:
///
/// ```text
/// W_l = Re mean over nodes of φ(θ) P(θ)⁻¹ e^{−i(κ−e_l)·θ}
/// ```
///
/// A pick with direction q conditions every node by a rank-one update: P⁻¹ ← P⁻¹ − vvᵀ/(qᵀv), φ ← φ·(qᵀv), v = P⁻¹q.
///
/// # Cost
/// 16r² operations per node and pick, and 2m_l·n·r for the candidates; 16r² bytes per node.
#[derive(Clone, Debug)]
pub(super) struct RowNodes {
    values: Vec<c64>,
    inverses: Arc<Vec<Mat<c64>>>,
    near_singular: bool,
}

impl RowNodes {
    pub(super) fn on(stage: &Stage) -> Result<Self> {
        let grid = PhaseGrid { shares: &stage.function.shares, phases: &stage.torus.phases };
        let (values, inverses) = grid_inverses(&stage.setup.engine, &grid)?.into_iter().unzip();
        Ok(Self { values, inverses: Arc::new(inverses), near_singular: false })
    }

    /// The weight of every free item of an open group, proportional to Pr(next). The weights sum to the number of
    /// items left of the group times the coefficient wanted.
    pub(super) fn weights(&self, stage: &Stage, at: usize) -> Result<Vec<f64>> {
        let Stage { setup, groups, function, torus, left, .. } = stage;
        let rank = function.rank();
        let mut form = Mat::zeros(rank, rank);
        let extractors = torus.extractors(&less_one(left, at));
        for ((extractor, value), inverse) in extractors.iter().zip(&self.values).zip(&*self.inverses) {
            add_real_part(&mut form, extractor * value, inverse);
        }
        let weight = function.weights[at];
        let root = linalg::positive_root(form.as_ref(), weight * weight)?;
        let factor = linalg::square_root(&function.map * root);
        setup.engine.row_forms(&setup.rows(&groups[at..=at]), &[factor.as_ref()])
    }

    /// Conditions the nodes on the item picked.
    pub(super) fn pick(&mut self, pick: &Pick) {
        for (inverse, value) in Arc::make_mut(&mut self.inverses).iter_mut().zip(&mut self.values) {
            let along = condition(inverse.as_mut(), &pick.direction);
            *value *= along;
            self.near_singular |= is_near_singular(along);
        }
    }

    /// Whether items are left to draw and should be drawn on a new grid.
    pub(super) fn is_spent(&self, stage: &Stage) -> bool {
        let coefficient = || real_sum(&stage.torus.extractors(&stage.left), &self.values);
        stage.total() > 0 && (self.near_singular || stage.has_faded(coefficient()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Partition, PartitionDpp, Quota, engine::Engine};

    fn two_parts(size: usize) -> (Features, Partition) {
        let items = 2 * size;
        let values = (0..items * items).map(|i| f64::sin(0.7 * (i * i % 10_007) as f64) + 0.05);
        let features = Features::from_rows(items, items, values.collect::<Vec<f64>>()).unwrap();
        let labels: Vec<usize> = (0..items).map(|i| i / size).collect();
        (features, Partition::from_labels(&labels).unwrap())
    }

    fn start(dpp: &PartitionDpp) -> (Stage, RowNodes) {
        let stage = Stage::start(dpp, Engine::host()).unwrap();
        let nodes = RowNodes::on(&stage).unwrap();
        (stage, nodes)
    }

    fn pick(law: &mut (Stage, RowNodes), item: usize) {
        let pick = law.0.consider(item, 0).unwrap();
        law.1.pick(&pick);
        law.0.record(&pick);
    }

    /// The largest difference between two laws in the probabilities of the next pick from the first group.
    fn gap(one: &(Stage, RowNodes), other: &(Stage, RowNodes), picks: &[usize]) -> f64 {
        let probabilities = |(stage, nodes): &(Stage, RowNodes)| {
            let items = stage.setup.items(stage.groups[0]);
            let weights = nodes.weights(stage, 0).unwrap();
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
        pick(&mut law, 2);
        assert!(gap(&law, &fresh, &[2]) < 1e-13);
        law.1.inverses = Arc::clone(&before.1.inverses);
        assert!(gap(&law, &fresh, &[2]) > 1e-3);
    }

    /// Grids are renewed because late picks lose digits at a fixed radius.
    #[test]
    fn a_fixed_radius_loses_late_picks() {
        let (features, partition) = two_parts(40);
        let quota = Quota::each(&partition, 30).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let mut renewed = start(&dpp);
        let mut fixed = renewed.clone();
        let picks: Vec<usize> = (0..29).collect();
        for &item in &picks {
            pick(&mut fixed, item);
            pick(&mut renewed, item);
            if renewed.1.is_spent(&renewed.0) {
                renewed.0 = renewed.0.renewed().unwrap();
                renewed.1 = RowNodes::on(&renewed.0).unwrap();
            }
        }
        let fresh = start(&dpp.including(&picks).unwrap());
        let (renewed, fixed) = (gap(&renewed, &fresh, &picks), gap(&fixed, &fresh, &picks));
        assert!(renewed < 1e-12, "{renewed:e}");
        assert!(fixed > 1e-12 && fixed > 100.0 * renewed, "{fixed:e} {renewed:e}");
    }
}

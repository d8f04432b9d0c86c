//! Shared candidate evaluation with one matrix per node over the items of a part, for parts with fewer items than
//! dimensions.

use std::sync::Arc;

use faer::{Mat, c64};

use super::{row_nodes::is_near_singular, stage::Stage};
use crate::{
    Result,
    engine::{PhaseGrid, RowMap, grid_inverses, in_double, inverses_at_a_time},
    linalg::{column, complex_inverse},
    parallel::{map_ordered, threads},
    polynomial::torus::{Torus, TorusPlan, less_one, real_sum},
};

/// The largest relative gap between the sum of the weights and its exact value at which the nodes are trusted.
const TRUSTED: f64 = 1e-11;
/// Phases closer to 1 than this (including products of two phases that should cancel) leave no digits in I − (I +
/// (z−1)T)⁻¹.
const CANCELLED: f64 = 1e-2;

/// The contribution of one part's items at every node: X = U P⁻¹ Uᵀ for the part's rows U, m_l×r.
///
/// The part's own phase z comes last. For fixed other phases, P = A + (z−1)UᵀU. With T = U A⁻¹ Uᵀ:
///
/// ```text
/// det P = det A · det(I + (z−1)T),   X = T (I + (z−1)T)⁻¹ = (I − (I + (z−1)T)⁻¹)/(z−1)
/// ```
///
/// All but a few factorisations are therefore m_l×m_l.
#[derive(Debug)]
pub(super) struct ItemNodes {
    /// Position of the part's group in the stage.
    pub(super) at: usize,
    /// Variables of the torus by position in the stage: the other groups, then this one.
    order: Vec<usize>,
    torus: Torus,
    values: Vec<c64>,
    forms: Vec<Mat<c64>>,
}

impl ItemNodes {
    /// The nodes of a stage, for one of its groups; `None` if rounding makes them inaccurate.
    pub(super) fn new(stage: &Stage, at: usize) -> Result<Option<Self>> {
        // Compute in double precision: this is cheap compared with a pass over the rows, and determines the law.
        let engine = in_double(&stage.setup.engine);
        let function = &stage.function;
        let map = RowMap { weights: &function.weights[at..=at], factor: function.map.as_ref() };
        let rows = engine.whiten_rows(&stage.setup.rows(&stage.groups[at..=at]), &map)?;
        let rank = function.rank();
        let rows = Mat::from_fn(rows.len() / rank, rank, |i, j| c64::new(rows[i * rank + j], 0.0));

        // The part needs its own phase, so the group with the fewest items left carries the phase of the total.
        let mut order: Vec<usize> = (0..stage.left.len()).filter(|&other| other != at).collect();
        order.sort_by_key(|&other| stage.left[other]);
        let shares: Vec<Mat<f64>> = order.iter().map(|&other| function.shares[other].clone()).collect();
        order.push(at);
        let left: Vec<usize> = order.iter().map(|&other| stage.left[other]).collect();
        let torus = Torus::new(TorusPlan::with_reference(function, &order, &left, 0)?);
        let blocks = torus.blocks();
        let outer: Vec<c64> =
            blocks.iter().flat_map(|block| torus.node(block.start)[..order.len() - 1].to_vec()).collect();
        // det A and T.
        let mut points = Vec::with_capacity(blocks.len());
        if shares.is_empty() {
            points.push((c64::new(1.0, 0.0), &rows * rows.transpose()));
        }
        let at_a_time = inverses_at_a_time(rank).max(threads());
        for phases in outer.chunks((at_a_time * shares.len()).max(1)) {
            let found = grid_inverses(engine, &PhaseGrid { shares: &shares, phases })?;
            points.extend(map_ordered(found.len(), |node| {
                let (determinant, inverse) = &found[node];
                (*determinant, &rows * (inverse * rows.transpose()))
            }));
        }
        let found = map_ordered(blocks.len(), |block| {
            let (determinant, t) = &points[block];
            let own = |node: usize| torus.node(node)[order.len() - 1];
            blocks[block].clone().map(|node| at_node(t, own(node), *determinant)).collect::<Vec<_>>()
        });
        let (values, forms) = found.into_iter().flatten().unzip();
        let nodes = Self { at, order, torus, values, forms };
        Ok((nodes.gap(&stage.left) <= TRUSTED).then_some(nodes))
    }

    /// The relative gap between the sum of the items' weights and its exact value, which is the number of items left
    /// of the part times the coefficient wanted.
    pub(super) fn gap(&self, left: &[usize]) -> f64 {
        let coefficient = real_sum(&self.extractors(left), &self.values);
        let trace = |form: &Mat<c64>| (0..form.nrows()).map(|i| form[(i, i)]).sum::<c64>();
        let extractors = self.extractors(&less_one(left, self.at));
        let terms = extractors.iter().zip(&self.values).zip(&self.forms);
        let sum: f64 = terms.map(|((e, value), form)| (e * value * trace(form)).re).sum();
        let expected = left[self.at] as f64 * coefficient;
        (sum - expected).abs() / expected
    }

    fn extractors(&self, left: &[usize]) -> Vec<c64> {
        self.torus.extractors(&self.order.iter().map(|&at| left[at]).collect::<Vec<_>>())
    }
}

/// φ and X at one node.
fn at_node(t: &Mat<c64>, phase: c64, outer: c64) -> (c64, Mat<c64>) {
    let size = t.nrows();
    let factor = phase - 1.0;
    let identity = |i: usize, j: usize| c64::new(if i == j { 1.0 } else { 0.0 }, 0.0);
    let (determinant, inverse) =
        complex_inverse(&Mat::from_fn(size, size, |i, j| identity(i, j) + factor * t[(i, j)]));
    let form = if factor.norm() < CANCELLED {
        t * inverse
    } else {
        Mat::from_fn(size, size, |i, j| (identity(i, j) - inverse[(i, j)]) / factor)
    };
    (outer * determinant.value(), form)
}

/// Picks from one part: a pivoted Cholesky factorisation at every node, relative to the real node.
///
/// A pick j with pivot δ = X_jj changes X to X − xxᵀ/δ, where x is column j; only the diagonal and the columns of the
/// picks are formed.
#[derive(Clone, Debug)]
pub(super) struct ItemPicks {
    nodes: Arc<ItemNodes>,
    values: Vec<c64>,
    /// diag X, node after node.
    diagonals: Vec<c64>,
    /// x/√δ of every pick, node after node.
    columns: Vec<Vec<c64>>,
    near_singular: bool,
}

impl ItemPicks {
    pub(super) fn new(nodes: Arc<ItemNodes>) -> Self {
        let diagonal = |form: &Mat<c64>| (0..form.nrows()).map(|i| form[(i, i)]).collect::<Vec<_>>();
        let diagonals = nodes.forms.iter().flat_map(diagonal).collect();
        let columns = vec![Vec::new(); nodes.forms.len()];
        Self { values: nodes.values.clone(), diagonals, columns, near_singular: false, nodes }
    }

    /// The weight of every item of the part, proportional to Pr(next).
    pub(super) fn weights(&self, left: &[usize]) -> Vec<f64> {
        let items = self.nodes.forms[0].nrows();
        let extractors = self.nodes.extractors(&less_one(left, self.nodes.at));
        let mut weights = vec![0.0; items];
        let nodes = extractors.iter().zip(&self.values).zip(self.diagonals.chunks_exact(items));
        for ((extractor, value), diagonal) in nodes {
            let factor = extractor * value;
            for (weight, d) in weights.iter_mut().zip(diagonal) {
                *weight += factor.re * d.re - factor.im * d.im;
            }
        }
        weights
    }

    /// Conditions the nodes on the item at this position in the part.
    pub(super) fn pick(&mut self, position: usize) {
        let items = self.nodes.forms[0].nrows();
        // At the first node, the real one, P is the identity, so the item's residual is its length there.
        let left = self.diagonals[position].re;
        let nodes = self.nodes.forms.iter().zip(&mut self.columns).zip(&mut self.values);
        for (((form, columns), value), diagonal) in nodes.zip(self.diagonals.chunks_exact_mut(items)) {
            let mut x = column(form.as_ref(), position).to_vec();
            for earlier in columns.chunks_exact(items) {
                let along = earlier[position];
                x.iter_mut().zip(earlier).for_each(|(x, e)| *x -= e * along);
            }
            let pivot = x[position];
            *value *= pivot / left;
            self.near_singular |= is_near_singular(pivot / left);
            let root = pivot.sqrt().inv();
            x.iter_mut().for_each(|x| *x *= root);
            diagonal.iter_mut().zip(&x).for_each(|(d, x)| *d -= x * x);
            columns.extend(x);
        }
    }

    /// Whether a node is too close to singular.
    pub(super) fn is_spoilt(&self) -> bool {
        self.near_singular
    }

    /// The coefficient wanted, as a fraction of φ at the real node.
    pub(super) fn coefficient(&self, left: &[usize]) -> f64 {
        real_sum(&self.nodes.extractors(left), &self.values)
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::{super::row_nodes::RowNodes, *};
    use crate::{Features, Partition, PartitionDpp, Quota, engine::Engine};

    #[test]
    fn weights_are_those_of_the_rows() {
        for (size, dims, parts, quota) in [(5, 12, 2, 3), (4, 9, 3, 2), (7, 7, 1, 4), (6, 30, 2, 5)] {
            let items = size * parts;
            let values = (0..items * dims).map(|i| f64::sin(0.9 * (i * i % 9_973) as f64) + 0.1);
            let features = Features::from_rows(items, dims, values.collect::<Vec<f64>>()).unwrap();
            let labels: Vec<usize> = (0..items).map(|i| i % parts).collect();
            let partition = Partition::from_labels(&labels).unwrap();
            let quota = Quota::each(&partition, quota).unwrap();
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let stage = Stage::start(&dpp, Engine::host()).unwrap();
            for at in 0..parts {
                let mut stage = stage.clone();
                let mut rows = RowNodes::on(&stage).unwrap();
                let mut items = ItemPicks::new(Arc::new(ItemNodes::new(&stage, at).unwrap().unwrap()));
                let members = partition.members(at);
                for (position, &member) in members.iter().enumerate().take(quota.low()[at]) {
                    let (by_rows, by_items) = (rows.weights(&stage, at).unwrap(), items.weights(&stage.left));
                    let total: f64 = by_rows.iter().sum();
                    for (r, i) in by_rows.iter().zip(&by_items) {
                        assert_abs_diff_eq!(r, i, epsilon = 1e-12 * total);
                    }
                    let pick = stage.consider(member as usize, at).unwrap();
                    rows.pick(&pick);
                    items.pick(position);
                    stage.record(&pick);
                    let coefficient = items.coefficient(&stage.left);
                    assert!(coefficient > 0.0);
                }
            }
        }
    }

    /// Phases of the total and of the part may cancel to 1 up to rounding.
    #[test]
    fn grids_are_trusted_after_any_picks() {
        let items = 48;
        let values = (0..items * items).map(|i| f64::sin(0.7 * (i * i % 10_007) as f64) + 0.05);
        let features = Features::from_rows(items, items, values.collect::<Vec<f64>>()).unwrap();
        let labels: Vec<usize> = (0..items).map(|i| i % 2).collect();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::each(&partition, 10).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let mut stage = Stage::start(&dpp, Engine::host()).unwrap();
        for &item in &partition.members(0)[..9] {
            let pick = stage.consider(item as usize, 0).unwrap();
            stage.record(&pick);
            stage = stage.renewed().unwrap();
            for at in 0..2 {
                assert!(ItemNodes::new(&stage, at).unwrap().is_some(), "{:?} {at}", stage.left);
            }
        }
    }
}

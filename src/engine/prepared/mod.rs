//! An engine that has passed over the rows already.

mod known;

use std::sync::Arc;

use faer::{Mat, MatRef, c64};

use self::known::Known;
use super::{
    Beyond, CandidateGrid, CandidateSums, Determinant, Engine, EngineInfo, FormGrid, GainTable, GridForms,
    GridPoint, GridRequest, Group, Items, NodeFactors, NodeTable, PhaseGrid, RowMap, Rows, SwapTable, Verbs,
    in_double, proposals::ProposalDevice, slates::SlateDevice,
};
use crate::{Error, Features, Partition, Result, data::check_partition, linalg, watch::Step};

/// An engine that knows the Gram matrix of every part, and how much every row weighs in it, from one pass over the rows:
/// one set-up for many questions.
///
/// Samplers and inference with this engine answer other quotas, totals, inclusions, exclusions, and weights of whole parts
/// without reading the rows again, except those of the items included or excluded:
///
/// ```text
/// G' = G_l − Σ a_i a_iᵀ over excluded items,   ‖F_lᵀ a_i‖² ≤ λ_max(F_lᵀ (G_l + εI) F_l) · a_iᵀ (G_l + εI)⁻¹ a_i
/// ```
///
/// The law of samples is the same, but other sets are drawn than without, since items are tried in proportion to the upper
/// bound; up to p times as many are tried for p parts. What is not known accurately enough this way, and everything about
/// other features, is computed by the engine beneath: rows near-dependent on included ones, parts of which most is
/// excluded, and inclusion probabilities, which are a pass over the rows. Over an engine in single precision the set-up that
/// needs f64 is that engine's, without what is known.
///
/// # Cost
/// Two passes over the rows, 4mn² operations; 8m bytes, and 24pn². A sampler then takes O(pn³) and 24 bytes per item, and
/// some 70 ns per item for its table.
///
/// # Examples
/// A catalogue that is asked for other quotas, and grows:
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Method, Partition, PartitionDpp, Quota, engine::Prepared};
/// let mut values: Vec<f64> = (0..4000).map(|i| f64::from(i * i % 97)).collect();
/// let mut labels = vec!["a", "b"].repeat(500);
/// let features = Features::from_rows(1000, 4, values.clone())?;
/// let partition = Partition::from_labels(&labels)?;
/// let prepared = Prepared::new(&features, &partition, &Engine::cpu())?;
/// let engine = Engine::from(prepared.clone());
/// for counts in [[1, 1], [2, 1], [0, 3]] {
///     let dpp = PartitionDpp::new(&features, &partition, &Quota::new(&partition, counts)?)?;
///     let sampler = dpp.excluding(&[17])?.sampler(Method::Auto, &engine)?;
///     assert_eq!(sampler.sample_many(1, 0).subsets()[0].part_counts(&partition), counts);
/// }
/// // Rows that come later are added to what is known.
/// values.extend([1.0, 2.0, 3.0, 4.0]);
/// labels.push("b");
/// let (features, partition) = (Features::from_rows(1001, 4, values)?, Partition::from_labels(&labels)?);
/// let engine = Engine::from(prepared.extended(&features, &partition)?);
/// # let quota = Quota::new(&partition, [1, 1])?;
/// # PartitionDpp::new(&features, &partition, &quota)?.sampler(Method::Auto, &engine)?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Prepared {
    engine: Engine,
    features: Features,
    partition: Partition,
    /// s_l, powers of two; zero for parts without rows so far.
    scales: Vec<f64>,
    /// G_l of rows s_l a_i.
    grams: Vec<Mat<f64>>,
    /// At least s_l a_iᵀ (G_l + εI)⁻¹ s_l a_i.
    leverages: Vec<f64>,
}

/// ε, relative to the trace: directions far shorter are bounded by their length.
const REGULAR: f64 = 1e-9;
/// What rounding may take from a leverage.
const MARGIN: f64 = 1.001;

impl Prepared {
    /// Passes over the rows of all parts.
    ///
    /// # Errors
    /// [`Error::LabelCount`]; those of the engine.
    pub fn new(features: &Features, partition: &Partition, engine: &Engine) -> Result<Self> {
        check_partition(features, partition)?;
        let nothing = Self {
            engine: engine.clone(),
            features: features.clone(),
            partition: partition.clone(),
            scales: vec![0.0; partition.parts()],
            grams: vec![Mat::zeros(features.dims(), features.dims()); partition.parts()],
            leverages: Vec::new(),
        };
        nothing.with_more()
    }

    /// With the rows that these features have more than those known, whose first ones they must be. Parts are found
    /// again by name, and there may be new ones.
    ///
    /// # Cost
    /// Two passes over the new rows.
    ///
    /// # Errors
    /// [`Error::LabelCount`]; [`Error::Shape`] for features of other dimensions or fewer items;
    /// [`Error::UnlikeShards`] if the first rows or their parts are others; those of the engine.
    pub fn extended(self, features: &Features, partition: &Partition) -> Result<Self> {
        check_partition(features, partition)?;
        let (dims, found) = (self.features.dims(), features.dims());
        if dims != found {
            return Err(Error::Shape { what: "a row", expected: dims, found });
        }
        let (known, found) = (self.features.items(), features.items());
        if found < known {
            return Err(Error::Shape { what: "the features with new rows", expected: known, found });
        }
        let part = |name: &String| self.partition.names().iter().position(|known| known == name);
        let parts: Vec<Option<usize>> = partition.names().iter().map(part).collect();
        let is_same = |item: usize| {
            parts[partition.part_of(item)] == Some(self.partition.part_of(item))
                && (!item.is_multiple_of(known.div_ceil(64)) || features.row(item) == self.features.row(item))
                && features.log_weight(item).total_cmp(&self.features.log_weight(item)).is_eq()
        };
        if let Some(item) = (0..known).find(|&item| !is_same(item)) {
            let found = format!("item {item} is another row, or in another part");
            return Err(Error::UnlikeShards { shard: 1, found, expected: "the known rows first".into() });
        }
        let none = || Mat::zeros(dims, dims);
        let grams =
            parts.iter().map(|part| part.map_or_else(none, |part| self.grams[part].clone())).collect();
        let scales = parts.iter().map(|part| part.map_or(0.0, |part| self.scales[part])).collect();
        Self { features: features.clone(), partition: partition.clone(), grams, scales, ..self }.with_more()
    }

    /// Adds the rows without leverages. Those of the others are lower than before: what is known bounds them.
    fn with_more(mut self) -> Result<Self> {
        let known = self.leverages.len();
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let from = known as u32;
        let new = |part: usize| {
            let members = self.partition.members(part);
            &members[members.partition_point(|&item| item < from)..]
        };
        let parts: Vec<usize> = (0..self.partition.parts()).filter(|&part| !new(part).is_empty()).collect();
        let items = parts.iter().map(|&part| Items::Listed(new(part))).collect();
        for (&part, scale) in parts.iter().zip(Rows::scaled(&self.features, items).scales()) {
            if self.scales[part] == 0.0 {
                self.scales[part] = scale;
            }
        }
        let group = |&part: &usize| Group { items: Items::Listed(new(part)), scale: self.scales[part] };
        let rows = Rows::with_scales(&self.features, parts.iter().map(group).collect());
        let engine = in_double(&self.engine);
        for (&part, gram) in parts.iter().zip(engine.part_grams(&rows, None)?) {
            self.grams[part] += gram;
        }
        let factors =
            parts.iter().map(|&part| inverse_root(&self.grams[part])).collect::<Result<Vec<_>>>()?;
        let factors: Vec<MatRef<'_, f64>> = factors.iter().map(Mat::as_ref).collect();
        let forms = engine.row_forms(&rows, &factors)?;
        let mut leverages = std::mem::take(&mut self.leverages);
        leverages.resize(self.features.items(), 0.0);
        rows.iter().zip(forms).for_each(|((item, _), form)| leverages[item] = MARGIN * form);
        drop(rows);
        self.leverages = leverages;
        Ok(self)
    }

    /// The engine beneath.
    #[must_use]
    pub fn beneath(&self) -> &Engine {
        &self.engine
    }

    /// What is known of these rows, group by group; `None` if something is not.
    fn known<'r>(&'r self, rows: &'r Rows<'_>) -> Option<Vec<Known<'r>>> {
        rows.groups().iter().map(|group| Known::of(self, rows.features(), *group)).collect()
    }

    fn known_grams(&self, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Option<Vec<Mat<f64>>> {
        let is_basis = |map: &RowMap<'_>| {
            map.weights.iter().all(|weight| weight.total_cmp(&1.0).is_eq()) && is_orthonormal(map.factor)
        };
        // Rows are measured in whitened coordinates because Gram matrices have too few digits.
        if map.is_some_and(|map| !is_basis(map)) {
            return None;
        }
        self.known(rows)?.iter().map(|known| known.gram(map.map(|map| map.factor))).collect()
    }
}

fn is_orthonormal(factor: MatRef<'_, f64>) -> bool {
    let product = factor.transpose() * factor;
    let off = |(i, j): (usize, usize)| (product[(i, j)] - if i == j { 1.0 } else { 0.0 }).abs();
    (0..product.nrows()).flat_map(|i| (0..=i).map(move |j| (i, j))).all(|at| off(at) < 1e-10)
}

impl Verbs for Prepared {
    fn info(&self) -> EngineInfo {
        self.engine.info()
    }

    fn proceed(&self) -> Result<()> {
        self.engine.proceed()
    }

    fn proceed_after(&self, rows: usize) -> Result<()> {
        self.engine.proceed_after(rows)
    }

    fn proceed_after_steps(&self, step: Step, steps: usize) -> Result<()> {
        self.engine.proceed_after_steps(step, steps)
    }

    fn stand_in(&self) -> Option<&Engine> {
        self.engine.stand_in()
    }

    fn proposal_device(&self) -> Option<Arc<dyn ProposalDevice>> {
        self.engine.proposal_device()
    }

    fn slate_device(&self) -> Option<Arc<dyn SlateDevice>> {
        self.engine.slate_device()
    }

    fn part_grams(&self, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>> {
        self.known_grams(rows, map).map_or_else(|| self.engine.part_grams(rows, map), Ok)
    }

    fn row_forms(&self, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Result<Vec<f64>> {
        self.engine.row_forms(rows, factors)
    }

    fn known_bounds(&self, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Option<Vec<f64>> {
        let known = self.known(rows)?;
        let mut bounds = Vec::with_capacity(rows.len());
        for (known, factor) in known.iter().zip(factors) {
            known.add_bounds(*factor, &mut bounds)?;
        }
        Some(bounds)
    }

    fn whiten_rows(&self, rows: &Rows<'_>, map: &RowMap<'_>) -> Result<Vec<f64>> {
        self.engine.whiten_rows(rows, map)
    }

    fn grid_determinants(&self, grid: &PhaseGrid<'_>, request: GridRequest) -> Result<Vec<GridPoint>> {
        self.engine.grid_determinants(grid, request)
    }

    fn grid_forms(&self, of: &FormGrid<'_>, passed: &dyn Fn(usize) -> Result<()>) -> Result<GridForms> {
        self.engine.grid_forms(of, passed)
    }

    fn grid_blocks(
        &self,
        grid: &PhaseGrid<'_>,
        rows: MatRef<'_, f64>,
    ) -> Result<Vec<(Determinant, Mat<c64>)>> {
        self.engine.grid_blocks(grid, rows)
    }

    fn candidate_determinants(&self, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
        self.engine.candidate_determinants(candidates)
    }

    fn project_rows(&self, rows: &mut [f64], direction: &[f64]) -> Result<Vec<f64>> {
        self.engine.project_rows(rows, direction)
    }

    fn row_norms(&self, rows: &Rows<'_>) -> Result<Vec<f64>> {
        self.engine.row_norms(rows)
    }

    fn gain_table<'e>(&'e self, rows: &Rows<'e>, gains: &[f64]) -> Result<Box<dyn GainTable + 'e>> {
        self.engine.gain_table(rows, gains)
    }

    fn picks_ahead(&self) -> bool {
        self.engine.picks_ahead()
    }

    fn norm_table<'e>(&'e self, rows: &Rows<'e>) -> Result<Box<dyn GainTable + 'e>> {
        self.engine.norm_table(rows)
    }

    fn swap_table<'e>(
        &'e self,
        rows: &Rows<'e>,
        duals: &[MatRef<'_, f64>],
        residuals: &[f64],
    ) -> Result<Box<dyn SwapTable + 'e>> {
        self.engine.swap_table(rows, duals, residuals)
    }

    fn fresh_swap_table<'e>(
        &'e self,
        rows: &Rows<'e>,
        duals: &[MatRef<'_, f64>],
        beyond: &Beyond<'_>,
    ) -> Result<Box<dyn SwapTable + 'e>> {
        self.engine.fresh_swap_table(rows, duals, beyond)
    }

    fn node_table(
        &self,
        rows: &Rows<'_>,
        map: &RowMap<'_>,
        grid: &PhaseGrid<'_>,
        factors: &NodeFactors<'_>,
    ) -> Result<Option<Box<dyn NodeTable>>> {
        self.engine.node_table(rows, map, grid, factors)
    }
}

/// V (Λ + εI)^-½ of a Gram matrix V Λ Vᵀ.
fn inverse_root(gram: &Mat<f64>) -> Result<Mat<f64>> {
    let eigen = linalg::eigen(gram.as_ref())?;
    let trace: f64 = eigen.values.iter().sum();
    let floor = (REGULAR * trace).max(f64::MIN_POSITIVE);
    let roots: Vec<f64> = eigen.values.iter().map(|value| (value.max(0.0) + floor).sqrt().recip()).collect();
    Ok(linalg::scale_columns(eigen.vectors.as_ref(), &roots))
}

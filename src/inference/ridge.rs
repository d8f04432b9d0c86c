//! Inference under a quota, for a kernel with a ridge.

use faer::Mat;

use super::{IMPOSSIBLE, add_forms, ranges::RangeNodes};
use crate::{
    Error, Estimate, Features, PartitionDpp, Result, RidgeDpp, Subset,
    engine::{Engine, EngineInfo},
    error::WeightProblem,
    estimate::accurate,
    linalg,
    model::{Fill, PartFill, accurately, log_determinant_estimate},
};

/// Probabilities under a [`RidgeDpp`], made by its `inference` method.
///
/// ```text
/// Z = Σ_c w(c) Z_c,   Pr(i ∈ S) = E[ρ_l(c_l)] + E[1{i ∈ T} (1 − ρ_l(c_l))]
/// ```
///
/// with the part counts c of T, and the probability ρ_l(c_l) that an item of part l outside T is added.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, Partition, Quota, RidgeDpp, engine};
/// let features = Features::from_rows(2, 1, vec![1.0, 2.0])?;
/// let partition = Partition::from_labels(&["a", "a"])?;
/// let dpp = RidgeDpp::new(&features, 1.0, &partition, &Quota::new(&partition, [1])?)?;
/// // 1 + 1 against 4 + 1.
/// let marginals = dpp.inference(&engine::Cpu)?.inclusion_probabilities()?;
/// assert!((marginals.value[1] - 5.0 / 7.0).abs() < 1e-12);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct RidgeInference<'a> {
    dpp: RidgeDpp<'a>,
    drawn: Drawn<'a>,
    fill: Fill,
    log_z: Estimate<f64>,
    engine: &'a dyn Engine,
}

/// The law of T.
#[derive(Debug)]
struct Drawn<'a> {
    dpp: PartitionDpp<'a>,
    /// `None` if all items of K that may be chosen are zero.
    nodes: Option<RangeNodes>,
}

impl<'a> RidgeDpp<'a> {
    /// Computes ln Z; inclusion probabilities on demand.
    ///
    /// # Cost
    /// That of [`PartitionDpp::inference`](crate::PartitionDpp::inference) under ranges from 0 on.
    ///
    /// # Errors
    /// [`WeightProblem::WithRidge`] if items have qualities; those of
    /// [`PartitionDpp::inference`](crate::PartitionDpp::inference).
    pub fn inference(&self, engine: &'a dyn Engine) -> Result<RidgeInference<'a>> {
        if self.has_quality() {
            return Err(WeightProblem::WithRidge.into());
        }
        let law = self.law()?;
        let new = |dpp: &_| Drawn::new(dpp, engine);
        let drawn = accurately(&law.drawn, |dpp| dpp.graded(engine), new, Drawn::error)?;
        let weights = law.fill.count_weights();
        // Nothing of these parts is in T.
        let is_open = |part: &usize| drawn.dpp.open().iter().any(|open| open.part == *part);
        let closed = (0..weights.0.len()).filter(|part| !is_open(part)).map(|part| weights.0[part][0]);
        let mut log_z = drawn.log_sum();
        log_z.value += closed.sum::<f64>();
        log_z.error += accurate(drawn.dpp.beyond_rank())?;
        Ok(RidgeInference { dpp: self.clone(), drawn, fill: law.fill, log_z, engine })
    }
}

impl<'a> Drawn<'a> {
    fn new(dpp: &PartitionDpp<'a>, engine: &dyn Engine) -> Result<Self> {
        let nodes = (!dpp.open().is_empty()).then(|| dpp.range_nodes(engine)).transpose()?;
        Ok(Self { dpp: dpp.clone(), nodes })
    }

    fn log_sum(&self) -> Estimate<f64> {
        self.nodes.as_ref().map_or(Estimate { value: 0.0, error: 0.0 }, |nodes| nodes.log_sum)
    }

    fn error(&self) -> f64 {
        self.log_sum().error
    }
}

impl RidgeInference<'_> {
    /// The engine that computes.
    #[must_use]
    pub fn engine(&self) -> EngineInfo {
        self.engine.info()
    }

    /// ln Z: the logarithm of the sum of det((A Aᵀ + δI)_S) over all sets that the law allows.
    #[must_use]
    pub fn log_partition_function(&self) -> Estimate<f64> {
        self.log_z
    }

    /// ln Pr(S); −∞ for a set that the law excludes.
    ///
    /// # Cost
    /// O((n + |S|)|S|²).
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`] for a set of other items.
    pub fn log_probability(&self, subset: &Subset) -> Result<Estimate<f64>> {
        let (features, delta) = (self.dpp.features(), self.dpp.delta());
        let items = features.items();
        if let Some(item) = subset.iter().find(|&item| item >= items) {
            return Err(Error::ItemOutOfRange { item, items });
        }
        let is_allowed = self.dpp.included().iter().all(|&item| subset.contains(item as usize))
            && !subset.iter().any(|item| self.dpp.excludes(item))
            && self.dpp.quota().allows(&subset.part_counts(self.dpp.partition()));
        if !is_allowed {
            return Ok(IMPOSSIBLE);
        }
        let (size, dims) = (subset.len(), features.dims());
        let mut log_det = Estimate { value: 0.0, error: 0.0 };
        if size > 0 {
            let mut rows = vec![0.0; size * dims];
            for (item, row) in subset.iter().zip(rows.chunks_exact_mut(dims)) {
                features.read_row(item, 1.0, row);
            }
            let rows = Features::from_rows(size, dims, rows)?.with_ridge(delta)?;
            log_det = log_determinant_estimate(&rows, &Subset::new((0..size).collect(), size)?);
        }
        let value = log_det.value - self.log_z.value;
        let rounding = f64::EPSILON * value.abs().max(size as f64);
        Ok(Estimate { value, error: log_det.error + self.log_z.error + rounding })
    }

    /// Pr(i ∈ S) for every item: 1 for included items, 0 for excluded ones.
    ///
    /// # Errors
    /// Those of [`Inference::inclusion_probabilities`](crate::Inference::inclusion_probabilities).
    pub fn inclusion_probabilities(&self) -> Result<Estimate<Vec<f64>>> {
        let mut probabilities = vec![0.0; self.dpp.features().items()];
        self.dpp.included().iter().for_each(|&item| probabilities[item as usize] = 1.0);
        // Without T, and of parts that nothing of T is in.
        for part in &self.fill.parts {
            let share = part.log_share_of_item(0).exp();
            part.items().iter().for_each(|item| probabilities[item] = share);
        }
        let mut error = self.log_z.error;
        if let Some(nodes) = &self.drawn.nodes {
            error += self.add_drawn(nodes, &mut probabilities)?;
        }
        Ok(Estimate { value: probabilities, error })
    }

    /// Replaces the probabilities of items of open parts; returns their error.
    fn add_drawn(&self, RangeNodes { nodes, sum, .. }: &RangeNodes, out: &mut [f64]) -> Result<f64> {
        let (function, torus, engine) = (&nodes.function, &nodes.torus, self.engine);
        let open = self.drawn.dpp.open();
        // Items of the last part are all included.
        let parts: Vec<_> =
            open.iter().map(|open| Some((self.fill.parts.get(open.part)?, open.high))).collect();
        let shares = |(part, high): (&PartFill, usize)| -> Vec<f64> {
            (0..=high).map(|count| part.log_share_of_item(count)).collect()
        };
        let not_added = |(group, part): (usize, &Option<_>)| match part {
            Some(part) => {
                let others: Vec<f64> = shares(*part).iter().map(|share| (-share.exp()).ln_1p()).collect();
                sum.times(group, &others).extractors(engine, torus)
            }
            None => Ok(nodes.extractors.clone()),
        };
        let extractors = parts.iter().enumerate().map(not_added).collect::<Result<Vec<_>>>()?;
        let of_parts: Vec<_> = extractors.iter().map(|of_part| &of_part[..]).collect();
        let (values, forms) = torus.values_and_forms(engine, function, &of_parts)?;
        let extracted = |x: &[_]| torus.extracted(&values, x, function.rank(), engine.info().precision);
        let mass = extracted(&nodes.extractors);
        let mut factors = Vec::new();
        let mut error = nodes.error;
        for (group, (open, form)) in open.iter().zip(&forms).enumerate() {
            let Some(part) = parts[group] else {
                factors.push(Mat::zeros(function.map.nrows(), 1));
                continue;
            };
            let added = extracted(&sum.times(group, &shares(part)).extractors(engine, torus)?);
            open.items.iter().for_each(|item| out[item] = added.value / mass.value);
            let weight = function.weights[group];
            let root = linalg::positive_root(form.as_ref(), weight * weight / mass.value)?;
            factors.push(linalg::square_root(&function.map * root));
            error += (nodes.most + 2) as f64 * (mass.error + added.error) / mass.value;
        }
        // Included items have a factor of zeros, so that they keep their 1.
        error += add_forms(engine, &self.drawn.dpp.rows(), &factors, out)?;
        Ok(error)
    }
}

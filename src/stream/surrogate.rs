//! A few rows that replace all rows: they have the same Gram matrices, so the same generating polynomial.
//!
//! ```text
//! g(y) = det(I + Σ_l y_l G_l),   G_l = R_lᵀ R_l
//! ```
//!
//! The normaliser, the tilt, eigenvectors, ranks, the distribution of part counts, and even the distribution of the
//! parts of successive picks depend on the rows only through the Gram matrices. So a model over the rows of R_l, at
//! most n for each part, gives all of them.

use faer::{Mat, MatRef};

use super::{Grams, batch::log_over_power, grams::PartSum, open_rows::OpenRows, plan::PlanPart};
use crate::{Error, Features, Partition, Quota, Result, error::WeightProblem, linalg, model::GroundSet};

/// The largest binary order by which rows are multiplied directly: their squares stay within f64.
const NEAR: i64 = 400;
/// If weights differ by more than this many binary orders, the smaller are lost in a joint Gram matrix.
const SPREAD: i64 = 26;

/// The rows of R_l for every group of parts, and their relation to the real rows.
#[derive(Debug)]
pub(super) struct Surrogate {
    pub(super) features: Features,
    pub(super) partition: Partition,
    /// The sum of every group.
    pub(super) sums: Vec<GroupSum>,
    /// Whether some rows are so light that they are lost among others.
    is_spread: bool,
    magnitude: Magnitude,
}

/// The Gram matrix of a group of parts.
#[derive(Debug)]
pub(super) struct GroupSum {
    /// 4^(−order) G.
    pub(super) gram: Mat<f64>,
    pub(super) order: i64,
    pub(super) rows: u64,
    /// The relative rounding of an entry, in units of √(G_ii G_jj).
    pub(super) rounding: f64,
    /// The factor of the rows of R in the model, in addition to the weight of the features.
    factor: f64,
    /// ln of the weight of the features when the model is created.
    log_weight: f64,
}

/// Whether a law depends on the magnitude of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Magnitude {
    /// A factor common to a part does not change the law.
    Irrelevant,
    /// A factor common to a part changes the law.
    Kept,
}

impl GroupSum {
    fn new(sum: &PartSum, dims: usize) -> Self {
        let terms = sum.terms as f64;
        Self {
            gram: sum.gram(dims),
            order: sum.order.unwrap_or(0),
            rows: sum.rows,
            // Rounding within a run, and from run to run.
            rounding: (32.0 + terms.sqrt()) * f64::EPSILON,
            factor: 1.0,
            log_weight: 0.0,
        }
    }

    /// The rows of R, from the eigenvectors of the matrix scaled to a unit diagonal whose eigenvalues exceed the
    /// rounding.
    fn rows_of_root(&self) -> Result<Vec<Vec<f64>>> {
        let dims = self.gram.nrows();
        let sizes: Vec<f64> = (0..dims).map(|j| self.gram[(j, j)].max(0.0).sqrt()).collect();
        let unit = |x: f64| if x > 0.0 { x.recip() } else { 0.0 };
        let correlation =
            Mat::from_fn(dims, dims, |i, j| self.gram[(i, j)] * unit(sizes[i]) * unit(sizes[j]));
        let eigen = linalg::eigen(correlation.as_ref())?;
        let noise = self.rounding * (dims as f64).sqrt() * eigen.values[0].max(1.0);
        let real = (0..dims).filter(|&j| eigen.values[j] > noise);
        let row = |j: usize| -> Vec<f64> {
            let root = self.factor * eigen.values[j].sqrt();
            (0..dims).map(|i| root * eigen.vectors[(i, j)] * sizes[i]).collect()
        };
        Ok(real.map(row).collect())
    }
}

impl Surrogate {
    /// One group for every part. The quota gives the number of rows that each needs.
    pub(super) fn of_parts(grams: &Grams, quota: &Quota) -> Result<Self> {
        grams.check_not_empty()?;
        // The model has only a few more rows per part than features.
        let k = quota.total().unwrap_or_else(|| quota.low().iter().sum());
        if k > grams.dims() {
            return Err(Error::SizeAboveRank { k, rank: grams.dims() });
        }
        let magnitude = if quota.exact_counts().is_some() { Magnitude::Irrelevant } else { Magnitude::Kept };
        let sums = grams.sums().map(|(_, sum)| GroupSum::new(sum, grams.dims())).collect();
        let names: Vec<String> = grams.sums().map(|(name, _)| name.clone()).collect();
        let is_spread = grams.sums().any(|(_, sum)| is_spread(sum.least, sum.order));
        let most: Vec<usize> = quota.high().iter().map(|&high| high.min(grams.dims())).collect();
        Self::of(grams.dims(), sums, &names, &most, magnitude, is_spread)
    }

    /// All parts in one group.
    pub(super) fn united(grams: &Grams, magnitude: Magnitude) -> Result<Self> {
        grams.check_not_empty()?;
        let mut all = PartSum::default();
        for (_, sum) in grams.sums() {
            if all.rows == 0 { all = sum.clone() } else { all.add(sum) }
        }
        let sum = GroupSum::new(&all, grams.dims());
        let is_spread = is_spread(all.least, all.order);
        Self::of(grams.dims(), vec![sum], &["all".to_owned()], &[grams.dims()], magnitude, is_spread)
    }

    fn of(
        dims: usize,
        mut sums: Vec<GroupSum>,
        names: &[String],
        most: &[usize],
        magnitude: Magnitude,
        is_spread: bool,
    ) -> Result<Self> {
        let orders = || sums.iter().map(|sum| sum.order);
        let is_near = orders().all(|order| order.abs() <= NEAR);
        if magnitude == Magnitude::Kept {
            let single = sums.len() == 1;
            for sum in &mut sums {
                if is_near || single {
                    // Beyond this order, a single group has every direction, or none.
                    sum.factor = power(sum.order.clamp(-NEAR, NEAR));
                } else {
                    sum.log_weight = -log_over_power(0.0, sum.order);
                }
            }
        }
        let (mut values, mut part_of, mut logs) = (Vec::new(), Vec::new(), Vec::new());
        for (group, (sum, &most)) in (0_u32..).zip(sums.iter().zip(most)) {
            let mut rows = sum.rows_of_root()?;
            // Add rows of zeros, so that no item is forced and there are at least as many rows as features.
            let last = group as usize + 1 == sums.len();
            let missing = if last { dims.saturating_sub(part_of.len()) } else { 0 };
            rows.resize((rows.len() + 1).max(most + 1).max(missing), vec![0.0; dims]);
            part_of.resize(part_of.len() + rows.len(), group);
            logs.resize(part_of.len(), sum.log_weight);
            values.extend(rows.into_iter().flatten());
        }
        let features = Features::from_rows(part_of.len(), dims, values)?;
        let is_weighted = logs.iter().any(|&log| log != 0.0);
        let features = if is_weighted { features.with_log_quality(&logs)? } else { features };
        let partition = Partition::group(names.into(), part_of);
        Ok(Self { features, partition, sums, is_spread, magnitude })
    }

    /// Replaces an error of the model that may be due to weights too far apart for one Gram matrix.
    pub(super) fn explained(&self, error: Error) -> Error {
        match error {
            Error::Infeasible { .. } | Error::SizeAboveRank { .. } if self.is_spread => {
                WeightProblem::Spread.into()
            }
            error => error,
        }
    }

    /// The factor of real rows, already multiplied by 2^−order, that makes them like rows of the model in its
    /// computations.
    ///
    /// # Errors
    /// [`WeightProblem::Spread`] if the model narrowed the differences between weights within a part.
    pub(super) fn factor(&self, group: usize, ground: &GroundSet) -> Result<f64> {
        let members = self.partition.members(group);
        // Rows of zeros have no weight.
        let real = || members.iter().filter(|&&item| self.features.max_abs_of_stored(item as usize) > 0.0);
        let log = |item: u32| ground.features().log_weight(item as usize);
        let Some(&first) = real().next() else { return Ok(0.0) };
        let first = log(first);
        if real().any(|&item| (log(item) - first).abs() > 1e-9) {
            return Err(WeightProblem::Spread.into());
        }
        Ok(self.sums[group].factor * first.exp())
    }

    /// The parts. Items are chosen only from parts in open groups.
    pub(super) fn parts(&self, grams: &Grams, open: &[usize]) -> impl Iterator<Item = PlanPart> {
        grams.sums().enumerate().map(|(part, (name, sum))| {
            let group = if self.sums.len() == 1 { 0 } else { part };
            PlanPart {
                name: name.clone(),
                rows: sum.rows,
                order: self.sums[group].order,
                group: open.iter().position(|&open| open == group),
            }
        })
    }

    /// ln of the factor by which the Gram matrix of a group was scaled, for laws that do not depend on it.
    pub(super) fn log_square(&self, group: usize) -> f64 {
        -2.0 * log_over_power(0.0, self.sums[group].order)
    }

    /// The correction of ln Z for orders beyond those in the model. It is a multiple of the number of items chosen,
    /// which is certain in that case.
    pub(super) fn log_clamped(&self, group: usize, factor: MatRef<'_, f64>) -> f64 {
        let GroupSum { gram, order, .. } = &self.sums[group];
        let beyond = order - order.clamp(&-NEAR, &NEAR);
        if beyond == 0 || self.magnitude == Magnitude::Irrelevant || self.sums.len() > 1 {
            return 0.0;
        }
        let forms = factor.transpose() * (gram * factor);
        let items: f64 = (0..forms.nrows()).map(|j| forms[(j, j)]).sum();
        -2.0 * log_over_power(0.0, beyond) * items.round()
    }

    /// The rows of R, as the model uses them in computations.
    pub(super) fn rows<'s>(&'s self, ground: &'s GroundSet) -> OpenRows<'s> {
        let groups = (0..self.partition.parts()).map(|group| (group, 0)).collect();
        OpenRows::new(ground.features(), &self.partition, groups)
    }
}

fn is_spread(least: Option<i64>, most: Option<i64>) -> bool {
    least.zip(most).is_some_and(|(least, most)| most - least > SPREAD)
}

fn power(order: i64) -> f64 {
    (order as f64).exp2()
}

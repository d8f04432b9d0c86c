//! Positive row weights: quality, and the reciprocal lengths that turn dot products into cosines.

use std::sync::Arc;

use super::Features;
use crate::{Error, Result, error::WeightProblem, linalg::OrthonormalBasis, parallel::map_ordered};

/// q_i of every item: rows are read as q_i a_i.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// ln q_i.
    logs: Arc<[f64]>,
    /// q_i.
    factors: Arc<[f64]>,
    /// The largest |entry| of a weighted row, or an upper bound within a factor of [`SPREAD`] of it.
    largest: f64,
    /// Whether all weighted rows are within the range of f64.
    fits: bool,
}

/// The largest |ln q_i|. Adding the log-length of a row to it loses no more than 10⁻⁶.
pub(crate) const LARGEST_LOG: f64 = 4_294_967_296.0;
/// If all weights are within this factor of each other, no pass over the rows is needed to find the longest.
const SPREAD: f64 = 1e80;

impl Features {
    /// These features with row i multiplied by q_i = e^`log_quality[i]`, to weigh the quality of items against their
    /// diversity.
    ///
    /// Weights that rows already have are kept and multiplied.
    ///
    /// ```text
    /// K_ij = q_i ⟨a_i, a_j⟩ q_j,   ln det K_S = ln det(A_S A_Sᵀ) + 2 Σ_{i∈S} ln q_i
    /// ```
    ///
    /// Rows are not copied: the weight is applied when a row is read. All models, solvers and engines accept weighted
    /// features. Under exact counts, a factor common to a part does not change the law; it does under ranges, and for
    /// sets of any size.
    ///
    /// # Cost
    /// Memory: 16m bytes. Weights that span more than 80 decades take a pass over the rows.
    ///
    /// # Numerics
    /// Weights may be as large as |ln q_i| = 2³², where rounding affects the seventh digit of a probability. If
    /// weights span more decades than f64 has, models narrow the gaps between them without changing any probability
    /// by more than e^−40. If there are more such gaps than f64 has room for, models return
    /// [`WeightProblem::Spread`].
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of values is not m; [`WeightProblem::NotFinite`]; [`WeightProblem::TooLarge`].
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, KDpp};
    /// let features = Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 1.0])?;
    /// let weighted = features.with_log_quality(&[0.0, 3_f64.sqrt().ln()])?;
    /// // Item 1 is three times as likely as item 0.
    /// let inference = KDpp::new(&weighted, 1)?.inference(&Engine::cpu())?;
    /// assert!((inference.inclusion_probabilities()?.value[1] - 0.75).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    ///
    /// # Source
    /// Kulesza and Taskar, *Determinantal point processes for machine learning* (2012), equation 28.
    pub fn with_log_quality(&self, log_quality: &[f64]) -> Result<Self> {
        let found = log_quality.len();
        if found != self.items() {
            return Err(Error::Shape {
                what: "the list of scores or log-qualities",
                expected: self.items(),
                found,
            });
        }
        let logs = log_quality.iter().enumerate().map(|(item, log)| self.log_weight(item) + log);
        let logs: Vec<f64> = logs.collect();
        check_log_quality(&logs)?;
        self.reweighted(logs)
    }

    /// These features with weights that trade scores against diversity.
    ///
    /// ```text
    /// maximise (1 − d) Σ_{i∈S} r_i + d ln det(A_S A_Sᵀ):   q_i = e^(r_i (1 − d) / (2d))
    /// ```
    ///
    /// Here r_i are the scores and d is the diversity, in (0, 1]. With d = 1 scores have no effect; as d approaches
    /// 0, they alone decide. The objective of a set is d times its ln det K_S.
    ///
    /// # Cost
    /// The cost of [`with_log_quality`](Features::with_log_quality).
    ///
    /// # Errors
    /// [`WeightProblem::Diversity`], and the errors of [`with_log_quality`](Features::with_log_quality).
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, KDpp, map::{Greedy, Solver}};
    /// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 1.0, 0.1, 0.0, 1.0])?;
    /// let relevant = features.with_scores(&[1.0, 5.0, 4.0], 0.5)?;
    /// assert_eq!(Greedy::default().solve(&KDpp::new(&relevant, 2)?, &Engine::cpu())?.subset.as_slice(), [1, 2]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Source
    /// Chen, Zhang and Zhou, *Fast greedy MAP inference for determinantal point process to improve recommendation
    /// diversity* (2018), equation 17, with θ = 1 − d.
    pub fn with_scores(&self, scores: &[f64], diversity: f64) -> Result<Self> {
        self.with_log_quality(&log_quality_of_scores(scores, diversity)?)
    }

    /// These features with every row divided by its length: K_ij becomes the cosine of the angle between a_i and a_j.
    ///
    /// Weights set before are discarded, since they do not change directions.
    ///
    /// # Cost
    /// One pass over the rows. Memory: 16m bytes.
    ///
    /// # Errors
    /// [`WeightProblem::ZeroRow`] for the first row of zeros.
    pub fn with_unit_rows(&self) -> Result<Self> {
        const CHUNK: usize = 1 << 12;
        let starts: Vec<usize> = (0..self.items()).step_by(CHUNK).collect();
        let logs = map_ordered(starts.len(), |chunk| {
            let mut row = vec![0.0; self.dims()];
            let log = |item| {
                self.read_stored(item, 1.0, &mut row);
                -OrthonormalBasis::normalise(&mut row).unwrap_or(f64::NEG_INFINITY)
            };
            (starts[chunk]..self.items().min(starts[chunk] + CHUNK)).map(log).collect::<Vec<f64>>()
        });
        let logs = logs.concat();
        if let Some(item) = logs.iter().position(|&log| log == f64::INFINITY) {
            return Err(WeightProblem::ZeroRow { item }.into());
        }
        self.reweighted(logs)
    }

    /// These features, with the weights that other features have for the listed items.
    pub(crate) fn weighted_as(self, other: &Features, items: impl Iterator<Item = usize>) -> Result<Self> {
        let Some(weights) = &other.weights else { return Ok(self) };
        self.reweighted(items.map(|item| weights.log(item)).collect())
    }

    /// Weights with these logarithms.
    fn checked(&self, logs: Vec<f64>) -> Result<Weights> {
        check_finite(&logs)?;
        let factors: Arc<[f64]> = logs.iter().map(|log| log.exp()).collect();
        let range =
            factors.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &q| (q.min(least), q.max(most)));
        let bound = range.1 * self.max_abs_stored();
        let is_near = range.1 < range.0 * SPREAD && bound < f64::MAX;
        let (largest, fits) = if is_near { (bound, true) } else { self.largest_weighted(&factors) };
        Ok(Weights { logs: logs.into(), factors, largest, fits })
    }

    /// The largest |entry| of a row times its factor, and whether no row overflows or underflows.
    fn largest_weighted(&self, factors: &[f64]) -> (f64, bool) {
        const CHUNK: usize = 1 << 12;
        let chunks: Vec<&[f64]> = factors.chunks(CHUNK).collect();
        let merged =
            |(most, fits): (f64, bool), (largest, own): (f64, bool)| (most.max(largest), fits && own);
        let of_chunk = |chunk: usize| {
            let of_row = |(at, factor): (usize, &f64)| {
                let stored = self.max_abs_of_stored(chunk * CHUNK + at);
                let weighted = factor * stored;
                (weighted, weighted.is_normal() || stored == 0.0)
            };
            chunks[chunk].iter().enumerate().map(of_row).fold((0.0, true), merged)
        };
        map_ordered(chunks.len(), of_chunk).into_iter().fold((0.0, true), merged)
    }

    /// The same values with weights replaced by these, given as logarithms.
    pub(crate) fn reweighted(&self, logs: Vec<f64>) -> Result<Self> {
        Ok(self.with_weights(Some(self.checked(logs)?)))
    }

    /// ln q_i of every item.
    pub(crate) fn log_weights(&self) -> Vec<f64> {
        (0..self.items()).map(|item| self.log_weight(item)).collect()
    }

    /// Whether all weighted rows are within the range of f64.
    pub(crate) fn weights_fit(&self) -> bool {
        self.weights.as_ref().is_none_or(|weights| weights.fits)
    }

    /// q_i; 1 without weights.
    #[inline]
    pub(crate) fn weight(&self, item: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights.factor(item))
    }

    /// ln q_i; 0 without weights.
    pub(crate) fn log_weight(&self, item: usize) -> f64 {
        self.weights.as_ref().map_or(0.0, |weights| weights.log(item))
    }

    /// Whether rows have weights.
    pub(crate) fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }
}

/// ln q_i = r_i (1 − d) / (2d) for scores r_i and a diversity d.
pub(crate) fn log_quality_of_scores(scores: &[f64], diversity: f64) -> Result<Vec<f64>> {
    // False for NaN.
    if !(diversity > 0.0 && diversity <= 1.0) {
        return Err(WeightProblem::Diversity { value: diversity }.into());
    }
    check_finite(scores)?;
    let factor = (1.0 - diversity) / (2.0 * diversity);
    Ok(scores.iter().map(|score| score * factor).collect())
}

/// Rejects scores or logarithms of weights that are NaN or infinite.
pub(crate) fn check_finite(scores: &[f64]) -> Result<()> {
    match scores.iter().position(|score| !score.is_finite()) {
        Some(item) => Err(WeightProblem::NotFinite { item, value: scores[item] }.into()),
        None => Ok(()),
    }
}

/// Rejects logarithms of weights so large that the lengths of rows are lost in rounding.
pub(crate) fn check_log_quality(logs: &[f64]) -> Result<()> {
    check_finite(logs)?;
    match logs.iter().position(|log| log.abs() > LARGEST_LOG) {
        Some(item) => Err(WeightProblem::TooLarge { item, value: logs[item] }.into()),
        None => Ok(()),
    }
}

impl Weights {
    /// The joined weights of several matrices; `None` if no matrix has any.
    pub(super) fn concatenate(shards: &[Features]) -> Option<Self> {
        shards.iter().any(Features::is_weighted).then(|| {
            let items = || shards.iter().flat_map(|shard| (0..shard.items()).map(move |item| (shard, item)));
            Self {
                logs: items().map(|(shard, item)| shard.log_weight(item)).collect(),
                factors: items().map(|(shard, item)| shard.weight(item)).collect(),
                largest: shards.iter().map(Features::max_abs).fold(0.0, f64::max),
                fits: shards.iter().all(Features::weights_fit),
            }
        })
    }

    /// q_i.
    #[inline]
    pub(crate) fn factor(&self, item: usize) -> f64 {
        self.factors[item]
    }

    fn log(&self, item: usize) -> f64 {
        self.logs[item]
    }

    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    /// The bytes held.
    pub(super) fn bytes(&self) -> u64 {
        (size_of_val(&*self.logs) + size_of_val(&*self.factors)) as u64
    }
}

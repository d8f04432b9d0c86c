//! Plans from Gram matrices.

use faer::{Mat, MatRef};

use super::{
    Grams, Leverages, Plan, Request, Step, StreamSampler,
    plan::{Expected, KIND, PlanPart},
    surrogate::{Magnitude, Surrogate},
    trials::Coordinates,
};
use crate::{
    Dpp, KDpp, PartitionDpp, Quota, Result,
    bytes::fingerprint,
    data::check_item_count,
    engine::{Engine, in_double},
    estimate::accurate,
    linalg::column,
    model::{Correction, Counts, GroundSet},
    polynomial::poisson_binomial::poisson_binomial,
    sample::{CountRule, EigenvectorLaw, TiltedProposals},
};

/// The most trials of a pilot run, and the most operations for their coordinates.
const PILOT: f64 = 16_384.0;
const PILOT_OPERATIONS: f64 = 4e9;
/// The number of pilot trials that are drawn together.
const WAVE: u64 = 512;
/// The number of pilot draws, or proposals, that suffices to estimate averages.
const ENOUGH: f64 = 16.0;

impl Plan {
    /// The plan for sets of any size, as in [`Dpp`].
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty) if there are no rows; the errors of [`Dpp::sampler`].
    pub fn dpp(grams: &Grams, engine: &Engine) -> Result<Self> {
        let engine = in_double(engine);
        let surrogate = Surrogate::united(grams, Magnitude::Kept)?;
        let dpp = Dpp::new(&surrogate.features)?;
        let proposals = TiltedProposals::of_dpp(&dpp, engine)?;
        Self::new(grams, &surrogate, (&dpp.ground, &[0]), proposals, engine)
    }

    /// The plan for sets of k items, as in [`KDpp`].
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty) if there are no rows; the errors of [`KDpp::new`] and [`KDpp::sampler`];
    /// [`WeightProblem::Spread`](crate::error::WeightProblem::Spread) if k items need rows so light that they are
    /// lost among the others.
    pub fn k_dpp(grams: &Grams, k: usize, engine: &Engine) -> Result<Self> {
        let engine = in_double(engine);
        let surrogate = Surrogate::united(grams, Magnitude::Irrelevant)?;
        grams.check_size(k)?;
        let explained = |error| surrogate.explained(error);
        let dpp = KDpp::new(&surrogate.features, k).map_err(explained)?;
        let proposals = TiltedProposals::of_k_dpp(&dpp, engine).map_err(explained)?;
        Self::new(grams, &surrogate, (&dpp.ground, &[0]), Some(proposals), engine)
    }

    /// The plan for sets that meet a quota made by [`Grams::quota`], as in [`PartitionDpp`].
    ///
    /// # Errors
    /// - [`Error::Empty`](crate::Error::Empty) if there are no rows;
    /// - [`WeightProblem::Spread`](crate::error::WeightProblem::Spread) if the quota needs rows so light that they
    ///   are lost among the others of their part;
    /// - the errors of [`PartitionDpp::new`] and [`PartitionDpp::sampler`].
    ///   [`Error::IllConditioned`](crate::Error::IllConditioned) is possible if a second pass in a
    ///   [`Frame`](super::Frame) may help and, under ranges, if the rows of one part are a million times longer than
    ///   the rows of another.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Error, Features, Partition, stream::{Batch, Grams, Plan}};
    /// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 2.0, 0.0, 0.0, 1.0])?;
    /// let batch = Batch::new(0, &features, &Partition::from_labels(&["cat", "cat", "dog"])?)?;
    /// let grams = Grams::of_batch(&batch, &Engine::cpu())?;
    /// let plan = Plan::partition_dpp(&grams, &grams.quota([("cat", 1), ("dog", 1)])?, &Engine::cpu())?;
    /// assert_eq!(plan.rank(), 2);
    /// let error = Plan::partition_dpp(&grams, &grams.quota([("cat", 2)])?, &Engine::cpu()).unwrap_err();
    /// assert!(matches!(error, Error::Infeasible { rank: 1, quota: 2, .. }));
    /// # Ok(()) }
    /// ```
    pub fn partition_dpp(grams: &Grams, quota: &Quota, engine: &Engine) -> Result<Self> {
        let engine = in_double(engine);
        let surrogate = Surrogate::of_parts(grams, quota)?;
        let explained = |error| surrogate.explained(error);
        let dpp = PartitionDpp::new(&surrogate.features, &surrogate.partition, quota).map_err(explained)?;
        let open: Vec<usize> = dpp.open().iter().map(|part| part.part).collect();
        let proposals = if open.is_empty() {
            None
        } else {
            Some(TiltedProposals::of_partition_dpp(&dpp, engine).map_err(explained)?)
        };
        Self::new(grams, &surrogate, (dpp.ground(), &open), proposals, engine)
    }

    /// Takes the model's groups from which something is chosen as `open`.
    fn new(
        grams: &Grams,
        surrogate: &Surrogate,
        (ground, open): (&GroundSet, &[usize]),
        proposals: Option<TiltedProposals>,
        engine: &Engine,
    ) -> Result<Self> {
        let Some(proposals) = proposals else { return Ok(Self::of_nothing(grams)) };
        let setup = Setup { grams, surrogate, open, proposals: &proposals };
        let weights = setup.group_weights(ground)?;
        let error = setup.error(&weights)?;
        let rule = proposals.rule.as_ref();
        let is_open = rule.is_some_and(|(rule, _)| rule.counts().exact().is_none());
        // In the worst case, all sets affected by the rounding of the Gram matrices are accepted.
        let of_grams = if is_open { error.law / proposals.acceptance_bound } else { error.law };
        let whitener = match grams.basis() {
            Some(frame) => frame.basis(grams.dims())? * &proposals.whitener,
            None => proposals.whitener.clone(),
        };
        let parts: Vec<PlanPart> = surrogate.parts(grams, open).collect();
        let factors = parts.iter().map(|part| part.group.map_or(0.0, |group| weights[group])).collect();
        let unknown = Expected { proposals: 0.0, trials: 0.0 };
        let plan = Self {
            dims: grams.dims(),
            parts,
            factors,
            whitener,
            eigenvectors: proposals.eigenvectors.clone(),
            rule: proposals.rule.clone(),
            // Rounding may raise it above 1, and `from_bytes` rejects plans with such a bound.
            acceptance_bound: proposals.acceptance_bound.min(1.0),
            law_error: accurate(proposals.law_error + of_grams)?,
            slack: error.slack,
            expected: unknown,
            fingerprint: 0,
        };
        let plan = plan.with_fingerprint();
        let expected = setup.expected(&plan, ground, engine)?;
        Ok(Self { expected, ..plan })
    }

    /// The plan of a law in which only the empty set has a positive probability.
    fn of_nothing(grams: &Grams) -> Self {
        let part = |(name, sum): (&String, &super::grams::PartSum)| PlanPart {
            name: name.clone(),
            rows: sum.rows,
            order: 0,
            group: None,
        };
        let plan = Self {
            dims: grams.dims(),
            parts: grams.sums().map(part).collect(),
            factors: vec![0.0; grams.parts().len()],
            whitener: Mat::zeros(grams.dims(), 0),
            eigenvectors: EigenvectorLaw::Coins(Vec::new()),
            rule: None,
            acceptance_bound: 1.0,
            law_error: 0.0,
            slack: 1e-9,
            expected: Expected { proposals: 1.0, trials: 0.0 },
            fingerprint: 0,
        };
        plan.with_fingerprint()
    }

    fn with_fingerprint(self) -> Self {
        let fingerprint = fingerprint(&self.contents());
        Self { fingerprint, ..self }
    }

    /// Serialises to bytes, to be sent to the rows.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        KIND.write(&(self.expected, self.contents()))
    }

    /// Deserialises the bytes of [`to_bytes`](Plan::to_bytes).
    ///
    /// # Errors
    /// [`Error::Stream`](crate::Error::Stream) if the bytes are truncated, of another version, or not a plan.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (expected, contents): (Expected, Contents) = KIND.read(bytes)?;
        let (dims, parts, factors, eigenvectors, columns, rule, numbers) = contents;
        let [acceptance_bound, law_error, slack] = numbers;
        let rank = eigenvectors.rank();
        let is_law = match &eigenvectors {
            EigenvectorLaw::Coins(keep) => keep.iter().all(|p| (0.0..=1.0).contains(p)),
            EigenvectorLaw::OfSize(values, k) => {
                *k <= rank && values.iter().all(|value| (0.0..f64::INFINITY).contains(value))
            }
        };
        // Checked before the law is set up, which takes rank times k numbers.
        KIND.check(is_law && rank <= dims && dims.checked_mul(rank) == Some(columns.len()))?;
        KIND.check(columns.iter().chain(&factors).all(|value| value.is_finite()))?;
        let whitener = MatRef::from_column_major_slice(&columns, dims, rank).to_owned();
        let rule = rule.map(checked).transpose()?;
        let groups = rule.as_ref().map_or(1, |(rule, _)| rule.counts().low.len());
        KIND.check(factors.len() == parts.len() && parts.iter().all(|part| part.is_sound(groups)))?;
        KIND.check(acceptance_bound > 0.0 && acceptance_bound <= 1.0)?;
        let averages = [law_error, slack, expected.proposals, expected.trials];
        KIND.check(averages.iter().all(|value| (0.0..f64::INFINITY).contains(value)))?;
        let plan = Self {
            dims,
            parts,
            factors,
            whitener,
            eigenvectors,
            rule,
            acceptance_bound,
            law_error,
            slack,
            expected,
            fingerprint: 0,
        };
        // Draws need these probabilities.
        KIND.check(plan.eigenvectors.inclusion_probabilities().is_ok())?;
        Ok(plan.with_fingerprint())
    }
}

/// The smallest and largest counts of every group, of all groups together, and the logarithms of part weights.
type Rule = (Vec<usize>, Vec<usize>, [usize; 2], Vec<f64>);

/// The values that [`Plan::contents`] writes.
type Contents = (usize, Vec<PlanPart>, Vec<f64>, EigenvectorLaw, Vec<f64>, Option<Rule>, [f64; 3]);

fn checked((low, high, ends, log_weights): Rule) -> Result<(CountRule, Vec<f64>)> {
    KIND.check(!low.is_empty() && [high.len(), log_weights.len()] == [low.len(); 2])?;
    let mut limits = low.iter().chain(&high).chain(&ends);
    KIND.check(limits.all(|&count| check_item_count(count).is_ok()))?;
    KIND.check(log_weights.iter().all(|log| log.is_finite()))?;
    let counts = Counts::new(&low, &high, ends[0], ends[1]);
    let correction = Correction::new(&counts, &log_weights);
    Ok((CountRule::new(counts, correction), log_weights))
}

/// A model in place of the rows, with its proposals.
pub(super) struct Setup<'s> {
    pub(super) grams: &'s Grams,
    pub(super) surrogate: &'s Surrogate,
    pub(super) open: &'s [usize],
    pub(super) proposals: &'s TiltedProposals,
}

/// Errors caused by the rounding of Gram matrices.
pub(super) struct GramError {
    /// The total variation error of the law.
    pub(super) law: f64,
    /// The error of the sum of all leverages.
    slack: f64,
}

impl Setup<'_> {
    /// The factor of rows times 2^−order, for every open group.
    pub(super) fn group_weights(&self, ground: &GroundSet) -> Result<Vec<f64>> {
        let weight = |(&group, weight): (&usize, &f64)| Ok(weight * self.surrogate.factor(group, ground)?);
        self.open.iter().zip(&self.proposals.row_weights).map(weight).collect()
    }

    /// Estimates the errors caused by the rounding of Gram matrices.
    ///
    /// An entry of a Gram matrix is off by γ√(G_ii G_jj). With C = Σ y_l G_l, whitened by F, a law that uses
    /// eigenvector j with probability p_j has an error of
    ///
    /// ```text
    /// √2 γ Σ_j p_j Σ_a F_aj² C_aa
    /// ```
    ///
    /// plus the probability of using directions that only rounding hides. In a frame, rows lose ε‖a‖ along every
    /// direction.
    pub(super) fn error(&self, weights: &[f64]) -> Result<GramError> {
        let TiltedProposals { eigenvectors, whitener, log_scale, .. } = self.proposals;
        let dims = self.grams.dims();
        let sums = || self.open.iter().map(|&group| &self.surrogate.sums[group]).zip(weights);
        let square = |a: usize| sums().map(|(sum, weight)| weight * weight * sum.gram[(a, a)]).sum::<f64>();
        let squares: Vec<f64> = (0..dims).map(square).collect();
        let trace: f64 = squares.iter().sum();
        let rounding = sums().map(|(sum, _)| sum.rounding).fold(0.0, f64::max);
        let is_framed = self.grams.basis().is_some();
        let (mut law, mut slack, mut largest) = (0.0, 1e-9 * eigenvectors.rank() as f64, 0.0_f64);
        for (j, p) in eigenvectors.inclusion_probabilities()?.iter().enumerate() {
            let direction = column(whitener.as_ref(), j);
            let held: f64 = direction.iter().zip(&squares).map(|(x, square)| x * x * square).sum();
            let norm: f64 = direction.iter().map(|x| x * x).sum();
            let of_rows = if is_framed { 8.0 * f64::EPSILON * (norm * trace).sqrt() } else { 0.0 };
            let own = std::f64::consts::SQRT_2 * rounding * held + of_rows;
            law += p * own;
            slack += 8.0 * own;
            largest = largest.max(norm.recip());
        }
        let rows: u64 = self.open.iter().map(|&group| self.surrogate.sums[group].rows).sum();
        let possible = usize::try_from(rows).unwrap_or(usize::MAX).min(dims);
        let unseen = possible.saturating_sub(eigenvectors.rank());
        let noise = if is_framed {
            (dims as f64 * f64::EPSILON).powi(2) * trace
        } else {
            rounding * (dims as f64).sqrt() * largest
        };
        if unseen > 0 {
            law += eigenvectors.use_of_more(unseen, noise, *log_scale)?;
        }
        Ok(GramError { law, slack })
    }

    /// Averages per sample.
    fn expected(&self, plan: &Plan, ground: &GroundSet, engine: &Engine) -> Result<Expected> {
        let rank = plan.rank() as f64;
        if plan.rule.is_none() {
            return Ok(Expected { proposals: 1.0, trials: rank * picks(&plan.eigenvectors) });
        }
        let (trials, [proposals, draws]) = self.pilot(plan, ground, engine)?;
        if draws >= ENOUGH {
            return Ok(Expected { proposals: proposals / draws, trials: trials / draws });
        }
        let most = plan.acceptance_bound.recip();
        let each = if proposals >= ENOUGH { trials / proposals } else { rank * picks(&plan.eigenvectors) };
        Ok(Expected { proposals: most, trials: most * each })
    }

    /// The number of trials of the rows of the model, and the numbers of proposals and draws made of them. The parts
    /// of successive picks have the same distribution as with the real rows.
    fn pilot(&self, plan: &Plan, ground: &GroundSet, engine: &Engine) -> Result<(f64, [f64; 2])> {
        let rows = self.surrogate.rows(ground);
        let mut factors = vec![0.0; self.surrogate.sums.len()];
        let weights = self.open.iter().zip(&self.proposals.row_weights);
        weights.for_each(|(&group, &weight)| factors[group] = weight);
        let coordinates = Coordinates { whitener: self.proposals.whitener.as_ref(), factors: &factors };
        #[expect(clippy::cast_possible_truncation, reason = "far fewer parts")]
        let groups: Vec<u32> = (0..factors.len() as u32).collect();
        let table = Leverages::new((plan.fingerprint(), 0), &rows, &groups, &coordinates, engine)?;
        let each = 2.0 * plan.dims() as f64 * plan.rank() as f64;
        let most = PILOT.min(PILOT_OPERATIONS / each);
        let mut sampler = StreamSampler::new(plan, 0)?.with_request(WAVE);
        let mut draws = 0.0;
        // Empty sets take no trials, so draws are limited too.
        while draws < PILOT {
            engine.proceed()?;
            match sampler.step()? {
                Step::Drawn(_) => draws += 1.0,
                Step::Needs(_) if sampler.trials() as f64 >= most => break,
                Step::Needs(Request { count, seed }) => {
                    sampler.feed(table.drawn(&rows, &coordinates, count, seed)?)?;
                }
            }
        }
        Ok((sampler.trials() as f64, [sampler.proposals() as f64, draws]))
    }
}

/// The average of 1 + 1/2 + … + 1/k over the sizes k of sets.
fn picks(eigenvectors: &EigenvectorLaw) -> f64 {
    let harmonic = |k: usize| (1..=k).map(|i| (i as f64).recip()).sum::<f64>();
    match eigenvectors {
        EigenvectorLaw::OfSize(_, k) => harmonic(*k),
        EigenvectorLaw::Coins(keep) => {
            let law = poisson_binomial(keep);
            law.iter().enumerate().map(|(size, p)| p * harmonic(size)).sum()
        }
    }
}

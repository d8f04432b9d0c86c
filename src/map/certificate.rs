//! Upper bounds for models.

use super::{
    Candidates, Objective, Solution,
    bounds::{
        Effort, MOST_DENSE, Method, OnePass, Subproblem, balance, hadamard, one_pass_over_whole, places,
        relax, relax_whole, spectral_bound, usable,
    },
    exact::{Left, State, improve},
    watch::Clock,
};
use crate::{
    Result,
    engine::{Engine, EngineInfo, in_double},
    names::by_name,
};

/// Computes an upper bound of ln det K_S over all sets that a model allows: the lowest of several bounds.
///
/// ```text
/// max_S ln det K_S  ≤  f(x) + max_y ∇f(x)·(y − x)      for f concave, f(1_S) ≥ ln det K_S
/// ```
///
/// The bound holds at any x in [0, 1]^m that the relaxation has reached. The maximum is over the y that the quota
/// allows. It takes the κ_l largest entries of the gradient in every part. Under ranges it takes the entries that a
/// part needs, then the largest of any part while they are positive or the total needs them. Parts under ranges get
/// the weights that minimise Γ.
///
/// | bound | f | applies to |
/// |---|---|---|
/// | [`Bound::Gamma`] | Γ_k of the spectrum of Σ x_i a_i a_iᵀ; up to 400 items of full rank also with a diagonal split off K first | everything |
/// | [`Bound::Linx`] | ½ ln det(K diag(γ∘x) K + diag(ν∘(1 − x))) − ½ Σ (x_i ln γ_i + (1 − x_i) ln ν_i) | up to 400 items |
/// | [`Bound::Complement`] | Γ of K⁻¹ and the items left out | up to 400 items of full rank |
/// | [`Bound::Spectral`] | products of eigenvalues of K, or of the kernels of the parts | everything |
/// | [`Bound::Hadamard`] | products of the squared lengths of rows | everything |
///
/// If sets may have several sizes ([`Dpp`](crate::Dpp), ranges without a total), k is Σ x_i, possibly a fraction; Γ
/// stays concave.
///
/// Without quotas Γ is at most ln(k^k/k!) < k above the optimum (Nikolov 2015), and much closer if k is well below
/// the rank.
///
/// # Cost
/// Spectral and Hadamard bounds: 2mn². Γ of many items: 2mn² for each of ten to thirty rounds.
///
/// With at most 400 items of full rank a step takes O(m³), or m²ι(m − ι) for Γ with ι ≤ k leading eigenvalues. A
/// relaxation takes ten to twenty steps. Relaxations with parameters are solved again for each of a few dozen steps
/// on the parameters. That takes a second at 100 items and up to a minute at 400: set a limit,
/// [`Watch::within`](crate::Watch::within).
///
/// # Numerics
/// f64. A bound is no less than the exact optimum. For a [`Kernel`](crate::Kernel), it is no less than the optimum of
/// the given matrix, including the part that its factor leaves out.
///
/// The bound is computed at a dual point that is feasible as rounded, and a bound of every rounding error is added.
/// The sum of these is a few 1e-13 if the k leading eigenvalues are within 1e8 of each other, and 10^d times as much
/// if included items agree to d digits. In the worst case the lengths of rows still bound the determinant. Sums of
/// more than 64 terms count as 8√n roundings instead of n.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, KDpp, map::{Greedy, Solver, UpperBound}};
/// let features = Features::from_rows(4, 2, vec![2.0, 0.0, 1.9, 0.1, 0.0, 1.0, 1.0, 1.2])?;
/// let model = KDpp::new(&features, 2)?;
/// let certificate = UpperBound::default().certify(&model, &Engine::cpu())?;
/// let solution = Greedy::default().solve(&model, &Engine::cpu())?.certified(&certificate);
/// assert!(solution.gap().unwrap() < 0.1);
/// # Ok(()) }
/// ```
///
/// # Source
/// Nikolov (2015) and Li and Xie (2024) for Γ; Li (2024), and Chen, Fampa and Lee (2024), for the diagonal;
/// Anstreicher (2020) for linx and the complement, and arXiv 2604.10363 for two scales of every item; Ko, Lee and
/// Queyranne (1995) for eigenvalues.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct UpperBound;

/// An upper bound, and how it was computed.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Certificate {
    /// No set that the model allows has a larger ln det.
    pub upper_bound: f64,
    /// The lowest bound.
    pub bound: Bound,
    /// All bounds that were computed.
    pub bounds: Vec<(Bound, f64)>,
    /// Steps of the relaxations.
    pub iterations: u64,
    /// The engine that computed the bounds.
    ///
    /// Problems with up to a few hundred items are bounded on the CPU in f64. For more items, an engine in single
    /// precision is replaced by one in f64.
    pub engine: EngineInfo,
}

/// A kind of upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Bound {
    /// The spectral bound, from eigenvalues alone.
    Spectral,
    /// Hadamard's bound, from the lengths of rows alone.
    Hadamard,
    /// The Γ relaxation.
    Gamma,
    /// The linx relaxation.
    Linx,
    /// The Γ relaxation of the items left out.
    Complement,
    /// Only one set or one item is left to choose.
    Enumeration,
    /// For a [`Design`](super::Design): information matrices in which no row has a weight above 1.
    Distinct,
    /// For a [`Design`](super::Design): information matrices with rows of any weights.
    Repeated,
}

by_name!(Bound, "bound", {
    Spectral => "spectral",
    Hadamard => "hadamard",
    Gamma => "gamma",
    Linx => "linx",
    Complement => "complement",
    Enumeration => "enumeration",
    Distinct => "distinct",
    Repeated => "repeated",
});

impl UpperBound {
    /// Computes the bound of a model.
    ///
    /// The watch of the engine ([`Engine::watched`]), if any, can stop the run. A stopped run returns the best bound
    /// so far; bounds that need no relaxation are always computed. The watch receives every bound together with
    /// ln det of the best set that the relaxations have led to (−∞ before the first).
    ///
    /// # Errors
    /// Errors of the engine; [`Error::Eigen`](crate::Error::Eigen).
    pub fn certify(&self, model: &impl Objective, engine: &Engine) -> Result<Certificate> {
        let (engine, watch) = engine.apart();
        let clock = watch.start();
        let candidates = model.candidates();
        let above = candidates.ground.above()?;
        let candidates = above.as_ref().map_or(candidates, |above| model.candidates_below(above));
        if candidates.has_one_set() {
            let at_most = candidates.log_volume(&candidates.only_set()).at_most;
            return Ok(Certificate::of(at_most, Bound::Enumeration, Engine::host()));
        }
        if candidates.members() <= MOST_DENSE {
            of_few(&candidates, &clock)
        } else {
            of_many(&candidates, engine, &clock)
        }
    }
}

impl Certificate {
    pub(super) fn of(upper_bound: f64, bound: Bound, engine: &Engine) -> Self {
        let bounds = vec![(bound, upper_bound)];
        Self { upper_bound, bound, bounds, iterations: 0, engine: engine.info() }
    }

    pub(super) fn add(&mut self, upper_bound: f64, bound: Bound, iterations: u64) {
        self.iterations += iterations;
        self.bounds.push((bound, upper_bound));
        if upper_bound < self.upper_bound {
            (self.upper_bound, self.bound) = (upper_bound, bound);
        }
    }

    /// Raises all bounds to at least the worth of sets that were left out.
    fn raise(&mut self, worth: f64) {
        self.upper_bound = self.upper_bound.max(worth);
        self.bounds.iter_mut().for_each(|(_, bound)| *bound = bound.max(worth));
    }
}

impl Solution {
    /// Adds the bound of a certificate for the same model, if it is lower than the known one.
    ///
    /// The bound is never set below `log_det`, which may be rounded up. A set that lacks items gets no bound, since
    /// the bound is for other sets.
    #[must_use]
    pub fn certified(self, certificate: &Certificate) -> Self {
        if self.missing > 0 {
            return self;
        }
        let known = self.upper_bound.unwrap_or(f64::INFINITY);
        let upper_bound = known.min(certificate.upper_bound).max(self.log_det);
        Self { upper_bound: Some(upper_bound), ..self }
    }
}

/// The share of the gap between a relaxation's bound and the best known set to which the relaxation is solved.
const SHARE: f64 = 0.01;
/// The share of the gap below which two steps in a row end the search for parameters.
const TUNING_SHARE: f64 = 0.003;

/// Computes all bounds of a ground set with a dense kernel.
fn of_few(candidates: &Candidates<'_>, clock: &Clock) -> Result<Certificate> {
    let whole = Subproblem::new(candidates, places(candidates));
    let mut state = State::whole(whole.clone());
    match state.reduce() {
        Left::Nothing => return in_one_pass(&whole),
        Left::One => {
            let at_most = state.problem.offset.max(state.left_out);
            return Ok(Certificate::of(at_most, Bound::Enumeration, Engine::host()));
        }
        Left::Choices => {}
    }
    let mut certificate = in_one_pass(&state.problem)?;
    certificate.raise(state.left_out);
    let ended = || clock.ended().is_some();
    let problem = &state.problem.reweighted(&balance(&state.problem, &|_, _| ended())?);
    // ln det of the best set that x has led to; no bound can fall below it.
    let mut reached = f64::NEG_INFINITY;
    for method in Method::all_for(problem) {
        clock.report(reached, Some(certificate.upper_bound), certificate.iterations);
        if ended() {
            break;
        }
        let bound = match &method {
            Method::Gamma | Method::Shifted(_) => Bound::Gamma,
            Method::Complement(_) => Bound::Complement,
            Method::Linx(_) => Bound::Linx,
        };
        // Without a known set, the relaxation is solved to the end.
        let share = |share: f64| if reached.is_finite() { share } else { 0.0 };
        let (share, tuning_share) = (share(SHARE), share(TUNING_SHARE));
        let effort = Effort { target: reached, share, tuning: 100, tuning_share };
        if let Some(relaxed) = relax(problem, &method, None, effort, &ended)? {
            certificate.add(relaxed.upper_bound.max(state.left_out), bound, relaxed.steps);
            let set = improve(problem, problem.with_largest(&relaxed.x), clock);
            reached = reached.max(candidates.log_det(&set));
        }
    }
    clock.report(reached, Some(certificate.upper_bound), certificate.iterations);
    Ok(certificate)
}

/// Computes the bounds that need no relaxation.
fn in_one_pass(problem: &Subproblem) -> Result<Certificate> {
    let mut certificate = Certificate::of(hadamard(problem).upper_bound, Bound::Hadamard, Engine::host());
    if let Some(spectral) = usable(spectral_bound(problem))? {
        certificate.add(spectral, Bound::Spectral, 0);
    }
    Ok(certificate)
}

/// Computes the bounds that take a few passes over the rows.
fn of_many(candidates: &Candidates<'_>, engine: &Engine, clock: &Clock) -> Result<Certificate> {
    let engine = in_double(engine);
    let OnePass { spectral, hadamard } = one_pass_over_whole(candidates, engine)?;
    let mut certificate = Certificate::of(hadamard, Bound::Hadamard, engine);
    certificate.add(spectral, Bound::Spectral, 0);
    let report = |bound: f64| clock.report(f64::NEG_INFINITY, Some(bound), 0);
    report(certificate.upper_bound);
    if clock.ended().is_none() {
        let enough = |bound: f64, value: f64| {
            // The bound is infinite while only the time is checked.
            if bound.is_finite() {
                report(bound);
            }
            bound - value < 1e-6 || clock.ended().is_some()
        };
        if let Some(relaxed) = usable(relax_whole(candidates, &clock.over(engine), &[], &enough))? {
            certificate.add(relaxed.upper_bound, Bound::Gamma, relaxed.steps);
        }
    }
    Ok(certificate)
}

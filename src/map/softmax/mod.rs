//! The softmax relaxation.

mod ascent;
mod extension;
mod rounding;
mod single_items;

pub use extension::{SoftmaxExtension, SoftmaxPoint};

use self::{
    ascent::{Ascended, ascend},
    extension::places_at,
    rounding::likeliest,
};
use super::{Candidates, Objective, Place, Solution, Solver, Termination, watch::Clock};
use crate::{Dpp, Result, engine::Engine};

/// Climbs the [`SoftmaxExtension`] of ln det K_S from the centre of the cube and rounds without loss.
///
/// It then adds and drops single items as long as that improves the set. All of this is repeated among the items
/// outside the first set, and the better set is returned.
///
/// ```text
/// max F(x),   F(x) = ln Σ_S det(K_S) Π_{i∈S} x_i Π_{i∉S} (1 − x_i) = ln det(Diag(x)(K − I) + I),   x ∈ [0,1]^m
/// ```
///
/// The relaxation is tight, max F = max ln det K_S, but not concave: the method finds a local maximum. Its step is
/// the growth transformation of Baum and Eagon, x_i ← Pr(i ∈ S) under the weights of the sum, which raises F for any
/// x. Steps in ln(x_i/(1−x_i)) are lengthened as long as that raises F more. Along one coordinate F is the logarithm
/// of an affine function, so rounding to the better of 0 and 1 never lowers it.
///
/// # Guarantee
/// No addition or removal of a single item improves the set ([`Termination::LocallyOptimal`]). If f = ln det K_S ≥ 0
/// on all sets, the better of the two sets has at least a quarter of the optimum; otherwise there is no such
/// guarantee.
///
/// # Cost
/// O(mn² + n³) operations and three passes over A per step, for a few tens of steps; 40 bytes per item and O(n²).
///
/// # Numerics
/// f64; see [`SoftmaxExtension`]. Single items are added and dropped by orthogonal transformations of the
/// original rows.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Dpp, Engine, Features, map::{Softmax, Solver}};
/// let features = Features::from_rows(3, 2, vec![2.0, 0.0, 1.9, 0.1, 0.0, 1.5])?;
/// let solution = Softmax::default().solve(&Dpp::new(&features)?, &Engine::cpu())?;
/// assert_eq!(solution.subset.as_slice(), [0, 2]);
/// assert!((solution.log_det - 9.0_f64.ln()).abs() < 1e-12);
/// # Ok(()) }
/// ```
///
/// # Source
/// Gillenwater, Kulesza and Taskar, *Near-optimal MAP inference for determinantal point processes* (2012),
/// algorithms 1 and 2 and theorem 3, who climb by L-BFGS or conditional gradients; Baum and Eagon, *An inequality
/// with applications to statistical estimation …* (1967); Salakhutdinov and Roweis, *Adaptive overrelaxed bound
/// optimization methods* (2003).
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Softmax;

impl Solver<Dpp> for Softmax {
    /// Returns the set found by the relaxation.
    ///
    /// The watch of the engine ends the run, but not before the first step, which takes O(mn²) operations. A climb
    /// that is cut short goes through the items at that point, the most likely first, and takes each that raises the
    /// determinant. The result is never worse than the empty set.
    ///
    /// [`iterations`](super::Stats::iterations) counts the steps, [`evaluations`](super::Stats::evaluations) the
    /// values of F.
    ///
    /// # Errors
    /// [`Error::Eigen`](crate::Error::Eigen); errors of the engine.
    fn solve(&self, model: &Dpp, engine: &Engine) -> Result<Solution> {
        let (engine, watch) = engine.apart();
        let clock = watch.start();
        let candidates = model.candidates();
        if candidates.counts.most == 0 {
            return Ok(Solution::new(&candidates, &[], Termination::LocallyOptimal, engine));
        }
        let search = Search { extension: SoftmaxExtension::new(model), candidates, engine, clock };
        let all = vec![1.0; search.candidates.groups[0].len()];
        let nothing = search.candidates.log_det(&[]);
        let (mut best, places) = search.run(all.clone(), nothing, 0)?;
        let mut others = all;
        places.iter().for_each(|place| others[place.position] = 0.0);
        if best.termination == Termination::LocallyOptimal && others.iter().any(|&odds| odds > 0.0) {
            let (second, _) = search.run(others, best.log_det, best.stats.iterations)?;
            let (termination, iterations) = (second.termination, second.stats.iterations);
            if second.log_det > best.log_det {
                best = second;
            }
            (best.termination, best.stats.iterations) = (termination, iterations);
        }
        best.stats.evaluations = search.extension.evaluations();
        Ok(best)
    }
}

/// The state that both runs share.
struct Search<'c> {
    extension: SoftmaxExtension<'c>,
    candidates: Candidates<'c>,
    engine: &'c Engine,
    clock: Clock,
}

impl Search<'_> {
    /// Climbs from these odds x/(1−x), rounds and improves. `best` and `steps` are the result of the previous run.
    fn run(&self, odds: Vec<f64>, best: f64, steps: u64) -> Result<(Solution, Vec<Place>)> {
        let Self { extension, candidates, engine, clock } = self;
        let engine = *engine;
        let report = |more: u64| clock.report(best, None, steps + more);
        let Ascended { odds, at, steps: more } = ascend(extension, engine, odds, clock, report)?;
        let rounded = match extension.round_odds(engine, &odds, &at, clock)? {
            Some(corner) => places_at(&corner),
            None => likeliest(candidates, &odds, &at),
        };
        let places = single_items::improve(candidates, engine, rounded, clock)?;
        let termination = clock.ended().unwrap_or(Termination::LocallyOptimal);
        let mut solution = Solution::new(candidates, &places, termination, engine);
        solution.stats.iterations = steps + more;
        clock.report(solution.log_det.max(best), None, steps + more);
        Ok((solution, places))
    }
}

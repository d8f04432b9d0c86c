//! Checks of the most probable set: no solution above the optimum, no bound below it.

use partition_dpp::{
    Dpp, Result,
    map::{
        BranchAndBound, Greedy, LocalSearch, Objective, Restarts, Softmax, Solution, Solver, SymmetricGreedy,
        Termination, UpperBound,
    },
};

use super::{Data, Examined, Kind, Refused, answers::rounding_of_det, log_floor};
use crate::exact::set_of;

/// The largest gap per item of a set that is reported as optimal.
const TOLERANCE: f64 = 1e-9;

pub fn solve(examined: &mut Examined<'_>, model: &impl Objective) {
    let engine = examined.engine;
    solution(examined, "greedy", Greedy::default().solve(model, engine));
    solution(examined, "local search", LocalSearch::default().solve(model, engine));
    let restarts = LocalSearch::default().with_restarts(Restarts::Count(3));
    solution(examined, "restarts", restarts.solve(model, engine));
    let found = solution(examined, "branch and bound", BranchAndBound::default().solve(model, engine));
    if let Some(found) = found {
        proof(examined, &found);
    }
    let certificate = UpperBound::default().certify(model, engine);
    // If there is no set, any number is an upper bound.
    if examined.law.is_some()
        && let Some(certificate) = examined.answered("certificate", certificate)
    {
        for (bound, value) in certificate.bounds {
            upper_bound(examined, &format!("certificate ({bound})"), value);
        }
    }
}

pub fn any_size(examined: &mut Examined<'_>, model: &Dpp) {
    let engine = examined.engine;
    solution(examined, "symmetric greedy", SymmetricGreedy::default().solve(model, engine));
    solution(examined, "softmax", Softmax::default().solve(model, engine));
}

fn solution(examined: &mut Examined<'_>, by: &str, found: Result<Solution>) -> Option<Solution> {
    if let Ok(short) = &found
        && (short.missing > 0 || short.log_det == f64::NEG_INFINITY)
    {
        let what = format!("{}, {} missing, ln det {}", short.termination, short.missing, short.log_det);
        examined.report.refused(Refused::Short, by, &what);
        return None;
    }
    let found = examined.answered(by, found)?;
    let set = set_of(found.subset.iter());
    examined.report.compared(Kind::Map);
    if !examined.allows(set) {
        examined.report.fault(Kind::Map, by, &format!("{} is not allowed", found.subset));
        return None;
    }
    let exact = examined.minors.log_det(set);
    let tolerance = examined.tolerance(rounding_of_det(examined, set))
        + log_floor(exact)
        + examined.problem.rounding_of_weights(set);
    if !((found.log_det - exact).abs() <= tolerance) {
        let text = format!("ln det of {} is {exact:?}, not {:?}", found.subset, found.log_det);
        examined.report.fault(Kind::Map, by, &text);
    }
    if examined.problem.data == Data::Gaussian && found.log_det > 0.0 {
        let text = format!("ln det of {} is {:e}, above that of the diagonal", found.subset, found.log_det);
        examined.report.fault(Kind::Map, by, &text);
    }
    if let Some(bound) = found.upper_bound {
        upper_bound(examined, by, bound);
        if bound < found.log_det - log_floor(exact) {
            let text = format!("bound {bound:?} below the set's own {:?}", found.log_det);
            examined.report.fault(Kind::Bound, by, &text);
        }
    }
    Some(found)
}

/// Checks a set that is reported as optimal.
fn proof(examined: &mut Examined<'_>, found: &Solution) {
    let (best, optimum) = examined.minors.best(|set| examined.allows(set));
    let gap = found.gap().unwrap_or(f64::INFINITY);
    if found.termination == Termination::Optimal {
        if !(gap <= TOLERANCE * found.subset.len().max(1) as f64) {
            examined.report.fault(
                Kind::Bound,
                "branch and bound",
                &format!("optimal, with a gap of {gap:.1e}"),
            );
        }
        let exact = examined.minors.log_det(set_of(found.subset.iter()));
        if !(optimum - exact
            <= gap + examined.tolerance(rounding_of_det(examined, best)) + log_floor(optimum))
        {
            let text = format!("{} at {exact:?} is not optimal: {optimum:?}, gap {gap:.1e}", found.subset);
            examined.report.fault(Kind::Map, "branch and bound", &text);
        }
    }
}

/// Checks that an upper bound is not below the optimum.
///
/// The bound already includes its own rounding error, so only the rounding error of the exact optimum is allowed for.
pub fn upper_bound(examined: &mut Examined<'_>, by: &str, bound: f64) {
    let (best, optimum) = examined.minors.best(|set| examined.allows(set));
    // The bound holds for the kernel's factor, not for the kernel.
    let factored = if examined.problem.data == Data::Kernel { rounding_of_det(examined, best) } else { 0.0 };
    let rounding = log_floor(optimum) + f64::EPSILON + examined.problem.rounding_of_weights(best);
    examined.report.compared(Kind::Bound);
    if !(bound >= optimum - rounding - factored - 10.0 * examined.vague) {
        let text = format!("bound {bound:?} is below the optimum {optimum:?} by {:.1e}", optimum - bound);
        examined.report.fault(Kind::Bound, by, &text);
    }
}

//! Before the tree: a first set, the best way to bound, and the items that can matter at all.

use super::{
    incumbent::{Incumbent, improve},
    search::search,
};
use crate::{
    Result,
    engine::Engine,
    map::{
        Candidates, Place, Solution, Termination,
        bounds::{Effort, MOST_DENSE, Method, Problem, places, relax, relax_whole, spectral_bound},
        greedy::{self, PlainGains},
        watch::Clock,
    },
};

/// Exchanges look at no more items than this at once.
const MOST_EXCHANGED: usize = 5_000;

pub(super) fn solve(
    candidates: &Candidates<'_>,
    engine: &dyn Engine,
    tolerance: f64,
    clock: &Clock<'_>,
) -> Result<Solution> {
    let mut incumbent = Incumbent::none();
    incumbent.offer(candidates, greedy_set(candidates, engine)?);
    let ended = || clock.ended().is_some();
    let mut bound = f64::INFINITY;
    let mut kept = places(candidates);
    let mut steps = 0;
    if kept.len() > MOST_DENSE && candidates.total() > 0 {
        let target = incumbent.log_det + tolerance;
        let enough = |bound: f64, value: f64| bound < target || bound - value < 1e-6 || ended();
        let relaxed = relax_whole(candidates, engine, &incumbent.set, &enough)?;
        let settled = |item: usize| relaxed.upper_bound - relaxed.regret[item] < target && !relaxed.taken[item];
        kept = (0..kept.len()).filter(|&item| !settled(item)).map(|item| kept[item]).collect();
        bound = relaxed.upper_bound;
        steps += relaxed.steps;
    }
    kept.extend(incumbent.set.iter().copied());
    kept.sort_unstable();
    kept.dedup();
    let root = Problem::new(candidates, kept);
    if root.len() <= MOST_EXCHANGED {
        let better = improve(&root, incumbent.set.clone());
        incumbent.offer(candidates, better);
    }
    let (method, own) = best_method(candidates, &root, &mut incumbent, tolerance, &ended)?;
    let searched = search(candidates, &root, (method, bound.min(own)), &mut incumbent, tolerance, clock)?;
    let mut solution = Solution::new(candidates, &incumbent.set, searched.termination);
    solution.upper_bound = Some(searched.upper_bound.max(solution.log_det));
    solution.stats.nodes = searched.nodes;
    solution.stats.iterations = steps + searched.steps;
    Ok(solution)
}

fn greedy_set(candidates: &Candidates<'_>, engine: &dyn Engine) -> Result<Vec<Place>> {
    let rows = candidates.rows();
    greedy::places(candidates, engine, &rows, PlainGains::new(engine, &rows))
}

/// The method with the lowest bound, and that.
fn best_method(
    candidates: &Candidates<'_>,
    root: &Problem,
    incumbent: &mut Incumbent,
    tolerance: f64,
    ended: &dyn Fn() -> bool,
) -> Result<(Method, f64)> {
    let mut state = super::state::State {
        problem: root.clone(),
        included: Vec::new(),
        x: Vec::new(),
        method: Method::Gamma,
    };
    if state.settle() != super::state::Left::Choices || ended() {
        return Ok((Method::Gamma, f64::INFINITY));
    }
    let problem = &state.problem;
    let len = problem.len();
    let target = incumbent.log_det + tolerance;
    let effort = Effort { target, share: 0.02, tuning: 60, tuning_share: 0.003 };
    let mut methods = vec![Method::Gamma];
    if len <= MOST_DENSE {
        methods.push(Method::Linx(f64::NAN));
        if len <= problem.dims() {
            methods.extend([Method::Shifted(Vec::new()), Method::Complement(Vec::new())]);
        }
    }
    let mut best = (Method::Gamma, f64::INFINITY);
    let _ = spectral_bound(problem)?;
    for method in methods {
        let Some(relaxed) = relax(problem, &method, None, effort, ended)? else { continue };
        if std::env::var_os("PDPP_TRACE").is_some() {
            eprintln!("  root {:?} ub {} steps {}", std::mem::discriminant(&method), relaxed.upper_bound - incumbent.log_det, relaxed.steps);
        }
        let better = improve(root, problem.with_largest(&relaxed.x));
        incumbent.offer(candidates, better);
        if relaxed.upper_bound < best.1 {
            best = (relaxed.method, relaxed.upper_bound);
        }
    }
    let _ = Termination::Optimal;
    Ok(best)
}

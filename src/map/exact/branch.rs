//! The work at a node of the tree.

use super::state::{Left, Node, State};
use crate::{
    Result,
    map::{
        Place,
        bounds::{Effort, Method, Relaxed, Subproblem, hadamard, relax, worth_with},
    },
};

/// Another round follows while one forces this share of the items.
const WORTH_ANOTHER_ROUND: f64 = 0.1;

/// The outcome of a node.
#[derive(Debug)]
pub(super) struct Branched {
    /// An upper bound of all sets below the node that no child contains.
    pub(super) fathomed: f64,
    /// Sets found on the way.
    pub(super) sets: Vec<Vec<Place>>,
    pub(super) children: Vec<Node>,
    pub(super) steps: u64,
}

/// Bounds a node, forces items by the bound, and splits the rest in two.
pub(super) fn branch(
    root: &Subproblem,
    node: &Node,
    target: f64,
    ended: &(dyn Fn() -> bool + Sync),
) -> Result<Branched> {
    let mut state = State::new(root, node);
    let mut bound = node.bound;
    let mut branched =
        Branched { fathomed: f64::NEG_INFINITY, sets: Vec::new(), children: Vec::new(), steps: 0 };
    loop {
        let left = state.reduce();
        branched.fathomed = branched.fathomed.max(state.left_out.min(bound));
        match left {
            Left::Nothing => return Ok(branched),
            Left::One => {
                branched.fathomed = branched.fathomed.max(state.problem.offset.min(bound));
                branched.sets.push(state.included);
                return Ok(branched);
            }
            Left::Choices => {}
        }
        if ended() {
            branched.children.push(state.node(bound));
            return Ok(branched);
        }
        let relaxed = bounded(&state, target, ended)?;
        branched.steps += relaxed.steps;
        bound = bound.min(relaxed.upper_bound);
        if bound < target {
            branched.fathomed = branched.fathomed.max(bound);
            return Ok(branched);
        }
        branched.sets.push(state.problem.with_largest(&relaxed.x));
        let before = state.problem.len();
        branched.fathomed = branched.fathomed.max(fix(&mut state, relaxed, target));
        if ((before - state.problem.len()) as f64) < WORTH_ANOTHER_ROUND * before as f64 {
            split(&state, bound, &mut branched);
            return Ok(branched);
        }
    }
}

/// The bound by the lengths of rows; if it is not below the target, that by the node's method, or by Γ where the method
/// no longer applies.
fn bounded(state: &State, target: f64, ended: &(dyn Fn() -> bool + Sync)) -> Result<Relaxed> {
    let by_lengths = hadamard(&state.problem);
    if by_lengths.upper_bound < target {
        return Ok(by_lengths);
    }
    let effort = Effort { target, share: 0.1, tuning: 2, tuning_share: 0.2 };
    let start = (state.x.len() == state.problem.len()).then(|| state.x.clone());
    for method in [&state.method, &Method::Gamma] {
        if let Some(relaxed) = relax(&state.problem, method, start.clone(), effort, ended)? {
            return Ok(relaxed.or(&by_lengths));
        }
    }
    Ok(by_lengths)
}

/// Forces the items in or out whose opposite choice lowers the bound below `target`. Returns an upper bound of the sets
/// that are left out.
fn fix(state: &mut State, relaxed: Relaxed, target: f64) -> f64 {
    let otherwise: Vec<f64> = (0..relaxed.taken.len()).map(|item| relaxed.otherwise(item)).collect();
    let Relaxed { x, taken, method, .. } = relaxed;
    (state.x, state.method) = (x, method);
    let forced = |item: usize| otherwise[item] < target;
    let left_out = (0..taken.len()).filter(|&item| forced(item)).map(|item| otherwise[item]);
    let mut worth = left_out.fold(f64::NEG_INFINITY, f64::max);
    let inside: Vec<Place> = (0..taken.len())
        .filter(|&item| forced(item) && taken[item])
        .map(|item| state.problem.place(item))
        .collect();
    state.retain(|item| !forced(item) || taken[item]);
    for place in inside {
        let Some(item) = state.problem.position(place) else { continue };
        if state.problem.is_dependent(item) {
            // The forced item depends on the included ones: up to rounding there is no such set.
            worth = worth.max(worth_with(&state.problem, item));
            state.retain(|_| false);
            break;
        }
        state.include(item);
    }
    worth
}

/// Branches on the least decided item: in, and out.
fn split(state: &State, bound: f64, branched: &mut Branched) {
    let doubt = |item: usize| (state.x[item] - 0.5).abs();
    let doubtful = (0..state.problem.len()).reduce(|a, b| if doubt(b) < doubt(a) { b } else { a });
    let Some(item) = doubtful else {
        branched.children.push(state.node(bound));
        return;
    };
    if state.problem.is_dependent(item) {
        // It depends on the items just included.
        branched.fathomed = branched.fathomed.max(worth_with(&state.problem, item).min(bound));
    } else {
        let mut with = state.node(bound);
        let place = with.take(item);
        with.included.push(place);
        branched.children.push(with);
    }
    let mut without = state.node(bound);
    without.take(item);
    branched.children.push(without);
}

//! The work at a node of the tree.

use super::{
    problem::Problem,
    state::{Left, Node, State},
};
use crate::{
    Result,
    map::{Place, bounds::Relaxed},
};

/// Another round follows if the last one forced at least this share of the items.
const WORTH_ANOTHER_ROUND: f64 = 0.1;

/// The outcome of a node.
#[derive(Debug)]
pub(super) struct Branched {
    /// An upper bound of all sets below the node that no child contains.
    pub(super) fathomed: f64,
    /// Sets found in the process.
    pub(super) sets: Vec<Vec<Place>>,
    pub(super) children: Vec<Node>,
    pub(super) steps: u64,
}

/// Bounds a node, forces items by the bound, and splits the rest in two.
pub(super) fn branch(
    root: &impl Problem,
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
                branched.fathomed = branched.fathomed.max(state.problem.worth().min(bound));
                branched.sets.push(state.included);
                return Ok(branched);
            }
            Left::Choices => {}
        }
        if ended() {
            branched.children.push(state.node(bound));
            return Ok(branched);
        }
        let start = (state.x.len() == state.problem.len()).then(|| state.x.clone());
        let relaxed = state.problem.bounded(&state.method, start, target, ended)?;
        branched.steps += relaxed.steps;
        bound = bound.min(relaxed.upper_bound);
        if bound < target {
            branched.fathomed = branched.fathomed.max(bound);
            return Ok(branched);
        }
        let largest = state.problem.with_largest(&relaxed.x);
        branched.sets.push(state.included.iter().copied().chain(largest).collect());
        let before = state.problem.len();
        branched.fathomed = branched.fathomed.max(fix(&mut state, relaxed, target));
        if ((before - state.problem.len()) as f64) < WORTH_ANOTHER_ROUND * before as f64 {
            split(&state, bound, &mut branched);
            return Ok(branched);
        }
    }
}

/// Forces an item in or out if the opposite choice lowers the bound below `target`.
///
/// Returns an upper bound of the sets that are left out.
fn fix(state: &mut State<impl Problem>, relaxed: Relaxed, target: f64) -> f64 {
    let otherwise: Vec<f64> = (0..relaxed.taken.len()).map(|item| relaxed.otherwise(item)).collect();
    let Relaxed { x, doubt, taken, method, .. } = relaxed;
    (state.x, state.doubt, state.method) = (x, doubt, method);
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
            // The forced item depends on the included ones, so up to rounding there is no such set.
            worth = worth.max(state.problem.worth_with(item));
            state.retain(|_| false);
            break;
        }
        state.include(item);
    }
    worth
}

/// Branches on the item that decides most: one child includes it, the other excludes it.
fn split(state: &State<impl Problem>, bound: f64, branched: &mut Branched) {
    debug_assert_eq!(state.doubt.len(), state.problem.len());
    let undecided = |item: usize| state.x[item] * (1.0 - state.x[item]);
    let doubt = |item: usize| (state.doubt[item], undecided(item));
    let doubtful = (0..state.problem.len()).reduce(|a, b| if doubt(b) > doubt(a) { b } else { a });
    let Some(item) = doubtful else {
        branched.children.push(state.node(bound));
        return;
    };
    if state.problem.is_dependent(item) {
        // The item depends on the items just included.
        branched.fathomed = branched.fathomed.max(state.problem.worth_with(item).min(bound));
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

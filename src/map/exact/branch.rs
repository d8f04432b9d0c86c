//! What happens at a node of the tree.

use super::state::{Left, Node, State};
use crate::{
    Result,
    map::{
        Place,
        bounds::{Effort, MOST_DENSE, Method, Problem, Relaxed, relax},
    },
};

/// Rounds go on while they settle this share of the items.
const WORTH_ANOTHER_ROUND: f64 = 0.1;
const SHARE: f64 = 0.1;
const TUNING: usize = 2;
const TUNING_SHARE: f64 = 0.2;

/// What a node leaves behind.
#[derive(Debug)]
pub(super) struct Branched {
    /// Of what is not followed any further.
    pub(super) fathomed: f64,
    /// Sets met on the way.
    pub(super) sets: Vec<Vec<Place>>,
    pub(super) children: Vec<Node>,
    pub(super) steps: u64,
}

impl Branched {
    fn ends(fathomed: f64, sets: Vec<Vec<Place>>, steps: u64) -> Self {
        Self { fathomed, sets, children: Vec::new(), steps }
    }
}

/// Bounds a node, settles what the bound settles, and splits what is left in two.
pub(super) fn branch(
    root: &Problem,
    node: &Node,
    target: f64,
    ended: &(dyn Fn() -> bool + Sync),
) -> Result<Branched> {
    let mut state = State::new(root, node);
    let (mut bound, mut sets, mut steps) = (node.bound, Vec::new(), 0);
    loop {
        match state.settle() {
            Left::Nothing => return Ok(Branched::ends(f64::NEG_INFINITY, sets, steps)),
            Left::One => {
                sets.push(state.included);
                // The set itself is compared with the others.
                return Ok(Branched::ends(f64::NEG_INFINITY, sets, steps));
            }
            Left::Choices => {}
        }
        let relaxed = bounded(&state, target, ended)?;
        steps += relaxed.steps;
        bound = bound.min(relaxed.upper_bound);
        if bound < target {
            return Ok(Branched::ends(bound, sets, steps));
        }
        sets.push(rounded(&state, &relaxed));
        if ended() {
            let undone = state.node(bound, node.depth);
            return Ok(Branched { children: vec![undone], ..Branched::ends(f64::NEG_INFINITY, sets, steps) });
        }
        let before = state.problem.len();
        fix(&mut state, &relaxed, target);
        if ((before - state.problem.len()) as f64) < WORTH_ANOTHER_ROUND * before as f64 {
            break;
        }
    }
    let children = split(state, bound, node.depth + 1);
    Ok(Branched { children, ..Branched::ends(f64::NEG_INFINITY, sets, steps) })
}

/// The bound by the node's method, or by Γ where that does not apply.
fn bounded(state: &State, target: f64, ended: &(dyn Fn() -> bool + Sync)) -> Result<Relaxed> {
    let effort = Effort { target, share: SHARE, tuning: TUNING, tuning_share: TUNING_SHARE };
    let len = state.problem.len();
    let start = (state.x.len() == len).then(|| state.x.clone());
    let full_rank = len <= state.problem.dims().min(MOST_DENSE);
    let tuned = matches!(state.method, Method::Shifted(_));
    let method = if state.method == Method::Gamma && full_rank {
        Method::Shifted(Vec::new())
    } else {
        state.method.clone()
    };
    let _ = tuned;
    if let Some(relaxed) = relax(&state.problem, &method, start.clone(), effort, ended)? {
        return Ok(relaxed);
    }
    match relax(&state.problem, &Method::Gamma, start, effort, ended)? {
        Some(relaxed) => Ok(relaxed),
        None => unreachable!("Γ always applies"),
    }
}

/// The set that the relaxation points at.
fn rounded(state: &State, relaxed: &Relaxed) -> Vec<Place> {
    state.problem.with_largest(&relaxed.x)
}

/// Takes in or out what the bound says must be, for a set worth `target` or more.
fn fix(state: &mut State, relaxed: &Relaxed, target: f64) {
    state.x.clone_from(&relaxed.x);
    state.method = relaxed.method.clone();
    let settled = |item: usize| relaxed.upper_bound - relaxed.regret[item] < target;
    let inside: Vec<Place> = (0..state.problem.len())
        .filter(|&item| settled(item) && relaxed.taken[item])
        .map(|item| state.problem.place(item))
        .collect();
    state.retain(|item| !settled(item) || relaxed.taken[item]);
    for place in inside {
        if let Some(item) = state.problem.position(place) {
            state.include(item);
        }
    }
}

/// The problem with its most doubtful item in, and with it out.
fn split(state: State, bound: f64, depth: usize) -> Vec<Node> {
    let doubt = |item: usize| (state.x[item] - 0.5).abs();
    let doubtful = (0..state.problem.len()).reduce(|a, b| if doubt(b) < doubt(a) { b } else { a });
    let Some(item) = doubtful else { return vec![state.node(bound, depth)] };
    let (mut with, mut without) = (state.clone(), state);
    with.include(item);
    without.retain(|other| other != item);
    vec![with.node(bound, depth), without.node(bound, depth)]
}

//! The tree, best bound first.

use std::{cmp::Ordering, collections::BinaryHeap};

use super::{
    branch::{Branched, branch},
    improve::improve,
    incumbent::Incumbent,
    state::Node,
};
use crate::{
    Result,
    map::{
        Candidates, Termination,
        bounds::{Method, Subproblem},
        watch::Clock,
    },
    parallel::map_ordered,
};

/// Nodes that are processed together. The number of threads does not change it, nor the result.
const WAVE: usize = 8;

/// An open node, and its number.
struct Open(Node, u64);

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    /// By bound, then by number.
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.bound.total_cmp(&other.0.bound).then(self.1.cmp(&other.1))
    }
}

/// The outcome of a search.
#[derive(Debug)]
pub(super) struct Searched {
    pub(super) upper_bound: f64,
    pub(super) termination: Termination,
    pub(super) nodes: u64,
    pub(super) steps: u64,
}

impl Searched {
    /// The outcome where there is only one set.
    pub(super) fn done(at_most: f64) -> Self {
        Self { upper_bound: at_most, termination: Termination::Optimal, nodes: 0, steps: 0 }
    }

    /// The outcome where there was no time to search.
    pub(super) fn ended(upper_bound: f64, termination: Termination) -> Self {
        Self { upper_bound, termination, nodes: 0, steps: 0 }
    }
}

/// Searches below a root until no node can hold a set that is better by `tolerance`.
pub(super) fn search(
    candidates: &Candidates<'_>,
    root: &Subproblem,
    first: (Method, f64),
    incumbent: &mut Incumbent,
    tolerance: f64,
    clock: &Clock,
) -> Result<Searched> {
    let (method, bound) = first;
    let start = Node { included: Vec::new(), undecided: root.places.clone(), x: Vec::new(), method, bound };
    let mut open = BinaryHeap::from([Open(start, 0)]);
    let (mut nodes, mut made, mut steps) = (0, 0, 0);
    let mut fathomed = f64::NEG_INFINITY;
    let ended = || clock.ended().is_some();
    let termination = loop {
        let target = incumbent.target(tolerance);
        let mut wave = Vec::with_capacity(WAVE);
        while wave.len() < WAVE
            && let Some(Open(node, _)) = open.pop()
        {
            if node.bound < target {
                fathomed = fathomed.max(node.bound);
            } else {
                wave.push(node);
            }
        }
        if wave.is_empty() {
            break Termination::Optimal;
        }
        if let Some(termination) = clock.ended() {
            fathomed = wave.iter().map(|node| node.bound).fold(fathomed, f64::max);
            break termination;
        }
        let done = map_ordered(wave.len(), |at| branch(root, &wave[at], target, &ended));
        nodes += wave.len() as u64;
        for branched in done {
            let Branched { fathomed: own, sets, children, steps: own_steps } = branched?;
            fathomed = fathomed.max(own);
            steps += own_steps;
            for set in sets {
                if incumbent.offer(candidates, set) {
                    let better = improve(root, incumbent.set.clone(), clock);
                    incumbent.offer(candidates, better);
                }
            }
            for child in children {
                made += 1;
                open.push(Open(child, made));
            }
        }
        let top = open.peek().map_or(fathomed, |open| open.0.bound.max(fathomed));
        clock.report(incumbent.log_det, Some(top.max(incumbent.log_det)), nodes);
    };
    let rest = open.iter().map(|open| open.0.bound).fold(fathomed, f64::max);
    Ok(Searched { upper_bound: rest.max(incumbent.log_det), termination, nodes, steps })
}

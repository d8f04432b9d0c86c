//! The search of the tree, best bound first.

use std::{cmp::Ordering, collections::BinaryHeap};

use super::{
    branch::{Branched, branch},
    incumbent::Incumbent,
    problem::{Judge, Problem},
    saved::{SavedNode, Tree},
    state::Node,
};
use crate::{
    Result,
    map::{Place, Termination, watch::Clock},
    parallel::map_ordered,
    watch,
};

/// The least and greatest number of nodes that are processed together.
///
/// In between it is one eighth of the open nodes. The number of threads changes neither this nor the result.
const WAVE: [usize; 2] = [8, 64];
const OPEN_IN_WAVE: usize = 8;
/// The bytes of open nodes beyond which the search goes deep instead of wide.
const MOST_BYTES: usize = 1 << 30;
/// The bytes of an undecided item.
const ITEM_BYTES: usize = 32;

/// An open node, and its number.
#[derive(Clone, Debug)]
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

/// The open nodes of a search, and a bound of the others.
#[derive(Clone, Debug)]
pub(in crate::map) struct OpenNodes {
    open: BinaryHeap<Open>,
    /// Nodes created after the limit on open nodes was reached. They are searched first, the latest first.
    deep: Vec<Open>,
    /// The number of the latest node.
    made: u64,
    /// An upper bound of all sets outside the open nodes.
    pub(super) fathomed: f64,
    /// The share of the tree that has been searched, if the children of a node share its part equally.
    pub(super) done: f64,
    pub(in crate::map) nodes: u64,
    pub(in crate::map) steps: u64,
    most_open: usize,
}

impl OpenNodes {
    /// Creates the list with the root alone.
    pub(in crate::map) fn of(root: Node) -> Self {
        let most_open = MOST_BYTES / (ITEM_BYTES * root.undecided.len().max(1));
        Self {
            open: BinaryHeap::from([Open(root, 0)]),
            deep: Vec::new(),
            made: 0,
            fathomed: f64::NEG_INFINITY,
            done: 0.0,
            nodes: 0,
            steps: 0,
            most_open,
        }
    }

    /// Restores the open nodes of a saved search.
    pub(super) fn restored(tree: &Tree, places: &[Place]) -> Self {
        let mut open = Self::of(Node::root(places.to_vec(), tree.method.clone(), tree.fathomed));
        open.open.clear();
        (open.fathomed, open.done, open.nodes, open.steps) =
            (tree.fathomed, tree.done, tree.nodes, tree.steps);
        tree.open.iter().for_each(|node| open.add(node.node(places, &tree.method)));
        open
    }

    /// The open nodes, by decreasing bound.
    pub(super) fn saved(&self, places: &[Place]) -> Vec<SavedNode> {
        let mut nodes: Vec<&Open> = self.open.iter().chain(&self.deep).collect();
        nodes.sort_by(|a, b| b.cmp(a));
        nodes.into_iter().map(|Open(node, _)| SavedNode::of(node, places)).collect()
    }

    /// The same with room for fewer open nodes.
    #[cfg(test)]
    pub(super) fn with_most_open(self, most_open: usize) -> Self {
        Self { most_open, ..self }
    }

    /// The number of open nodes.
    pub(super) fn len(&self) -> usize {
        self.open.len() + self.deep.len()
    }

    /// An upper bound of all sets.
    pub(in crate::map) fn upper_bound(&self) -> f64 {
        self.deep.iter().chain(self.open.peek()).map(|Open(node, _)| node.bound).fold(self.fathomed, f64::max)
    }

    /// Takes the next nodes that may hold a set worth `target`.
    fn next(&mut self, target: f64) -> Vec<Node> {
        let size = (self.open.len() / OPEN_IN_WAVE).clamp(WAVE[0], WAVE[1]);
        let mut wave = Vec::with_capacity(size);
        while wave.len() < size
            && let Some(Open(node, _)) = self.deep.pop().or_else(|| self.open.pop())
        {
            if node.bound < target {
                self.fathomed = self.fathomed.max(node.bound);
                self.done += node.share;
            } else {
                wave.push(node);
            }
        }
        wave
    }

    fn add(&mut self, node: Node) {
        self.made += 1;
        let open = Open(node, self.made);
        if self.open.len() < self.most_open { self.open.push(open) } else { self.deep.push(open) }
    }

    /// Records the outcome of a node.
    fn take(&mut self, share: f64, branched: Branched) {
        let Branched { fathomed, children, steps, .. } = branched;
        self.nodes += 1;
        self.steps += steps;
        self.fathomed = self.fathomed.max(fathomed);
        if children.is_empty() {
            self.done += share;
        }
        let each = share / children.len() as f64;
        children.into_iter().for_each(|child| self.add(Node { share: each, ..child }));
    }
}

/// Searches open nodes until none can hold a set that is better by `tolerance`, or until the time is up.
pub(in crate::map) fn search<P: Problem>(
    judge: &impl Judge,
    root: &P,
    open: &mut OpenNodes,
    incumbent: &mut Incumbent,
    tolerance: f64,
    clock: &Clock,
) -> Result<Termination> {
    let ended = || clock.ended().is_some();
    loop {
        let target = incumbent.target(tolerance);
        let wave = open.next(target);
        if wave.is_empty() {
            return Ok(Termination::Optimal);
        }
        if let Some(termination) = clock.ended() {
            wave.into_iter().for_each(|node| open.add(node));
            return Ok(termination);
        }
        let done = map_ordered(wave.len(), |at| branch(root, &wave[at], target, &ended));
        for (node, branched) in wave.iter().zip(done) {
            let mut branched = branched?;
            for set in std::mem::take(&mut branched.sets) {
                if incumbent.offer(judge, set) {
                    let better = root.improve(incumbent.set.clone(), clock);
                    incumbent.offer(judge, better);
                }
            }
            open.take(node.share, branched);
        }
        let bound = open.upper_bound().max(incumbent.log_det);
        let tree = watch::Tree::new(open.len() as u64, open.done);
        clock.report_tree(incumbent.log_det, bound, open.nodes, tree);
    }
}

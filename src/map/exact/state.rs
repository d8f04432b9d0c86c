//! A subproblem on its way down the tree, with the knowledge inherited from its parent.

use super::problem::Problem;
use crate::map::{Place, bounds::Method};

/// A node: its included and undecided items. All others are excluded.
#[derive(Clone, Debug)]
pub(in crate::map) struct Node {
    pub(super) included: Vec<Place>,
    pub(super) undecided: Vec<Place>,
    /// The point of the parent's relaxation for the undecided items; empty without one.
    pub(super) x: Vec<f64>,
    pub(super) method: Method,
    /// An upper bound of all sets below this node.
    pub(super) bound: f64,
    /// The share of the tree below this node, if all children were alike.
    pub(super) share: f64,
}

impl Node {
    /// A root about which only a bound is known.
    pub(in crate::map) fn root(undecided: Vec<Place>, method: Method, bound: f64) -> Self {
        Self { included: Vec::new(), undecided, x: Vec::new(), method, bound, share: 1.0 }
    }

    /// Removes an undecided item from the lists.
    pub(super) fn take(&mut self, item: usize) -> Place {
        for list in self.method.parameters().iter_mut().chain([&mut self.x]) {
            if item < list.len() {
                list.remove(item);
            }
        }
        self.undecided.remove(item)
    }
}

/// The subproblem of a node.
#[derive(Clone, Debug)]
pub(in crate::map) struct State<P> {
    pub(in crate::map) problem: P,
    pub(in crate::map) included: Vec<Place>,
    pub(super) x: Vec<f64>,
    /// The expected decrease of the bound from deciding each item, by the latest relaxation.
    pub(super) doubt: Vec<f64>,
    pub(super) method: Method,
    /// An upper bound of the sets with an item that was excluded because it seemed to depend on others.
    pub(in crate::map) left_out: f64,
}

/// The choices that remain after [`State::reduce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::map) enum Left {
    /// No set.
    Nothing,
    /// One set: the included items.
    One,
    /// Several sets.
    Choices,
}

impl<P: Problem> State<P> {
    /// A subproblem about which nothing is known.
    pub(in crate::map) fn whole(problem: P) -> Self {
        let left_out = f64::NEG_INFINITY;
        let (included, x, doubt) = (Vec::new(), Vec::new(), Vec::new());
        Self { problem, included, x, doubt, method: Method::Gamma, left_out }
    }

    pub(super) fn new(root: &P, node: &Node) -> Self {
        let places = node.included.iter().chain(&node.undecided);
        let mut kept: Vec<usize> = places.filter_map(|&place| root.position(place)).collect();
        kept.sort_unstable();
        let mut problem = root.part(&kept);
        for &place in &node.included {
            if let Some(item) = problem.position(place) {
                problem.include(item);
            }
        }
        let (included, x, method) = (node.included.clone(), node.x.clone(), node.method.clone());
        Self { problem, included, x, doubt: Vec::new(), method, left_out: f64::NEG_INFINITY }
    }

    pub(super) fn include(&mut self, item: usize) {
        self.included.push(self.problem.place(item));
        self.problem.include(item);
        self.forget(|other| other != item);
    }

    /// Excludes all other items.
    pub(super) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        self.problem.retain(&keep);
        self.forget(keep);
    }

    fn forget(&mut self, keep: impl Fn(usize) -> bool) {
        let filter = |values: &mut Vec<f64>| {
            let kept = values.iter().enumerate().filter(|(item, _)| keep(*item)).map(|(_, value)| *value);
            *values = kept.collect();
        };
        self.method.parameters().iter_mut().chain([&mut self.x, &mut self.doubt]).for_each(filter);
    }

    /// Forces items without a bound: excludes items that no set can have or that add nothing, fills parts without a
    /// choice, and makes the last pick.
    pub(in crate::map) fn reduce(&mut self) -> Left {
        loop {
            let problem = &mut self.problem;
            if !problem.limit_counts() {
                return Left::Nothing;
            }
            let useful: Vec<bool> = (0..problem.len()).map(|item| problem.is_useful(item)).collect();
            if useful.contains(&false) {
                self.retain(|item| useful[item]);
                continue;
            }
            let dependent: Vec<bool> = (0..problem.len()).map(|item| problem.is_dependent(item)).collect();
            if dependent.contains(&true) {
                let worth =
                    (0..problem.len()).filter(|&item| dependent[item]).map(|item| problem.worth_with(item));
                self.left_out = worth.fold(self.left_out, f64::max);
                self.retain(|item| !dependent[item]);
                continue;
            }
            match problem.counts().most {
                0 => return Left::One,
                1 => {
                    if let Some(place) = problem.pick_last() {
                        self.included.push(place);
                        return Left::One;
                    }
                }
                _ => {}
            }
            let (members, low) = (problem.members(), &problem.counts().low);
            let is_needed = |place: &Place| members[place.group] == low[place.group];
            let Some(item) = problem.places().iter().position(is_needed) else { return Left::Choices };
            self.include(item);
        }
    }

    /// The node of this state.
    pub(super) fn node(&self, bound: f64) -> Node {
        let Self { problem, included, x, method, .. } = self;
        let (included, x, method) = (included.clone(), x.clone(), method.clone());
        Node { included, undecided: problem.places().to_vec(), x, method, bound, share: 1.0 }
    }
}

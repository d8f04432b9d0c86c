//! A subproblem on its way down the tree, with what is known from its parent.

use crate::map::{
    Place,
    bounds::{Method, Subproblem, worth_with},
    rounding::of_value,
};

/// A node: the items that are included and undecided; all others are excluded.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) included: Vec<Place>,
    pub(super) undecided: Vec<Place>,
    /// The point of the parent's relaxation for the undecided items; empty if there is none.
    pub(super) x: Vec<f64>,
    pub(super) method: Method,
    /// An upper bound of all sets below this node.
    pub(super) bound: f64,
}

impl Node {
    /// Removes an undecided item from the lists.
    pub(super) fn take(&mut self, item: usize) -> Place {
        if let Method::Shifted(scaling) | Method::Complement(scaling) = &mut self.method
            && item < scaling.len()
        {
            scaling.remove(item);
        }
        if item < self.x.len() {
            self.x.remove(item);
        }
        self.undecided.remove(item)
    }
}

/// The subproblem of a node.
#[derive(Clone, Debug)]
pub(in crate::map) struct State {
    pub(in crate::map) problem: Subproblem,
    pub(in crate::map) included: Vec<Place>,
    pub(super) x: Vec<f64>,
    pub(super) method: Method,
    /// An upper bound of the sets with an item that was excluded because it seemed to depend on others.
    pub(in crate::map) left_out: f64,
}

/// What is left after [`State::reduce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::map) enum Left {
    /// No set.
    Nothing,
    /// One set: the included items.
    One,
    /// Several sets.
    Choices,
}

impl State {
    /// A subproblem of which nothing is known.
    pub(in crate::map) fn whole(problem: Subproblem) -> Self {
        let left_out = f64::NEG_INFINITY;
        Self { problem, included: Vec::new(), x: Vec::new(), method: Method::Gamma, left_out }
    }

    pub(super) fn new(root: &Subproblem, node: &Node) -> Self {
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
        Self { problem, included, x, method, left_out: f64::NEG_INFINITY }
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
        filter(&mut self.x);
        if let Method::Shifted(scaling) | Method::Complement(scaling) = &mut self.method {
            filter(scaling);
        }
    }

    /// Forces items without a bound: excludes those that no set can have or that add nothing, fills parts without a
    /// choice, and makes the last pick.
    pub(in crate::map) fn reduce(&mut self) -> Left {
        loop {
            let problem = &mut self.problem;
            let Some(counts) = problem.counts.limited(&problem.members(), problem.dims) else {
                return Left::Nothing;
            };
            problem.counts = counts;
            let useful: Vec<bool> = (0..problem.len()).map(|item| is_useful(problem, item)).collect();
            if useful.contains(&false) {
                self.retain(|item| useful[item]);
                continue;
            }
            let dependent: Vec<bool> = (0..problem.len()).map(|item| problem.is_dependent(item)).collect();
            if dependent.contains(&true) {
                let worth =
                    (0..problem.len()).filter(|&item| dependent[item]).map(|item| worth_with(problem, item));
                self.left_out = worth.fold(self.left_out, f64::max);
                self.retain(|item| !dependent[item]);
                continue;
            }
            match problem.counts.most {
                0 => return Left::One,
                1 => {
                    self.include_best();
                    return Left::One;
                }
                _ => {}
            }
            let members = problem.members();
            let needed =
                |item: &usize| members[problem.group(*item)] == problem.counts.low[problem.group(*item)];
            let Some(item) = (0..problem.len()).find(needed) else { return Left::Choices };
            self.include(item);
        }
    }

    /// Makes the last pick: the largest gain, the first among ties.
    fn include_best(&mut self) {
        let problem = &self.problem;
        let gains: Vec<f64> = (0..problem.len()).map(|item| problem.gain(item)).collect();
        let first_of_best = |best: usize, item: usize| if gains[item] > gains[best] { item } else { best };
        let best = (0..gains.len()).reduce(first_of_best).unwrap_or(0);
        // Rounding may have decided between them.
        let most = (0..gains.len()).map(|item| problem.gain_at_most(item)).fold(f64::NEG_INFINITY, f64::max);
        let at_most = problem.offset + most;
        self.include(best);
        self.problem.offset = self.problem.offset.max(at_most + of_value(at_most));
    }

    /// The node of this state.
    pub(super) fn node(&self, bound: f64) -> Node {
        let Self { problem, included, x, method, .. } = self;
        let (included, x, method) = (included.clone(), x.clone(), method.clone());
        Node { included, undecided: problem.places.clone(), x, method, bound }
    }
}

/// Whether a best set may need an item. Gains only fall, so an item that multiplies the determinant by at most 1 can be
/// left out unless a count needs it.
fn is_useful(problem: &Subproblem, item: usize) -> bool {
    let (group, counts) = (problem.group(item), &problem.counts);
    let is_needed = counts.low[group] > 0 || counts.least > counts.low.iter().sum();
    let least = if is_needed { f64::NEG_INFINITY } else { 0.0 };
    counts.high[group] > 0 && problem.gain_at_most(item) > least
}

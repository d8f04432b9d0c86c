//! The state of a search, to be continued by another process.

use serde::{Deserialize, Serialize};

use super::state::Node;
use crate::{
    Error, Result, Subset,
    bytes::{Kind, fingerprint},
    error::StreamProblem,
    map::{Candidates, Place, bounds::Method},
};

const KIND: Kind = Kind { tag: *b"PDPPTREE", what: "a search" };

/// The state of a search of [`BranchAndBound`](super::BranchAndBound): its beginning, or the point at which a time
/// limit or a stop ended it.
///
/// It holds the best set and the nodes that are still open, with their bounds. As bytes, it can be continued by
/// another process on another machine. The set and its proof are then the same as for an uninterrupted search, up to
/// ties, though other nodes may be visited. A proof continued from bytes is only as good as the bytes: their bounds
/// are not checked.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use std::time::Duration;
/// use partition_dpp::{Engine, Features, KDpp, Watch, map::{BranchAndBound, Search, Termination}};
/// let rows: Vec<f64> = (0..240).map(|i| f64::from(i * i % 37)).collect();
/// let model = KDpp::new(&Features::from_rows(40, 6, rows)?, 4)?;
/// let mut search = Search::default();
/// let at_once = Engine::cpu().watched(&Watch::default().within(Duration::ZERO));
/// BranchAndBound::default().solve_from(&model, &at_once, &mut search)?;
/// let mut search = Search::from_bytes(&search.to_bytes())?;
/// let solution = BranchAndBound::default().solve_from(&model, &Engine::cpu(), &mut search)?;
/// assert_eq!(solution.termination, Termination::Optimal);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// The items of the best set.
    best: Option<Vec<u32>>,
    pub(super) tree: Option<Tree>,
}

/// The open nodes, and the knowledge about all others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Tree {
    /// The fingerprint of the question.
    pub(super) fingerprint: u64,
    /// The items that the root chooses from, as group and position.
    pub(super) places: Vec<(u32, u32)>,
    /// An upper bound of the sets with any other item.
    pub(super) left_out: f64,
    /// The method of the root.
    pub(super) method: Method,
    pub(super) open: Vec<SavedNode>,
    pub(super) fathomed: f64,
    pub(super) done: f64,
    pub(super) nodes: u64,
    pub(super) steps: u64,
}

/// An open node. Items are numbered as in the root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedNode {
    included: Vec<u32>,
    undecided: Vec<u32>,
    bound: f64,
    share: f64,
}

impl Search {
    /// Creates a search that begins with a set found by a heuristic or an earlier run.
    ///
    /// Nodes that hold nothing better are left out from the start. A set that the model does not allow is ignored.
    #[must_use]
    pub fn from_set(set: &Subset) -> Self {
        let mut search = Self::default();
        search.keep(set);
        search
    }

    /// Whether an earlier run has bounded all nodes.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.tree.as_ref().is_some_and(|tree| tree.open.is_empty())
    }

    pub(super) fn is_new(&self) -> bool {
        self.best.is_none() && self.tree.is_none()
    }

    pub(super) fn keep(&mut self, set: &Subset) {
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let best = set.iter().map(|item| item as u32).collect();
        self.best = Some(best);
    }

    /// The best set that is known beforehand.
    pub(super) fn best(&self, candidates: &Candidates<'_>) -> Option<Vec<Place>> {
        let included = candidates.ground.included();
        let free = self.best.as_ref()?.iter().filter(|item| included.binary_search(item).is_err());
        free.map(|&item| candidates.place(item as usize)).collect()
    }

    /// Returns the search as bytes: one to three for every item of each open node.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        KIND.write(&(&self.best, &self.tree))
    }

    /// Reads a search from the bytes of [`to_bytes`](Search::to_bytes).
    ///
    /// # Errors
    /// [`Error::Stream`] if the bytes are truncated, of another version, or of something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (best, tree): (Option<Vec<u32>>, Option<Tree>) = KIND.read(bytes)?;
        KIND.check(tree.as_ref().is_none_or(Tree::is_sound))?;
        Ok(Self { best, tree })
    }
}

impl Tree {
    fn is_sound(&self) -> bool {
        let items = self.places.len();
        let ascend = |items: &[u32]| items.is_sorted_by(|a, b| a < b);
        let below = |list: &[u32]| list.iter().all(|&item| (item as usize) < items);
        let is_node = |node: &SavedNode| {
            let mut all: Vec<u32> = node.included.iter().chain(&node.undecided).copied().collect();
            all.sort_unstable();
            let numbers = !node.bound.is_nan() && node.share.is_finite();
            below(&all) && ascend(&all) && ascend(&node.undecided) && numbers
        };
        let known = !self.fathomed.is_nan() && !self.left_out.is_nan() && self.done.is_finite();
        self.method.fits(items)
            && known
            && self.places.is_sorted_by(|a, b| a < b)
            && self.open.iter().all(is_node)
    }

    /// The items of the root.
    ///
    /// # Errors
    /// [`Error::Stream`] if the search is for another question.
    pub(super) fn places_of(&self, candidates: &Candidates<'_>) -> Result<Vec<Place>> {
        let groups = &candidates.groups;
        let place = |&(group, position): &(u32, u32)| {
            let place = Place { group: group as usize, position: position as usize };
            groups.get(place.group).filter(|group| place.position < group.len()).map(|_| place)
        };
        let places: Option<Vec<Place>> = self.places.iter().map(place).collect();
        let most = candidates.counts.most.min(candidates.ground.dims_left());
        let fits = self.open.iter().all(|node| node.included.len() <= most);
        let places = places.filter(|_| fits && self.fingerprint == question(candidates));
        let foreign = StreamProblem::Foreign { what: "a search of these rows, counts and conditions" };
        places.ok_or(Error::Stream(foreign))
    }
}

impl SavedNode {
    pub(super) fn of(node: &Node, places: &[Place]) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let at = |place: &Place| places.binary_search(place).unwrap_or_default() as u32;
        Self {
            included: node.included.iter().map(at).collect(),
            undecided: node.undecided.iter().map(at).collect(),
            bound: node.bound,
            share: node.share,
        }
    }

    /// The node, with the parameters of the root's method.
    pub(super) fn node(&self, places: &[Place], method: &Method) -> Node {
        let of = |items: &[u32]| items.iter().map(|&item| places[item as usize]).collect();
        let mut method = method.clone();
        for list in method.parameters() {
            *list = self.undecided.iter().map(|&item| list[item as usize]).collect();
        }
        let (included, undecided) = (of(&self.included), of(&self.undecided));
        Node { included, undecided, x: Vec::new(), method, bound: self.bound, share: self.share }
    }
}

/// Returns a hash of the question: counts, conditions, parts, and every row with its weight.
///
/// # Cost
/// One pass over the rows.
pub(super) fn question(candidates: &Candidates<'_>) -> u64 {
    let features = candidates.features;
    let counts = &candidates.counts;
    let counts = (&counts.low, &counts.high, counts.least, counts.most);
    let included = candidates.ground.included();
    let mut hash = fingerprint(&(features.items(), counts, included, candidates.ground.log_shift()));
    let mut add = |group: usize, item: usize| {
        hash = fingerprint(&(hash, group, item, features.log_weight(item), features.row(item)));
    };
    for (group, members) in candidates.groups.iter().enumerate() {
        members.iter().for_each(|item| add(group, item));
    }
    included.iter().for_each(|&item| add(usize::MAX, item as usize));
    hash
}

//! The gains that greedy algorithms maintain for every item.

use std::fmt;

use faer::MatRef;

use super::sealed::Sealed;
use crate::Result;

/// A set's demand for one more item of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Demand {
    /// Another item would exceed a limit, or take room that other groups need.
    Full,
    /// Another item is allowed but not needed.
    Optional,
    /// Another item is needed.
    Needed,
}

/// The largest gain of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Top {
    /// Position in the group.
    pub position: usize,
    /// The gain.
    pub gain: f64,
}

impl Top {
    /// Keeps the larger of the two, and the first if they are equal.
    pub(crate) fn keep_larger(kept: &mut Option<Self>, other: Option<Self>) {
        let Some(other) = other else { return };
        if kept.is_none_or(|kept| other.gain > kept.gain) {
            *kept = Some(other);
        }
    }

    /// Returns the largest gain; `None` if all are −∞.
    pub(crate) fn of(gains: &[f64]) -> Option<Self> {
        let mut top = Self { position: 0, gain: f64::NEG_INFINITY };
        for (position, &gain) in gains.iter().enumerate() {
            if gain > top.gain {
                top = Self { position, gain };
            }
        }
        (top.gain > f64::NEG_INFINITY).then_some(top)
    }
}

/// A gain for every row, in the memory of the engine that made it with
/// [`Verbs::gain_table`](super::Verbs::gain_table). 8 bytes per item in f64.
///
/// The trait is sealed because methods will be added.
pub trait GainTable: Sealed + fmt::Debug + Send + Sync {
    /// Updates the gains by a direction, if one is given, and returns the largest gain of every group.
    ///
    /// A direction q updates d ← d − c∘c with c_i = s_l a_i·q in all open groups. The result of a group is its
    /// largest gain, the first of equals, followed by the gains that rounding cannot distinguish from it. It is empty
    /// for closed groups. Gains of −∞ do not change and are never the largest.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    ///
    /// # Cost
    /// 2mn operations, in one pass over the rows of open groups.
    fn update(&mut self, direction: Option<&[f64]>) -> Result<Vec<Vec<Top>>>;

    /// Makes the next picks of the greedy algorithm without the host, if the engine can.
    ///
    /// # Errors
    /// Errors of the device.
    #[doc(hidden)]
    fn pick_ahead(&mut self, request: &PickAhead<'_>) -> Result<Option<Ahead>> {
        let _ = request;
        Ok(None)
    }

    /// Removes a row by setting its gain to −∞, from the next update on.
    fn remove(&mut self, group: usize, position: usize);

    /// Closes a group, which later updates skip.
    ///
    /// # Panics
    /// If the group does not exist.
    fn close(&mut self, group: usize);

    /// Returns the gains by group: −∞ for rows removed before the last update. Closed groups keep their last gains.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    fn read(&self) -> Result<Vec<Vec<f64>>>;
}

/// A request for picks without the host.
///
/// Every pick has the largest d_i / s_l² among all groups that need items, and among groups that only have room if it
/// exceeds 1. A pick lowers the counts, and adds its direction to the basis.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct PickAhead<'a> {
    /// The directions so far, in columns.
    pub basis: MatRef<'a, f64>,
    /// Number of directions already applied to the gains: all, or all except the last.
    pub applied: usize,
    /// Number of items that the set still takes.
    pub remaining: &'a RemainingCounts,
    /// For every group, the smallest gain that is still accurate after cancellation.
    pub least: &'a [f64],
}

/// The number of items that a set still needs, and the number that it has room for.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemainingCounts {
    /// Number of items that every group needs.
    pub needed: Vec<usize>,
    /// Maximum number of items that every group may add.
    pub room: Vec<usize>,
    /// Number of items that the set needs in addition to `needed`.
    pub least: usize,
    /// Maximum number of items that the set may add in addition to `needed`.
    pub most: usize,
}

impl RemainingCounts {
    /// Returns the set's demand for one more item of a group.
    pub(crate) fn demand(&self, group: usize) -> Demand {
        if self.needed[group] > 0 {
            Demand::Needed
        } else if self.room[group] == 0 || self.most == 0 {
            Demand::Full
        } else if self.least > 0 {
            Demand::Needed
        } else {
            Demand::Optional
        }
    }

    /// The number of picks to make as long as independent items are left, and the maximum number of picks.
    #[cfg(feature = "gpu")]
    pub(crate) fn picks(&self) -> (usize, usize) {
        let (needed, room): (usize, usize) = (self.needed.iter().sum(), self.room.iter().sum());
        let most = room.min(needed + self.most);
        (most.min(needed + self.least), most)
    }
}

/// Picks made without the host.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// Group and position of every pick.
    pub places: Vec<(usize, usize)>,
    pub end: AheadEnd,
}

/// Why an engine stopped picking.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AheadEnd {
    /// The engine made as many picks as fit one submission, or the set is full. The last direction is not applied.
    LongEnough,
    /// Rounding leaves the next pick in doubt, or too few digits are left. All directions are applied.
    InDoubt,
    /// No group that needs items has any left, and no gain exceeds 1. All directions are applied.
    NothingWorthwhile,
}

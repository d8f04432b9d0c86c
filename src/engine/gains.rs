//! The gains that greedy algorithms maintain for every item.

use std::fmt;

use faer::MatRef;

use super::sealed::Sealed;
use crate::Result;

/// A set's demand for one more item of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Demand {
    /// The item would be too many, or take room that other groups need.
    Full,
    /// The item is allowed but not needed.
    Optional,
    /// The item is missing.
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
    /// Keeps the larger of the two, the first of equals.
    pub(crate) fn keep_larger(kept: &mut Option<Self>, other: Option<Self>) {
        let Some(other) = other else { return };
        if kept.is_none_or(|kept| other.gain > kept.gain) {
            *kept = Some(other);
        }
    }

    /// The largest gain; `None` if all are −∞.
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
/// The trait is sealed, since methods will be added.
pub trait GainTable: Sealed + fmt::Debug + Send + Sync {
    /// Updates d ← d − c∘c with c_i = s_l a_i·q for all open groups, if there is a direction q. Returns the largest
    /// gain of every group, the first of equals, followed by those that rounding cannot distinguish from it; nothing
    /// for closed groups. Gains of −∞ do not change and are never the largest.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    ///
    /// # Cost
    /// 2mn operations, in one pass over the rows of open groups.
    fn update(&mut self, direction: Option<&[f64]>) -> Result<Vec<Vec<Top>>>;

    /// Makes the next picks of the greedy algorithm without the host in between, if the engine can.
    ///
    /// # Errors
    /// Those of the device.
    #[doc(hidden)]
    fn pick_ahead(&mut self, request: &PickAhead<'_>) -> Result<Option<Ahead>> {
        let _ = request;
        Ok(None)
    }

    /// Removes a row: its gain is −∞ from now on.
    fn remove(&mut self, group: usize, position: usize);

    /// Removes a group.
    ///
    /// # Panics
    /// If there is no such group.
    fn close(&mut self, group: usize);

    /// The gains by group, −∞ for rows removed before the last update; closed groups keep their last gains.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn read(&self) -> Result<Vec<Vec<f64>>>;
}

/// What a table needs to pick on its own: every pick has the largest d_i / s_l² of the groups that need items, and above 1
/// of those that have room; it lowers the counts, and adds its direction to the basis.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct PickAhead<'a> {
    /// The directions so far, in columns.
    pub basis: MatRef<'a, f64>,
    /// How many of these the gains take into account: all, or all but the last.
    pub applied: usize,
    /// Items that the set still takes.
    pub remaining: &'a RemainingCounts,
    /// For every group the least gain that cancellation leaves exact enough.
    pub least: &'a [f64],
}

/// How many items a set still needs, and how many it has room for.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemainingCounts {
    /// Items that every group needs.
    pub needed: Vec<usize>,
    /// The most items that every group may add.
    pub room: Vec<usize>,
    /// Items that the set needs beyond those that groups need.
    pub least: usize,
    /// The most items that the set may add beyond those that groups need.
    pub most: usize,
}

impl RemainingCounts {
    /// A set's demand for one more item of a group.
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

    /// Items that are picked as long as any are independent, and the most that may be.
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
    /// Group and position.
    pub places: Vec<(usize, usize)>,
    pub end: AheadEnd,
}

/// Why an engine stopped picking.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AheadEnd {
    /// The host should have a look, or all quotas are met. The last direction is not applied.
    LongEnough,
    /// Rounding cannot tell the next pick, or too few digits are left. All directions are applied.
    InDoubt,
    /// No group that needs items has any, and no gain exceeds 1. All directions are applied.
    NothingWorthwhile,
}

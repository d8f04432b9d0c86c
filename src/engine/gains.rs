//! The gains that greedy algorithms maintain for every item.

use std::fmt;

use super::sealed::Sealed;
use crate::Result;

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
/// [`Engine::gain_table`](super::Engine::gain_table). 8 bytes per item in f64.
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

//! What greedy algorithms keep for every item.

use std::fmt;

use super::sealed::Sealed;
use crate::Result;

/// The largest gain of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Top {
    /// Where in the group.
    pub position: usize,
    /// The gain.
    pub gain: f64,
}

impl Top {
    /// Keeps the larger of two, and the first of equals.
    pub(crate) fn keep_larger(kept: &mut Option<Self>, other: Option<Self>) {
        let Some(other) = other else { return };
        if kept.is_none_or(|kept| other.gain > kept.gain) {
            *kept = Some(other);
        }
    }

    /// The largest of some gains; `None` where all are −∞.
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

/// A gain for every row, kept where the engine that made it computes: see
/// [`Engine::gain_table`](super::Engine::gain_table). 8 bytes per item in f64.
///
/// The trait is sealed: methods will be added.
pub trait GainTable: Sealed + fmt::Debug + Send + Sync {
    /// d ← d − c∘c with c_i = s_l a_i·q, if there is a direction q, for all open groups. Returns the largest of every
    /// group, the first of equals, and after it those that the engine's rounding cannot tell from it; nothing for closed
    /// groups. Gains of −∞ stay what they are and are never the largest.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    ///
    /// # Cost
    /// 2mn operations, in one pass over the rows of open groups.
    fn update(&mut self, direction: Option<&[f64]>) -> Result<Vec<Vec<Top>>>;

    /// Takes a row out: its gain is −∞ from now on.
    fn remove(&mut self, group: usize, position: usize);

    /// Takes a whole group out.
    ///
    /// # Panics
    /// If there is no such group.
    fn close(&mut self, group: usize);

    /// The gains by group, −∞ for rows taken out before the last update; groups that are closed keep what
    /// they had.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn read(&self) -> Result<Vec<Vec<f64>>>;
}

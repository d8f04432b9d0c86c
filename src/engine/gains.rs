//! What greedy algorithms keep for every item.

use super::Rows;
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

/// A gain for every row, kept where the engine that made it computes.
///
/// Only that engine can update it: see [`Engine::gain_update`](super::Engine::gain_update).
#[derive(Debug)]
pub struct GainTable {
    pub(crate) values: GainValues,
    /// Groups that still count.
    pub(crate) open: Vec<bool>,
    /// Group and position of rows that were taken out since the last update.
    pub(crate) removed: Vec<(usize, usize)>,
}

/// Where the gains are, by group.
#[derive(Debug)]
pub(crate) enum GainValues {
    Host(Vec<Vec<f64>>),
    #[cfg(feature = "gpu")]
    Device(super::gpu::DeviceGains),
}

impl GainValues {
    /// Those of a table of the CPU.
    pub(crate) fn host(&mut self) -> &mut [Vec<f64>] {
        match self {
            Self::Host(groups) => groups,
            #[cfg(feature = "gpu")]
            Self::Device(_) => panic!("the CPU was given a table of a graphics device"),
        }
    }

    /// Those of a table of a graphics device.
    #[cfg(feature = "gpu")]
    pub(crate) fn device(&mut self) -> &mut super::gpu::DeviceGains {
        match self {
            Self::Device(gains) => gains,
            Self::Host(_) => panic!("a graphics device was given a table of the CPU"),
        }
    }
}

impl GainTable {
    /// On the host, from gains given group after group.
    pub(crate) fn on_host(rows: &Rows<'_>, gains: &[f64]) -> Self {
        let mut rest = gains;
        let mut groups = Vec::with_capacity(rows.groups().len());
        for group in rows.groups() {
            let (own, others) = rest.split_at(group.items.len());
            groups.push(own.to_vec());
            rest = others;
        }
        Self { open: vec![true; groups.len()], removed: Vec::new(), values: GainValues::Host(groups) }
    }

    /// Takes a row out: its gain is −∞ from now on.
    pub fn remove(&mut self, group: usize, position: usize) {
        self.removed.push((group, position));
    }

    /// Takes a whole group out.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn close(&mut self, group: usize) {
        self.open[group] = false;
    }

    /// The gains by group, −∞ for rows taken out before the last update; groups that are closed keep what
    /// they had.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    pub fn read(&self) -> Result<Vec<Vec<f64>>> {
        match &self.values {
            GainValues::Host(groups) => Ok(groups.clone()),
            #[cfg(feature = "gpu")]
            GainValues::Device(gains) => gains.read(),
        }
    }
}

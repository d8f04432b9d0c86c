//! What the local search keeps for every item, and what changes when two items are exchanged.

use faer::Mat;

use super::Rows;
use crate::Result;

/// Items side by side in a tile of a [`SwapGroup`].
pub(crate) const TILE: usize = 8;

/// The coefficients and residuals from which the gain of every exchange follows.
///
/// ```text
/// C_ij = w_i·a_j,   d_j = ‖a_j − π_S(a_j)‖²,   det(K_{S−i+j}) / det(K_S) = M_ii d_j + C_ij²
/// ```
///
/// w_i is the dual basis of the chosen rows, M = (K_S)⁻¹ = WᵀW. Only exchanges inside a group count, so
/// C_ij is kept for i and j of one group, i in a *slot* of the group.
///
/// Kept where the engine that made it computes, and only that engine can update it. 8·(slots + 1) bytes per item
/// in f64.
#[derive(Debug, Default)]
pub struct SwapTable {
    pub(crate) values: SwapValues,
}

/// Where the numbers are.
#[derive(Debug)]
pub(crate) enum SwapValues {
    Host(Vec<SwapGroup>),
    #[cfg(feature = "gpu")]
    Device(super::gpu::DeviceSwaps),
}

impl SwapValues {
    /// Those of a table of the CPU.
    pub(crate) fn host(&mut self) -> &mut [SwapGroup] {
        match self {
            Self::Host(groups) => groups,
            #[cfg(feature = "gpu")]
            Self::Device(_) => panic!("the CPU was given a table of a graphics device"),
        }
    }

    /// Those of a table of a graphics device.
    #[cfg(feature = "gpu")]
    pub(crate) fn device(&mut self) -> &mut super::gpu::DeviceSwaps {
        match self {
            Self::Device(swaps) => swaps,
            Self::Host(_) => panic!("a graphics device was given a table of the CPU"),
        }
    }
}

impl Default for SwapValues {
    fn default() -> Self {
        Self::Host(Vec::new())
    }
}

/// One group of a [`SwapTable`] on the host: tile after tile of [`TILE`] items, `slots` runs of [`TILE`]
/// coefficients each.
#[derive(Clone, Debug)]
pub(crate) struct SwapGroup {
    /// Number of its chosen items.
    pub(crate) slots: usize,
    /// C, in tiles.
    pub(crate) coefficients: Vec<f64>,
    /// d, in tiles: −∞ for chosen items and beyond the last.
    pub(crate) residuals: Vec<f64>,
}

impl SwapGroup {
    /// Coefficients all zero, and these residuals (group after group).
    pub(crate) fn empty(rows: &Rows<'_>, slots: &[usize], residuals: &[f64]) -> Vec<Self> {
        let mut start = 0;
        let groups = rows.groups().iter().zip(slots).map(|(group, &slots)| {
            let len = group.items.len();
            let padded = len.next_multiple_of(TILE);
            let mut own = residuals[start..start + len].to_vec();
            own.resize(padded, f64::NEG_INFINITY);
            start += len;
            Self { slots, coefficients: vec![0.0; slots * padded], residuals: own }
        });
        groups.collect()
    }

    fn read(&self, len: usize) -> SwapNumbers {
        let coefficient = |slot: usize, item: usize| {
            self.coefficients[(item / TILE * self.slots + slot) * TILE + item % TILE]
        };
        SwapNumbers {
            coefficients: Mat::from_fn(self.slots, len, coefficient),
            residuals: self.residuals[..len].to_vec(),
        }
    }
}

/// The numbers of one group of a [`SwapTable`].
#[derive(Clone, Debug)]
pub struct SwapNumbers {
    /// C, slots×items.
    pub coefficients: Mat<f64>,
    /// d: −∞ for chosen items.
    pub residuals: Vec<f64>,
}

impl SwapTable {
    /// All numbers, by group.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    pub fn read(&self, rows: &Rows<'_>) -> Result<Vec<SwapNumbers>> {
        match &self.values {
            SwapValues::Host(groups) => Ok(groups
                .iter()
                .zip(rows.groups())
                .map(|(group, rows)| group.read(rows.items.len()))
                .collect()),
            #[cfg(feature = "gpu")]
            SwapValues::Device(swaps) => swaps.read(),
        }
    }
}

/// An exchange, as it changes a [`SwapTable`].
///
/// ```text
/// c = A w,  g = A w',   C ← C − α cᵀ − γ gᵀ,   d ← d + a c∘c − b g∘g
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SwapUpdate<'a> {
    /// The group of both items.
    pub group: usize,
    /// Position of the item that leaves: its d is 0 before the update.
    pub leaving_position: usize,
    /// Position of the item that enters: its d becomes −∞.
    pub entering_position: usize,
    /// w, the dual vector of the item that leaves.
    pub leaving: &'a [f64],
    /// w', the dual vector of the item that enters.
    pub entering: &'a [f64],
    /// α and γ for every slot of every group.
    pub factors: &'a [Vec<[f64; 2]>],
    /// a.
    pub residual_gain: f64,
    /// b.
    pub residual_loss: f64,
}

/// The best exchange inside a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestSwap {
    /// Slot of the item that leaves.
    pub slot: usize,
    /// Position of the item that enters.
    pub position: usize,
    /// By how much the determinant is multiplied.
    pub ratio: f64,
}

//! The table that local search maintains for every item, and its update by a swap.

use std::fmt;

use faer::Mat;

use super::sealed::Sealed;
use crate::Result;

/// The coefficients and residuals that determine the gain of every swap.
///
/// ```text
/// C_ij = w_i·a_j,   d_j = ‖a_j − π_S(a_j)‖²,   det(K_{S−i+j}) / det(K_S) = M_ii d_j + C_ij²
/// ```
///
/// w_i is the dual basis of the chosen rows, M = (K_S)⁻¹ = WᵀW. Swaps stay inside a group, so
/// the table holds C_ij for i and j of one group, i in a *slot* of the group.
///
/// The table is in the memory of the engine that made it with [`Engine::swap_table`](super::Engine::swap_table), and
/// takes 8·(slots + 1) bytes per item in f64.
///
/// The trait is sealed, since methods will be added.
pub trait SwapTable: Sealed + fmt::Debug + Send + Sync {
    /// Updates the table by a swap, if there was one, and returns the best next swap of every group: the largest
    /// M_ii d_j + C_ij², where `weights` are the M_ii of every slot; of equals the one whose entering item comes first,
    /// then the first slot. Those that rounding cannot distinguish from it follow. A slot of zero duals and weight 1
    /// stands for an addition. Groups without slots are skipped.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    ///
    /// # Cost
    /// 4mn + 7mk operations, in one pass over rows and table.
    fn gains(&mut self, update: Option<&SwapUpdate<'_>>, weights: &[Vec<f64>]) -> Result<Vec<Vec<BestSwap>>>;

    /// The whole table, by group.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn read(&self) -> Result<Vec<SwapNumbers>>;
}

/// One group of a [`SwapTable`].
#[derive(Clone, Debug)]
pub struct SwapNumbers {
    /// C, slots×items.
    pub coefficients: Mat<f64>,
    /// d: −∞ for chosen items.
    pub residuals: Vec<f64>,
}

/// A swap, as it changes a [`SwapTable`].
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

/// The best swap inside a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestSwap {
    /// Slot of the item that leaves.
    pub slot: usize,
    /// Position of the item that enters.
    pub position: usize,
    /// The factor by which the determinant grows.
    pub ratio: f64,
}

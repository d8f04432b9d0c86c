//! The table that local search maintains for every item, and how a swap updates it.

use std::fmt;

use faer::{Mat, MatRef};

use super::{Rows, Verbs, sealed::Sealed};
use crate::Result;

/// The coefficients and residuals that determine the gain of every swap.
///
/// ```text
/// C_ij = w_i·a_j,   d_j = ‖a_j − π_S(a_j)‖²,   det(K_{S−i+j}) / det(K_S) = M_ii d_j + C_ij²
/// ```
///
/// w_i is the dual basis of the chosen rows, M = (K_S)⁻¹ = WᵀW. Swaps stay inside a group, so the table holds C_ij
/// only for i and j of the same group, with i in a *slot* of the group.
///
/// The table is in the memory of the engine that made it with [`Verbs::swap_table`](super::Verbs::swap_table), and
/// takes 8·(slots + 1) bytes per item in f64.
///
/// The trait is sealed because methods will be added.
pub trait SwapTable: Sealed + fmt::Debug + Send + Sync {
    /// Updates the table by a swap, if one is given, and returns the best next swap of every group.
    ///
    /// The best swap has the largest M_ii d_j + C_ij², where `weights` holds M_ii for every slot. On a tie, the item
    /// that comes first enters, and then the first slot wins. Swaps that rounding cannot distinguish from the best
    /// follow it. A slot with zero duals and weight 1 stands for an addition. Groups without slots are skipped.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    ///
    /// # Cost
    /// 4mn + 7mk operations, in one pass over rows and table.
    fn gains(&mut self, update: Option<&SwapUpdate<'_>>, weights: &[Vec<f64>]) -> Result<Vec<Vec<BestSwap>>>;

    /// Makes the next swaps of a local search without the host, if the engine can.
    ///
    /// # Errors
    /// Errors of the device.
    #[doc(hidden)]
    fn swap_ahead(&mut self, request: &SwapAhead<'_>) -> Result<Option<SwapsAhead>> {
        let _ = request;
        Ok(None)
    }

    /// Returns the items j that can take part in an improving exchange of two items of two groups, and possibly
    /// others.
    ///
    /// Items are listed by group and in ascending order. Returns `None` if there are too many (65 536, or fewer if
    /// there are many pairs), if the device lacks the memory or precision, or if the table is in host memory. The
    /// host then compares all items.
    ///
    /// ```text
    /// det K_{S − {i,i'} + {j,j'}} / det K_S ≤ D e_j e_j',   D = det M_II,   e_j = d_j + C_Ijᵀ (M_II)⁻¹ C_Ij
    /// ```
    ///
    /// An item j of the group of i is returned if D e_j max e_j' > 1 for one of the pairs I = {i, i'}, where j' is in
    /// the group of i'. No other item can improve the determinant, with any partner.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    ///
    /// # Cost
    /// 2mnk operations for C, 14mk² for the e_j.
    fn entrants(&self, leaving: &LeavingPairs<'_>) -> Result<Option<Vec<Vec<usize>>>>;

    /// Returns the whole table, by group.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    fn read(&self) -> Result<Vec<SwapNumbers>>;
}

/// The initial residuals of a [`SwapTable`]: d_j = ‖Fᵀ s_l a_j‖², and −∞ for chosen items.
#[derive(Clone, Copy, Debug)]
pub struct Beyond<'a> {
    /// F, an orthonormal basis of the complement of the chosen rows.
    pub complement: MatRef<'a, f64>,
    /// Positions of the chosen items, by group.
    pub chosen: &'a [Vec<usize>],
}

impl Beyond<'_> {
    /// Computes ‖Fᵀ s_l a_j‖² for all rows, including the chosen ones.
    pub(crate) fn forms(&self, engine: &(impl Verbs + ?Sized), rows: &Rows<'_>) -> Result<Vec<f64>> {
        if self.complement.ncols() == 0 {
            return Ok(vec![0.0; rows.len()]);
        }
        engine.row_forms(rows, &vec![self.complement; rows.groups().len()])
    }

    /// Sets the residuals of chosen items to −∞; residuals are listed group by group.
    pub(crate) fn mark(&self, rows: &Rows<'_>, residuals: &mut [f64]) {
        let mut start = 0;
        for (group, chosen) in rows.groups().iter().zip(self.chosen) {
            chosen.iter().for_each(|position| residuals[start + position] = f64::NEG_INFINITY);
            start += group.items.len();
        }
    }
}

/// Pairs of chosen items of two groups, to be replaced by two other items of these groups.
#[derive(Clone, Copy, Debug)]
pub struct LeavingPairs<'a> {
    /// The dual vectors of chosen items, n×k.
    pub duals: MatRef<'a, f64>,
    /// Group and column of both items of every pair.
    pub pairs: &'a [[(usize, usize); 2]],
}

/// One group of a [`SwapTable`].
#[derive(Clone, Debug)]
pub struct SwapNumbers {
    /// C, slots×items.
    pub coefficients: Mat<f64>,
    /// d: −∞ for chosen items.
    pub residuals: Vec<f64>,
}

/// The update of a [`SwapTable`] by a swap.
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

/// A request for swaps without the host. Every swap is the best of all groups, and multiplies the determinant by more
/// than `1 + least`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct SwapAhead<'a> {
    /// The chosen rows s·a_i in columns: `kept` rows that never leave, then the row of every slot, group by group.
    pub rows: MatRef<'a, f64>,
    /// The dual basis of these rows.
    pub duals: MatRef<'a, f64>,
    pub kept: usize,
    /// Positions of the chosen items, by group and slot.
    pub chosen: &'a [Vec<usize>],
    /// The last swap, if the table does not take it into account yet.
    pub update: Option<&'a SwapUpdate<'a>>,
    pub least: f64,
    /// Maximum number of swaps.
    pub most: usize,
}

/// Swaps made without the host.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq)]
pub struct SwapsAhead {
    pub swaps: Vec<AheadSwap>,
    pub end: SwapsEnd,
}

/// A swap made without the host.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AheadSwap {
    pub group: usize,
    pub swap: BestSwap,
    /// Bound on the rounding error of the ratio; 0 in double precision.
    pub error: f64,
}

/// Why an engine stopped swapping.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwapsEnd {
    /// The engine made as many swaps as fit one submission. The last swap is not yet applied to the table.
    LongEnough,
    /// No swap improves the determinant. All swaps are applied to the table.
    NoneLeft,
    /// Rounding leaves the next swap in doubt. All swaps are applied to the table.
    InDoubt,
    /// Numbers exceed the device's range. If any swap was made, the table is useless.
    Broken,
}

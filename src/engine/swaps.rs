//! What the local search keeps for every item, and what changes when two items are exchanged.

use super::Rows;

/// Items side by side in a tile of a [`SwapTable`].
pub const TILE: usize = 8;

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

/// The coefficients and residuals from which the gain of every exchange follows.
///
/// ```text
/// C_ij = w_i·a_j,   d_j = ‖a_j − π_S(a_j)‖²,   det(K_{S−i+j}) / det(K_S) = M_ii d_j + C_ij²
/// ```
///
/// w_i is the dual basis of the chosen rows, M = (K_S)⁻¹ = WᵀW. Only exchanges inside a group count, so
/// C_ij is kept for i and j of one group, i in a *slot* of the group.
///
/// # Shapes
/// For every group, tile after tile of [`TILE`] items: `slots` runs of [`TILE`] coefficients. Groups
/// end with a whole tile. 8·(slots + 1) bytes per item.
#[derive(Clone, Debug, Default)]
pub struct SwapTable {
    pub(crate) groups: Vec<SwapGroup>,
}

/// One group of a [`SwapTable`].
#[derive(Clone, Debug)]
pub(crate) struct SwapGroup {
    /// Number of its chosen items.
    pub(crate) slots: usize,
    /// C, in tiles.
    pub(crate) coefficients: Vec<f64>,
    /// d, in tiles: −∞ for chosen items and beyond the last.
    pub(crate) residuals: Vec<f64>,
}

impl SwapTable {
    /// Coefficients all zero, and these residuals (group after group).
    pub(crate) fn new(rows: &Rows<'_>, slots: &[usize], residuals: &[f64]) -> Self {
        let mut start = 0;
        let groups = rows.groups().iter().zip(slots).map(|(group, &slots)| {
            let len = group.items.len();
            let padded = len.next_multiple_of(TILE);
            let mut own = residuals[start..start + len].to_vec();
            own.resize(padded, f64::NEG_INFINITY);
            start += len;
            SwapGroup { slots, coefficients: vec![0.0; slots * padded], residuals: own }
        });
        Self { groups: groups.collect() }
    }

    /// C for a slot and the position of an item of a group.
    ///
    /// # Panics
    /// If there is no such group, slot or position.
    #[must_use]
    pub fn coefficient(&self, group: usize, slot: usize, position: usize) -> f64 {
        let SwapGroup { slots, coefficients, .. } = &self.groups[group];
        assert!(slot < *slots, "slot {slot} of {slots}");
        coefficients[(position / TILE * slots + slot) * TILE + position % TILE]
    }

    /// d of the item at a position of a group; −∞ for chosen items.
    ///
    /// # Panics
    /// If there is no such group or position.
    #[must_use]
    pub fn residual(&self, group: usize, position: usize) -> f64 {
        self.groups[group].residuals[position]
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

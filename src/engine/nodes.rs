//! Nodes of a torus in an engine's memory, and the choice of rows from them.

use std::fmt;

use faer::c64;

use super::sealed::Sealed;
use crate::Result;

/// The coefficients of the nodes in the sums of a [`NodeTable`].
#[derive(Clone, Copy, Debug)]
pub struct NodeFactors<'a> {
    /// x(θ), one per node.
    pub form: &'a [c64],
    /// y(θ), one per node.
    pub coefficient: &'a [c64],
}

/// P(θ)⁻¹ and φ(θ) at every node of a [`PhaseGrid`](super::PhaseGrid), and the rows of a group to choose from.
///
/// ```text
/// weight_i = ‖·‖² of w s a_i in W = Re Σ x(θ) φ(θ) F P(θ)⁻¹ Fᵀ,   coefficient = Re Σ y(θ) φ(θ)
/// ```
///
/// W is positive semidefinite up to rounding. The table is in the memory of the engine that made it with
/// [`Verbs::node_table`](super::Verbs::node_table): 16r² bytes per node in f64, and 8 bytes per row. Copies share
/// this memory until they change.
///
/// The trait is sealed because methods will be added.
pub trait NodeTable: Sealed + fmt::Debug + Send + Sync {
    /// Conditions every node on a pick with direction q, a unit vector in the coordinates of the grid.
    ///
    /// P⁻¹ ← P⁻¹ − vvᵀ/(qᵀv), φ ← φ·(qᵀv), v = P⁻¹q. Exclusions of rows are lifted. The work is deferred to the next
    /// choice.
    ///
    /// # Cost
    /// 16r² operations per node, 2mnr for the rows.
    fn condition(&mut self, direction: &[f64], factors: &NodeFactors<'_>);

    /// Chooses the row at which the running sum of the weights passes `uniform` times their total.
    ///
    /// # Errors
    /// Errors of the device.
    fn choose(&mut self, uniform: f64) -> Result<NodeChoice>;

    /// Sets the weight of a row to zero.
    ///
    /// # Errors
    /// Errors of the device.
    fn exclude(&mut self, position: usize) -> Result<()>;

    /// Returns the weights of the last choice.
    ///
    /// # Errors
    /// Errors of the device.
    fn read(&self) -> Result<Vec<f64>>;

    /// Returns a copy, which shares memory with the table until either changes.
    fn copy(&self) -> Box<dyn NodeTable>;
}

impl Clone for Box<dyn NodeTable> {
    fn clone(&self) -> Self {
        self.copy()
    }
}

/// A choice made with a [`NodeTable`], meaningful only if the nodes are sound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeChoice {
    /// Whether the nodes can be trusted.
    pub soundness: Soundness,
    /// Re Σ y(θ) φ(θ).
    pub coefficient: f64,
    /// The sum of all weights.
    pub total: f64,
    /// The row's position in the group and its weight; `None` if no weight is positive.
    pub chosen: Option<(usize, f64)>,
}

/// Whether the nodes of a table can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soundness {
    /// The nodes can be trusted.
    Sound,
    /// A pick left a matrix too close to singular for further picks.
    NearSingular,
    /// A matrix of the grid itself is singular in this precision.
    Singular,
}

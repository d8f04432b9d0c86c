//! The nodes of a torus in an engine's memory, and choices of rows by them.

use std::fmt;

use faer::c64;

use super::sealed::Sealed;
use crate::Result;

/// The coefficients of the nodes in what a [`NodeTable`] adds up.
#[derive(Clone, Copy, Debug)]
pub struct NodeFactors<'a> {
    /// x(θ), one per node.
    pub form: &'a [c64],
    /// y(θ), one per node.
    pub coefficient: &'a [c64],
}

/// P(θ)⁻¹ and φ(θ) at every node of a [`PhaseGrid`](super::PhaseGrid), and the rows of a group to choose from by them.
///
/// ```text
/// weight_i = ‖·‖² of w s a_i in W = Re Σ x(θ) φ(θ) F P(θ)⁻¹ Fᵀ,   coefficient = Re Σ y(θ) φ(θ)
/// ```
///
/// W is positive semidefinite but for rounding. The table is in the memory of the engine that made it with
/// [`Verbs::node_table`](super::Verbs::node_table): 16r² bytes per node in f64, and 8 per row. Copies share it until
/// they change.
///
/// The trait is sealed, since methods will be added.
pub trait NodeTable: Sealed + fmt::Debug + Send + Sync {
    /// Conditions every node on a pick with a unit vector q as its direction, in coordinates of the grid:
    /// P⁻¹ ← P⁻¹ − vvᵀ/(qᵀv), φ ← φ·(qᵀv), v = P⁻¹q. Rows that were excluded are no more. The next choice computes it.
    ///
    /// # Cost
    /// 16r² operations per node, 2mnr for the rows.
    fn condition(&mut self, direction: &[f64], factors: &NodeFactors<'_>);

    /// The row at which the sum of the weights so far passes `uniform` times their total.
    ///
    /// # Errors
    /// Those of the device.
    fn choose(&mut self, uniform: f64) -> Result<NodeChoice>;

    /// Makes the weight of a row zero.
    ///
    /// # Errors
    /// Those of the device.
    fn exclude(&mut self, position: usize) -> Result<()>;

    /// The weights of the last choice.
    ///
    /// # Errors
    /// Those of the device.
    fn read(&self) -> Result<Vec<f64>>;

    /// The same table.
    fn copy(&self) -> Box<dyn NodeTable>;
}

impl Clone for Box<dyn NodeTable> {
    fn clone(&self) -> Self {
        self.copy()
    }
}

/// A choice by a [`NodeTable`], meaningful if the nodes are sound.
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
    /// They can.
    Sound,
    /// A pick left a matrix too close to singular for further picks.
    NearSingular,
    /// A matrix of the grid itself is singular in this precision.
    Singular,
}

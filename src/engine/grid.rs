//! Arguments and results of the verbs that compute determinants and sums over the nodes of a torus.

use faer::{Mat, c64};

pub use crate::linalg::Determinant;

/// Maximum total size in bytes of the inverses in host memory at a time.
const INVERSES: usize = 1 << 26;

/// Nodes θ at which a normalised generating function is evaluated.
///
/// ```text
/// P(θ) = I + Σ_l (e^{iθ_l} − 1) N_l,   N_l symmetric positive semidefinite, Σ N_l ≤ I
/// ```
///
/// Since |det P(θ)| ≤ det P(0) = 1, errors are relative to the determinant at the real node, and single precision
/// adds only its own rounding.
#[derive(Clone, Copy, Debug)]
pub struct PhaseGrid<'a> {
    /// N_l, r×r, one per part.
    pub shares: &'a [Mat<f64>],
    /// e^{iθ_l}, node by node, one entry per part.
    pub phases: &'a [c64],
}

impl PhaseGrid<'_> {
    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.phases.len() / self.shares.len()
    }

    /// The phases of one node.
    #[must_use]
    pub fn node(&self, node: usize) -> &[c64] {
        &self.phases[node * self.shares.len()..(node + 1) * self.shares.len()]
    }
}

/// The results to compute at every node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GridRequest {
    /// det P(θ).
    Determinants,
    /// det P(θ) and P(θ)⁻¹.
    Inverses,
}

impl GridRequest {
    /// The fewest phases of a total for which the CPU is faster with nodes along lines than with single nodes. The
    /// set-up of a line takes as long as twelve determinants or eight inverses, and half of the nodes are conjugates
    /// of others.
    pub(crate) fn fewest_on_a_line(self) -> usize {
        match self {
            Self::Determinants => 24,
            Self::Inverses => 16,
        }
    }
}

/// The results at a node.
#[derive(Clone, Debug)]
pub struct GridPoint {
    /// det P(θ).
    pub determinant: Determinant,
    /// P(θ)⁻¹, if requested.
    pub inverse: Option<Mat<c64>>,
}

/// The sums that [`grid_forms`](super::Verbs::grid_forms) computes over the nodes, one per part.
#[derive(Clone, Copy, Debug)]
pub struct FormGrid<'a> {
    /// The generating function, and the nodes.
    pub grid: PhaseGrid<'a>,
    /// x_l(θ), node by node, one entry per part.
    pub coefficients: &'a [c64],
}

/// Results of `grid_forms`.
#[derive(Clone, Debug)]
pub struct GridForms {
    /// det P(θ), one per node.
    pub determinants: Vec<Determinant>,
    /// W_l = Re Σ_θ x_l(θ) · det P(θ) P(θ)⁻¹, r×r, one per part.
    pub forms: Vec<Mat<f64>>,
}

/// Candidates for the next pick from one part, each with its own determinant at every node.
///
/// ```text
/// P_i(θ) = I + Σ_l (e^{iθ_l} − 1) Π_i N_l Π_i,   Π_i = I − b_i b_iᵀ / ‖b_i‖²
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CandidateGrid<'a> {
    /// The generating function before the pick, and the nodes.
    pub grid: PhaseGrid<'a>,
    /// The coefficient of each node's determinant in the sum over nodes.
    pub coefficients: &'a [c64],
    /// The candidates' rows b_i, r values each.
    pub rows: &'a [f64],
}

/// Results of `candidate_determinants`.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateSums {
    /// Re Σ_θ coefficient(θ) · det P_i(θ), one per candidate; 0 for zero rows.
    pub sums: Vec<f64>,
    /// Number of determinants computed.
    pub determinants: u64,
}

/// The number of nodes whose r×r inverses are in the host's memory at a time.
pub(crate) fn inverses_at_a_time(rank: usize) -> usize {
    (INVERSES / (16 * rank * rank).max(1)).clamp(1, 256)
}

//! The upper bounds of determinants that proposals are accepted against.

use crate::names::by_name;

/// The upper bound W ≥ Z that draws by rejection are accepted against.
///
/// The distribution is the same for every bound; the acceptance, Z / W, is not. Let a_i be the rows (parts scaled by
/// their tilt), B any positive definite matrix with eigenvalues β_1 ≥ β_2 ≥ …, v_i = B^-½ a_i and Ĝ_l = Σ_{i∈P_l} v_i
/// v_iᵀ. Then every S that meets the quota κ has
///
/// ```text
/// det(A_S A_Sᵀ) ≤ Π_{j≤k} β_j · det(V_S V_Sᵀ) ≤ Π β_j · Π_l det(V_{S_l} V_{S_l}ᵀ) ≤ Π β_j · Π_{i∈S} ‖v_i‖²
/// ```
///
/// Every side is, up to a constant, the probability of a proposal that is easy to draw. The cost per proposal does
/// not depend on the number of items.
///
/// # Proofs
/// - Poincaré: with an orthonormal basis Q of the span of the v_i, det(A_S A_Sᵀ) = det(QᵀBQ) det(V_S V_Sᵀ), and the
///   eigenvalues of QᵀBQ are at most the k largest of B.
/// - Fischer, Hadamard: det(V_S V_Sᵀ) = Π ‖P_t v_i‖² with the projection P_t off the t items before, and projections
///   shorten.
/// - Block: given t items, Σ det(P_t V_{S_l} V_{S_l}ᵀ P_t) over the sets S_l is e_κ(P_t Ĝ_l P_t). The matrix P_t Ĝ_l
///   P_t has rank n − t, and its j-th eigenvalue is at most the j-th eigenvalue of Ĝ_l (interlacing).
/// - Sequential: the same item by item, with the trace in place of e_κ: tr(P_t Ĝ_l) ≤ S_{n−t}(Ĝ_l).
///
/// # Source
/// Hadamard (1893), Fischer (1908), Fan (1949) and Poincaré's separation theorem for the inequalities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Bound {
    /// The bound with the lowest predicted cost per draw, W times the operations per proposal. Independent items
    /// count a quarter if a GPU proposes them.
    #[default]
    Auto,
    /// e_k of the eigenvalues of the tilted kernel: a k-DPP proposes sets, and a set is accepted if it meets the
    /// quota. Best for few parts with large quotas.
    Tilted,
    /// Π β_j · Π_l tr(Ĝ_l)^κ_l / κ_l!: independent items, accepted against the volume that they span. The cheapest
    /// proposal.
    Hadamard,
    /// Π β_j · Π_l e_κ_l(Ĝ_l): independent k-DPPs of the parts.
    Fischer,
    /// Like Fischer, but part after part: each part's k-DPP is outside the span of the earlier parts, so that only
    /// the largest n − t eigenvalues of Ĝ_l count after t items (interlacing).
    Block,
    /// Item after item outside the span of the items before, in proportion to ‖P_t v_i‖²: Π β_j · Π_t S_{n−t}(Ĝ) / Π
    /// κ_l! with the sum S_r of the r largest eigenvalues (Fan).
    Sequential,
    /// Π β_j · Z_1 Z_2, the sums of det(V_S V_Sᵀ) over the picks of two halves. Each half is drawn exactly, by halves
    /// again if that is cheaper, otherwise as under Hadamard. Both are accepted against the volume that they span.
    /// Because halves are rejected separately, k picks take about the square root of the number of proposals under
    /// Hadamard. Best for many parts. With one part, or under ranges, whose counts do not determine the halves, this
    /// is Hadamard.
    Halves,
}

impl Bound {
    /// All bounds except [`Bound::Auto`].
    pub const ALL: [Self; 6] =
        [Self::Tilted, Self::Hadamard, Self::Fischer, Self::Block, Self::Sequential, Self::Halves];
}

by_name!(Bound, "bound", {
    Auto => "auto",
    Tilted => "tilted",
    Hadamard => "hadamard",
    Fischer => "fischer",
    Block => "block",
    Sequential => "sequential",
    Halves => "halves",
});

//! The bound from the lengths of rows alone.

use super::{Subproblem, choice::Choices, node::Relaxed, relaxation::Majorant};

/// Hadamard's inequality: no determinant is above the product of the squared lengths of its rows.
///
/// ```text
/// ln det K_S ≤ offset + Σ_{i∈S} (w_i + ln ‖v_i‖²)
/// ```
///
/// Usually far above the other bounds, but equally good for rows of any magnitude, and always available.
pub(crate) fn hadamard(problem: &Subproblem) -> Relaxed {
    let slopes = (0..problem.len()).map(|item| problem.gain_at_most(item)).collect();
    Relaxed::of_majorant(&Majorant { intercept: problem.offset, slopes }, &Choices::of(problem))
}

/// An upper bound of the sets with this item.
pub(crate) fn worth_with(problem: &Subproblem, item: usize) -> f64 {
    let relaxed = hadamard(problem);
    if relaxed.taken[item] { relaxed.upper_bound } else { relaxed.otherwise(item) }
}

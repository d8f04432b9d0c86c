//! The concave functions of a spectrum that replace ln det.

/// A function of the eigenvalues near a spectrum: its value, its slopes and the terms of its curvature.
#[derive(Clone, Debug, Default)]
pub(super) struct Split {
    pub(super) value: f64,
    /// The number of leading eigenvalues, which enter one by one. The others form the tail and enter by their sum.
    pub(super) head: usize,
    /// ∂/∂λ_j of the leading eigenvalues.
    pub(super) slopes: Vec<f64>,
    /// ∂/∂λ_j of the tail, including zeros.
    pub(super) tail_slope: f64,
    /// The eigenvalue at which the slope of a leading eigenvalue equals the slope of the tail.
    pub(super) knee: f64,
    /// −∂²/∂λ_p∂λ_q of two tail eigenvalues.
    pub(super) tail_curvature: f64,
    /// ∂/∂k; 0 if k is fixed.
    pub(super) size_slope: f64,
    /// The growth of the tail's sum with k that keeps its mean; 0 if k is fixed.
    pub(super) tail_per_size: f64,
}

/// The sets S for which the function bounds ln det(t I + B_S B_Sᵀ) by the spectrum of B_Sᵀ B_S.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sets {
    /// Sets of k items.
    OfSize(usize),
    /// All sets: k is the sum of x.
    OfAnySize,
}

/// Γ_k at k = Σ x_i and a shift t, for descending, non-negative eigenvalues.
///
/// ```text
/// Γ_k(λ) = Σ_{j≤ι} ln(λ_j + t) + (k−ι) ln(λ̄ + t),   λ̄ = Σ_{j>ι} λ_j / (k−ι),   λ_ι > λ̄ ≥ λ_{ι+1}
/// ```
///
/// It is the least concave function that equals Σ_{j≤k} ln(λ_j + t) if at most k eigenvalues are positive. It is
/// jointly concave in k and λ, so k may depend on x:
///
/// ```text
/// Γ_k(λ) = min_c Σ_j h_c(λ_j) + k (ln(c + t) − c/(c + t))
/// h_c(λ) = ln((λ + t)/(c + t)) + c/(c + t) for λ > c,   λ/(c + t) for λ ≤ c
/// ```
pub(super) fn split(eigenvalues: &[f64], sets: Sets, sum: f64, shift: f64) -> Split {
    let size = match sets {
        // For the empty set alone, Γ_0 = 0.
        Sets::OfSize(0) => return Split::default(),
        Sets::OfSize(size) => size as f64,
        Sets::OfAnySize => sum,
    };
    let mut tail: f64 = eigenvalues.iter().sum();
    let (mut head, mut left) = (0, size);
    let mut mean = tail / left;
    // The tolerance keeps rounding from splitting eigenvalues that equal the mean.
    while left > 1.0 && eigenvalues.get(head).is_some_and(|&value| value > mean * (1.0 + 1e-12)) {
        head += 1;
        left = size - head as f64;
        tail = eigenvalues[head..].iter().sum();
        mean = tail / left;
    }
    let tail_slope = (mean + shift).recip();
    let (size_slope, tail_per_size) = match sets {
        Sets::OfSize(_) => (0.0, 0.0),
        Sets::OfAnySize => ((mean + shift).ln() - mean * tail_slope, mean),
    };
    Split {
        value: eigenvalues[..head].iter().map(|value| (value + shift).ln()).sum::<f64>()
            + left * (mean + shift).ln(),
        head,
        slopes: eigenvalues[..head].iter().map(|value| (value + shift).recip()).collect(),
        tail_slope,
        knee: mean,
        tail_curvature: tail_slope * tail_slope / left,
        size_slope,
        tail_per_size,
    }
}

//! The concave functions of a spectrum that stand in for ln det.

/// What a function of the eigenvalues is near a spectrum: value, slopes, and what its curvature needs.
#[derive(Clone, Debug)]
pub(super) struct Split {
    pub(super) value: f64,
    /// How many leading eigenvalues count by themselves; the others count by their sum.
    pub(super) head: usize,
    /// ∂/∂λ_j of the leading ones.
    pub(super) slopes: Vec<f64>,
    /// ∂/∂λ_j of all others, those that are zero among them.
    pub(super) tail_slope: f64,
    /// The eigenvalue at which the slope of a leading one is that of the tail.
    pub(super) knee: f64,
    /// −∂²/∂λ_p∂λ_q of two others.
    pub(super) tail_curvature: f64,
}

/// Which sets S a function is to be an upper bound for: ln det(t I + B_S B_Sᵀ) by the spectrum of B_Sᵀ B_S.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sets {
    /// Those of k items.
    OfSize(usize),
    /// All.
    OfAnySize,
}

/// The function for these sets and a shift t. Eigenvalues are descending and not negative.
pub(super) fn split(eigenvalues: &[f64], sets: Sets, shift: f64) -> Split {
    match sets {
        Sets::OfSize(size) => of_size(eigenvalues, size, shift),
        Sets::OfAnySize if shift >= 1.0 => of_any_size_shifted(eigenvalues, shift),
        Sets::OfAnySize => of_any_size(eigenvalues, shift),
    }
}

/// ```text
/// Γ_k(λ) = Σ_{j≤ι} ln(λ_j + t) + (k−ι) ln(λ̄ + t),   λ̄ = Σ_{j>ι} λ_j / (k−ι),   λ_ι > λ̄ ≥ λ_{ι+1}
/// ```
///
/// The least concave function that is Σ_{j≤k} ln(λ_j + t) where at most k eigenvalues are positive.
fn of_size(eigenvalues: &[f64], size: usize, shift: f64) -> Split {
    let mut tail: f64 = eigenvalues.iter().sum();
    let mut head = 0;
    let mut mean = tail / size as f64;
    // A leading eigenvalue as large as the mean makes no difference; rounding must not make one.
    while head + 1 < size && eigenvalues.get(head).is_some_and(|&value| value > mean * (1.0 + 1e-12)) {
        head += 1;
        tail = eigenvalues[head..].iter().sum();
        mean = tail / (size - head) as f64;
    }
    let left = (size - head) as f64;
    let tail_slope = (mean + shift).recip();
    Split {
        value: eigenvalues[..head].iter().map(|value| (value + shift).ln()).sum::<f64>()
            + left * (mean + shift).ln(),
        head,
        slopes: eigenvalues[..head].iter().map(|value| (value + shift).recip()).collect(),
        tail_slope,
        knee: mean,
        tail_curvature: tail_slope * tail_slope / left,
    }
}

/// Σ ln(λ_j + t) over all, for t ≥ 1.
fn of_any_size_shifted(eigenvalues: &[f64], shift: f64) -> Split {
    Split {
        value: eigenvalues.iter().map(|value| (value + shift).ln()).sum(),
        head: eigenvalues.len(),
        slopes: eigenvalues.iter().map(|value| (value + shift).recip()).collect(),
        tail_slope: shift.recip(),
        knee: 0.0,
        tail_curvature: 0.0,
    }
}

/// Σ φ(λ_j + t) with φ(λ) = ln λ above e and λ/e below: the largest Γ_k over all k, fractions too.
fn of_any_size(eigenvalues: &[f64], shift: f64) -> Split {
    use std::f64::consts::E;
    let head = eigenvalues.partition_point(|value| value + shift > E);
    let (large, small) = eigenvalues.split_at(head);
    Split {
        value: large.iter().map(|value| (value + shift).ln()).sum::<f64>()
            + small.iter().map(|value| (value + shift) / E).sum::<f64>(),
        head,
        slopes: large.iter().map(|value| (value + shift).recip()).collect(),
        tail_slope: E.recip(),
        knee: E - shift,
        tail_curvature: 0.0,
    }
}

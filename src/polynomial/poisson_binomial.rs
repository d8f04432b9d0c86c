//! Sums of independent coin flips: the law of one part's count.

/// Pr(Σ b_j = c) for c = 0 … len, with Pr(b_j = 1) = `success[j]`.
///
/// # Cost
/// O(len²).
pub(crate) fn poisson_binomial(success: &[f64]) -> Vec<f64> {
    let mut law = vec![1.0];
    for &p in success {
        law.push(0.0);
        for c in (0..law.len()).rev() {
            let below = if c > 0 { law[c - 1] } else { 0.0 };
            law[c] = (1.0 - p) * law[c] + p * below;
        }
    }
    law
}

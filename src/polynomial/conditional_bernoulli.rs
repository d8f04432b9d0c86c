//! Choosing k of r weighted elements: the first phase of every k-DPP.

use rand::{Rng, RngExt, distr::Distribution};

use crate::{
    Error, Result,
    linalg::{sigmoid, softplus},
};

/// The law of k-subsets J with Pr(J) proportional to the product of their weights.
///
/// ```text
/// Pr(J) = Π_{j∈J} w_j / e_k(w),   |J| = k
/// ```
///
/// For every c > 0, independent Bernoulli variables with odds c·w_j, conditioned on their sum being k, have this law.
/// With c such that the *expected* sum is k, no table overflows or underflows for any weights, r and k.
///
/// # Cost
/// O(rk) time and 8rk bytes to build, O(r) per draw.
///
/// # Numerics
/// Relative error of every probability about r·ε, for weights of any range.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::polynomial::ConditionalBernoulli;
/// // e₂(1, 2, 3) = 2 + 3 + 6
/// let law = ConditionalBernoulli::new(&[1.0, 2.0, 3.0], 2)?;
/// assert!((law.log_normalizer() - 11.0_f64.ln()).abs() < 1e-12);
/// assert!((law.inclusion_probabilities()[0] - 5.0 / 11.0).abs() < 1e-12);
/// # Ok(()) }
/// ```
///
/// # Source
/// Chen and Liu, *Statistical applications of the Poisson–binomial and conditional Bernoulli
/// distributions* (1997); as the mixture of a k-DPP: Kulesza and Taskar, *k-DPPs* (2011), eq. (8).
#[derive(Clone, Debug)]
pub struct ConditionalBernoulli {
    elements: usize,
    k: usize,
    /// Elements with positive weight.
    support: Vec<usize>,
    /// Σ ln w over the support and ln c, for the normaliser.
    log_weights: Vec<f64>,
    log_scale: f64,
    /// b_j and 1 − b_j, each to full relative accuracy.
    success: Vec<f64>,
    failure: Vec<f64>,
    /// Row j: Pr(Σ_{i≥j} b_i = c) for c = 0..=k.
    tail: Vec<f64>,
}

impl ConditionalBernoulli {
    /// The law for non-negative weights.
    ///
    /// # Errors
    /// [`Error::SizeAboveRank`] if fewer than k weights are positive.
    pub fn new(weights: &[f64], k: usize) -> Result<Self> {
        let support: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] > 0.0).collect();
        let rank = support.len();
        if rank < k {
            return Err(Error::SizeAboveRank { k, rank });
        }
        let log_weights: Vec<f64> = support.iter().map(|&j| weights[j].ln()).collect();
        let log_scale = if rank > k { balance(&log_weights, k) } else { f64::INFINITY };
        let success: Vec<f64> = log_weights.iter().map(|&log| sigmoid(log + log_scale)).collect();
        let failure: Vec<f64> = log_weights.iter().map(|&log| sigmoid(-log - log_scale)).collect();
        let tail = tail_table(&success, &failure, k);
        Ok(Self { elements: weights.len(), k, support, log_weights, log_scale, success, failure, tail })
    }

    /// ln e_k(w).
    #[must_use]
    pub fn log_normalizer(&self) -> f64 {
        if self.k == 0 {
            return 0.0;
        }
        if self.support.len() == self.k {
            return self.log_weights.iter().sum();
        }
        let (log_mass, log_scale) = self.log_mass();
        log_mass + self.tail[self.k].ln() - self.k as f64 * log_scale
    }

    /// ln Π (1 + c w_j) and ln c.
    ///
    /// If all weights are needed, c is infinite: returns ln Π w_j, the leading coefficient, and 0.
    pub(crate) fn log_mass(&self) -> (f64, f64) {
        if self.support.len() == self.k {
            return (self.log_weights.iter().sum(), 0.0);
        }
        // −ln(1 − b) = ln(1 + c w).
        let mass = self.log_weights.iter().map(|log| softplus(log + self.log_scale)).sum();
        (mass, self.log_scale)
    }

    /// Pr(j ∈ J) for every element.
    ///
    /// # Cost
    /// O(rk).
    #[must_use]
    pub fn inclusion_probabilities(&self) -> Vec<f64> {
        let (k, width) = (self.k, self.k + 1);
        let mut out = vec![0.0; self.elements];
        // head[c] = Pr(Σ_{i<j} b_i = c).
        let mut head = vec![0.0; width];
        head[0] = 1.0;
        for (j, &element) in self.support.iter().enumerate() {
            let rest = &self.tail[(j + 1) * width..(j + 2) * width];
            let with_j: f64 = (0..k).map(|c| head[c] * rest[k - 1 - c]).sum();
            out[element] = (self.success[j] * with_j / self.tail[k]).min(1.0);
            for c in (0..width).rev() {
                let from_below = if c > 0 { head[c - 1] * self.success[j] } else { 0.0 };
                head[c] = head[c] * self.failure[j] + from_below;
            }
        }
        out
    }

    /// The Bernoulli probabilities b_j whose conditioning gives this law, with Σ b_j = k.
    pub(crate) fn odds(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.elements];
        for (&element, &success) in self.support.iter().zip(&self.success) {
            out[element] = success;
        }
        out
    }

    /// 1 − b_j, each to full relative accuracy.
    pub(crate) fn failures(&self) -> Vec<f64> {
        let mut out = vec![1.0; self.elements];
        for (&element, &failure) in self.support.iter().zip(&self.failure) {
            out[element] = failure;
        }
        out
    }

    /// The elements with positive weight, ascending.
    pub(crate) fn support(&self) -> &[usize] {
        &self.support
    }

    /// Pr(element j of the support is in J | `wanted` of the elements from j on are in J).
    pub(crate) fn probability_of_taking(&self, j: usize, wanted: usize) -> f64 {
        let width = self.k + 1;
        if self.support.len() - j == wanted {
            return 1.0;
        }
        let all = self.tail[j * width + wanted];
        if all > 0.0 { self.success[j] * self.tail[(j + 1) * width + wanted - 1] / all } else { 0.0 }
    }

    /// Pr(Σ b_j = k).
    pub(crate) fn probability_of_size(&self) -> f64 {
        self.tail[self.k]
    }

    /// Draws J into `chosen`, ascending.
    pub(crate) fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, chosen: &mut Vec<usize>) {
        chosen.clear();
        let (width, rank) = (self.k + 1, self.support.len());
        let mut wanted = self.k;
        for j in 0..rank {
            if wanted == 0 {
                break;
            }
            let take = rank - j == wanted || {
                let with_j = self.success[j] * self.tail[(j + 1) * width + wanted - 1];
                rng.random::<f64>() * self.tail[j * width + wanted] < with_j
            };
            if take {
                chosen.push(self.support[j]);
                wanted -= 1;
            }
        }
    }
}

impl Distribution<Vec<usize>> for ConditionalBernoulli {
    /// Draws J, in ascending order.
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<usize> {
        let mut chosen = Vec::with_capacity(self.k);
        self.sample_into(rng, &mut chosen);
        chosen
    }
}

/// Solves Σ sigmoid(log_weight + s) = k for s, with 0 ≤ k < r.
///
/// Any s near the solution suffices.
fn balance(log_weights: &[f64], k: usize) -> f64 {
    if k == 0 {
        return f64::NEG_INFINITY;
    }
    let mut descending = log_weights.to_vec();
    descending.sort_by(|a, b| b.total_cmp(a));
    let size = k as f64;
    // At the first bound, all r terms are at most k/r; at the second, k+1 terms reach k/(k+1).
    let mut low = (size / descending.len() as f64).ln() - descending[0];
    let mut high = size.ln() - descending[k];
    while high - low > 1e-12 * (1.0 + low.abs().max(high.abs())) {
        let middle = low + 0.5 * (high - low);
        if descending.iter().map(|log| sigmoid(log + middle)).sum::<f64>() < size {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

fn tail_table(success: &[f64], failure: &[f64], k: usize) -> Vec<f64> {
    let (rank, width) = (success.len(), k + 1);
    let mut tail = vec![0.0; (rank + 1) * width];
    tail[rank * width] = 1.0;
    for j in (0..rank).rev() {
        let (row, next) = tail[j * width..(j + 2) * width].split_at_mut(width);
        row[0] = next[0] * failure[j];
        for c in 1..width {
            row[c] = next[c] * failure[j] + next[c - 1] * success[j];
        }
    }
    tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    /// e_k and inclusion probabilities by enumeration.
    fn enumerate(weights: &[f64], k: usize) -> (f64, Vec<f64>) {
        let (mut total, mut inclusion) = (0.0, vec![0.0; weights.len()]);
        for mask in 0_u32..1 << weights.len() {
            if mask.count_ones() as usize == k {
                let members = (0..weights.len()).filter(|j| mask >> j & 1 == 1);
                let product: f64 = members.clone().map(|j| weights[j]).product();
                total += product;
                members.for_each(|j| inclusion[j] += product);
            }
        }
        crate::linalg::kernels::scale(&mut inclusion, 1.0 / total);
        (total, inclusion)
    }

    #[test]
    fn agrees_with_enumeration() {
        let weights = [3.0, 0.0, 1e-3, 7.5, 1e4, 2.0, 0.4];
        for k in 0..=6 {
            let law = ConditionalBernoulli::new(&weights, k).unwrap();
            let (total, inclusion) = enumerate(&weights, k);
            assert_abs_diff_eq!(law.log_normalizer(), total.ln(), epsilon = 1e-11);
            for (found, expected) in law.inclusion_probabilities().iter().zip(&inclusion) {
                assert_abs_diff_eq!(found, expected, epsilon = 1e-12);
            }
        }
        assert!(matches!(
            ConditionalBernoulli::new(&weights, 7),
            Err(Error::SizeAboveRank { k: 7, rank: 6 })
        ));
    }

    #[test]
    fn survives_extreme_weights() {
        let law = ConditionalBernoulli::new(&[1e300, 1e-300, 1e-300], 2).unwrap();
        assert_abs_diff_eq!(law.log_normalizer(), 2.0_f64.ln(), epsilon = 1e-9);
        let none = ConditionalBernoulli::new(&[1e200, 1e200], 0).unwrap().inclusion_probabilities();
        assert!(none.iter().all(|p| p.abs() < 1e-300), "{none:?}");
        let weights: Vec<f64> = (0..400).map(|j| 1e-200 * 10.0_f64.powf(f64::from(j) * 0.05)).collect();
        for k in [1, 50, 200, 399, 400] {
            let law = ConditionalBernoulli::new(&weights, k).unwrap();
            let total: f64 = law.inclusion_probabilities().iter().sum();
            assert_abs_diff_eq!(total, k as f64, epsilon = 1e-9 * k as f64);
            assert!(law.log_normalizer().is_finite());
        }
    }
}

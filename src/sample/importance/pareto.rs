//! The tail of the weights, and how heavy it is.

/// The largest k̂ at which averages of weights are trusted.
pub const TRUSTED_PARETO_K: f64 = 0.7;

/// The least number of weights in a tail.
const LEAST: usize = 5;
/// Weights with a smaller relative difference count as equal.
const ROUNDING: f64 = 1e-9;

/// The generalised Pareto distribution of the largest weights' excess over a threshold.
///
/// ```text
/// Pr(w > u + x | w > u) = (1 + k x / σ)^(−1/k)
/// ```
///
/// # Source
/// Zhang and Stephens, *A new and efficient estimation method for the generalized Pareto distribution* (2009); Vehtari,
/// Simpson, Gelman, Yao and Gabry, *Pareto smoothed importance sampling* (2024), for its use and the prior of k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tail {
    /// k̂.
    pub(super) k: f64,
    sigma: f64,
    /// u.
    threshold: f64,
    /// Pr(w > u).
    share: f64,
}

impl Tail {
    /// Fits at least 25 weights in ascending order; `None` if there are fewer, or if they are equal within rounding.
    pub(super) fn of(weights: &[f64]) -> Option<Self> {
        let draws = weights.len() as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
        let size = (0.2 * draws).min(3.0 * draws.sqrt()) as usize;
        if size < LEAST {
            return None;
        }
        let above = |threshold: f64| {
            let start = weights.partition_point(|&weight| weight <= threshold * (1.0 + ROUNDING));
            &weights[start..]
        };
        let mut threshold = weights[weights.len() - size - 1];
        let mut tail = above(threshold);
        // If many weights are equal, the tail begins below them.
        if tail.len() < size / 2 {
            let first = weights.partition_point(|&weight| weight < threshold * (1.0 - ROUNDING));
            match first.checked_sub(1) {
                Some(below) => threshold = weights[below],
                None if tail.is_empty() => return None,
                // Only a few weights exceed many equal ones, which may be dead ends: the tail beyond them is unknown.
                None if tail.len() < LEAST => {
                    return Some(Self::unknown(threshold, tail.len() as f64 / draws));
                }
                None => {}
            }
            tail = above(threshold);
        }
        let excess: Vec<f64> = tail.iter().map(|weight| weight - threshold).collect();
        let (k, sigma) = fitted(&excess);
        Some(Self { k, sigma, threshold, share: excess.len() as f64 / draws })
    }

    fn unknown(threshold: f64, share: f64) -> Self {
        Self { k: f64::INFINITY, sigma: f64::INFINITY, threshold, share }
    }

    /// E max(0, w − c) for c above the threshold. A tail with k ≤ 0, which seems to end, is replaced by an
    /// exponential one.
    pub(super) fn excess_above(&self, c: f64) -> f64 {
        let beyond = (c - self.threshold).max(0.0);
        // The exponential tail has the same mean.
        let (k, sigma) = if self.k > 0.0 { (self.k, self.sigma) } else { (0.0, self.sigma / (1.0 - self.k)) };
        if k >= 1.0 {
            return f64::INFINITY;
        }
        if k < 1e-9 {
            return self.share * sigma * (-beyond / sigma).exp();
        }
        let scaled = k * beyond / sigma;
        self.share * (-scaled.ln_1p() / k).exp() * (sigma + k * beyond) / (1.0 - k)
    }

    /// The weight above which the tail begins.
    pub(super) fn threshold(&self) -> f64 {
        self.threshold
    }
}

/// k and σ of ascending excesses.
fn fitted(excess: &[f64]) -> (f64, f64) {
    let size = excess.len();
    let count = size as f64;
    let (largest, quartile) = (excess[size - 1], excess[((size + 2) / 4).max(1) - 1]);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
    let points = 30 + count.sqrt() as usize;
    let theta = |i: usize| {
        let root = (points as f64 / (i as f64 + 0.5)).sqrt();
        largest.recip() + (1.0 - root) / (3.0 * quartile)
    };
    let shape = |theta: f64| excess.iter().map(|x| (-theta * x).ln_1p()).sum::<f64>() / count;
    let thetas: Vec<f64> = (0..points).map(theta).collect();
    let likelihood = |&theta: &f64| {
        let k = shape(theta);
        count * ((-theta / k).ln() - k - 1.0)
    };
    let logs: Vec<f64> = thetas.iter().map(likelihood).collect();
    let best = logs.iter().copied().filter(|log| log.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut mean) = (0.0, 0.0);
    for (theta, log) in thetas.iter().zip(&logs).filter(|(_, log)| log.is_finite()) {
        let weight = (log - best).exp();
        sum += weight;
        mean += weight * theta;
    }
    let theta = mean / sum;
    let k = shape(theta);
    let sigma = -k / theta;
    // A prior worth ten observations at 1/2.
    ((count * k + 10.0 * 0.5) / (count + 10.0), sigma)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of a generalised Pareto law with scale 1.
    fn quantiles(k: f64, count: usize) -> Vec<f64> {
        (0..count)
            .map(|i| {
                let p = (i as f64 + 0.5) / count as f64;
                if k == 0.0 { -(1.0 - p).ln() } else { ((1.0 - p).powf(-k) - 1.0) / k }
            })
            .collect()
    }

    #[test]
    fn tails_are_recovered() {
        for k in [-0.5, 0.0, 0.3, 0.7, 1.0] {
            let tail = Tail::of(&quantiles(k, 20_000)).unwrap();
            // A tail of a generalised Pareto law has the same shape.
            assert!((tail.k - k).abs() < 0.05, "{k}: {tail:?}");
        }
        assert!(Tail::of(&[1.0; 1000]).is_none() && Tail::of(&quantiles(0.0, 20)).is_none());
        // All but a few are dead ends.
        let mut few = vec![0.0; 2046];
        few.extend([1.0, 1.5]);
        assert!(Tail::of(&few).unwrap().k.is_infinite());
        few.extend(quantiles(0.5, 40));
        assert!(Tail::of(&few).is_some());
        // Two values: no tail beyond the larger one.
        let two = Tail::of(&[[1.0; 500], [2.0; 500]].concat()).unwrap();
        assert!(two.k < 0.0 && (two.excess_above(2.0) > 0.0), "{two:?}");
    }

    #[test]
    fn excess_is_the_mean_beyond() {
        for k in [0.0, 0.3, 0.6] {
            let weights = quantiles(k, 200_000);
            let tail = Tail::of(&weights).unwrap();
            for at in [199_000, 199_900] {
                let c = weights[at];
                let mean = weights.iter().map(|w| (w - c).max(0.0)).sum::<f64>() / 200_000.0;
                assert!((tail.excess_above(c) / mean - 1.0).abs() < 0.15, "{k} {c}");
            }
        }
    }
}

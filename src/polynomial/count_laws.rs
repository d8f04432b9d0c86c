//! Laws of part counts, or bounds on them.

/// Upper bounds on the probabilities of the counts of every group, and of the total.
#[derive(Clone, Debug)]
pub(crate) struct CountLaws {
    pub(crate) means: Vec<f64>,
    /// Per group, the bound for every count from 0 on.
    pub(crate) groups: Vec<Vec<f64>>,
    pub(crate) total: Vec<f64>,
}

/// Larger counts are omitted once they are less likely than this.
const NEVER: f64 = 1e-40;

impl CountLaws {
    /// Bounds for counts that are sums of independent coin flips, from their means and numbers of coins.
    pub(crate) fn bounded(means: Vec<f64>, coins: &[usize]) -> Self {
        let groups = means.iter().zip(coins).map(|(mean, coins)| bounds(*mean, *coins)).collect();
        let total = bounds(means.iter().sum(), coins.iter().sum());
        Self { means, groups, total }
    }
}

/// The bounds Pr(c) ≤ e^−μ (eμ/c)^c for a sum of independent coin flips with mean μ.
///
/// They decrease on both sides of μ.
///
/// # Source
/// Chernoff (1952); Mitzenmacher and Upfal, *Probability and computing* (2017), theorem 4.4.
fn bounds(mean: f64, coins: usize) -> Vec<f64> {
    let bound = |count: usize| {
        let size = count as f64;
        let power = if count == 0 { 0.0 } else { size * (1.0 + (mean / size).ln()) };
        (power - mean).exp().min(1.0)
    };
    let is_possible = |count: &usize| (*count as f64) <= mean || bound(*count) >= NEVER;
    (0..=coins).take_while(is_possible).map(bound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::polynomial::poisson_binomial::poisson_binomial;

    #[test]
    fn bounds_are_above_the_law() {
        for coins in [vec![0.5; 6], vec![0.01; 90], vec![0.99, 0.5, 0.2, 0.03], vec![0.9; 40], vec![0.0; 3]] {
            let found = bounds(coins.iter().sum(), coins.len());
            for (c, p) in poisson_binomial(&coins).into_iter().enumerate() {
                assert!(p <= found.get(c).copied().unwrap_or(NEVER) * (1.0 + 1e-12), "{coins:?} at {c}");
            }
        }
    }
}

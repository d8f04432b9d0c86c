//! Part counts of proposals.

use rand::{Rng, RngExt};

/// The law of part counts if items are drawn in proportion to their weights:
///
/// ```text
/// Pr(c) ∝ Π_l T_l^c_l / c_l!   over lo_l ≤ c_l ≤ hi_l with Σ c_l = t
/// ```
#[derive(Clone, Debug, Default)]
pub(super) struct CountLaw {
    /// Per part: the least and the largest count, and ln T_l.
    parts: Vec<([usize; 2], f64)>,
    total: usize,
    /// Whether the least counts add up to the total.
    is_settled: bool,
    /// ln c!
    log_factorials: Vec<f64>,
    /// Per part and number of items before it: ln of the sum over the counts of this part and the parts after it.
    after: Vec<f64>,
}

impl CountLaw {
    pub(super) fn clear(&mut self) {
        self.parts.clear();
    }

    /// Adds a part.
    pub(super) fn push(&mut self, range: [usize; 2], log_total: f64) {
        self.parts.push((range, log_total));
    }

    /// Prepares draws of counts with this total; `false` if there are no such counts.
    pub(super) fn finish(&mut self, total: usize) -> bool {
        self.total = total;
        let lows: usize = self.parts.iter().map(|([low, _], _)| low).sum();
        self.is_settled = lows == total;
        if self.is_settled {
            return self.parts.iter().all(|([low, _], log_total)| *low == 0 || log_total.is_finite());
        }
        self.log_factorials.clear();
        let mut log = 0.0;
        self.log_factorials.push(log);
        for count in 1..=total {
            log += (count as f64).ln();
            self.log_factorials.push(log);
        }
        let (parts, width) = (self.parts.len(), total + 1);
        self.after.clear();
        self.after.resize((parts + 1) * width, f64::NEG_INFINITY);
        self.after[parts * width + total] = 0.0;
        for part in (0..parts).rev() {
            for before in 0..=total {
                let terms = || self.terms(part, before).map(|(_, term)| term);
                let largest = terms().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = terms().map(|term| (term - largest).exp()).sum();
                // Without terms the sum is 0.
                self.after[part * width + before] = if sum > 0.0 { largest + sum.ln() } else { largest };
            }
        }
        self.after[0].is_finite()
    }

    /// The counts of a part after `before` items, each with ln of its contribution and of all parts that follow.
    fn terms(&self, part: usize, before: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let ([low, high], log_total) = self.parts[part];
        let next = &self.after[(part + 1) * (self.total + 1) + before..][..=self.total - before];
        (low..=high.min(self.total - before)).map(move |count| {
            let log_power = if count == 0 { 0.0 } else { count as f64 * log_total };
            (count, log_power - self.log_factorials[count] + next[count])
        })
    }

    /// Draws the count of a part after `before` items.
    pub(super) fn draw<R: Rng + ?Sized>(&self, part: usize, before: usize, rng: &mut R) -> usize {
        let ([low, high], _) = self.parts[part];
        if self.is_settled || low == high {
            return low;
        }
        let sum = self.after[part * (self.total + 1) + before];
        let mut left = rng.random::<f64>();
        let mut last = low;
        for (count, term) in self.terms(part, before) {
            let probability = (term - sum).exp();
            if probability > 0.0 {
                last = count;
                left -= probability;
            }
            if left < 0.0 {
                break;
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn counts_follow_their_law() {
        let (ranges, totals) = ([[0, 3], [1, 2], [0, 2]], [2.0_f64, 0.5, 3.0]);
        let mut law = CountLaw::default();
        ranges.iter().zip(totals).for_each(|(&range, total)| law.push(range, total.ln()));
        assert!(law.finish(4));
        let factorial = |count: usize| (1..=count).product::<usize>() as f64;
        let mut expected = std::collections::BTreeMap::new();
        for a in 0..=3 {
            for b in 1..=2 {
                for c in 0..=2_usize {
                    if a + b + c == 4 {
                        let term = |(count, total): (usize, f64)| {
                            total.powi(i32::try_from(count).unwrap()) / factorial(count)
                        };
                        expected
                            .insert([a, b, c], [a, b, c].into_iter().zip(totals).map(term).product::<f64>());
                    }
                }
            }
        }
        let sum: f64 = expected.values().sum();
        assert!((law.after[0] - sum.ln()).abs() < 1e-12);
        let mut rng = StdRng::seed_from_u64(1);
        let mut seen = std::collections::BTreeMap::new();
        let draws = 100_000;
        for _ in 0..draws {
            let (mut before, mut counts) = (0, [0; 3]);
            for (part, count) in counts.iter_mut().enumerate() {
                *count = law.draw(part, before, &mut rng);
                before += *count;
            }
            *seen.entry(counts).or_insert(0_u32) += 1;
        }
        assert_eq!(seen.len(), expected.len());
        for (counts, weight) in expected {
            let (mean, found) = (weight / sum * f64::from(draws), f64::from(seen[&counts]));
            assert!((found - mean).abs() < 5.0 * mean.sqrt(), "{counts:?}: {found} of {mean}");
        }
        // Nothing can be drawn from a part without weight.
        law.clear();
        law.push([1, 1], f64::NEG_INFINITY);
        law.push([0, 2], 0.0);
        assert!(!law.finish(2));
    }
}

//! The bounds under one whitening, and the predicted costs of their draws.

use super::{Bound, count_law::CountLaw, elementary::ElementaryTable, whitening::Whitening};
use crate::model::{Correction, Counts};

/// The tables that all bounds under a whitening share.
#[derive(Debug)]
pub(super) struct Tables {
    /// ln e_c of the largest eigenvalues of Ĝ_l, by group.
    pub(super) symmetric: Vec<ElementaryTable>,
    /// S_{r−t}(Ĝ_l) for every t, by group.
    pub(super) largest: Vec<Vec<f64>>,
    /// ln Π_{j≤t} β_j for every t.
    pub(super) log_products: Vec<f64>,
}

impl Tables {
    pub(super) fn new(whitening: &Whitening, counts: &Counts) -> Self {
        let symmetric = whitening
            .spectra
            .iter()
            .zip(&counts.high)
            .map(|(values, &high)| ElementaryTable::new(values, high));
        let largest = whitening.spectra.iter().map(|values| {
            let mut sums = running_sums(values.iter().copied());
            sums.reverse();
            sums
        });
        Self {
            symmetric: symmetric.collect(),
            largest: largest.collect(),
            log_products: whitening.log_products(),
        }
    }

    /// The law of part counts under a bound; `totals` are the totals of the item tables.
    pub(super) fn count_law(
        &self,
        bound: Bound,
        counts: &Counts,
        correction: &Correction,
        totals: &[f64],
    ) -> CountLaw {
        let rank = self.log_products.len() - 1;
        let term = |group: usize, t: usize, c: usize| {
            let own = match bound {
                // This uses the item table.
                Bound::Fischer if counts.high[group] <= 1 => c as f64 * totals[group].ln(),
                Bound::Hadamard => c as f64 * totals[group].ln() - log_factorial(c),
                Bound::Fischer => self.symmetric[group].log(rank, c),
                Bound::Block => self.symmetric[group].log(rank - t, c),
                _ => {
                    let sums = &self.largest[group][t..(t + c).min(rank)];
                    sums.iter().map(|sum| sum.ln()).sum::<f64>() - log_factorial(c)
                }
            };
            own + correction.log_factor(group, c)
        };
        CountLaw::new(counts, self.order(bound, counts), &self.log_products, term)
    }

    /// Orders the parts so that the ones whose bounds fall fastest come last.
    fn order(&self, bound: Bound, counts: &Counts) -> Vec<usize> {
        let groups = counts.low.len();
        if matches!(bound, Bound::Hadamard | Bound::Fischer) {
            return (0..groups).collect();
        }
        let rank = self.log_products.len() - 1;
        let typical = typical(counts);
        let mut left: Vec<usize> = (0..groups).collect();
        let mut t: usize = typical.iter().sum::<usize>().min(rank);
        let mut order = Vec::with_capacity(groups);
        while !left.is_empty() {
            let fall = |&group: &usize| {
                let (table, count) = (&self.symmetric[group], typical[group]);
                let rest = rank - t.saturating_sub(count);
                table.log(rest, count) - table.log(rank, count)
            };
            let falls: Vec<f64> = left.iter().map(fall).collect();
            let least = |a: &usize, b: &usize| falls[*a].total_cmp(&falls[*b]);
            if t == 0 {
                // The falls no longer change.
                let mut rest: Vec<usize> = (0..left.len()).collect();
                rest.sort_by(least);
                order.extend(rest.into_iter().map(|at| left[at]));
                break;
            }
            let at = (0..left.len()).min_by(least).unwrap_or(0);
            let group = left.remove(at);
            t = t.saturating_sub(typical[group]);
            order.push(group);
        }
        order.reverse();
        order
    }
}

/// Counts in the middle of their ranges.
pub(in crate::sample) fn typical(counts: &Counts) -> Vec<usize> {
    counts.low.iter().zip(&counts.high).map(|(&low, &high)| low.midpoint(high)).collect()
}

/// The running sums of the numbers, starting with the empty sum.
pub(super) fn running_sums(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let next = |number: f64| {
        sum += number;
        sum
    };
    std::iter::once(0.0).chain(numbers.map(next)).collect()
}

/// ln c!
pub(super) fn log_factorial(count: usize) -> f64 {
    (1..=count).map(|i| (i as f64).ln()).sum()
}

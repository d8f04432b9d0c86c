//! Part counts of proposals.

use std::ops::Range;

use crate::{linalg::log_sum, model::Counts};

/// The law of part counts c under a bound, for parts that come one after another:
///
/// ```text
/// Pr(c) ∝ L(t_p) Π_l u_l(t_l, c_l),   t_l = c_1 + … + c_{l−1}
/// ```
///
/// The sum over all allowed c is the bound W. Under exact counts there is only one c.
#[derive(Debug)]
pub(super) struct CountLaw {
    /// The groups in the order in which they come.
    order: Vec<usize>,
    /// By place in the order: the least and the most items.
    ranges: Vec<[usize; 2]>,
    /// By place in the order: the index of its first term.
    starts: Vec<usize>,
    /// ln u(t, c) for every place, every t, and every count from the least on.
    terms: Vec<f64>,
    /// The most items in total.
    most: usize,
    /// ln of the contribution of the places from this one on, after t items.
    after: Vec<Vec<f64>>,
}

impl CountLaw {
    /// `term(group, t, c)` is ln u, and `last` is ln L for every total.
    pub(super) fn new(
        counts: &Counts,
        order: Vec<usize>,
        last: &[f64],
        term: impl Fn(usize, usize, usize) -> f64,
    ) -> Self {
        let most = counts.most.min(last.len() - 1);
        let ranges = order.iter().map(|&group| [counts.low[group], counts.high[group]]).collect();
        let mut law = Self { order, ranges, starts: Vec::new(), terms: Vec::new(), most, after: Vec::new() };
        for place in 0..law.order.len() {
            let (group, [low, high]) = (law.order[place], law.ranges[place]);
            law.starts.push(law.terms.len());
            for t in 0..=most {
                let own = law.counts(place, t);
                law.terms.extend(own.clone().map(|c| term(group, t, c)));
                // Every t has the same number of terms.
                let unused = high + 1 - low - own.len();
                law.terms.extend(std::iter::repeat_n(f64::NEG_INFINITY, unused));
            }
        }
        let end = |t: usize| if t < counts.least { f64::NEG_INFINITY } else { last[t] };
        let mut after = vec![(0..=most).map(end).collect::<Vec<f64>>()];
        let mut sums = Vec::new();
        for place in (0..law.order.len()).rev() {
            let (low, next) = (law.ranges[place][0], &after[after.len() - 1]);
            let mut of = |t: usize| {
                sums.clear();
                sums.extend(law.terms(place, t).iter().zip(t + low..).map(|(term, t)| term + next[t]));
                log_sum(&sums)
            };
            let here = (0..=most).map(&mut of).collect();
            after.push(here);
        }
        after.reverse();
        Self { after, ..law }
    }

    /// The counts that are possible at a place after t items.
    fn counts(&self, place: usize, t: usize) -> Range<usize> {
        let [low, high] = self.ranges[place];
        low..(high.min(self.most - t) + 1).max(low)
    }

    /// ln u of these counts.
    fn terms(&self, place: usize, t: usize) -> &[f64] {
        let [low, high] = self.ranges[place];
        let start = self.starts[place] + t * (high + 1 - low);
        &self.terms[start..start + self.counts(place, t).len()]
    }

    /// ln W.
    pub(super) fn log_bound(&self) -> f64 {
        self.after[0][0]
    }

    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Probabilities of the counts at a place after t items, from the least count on.
    pub(super) fn probabilities(&self, place: usize, t: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (low, here, next) = (self.ranges[place][0], self.after[place][t], &self.after[place + 1]);
        let of = move |(at, term): (usize, &f64)| (low + at, (term + next[t + low + at] - here).exp());
        self.terms(place, t).iter().enumerate().map(of)
    }

    /// The count at a place, if only one is possible.
    pub(super) fn only(&self, place: usize, t: usize) -> Option<usize> {
        let counts = self.counts(place, t);
        (counts.len() == 1).then_some(counts.start)
    }
}

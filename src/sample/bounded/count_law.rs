//! Part counts of proposals.

use crate::{model::Counts, polynomial::log_sum};

/// The law of part counts c under a bound, where parts come one after another:
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
    /// By place in the order: the least count, …
    low: Vec<usize>,
    /// … and ln u(t, c) for every t and every count from the least on.
    terms: Vec<Vec<Vec<f64>>>,
    /// ln of what the places from this one on contribute after t items.
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
        let terms: Vec<Vec<Vec<f64>>> = order
            .iter()
            .map(|&group| {
                let of = |t: usize| {
                    let room = counts.high[group].min(most - t);
                    (counts.low[group]..=room).map(|c| term(group, t, c)).collect()
                };
                (0..=most).map(of).collect()
            })
            .collect();
        let end = |t: usize| if t < counts.least { f64::NEG_INFINITY } else { last[t] };
        let mut after = vec![(0..=most).map(end).collect::<Vec<f64>>()];
        let low: Vec<usize> = order.iter().map(|&group| counts.low[group]).collect();
        for (terms, &low) in terms.iter().zip(&low).rev() {
            let next = &after[after.len() - 1];
            let of = |t: usize| {
                let sums = terms[t].iter().zip(t + low..).map(|(term, t)| term + next[t]);
                log_sum(&sums.collect::<Vec<_>>())
            };
            let here = (0..=most).map(of).collect();
            after.push(here);
        }
        after.reverse();
        Self { order, low, terms, after }
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
        let (low, here, next) = (self.low[place], self.after[place][t], &self.after[place + 1]);
        let of = move |(at, term): (usize, &f64)| (low + at, (term + next[t + low + at] - here).exp());
        self.terms[place][t].iter().enumerate().map(of)
    }

    /// Whether only one count is possible at a place.
    pub(super) fn only(&self, place: usize, t: usize) -> Option<usize> {
        (self.terms[place][t].len() == 1).then_some(self.low[place])
    }
}

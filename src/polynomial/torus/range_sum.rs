//! Sums of coefficients over ranges of counts, as one weighted mean over the nodes.

use faer::c64;

use super::{
    Torus,
    plan::{ALIASING, TorusPlan, coefficient_bound},
};
use crate::{
    Result,
    engine::Engine,
    model::{Correction, Counts},
    polynomial::CountLaws,
};

/// Σ [z^c] φ · Π_l f_l(c_l) over all allowed counts c, with the factors f_l of a correction.
///
/// ```text
/// mean over nodes of φ(e^{iθ}) Π_l Σ_c f_l(c) e^{−icθ_l}
/// ```
///
/// A group whose factor is 1 and whose range contains all its counts, given the ranges of the others, needs no phase.
#[derive(Debug)]
pub(crate) struct RangeSum {
    correction: Correction,
    ranges: Counts,
    groups: Vec<Group>,
    plan: TorusPlan,
}

/// The law of a group's count, and the counts that matter.
#[derive(Clone, Debug)]
struct Group {
    law: Vec<f64>,
    /// The counts in the range, without improbable ones at its ends; `None` if all counts have the same factor.
    span: Option<(usize, usize)>,
    /// The probability of the omitted counts.
    dropped: f64,
}

impl RangeSum {
    /// Plans the smallest numbers of nodes at which aliases are negligible.
    ///
    /// They are at most a fraction 1e-15 of the contribution of some allowed counts near the expected ones.
    pub(crate) fn new(laws: CountLaws, ranges: Counts, correction: Correction) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
        let near = |(group, mean): (usize, &f64)| {
            (mean.round() as usize).clamp(ranges.low[group], ranges.high[group])
        };
        let typical: Vec<usize> = laws.means.iter().enumerate().map(near).collect();
        let tolerance = ALIASING * coefficient_bound(&typical) / (2 * typical.len()) as f64;
        let group = |(group, law)| Group::new(law, group, &ranges, &correction, tolerance);
        let groups = laws.groups.into_iter().enumerate().map(group).collect();
        let mut sum = Self { correction, ranges, groups, plan: TorusPlan::complete(&[]) };
        sum.plan = match sum.ranges.total() {
            None => sum.plan_with(None, tolerance),
            Some(total) => sum.plan_of_total(&laws.total, total, tolerance),
        };
        sum
    }

    /// The same sum, at nodes between the nodes of the torus.
    pub(crate) fn between(self) -> Self {
        Self { plan: self.plan.between(), ..self }
    }

    /// The nodes; refuses more than the budget allows.
    pub(crate) fn torus(&self, budget: f64) -> Result<Torus> {
        Ok(Torus::new(self.plan.clone().within(budget)?))
    }

    /// The factor of φ at every node.
    pub(crate) fn extractors(&self, engine: &Engine, torus: &Torus) -> Result<Vec<c64>> {
        let nodes = torus.digits.chunks_exact(torus.sizes.len()).zip(&torus.weights);
        let extractor = |(digits, &weight): (&[usize], &f64)| {
            engine.proceed()?;
            Ok(self.kernel(torus, digits) * weight)
        };
        nodes.map(extractor).collect()
    }

    /// ln of the factor by which the sum must be multiplied.
    pub(crate) fn log_unit(&self) -> f64 {
        -self.correction.least
    }

    /// The plan for a fixed total.
    ///
    /// The phase of the total is common to all groups, and the count of one group follows from the others. This is an
    /// open group if possible, otherwise the group whose phase would cost most.
    fn plan_of_total(&self, law: &[f64], total: usize, tolerance: f64) -> TorusPlan {
        let others = |size: usize| -> f64 {
            let alias = |c: &usize| *c != total && c.abs_diff(total).is_multiple_of(size);
            (0..law.len()).filter(alias).map(|c| law[c]).sum()
        };
        let size = (1..=law.len()).find(|&size| others(size) <= tolerance).unwrap_or(law.len());
        let open = (0..self.groups.len()).find(|&group| self.groups[group].span.is_none());
        let candidates = open.map_or(0..self.groups.len(), |group| group..group + 1);
        let mut best: Option<TorusPlan> = None;
        for group in candidates {
            let mut plan = self.plan_with(Some(group), tolerance);
            plan.sizes[group] = size;
            plan.aliasing += others(size);
            if best.as_ref().is_none_or(|best| plan.nodes() < best.nodes()) {
                best = Some(plan);
            }
            // If the number of nodes exceeds f64, it does so for every reference.
            if best.as_ref().is_some_and(|best| best.nodes().is_infinite()) {
                break;
            }
        }
        best.unwrap_or_else(|| TorusPlan::complete(&[]))
    }

    /// The plan with this reference group, which has one node as a placeholder.
    fn plan_with(&self, reference: Option<usize>, tolerance: f64) -> TorusPlan {
        let high = &self.ranges.high;
        // The largest count of the reference, or of all open groups together if it is one of them.
        let most_left =
            reference.map(|at| self.groups[at].span.map_or_else(|| self.open_high(), |_| high[at]));
        let mut plan = TorusPlan { reference, ..TorusPlan::complete(&[]) };
        for (at, group) in self.groups.iter().enumerate() {
            plan.aliasing += group.dropped;
            let Some(span) = group.span.filter(|_| reference != Some(at)) else {
                plan.sizes.push(1);
                continue;
            };
            // Aliases exceed the count of a group by the number of nodes. With this many nodes, they would exceed the
            // total.
            let exact = most_left.map_or(usize::MAX, |most| high[at].max(most) + 1);
            let aliases = |size: usize| if size >= exact { 0.0 } else { self.aliases(at, span, size) };
            let most = group.law.len().max(span.1 + 1);
            let size = (1..=most).find(|&size| aliases(size) <= tolerance).unwrap_or(most);
            plan.aliasing += aliases(size);
            plan.sizes.push(size);
        }
        plan
    }

    /// An upper bound on the aliases of other counts of a group onto the counts in the span.
    fn aliases(&self, group: usize, (low, high): (usize, usize), size: usize) -> f64 {
        let onto = |other: usize| -> f64 {
            let hit = |c: &usize| *c != other && c.abs_diff(other).is_multiple_of(size);
            (low..=high).filter(hit).map(|c| self.factor(group, c)).sum()
        };
        self.groups[group].law.iter().enumerate().map(|(other, p)| p * onto(other)).sum()
    }

    /// The largest count of all open groups together.
    fn open_high(&self) -> usize {
        let open = self.groups.iter().zip(&self.ranges.high).filter(|(group, _)| group.span.is_none());
        let highs = open.map(|(_, high)| high).sum();
        self.ranges.total().map_or(highs, |total| total.min(highs))
    }

    fn factor(&self, group: usize, count: usize) -> f64 {
        self.correction.log_factor(group, count).exp()
    }

    /// Σ Π f_l(c_l) e^{−ic·θ} over the allowed counts.
    fn kernel(&self, torus: &Torus, digits: &[usize]) -> c64 {
        let one = c64::new(1.0, 0.0);
        let term = |group: usize, count: usize| {
            torus.power(group, digits[group], count).conj() * self.factor(group, count)
        };
        let own = |group: &usize| torus.reference != Some(*group);
        let spans = (0..digits.len())
            .filter(own)
            .filter_map(|group| self.groups[group].span.map(|span| (group, span)));
        let Some((reference, total)) = torus.reference.zip(self.ranges.total()) else {
            let sum = |(group, (low, high))| (low..=high).map(|count| term(group, count)).sum::<c64>();
            return spans.map(sum).product();
        };
        // taken[s] = the sum over counts of the groups so far whose total is s.
        let mut taken = vec![c64::new(0.0, 0.0); total + 1];
        taken[0] = one;
        for (group, (low, high)) in spans {
            let terms: Vec<c64> = (low..=high).map(|count| term(group, count)).collect();
            let sum = |s: usize| -> c64 {
                let earlier = |(at, term): (usize, &c64)| {
                    s.checked_sub(low + at).map_or(c64::new(0.0, 0.0), |left| taken[left] * term)
                };
                terms.iter().enumerate().map(earlier).sum()
            };
            taken = (0..=total).map(sum).collect();
        }
        let (low, high) = (self.ranges.low[reference], self.ranges.high[reference]);
        let left_over = |count: usize| match self.groups[reference].span {
            None if count <= self.open_high() => 1.0,
            Some(_) if (low..=high).contains(&count) => self.factor(reference, count),
            _ => 0.0,
        };
        let sum: c64 = taken.iter().enumerate().map(|(s, taken)| taken * left_over(total - s)).sum();
        torus.power(reference, digits[reference], total).conj() * sum
    }
}

impl Group {
    fn new(law: Vec<f64>, group: usize, ranges: &Counts, correction: &Correction, tolerance: f64) -> Self {
        let (low, high) = (ranges.low[group], ranges.high[group]);
        let below: f64 = law.iter().take(low).sum();
        let above: f64 = law.iter().skip(high + 1).sum();
        let outside = below + if ranges.is_open_above(group) { 0.0 } else { above };
        if correction.is_one(group) && outside <= 0.5 * tolerance {
            return Self { law, span: None, dropped: outside };
        }
        let (mut from, mut to, mut dropped) = (low, high.min(law.len() - 1).max(low), 0.0);
        while from < to && dropped + law[from] <= 0.25 * tolerance {
            dropped += law[from];
            from += 1;
        }
        while from < to && dropped + law[to] <= 0.5 * tolerance {
            dropped += law[to];
            to -= 1;
        }
        Self { law, span: Some((from, to)), dropped }
    }
}

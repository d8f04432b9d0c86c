//! Relaxations of many items by column generation.

use faer::Mat;

use super::{
    Subproblem,
    choice::{Choices, LinearMaximum},
    gamma::{Gamma, GammaPoint, RoundedRow},
    interior_point::{Bounded, is_over, maximise},
    relaxation::{Majorant, Relaxation},
};
use crate::{Error, Result, map::rounding::of_sum};

/// The number of items that a round may add beyond the ones that the linear problem takes.
const MORE: usize = 32;
const MOST_ROUNDS: usize = 100;
/// With more items than this, those with zero x are dropped.
const MOST_ITEMS: usize = 400;
const ZERO: f64 = 1e-7;
/// The distance from the relaxation's maximum at which a bound is good enough.
const CLOSEST: f64 = 1e-6;

/// A pool of items. A few of them form a master problem.
pub(super) trait Pool {
    type Master: Relaxation;
    /// The relaxation of some items, by position, and their choices.
    fn master(&self, items: &[usize]) -> (Self::Master, Choices);
    /// The bounds that a point of the master problem proves for all items: the bound of the gradient, which prices
    /// items, and the best bound.
    fn majorants(
        &self,
        master: &Self::Master,
        point: &<Self::Master as Relaxation>::Point,
    ) -> Result<[Majorant; 2]>;
    fn choices(&self) -> &Choices;
}

/// The bound for all items, and its point.
#[derive(Clone, Debug)]
pub(super) struct Priced {
    pub(super) upper_bound: f64,
    /// x for all items.
    pub(super) x: Vec<f64>,
    /// The [`Bounded::doubts`] of all items.
    pub(super) doubt: Vec<f64>,
    pub(super) best: LinearMaximum,
    pub(super) steps: u64,
}

/// Alternates between the relaxation of the master problem and the gradient for all items.
///
/// The gradient gives a bound and the items to add.
///
/// # Cost
/// Per round, 2mr² for the gradient, and the relaxation of a few hundred items.
///
/// # Source
/// Fully corrective Frank–Wolfe: Jaggi, *Revisiting Frank–Wolfe* (2013).
pub(super) fn maximise_by_columns(
    pool: &impl Pool,
    start: Vec<usize>,
    enough: &dyn Fn(f64, f64) -> bool,
) -> Result<Priced> {
    let choices = pool.choices();
    let mut items = start;
    let mut x: Option<Vec<f64>> = None;
    let mut best: Option<Priced> = None;
    let mut steps = 0;
    // The least bound from the gradient and the largest value; the difference is the distance of x from the maximum.
    let (mut bound, mut value) = (f64::INFINITY, f64::NEG_INFINITY);
    for round in 0..MOST_ROUNDS {
        items.sort_unstable();
        let (master, own) = pool.master(&items);
        let solved = solve_master(&master, &own, x.as_deref(), &items, bound - value, enough)?;
        steps += solved.steps;
        let [plain, majorant] = match pool.majorants(&master, &solved.point) {
            Err(Error::Ended(_)) if best.is_some() => break,
            majorants => majorants?,
        };
        let found = entering(choices, &items, &plain.slopes);
        let own = plain.maximum(choices) - solved.point.as_ref().value;
        (bound, value) = (bound.min(plain.maximum(choices)), value.max(solved.point.as_ref().value));
        let priced = price(choices, &items, &solved, &majorant);
        x = Some(priced.x.clone());
        if best.as_ref().is_none_or(|best| priced.upper_bound < best.upper_bound) {
            best = Some(priced);
        }
        let Some(best) = &mut best else { unreachable!("it was just set") };
        best.steps = steps;
        // With nothing to add, a round only improves accuracy.
        let done = found.is_empty() && own < CLOSEST;
        if done || round + 1 == MOST_ROUNDS || enough(best.upper_bound, best.upper_bound - (bound - value)) {
            break;
        }
        if items.len() > MOST_ITEMS {
            items = in_use(choices, &items, &best.x);
        }
        items.extend(found);
    }
    match best {
        Some(best) => Ok(best),
        None => unreachable!("there is a first round"),
    }
}

fn solve_master<R: Relaxation>(
    master: &R,
    choices: &Choices,
    x: Option<&[f64]>,
    items: &[usize],
    gap: f64,
    enough: &dyn Fn(f64, f64) -> bool,
) -> Result<Bounded<R::Point>> {
    /// The useful accuracy, as a fraction of the gap for all items.
    const SHARE: f64 = 0.05;
    const FIRST: f64 = 1e-2;
    let start = x.map(|x| items.iter().map(|&item| x[item]).collect());
    let aim = (SHARE * gap).clamp(0.1 * CLOSEST, FIRST);
    let close = |bound: f64, value: f64| bound - value < aim || is_over(enough);
    maximise(master, choices, start, &close)
}

fn price<P>(choices: &Choices, items: &[usize], solved: &Bounded<P>, majorant: &Majorant) -> Priced {
    let spread = |values: &[f64]| {
        let mut all = vec![0.0; majorant.slopes.len()];
        items.iter().zip(values).for_each(|(&item, &value)| all[item] = value);
        all
    };
    let upper_bound = majorant.maximum(choices);
    let (x, doubt) = (spread(&solved.x), spread(&solved.doubts()));
    Priced { upper_bound, x, doubt, best: choices.best(&majorant.slopes), steps: solved.steps }
}

/// The items with positive x. Groups that would have no choice left keep all their items.
fn in_use(choices: &Choices, items: &[usize], x: &[f64]) -> Vec<usize> {
    let mut kept = Vec::with_capacity(items.len());
    for (l, members) in choices.groups.iter().enumerate() {
        let own = members.iter().copied().filter(|item| items.binary_search(item).is_ok());
        let (used, unused): (Vec<usize>, Vec<usize>) = own.partition(|&item| x[item] > ZERO);
        let (low, high) = (choices.counts.low[l], choices.counts.high[l]);
        let needed = if low > 0 || high == 0 { low + 1 } else { 0 };
        if used.len() < needed {
            kept.extend(unused);
        }
        kept.extend(used);
    }
    kept
}

/// The items that would be worth more than the items of the master problem.
fn entering(choices: &Choices, items: &[usize], prices: &[f64]) -> Vec<usize> {
    let known = |item: &usize| items.binary_search(item).is_ok();
    let at_hand = |members: &Vec<usize>| members.iter().copied().filter(known).collect();
    let groups = choices.groups.iter().map(at_hand).collect();
    let ends = Choices { groups, counts: choices.counts.clone() }.ends(prices);
    let mut found = Vec::new();
    for (l, members) in choices.groups.iter().enumerate() {
        let most = choices.counts.low[l] + MORE.div_ceil(choices.groups.len());
        let better = |&item: &usize| prices[item] > ends.last[l] && !known(&item);
        let mut new: Vec<usize> = members.iter().copied().filter(better).collect();
        new.sort_by(|&i, &j| prices[j].total_cmp(&prices[i]).then(i.cmp(&j)));
        found.extend(new.into_iter().take(most));
    }
    found
}

/// A subproblem whose rows are all in memory.
pub(super) struct Held<'a> {
    problem: &'a Subproblem,
    choices: Choices,
}

impl<'a> Held<'a> {
    pub(super) fn new(problem: &'a Subproblem) -> Self {
        Self { problem, choices: Choices::of(problem) }
    }

    /// The longest rows of every group, twice as many as may be chosen; a few rows if none must be chosen.
    pub(super) fn start(&self) -> Vec<usize> {
        let mut start = Vec::new();
        for (l, members) in self.choices.groups.iter().enumerate() {
            let counts = &self.choices.counts;
            let count = if counts.least > 0 { 2 * counts.high[l] + 2 } else { MORE };
            let mut members = members.clone();
            members.sort_by(|&i, &j| self.problem.gain(j).total_cmp(&self.problem.gain(i)).then(i.cmp(&j)));
            start.extend(members.into_iter().take(count));
        }
        start
    }
}

impl Pool for Held<'_> {
    type Master = Gamma;

    fn master(&self, items: &[usize]) -> (Gamma, Choices) {
        let part = self.problem.part(items);
        (Gamma::of(&part), Choices::of(&part))
    }

    fn majorants(&self, master: &Gamma, point: &GammaPoint) -> Result<[Majorant; 2]> {
        /// The number of rows whose images are in memory at a time.
        const BLOCK: usize = 1024;
        let (rows, weights) = (self.problem.rows(), &self.problem.weights);
        let factor = point.gradient_factor();
        let raised = point.raised(of_sum(self.problem.dims));
        let mut prices = Vec::with_capacity(weights.len());
        for (block, weights) in weights.chunks(BLOCK).enumerate() {
            let first = block * BLOCK;
            let images: Mat<f64> = factor.transpose() * rows.subcols(first, weights.len());
            let price = |i: usize| {
                let (length, error) = (self.problem.length(first + i), self.problem.errors[first + i]);
                let form = images.col(i).squared_norm_l2();
                raised(&RoundedRow { form, length, error, linear: weights[i] })
            };
            prices.extend((0..weights.len()).map(price));
        }
        Ok(Majorant::with_scales(master.intercept(point, &self.choices.counts), prices))
    }

    fn choices(&self) -> &Choices {
        &self.choices
    }
}

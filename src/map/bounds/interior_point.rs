//! The maximum of a concave function under quotas: primal-dual interior-point steps.

use faer::{Mat, Side, linalg::solvers::Solve};

use super::{choice::Choices, relaxation::Relaxation};
use crate::{Result, linalg::column_mut};

/// Steps go this far towards the nearest face at most.
const TOWARDS_FACE: f64 = 0.95;
/// Every step aims at this fraction of the present complementarity.
const CENTRING: f64 = 0.1;
const MOST_STEPS: usize = 80;
/// Steps that may pass without a better bound.
const PATIENCE: usize = 8;
/// How near to 0 and 1 what is known of x counts.
const MARGIN: f64 = 0.02;

/// The best bound of a run, and the point where it was found.
#[derive(Clone, Debug)]
pub(super) struct Bounded<P> {
    pub(super) upper_bound: f64,
    pub(super) x: Vec<f64>,
    pub(super) point: P,
    pub(super) steps: u64,
}

/// Variables and the multipliers of their bounds.
struct Iterate {
    x: Vec<f64>,
    /// Of x ≥ 0.
    lower: Vec<f64>,
    /// Of x ≤ 1.
    upper: Vec<f64>,
    /// Of Σ x ≤ the most items that a set can have, where that is less than there are.
    sum: f64,
}

/// How far an iterate moves.
struct Direction {
    x: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    sum: f64,
}

/// Whether a run has to end now: knowing nothing is enough only when time is up.
pub(super) fn is_over(enough: &dyn Fn(f64, f64) -> bool) -> bool {
    enough(f64::INFINITY, f64::NEG_INFINITY)
}

/// Maximises until `enough(bound, value)`, from near `start` or from the centre.
///
/// # Cost
/// Ten to twenty steps: an evaluation, a curvature and m³/3 operations each.
///
/// # Source
/// Nocedal and Wright, *Numerical optimization* (2006), chapter 19.
pub(super) fn maximise<R: Relaxation>(
    relaxation: &R,
    choices: &Choices,
    start: Option<Vec<f64>>,
    enough: &dyn Fn(f64, f64) -> bool,
) -> Result<Bounded<R::Point>> {
    let len: usize = choices.groups.iter().map(Vec::len).sum();
    let x = inside(start.unwrap_or_else(|| choices.centre(len)), choices);
    let mut point = relaxation.at(&x)?;
    let mut bound = point.as_ref().bound(&x, choices);
    let mut iterate = Iterate::centred(x, bound - point.as_ref().value, choices);
    let mut best: Option<Bounded<R::Point>> = None;
    let mut since_best = 0;
    for steps in 0..MOST_STEPS {
        let finished =
            enough(bound, point.as_ref().value) || steps + 1 == MOST_STEPS || since_best >= PATIENCE;
        let next = if finished { None } else { iterate.step(relaxation, &point, choices) };
        let better = best.as_ref().is_none_or(|best| bound < best.upper_bound);
        since_best = if better { 0 } else { since_best + 1 };
        let x = next.map(|next| std::mem::replace(&mut iterate, next).x);
        let last = x.is_none();
        if better {
            let x = x.unwrap_or_else(|| iterate.x.clone());
            let steps = steps as u64 + 1;
            best = Some(Bounded { upper_bound: bound, x, point, steps });
        } else if let Some(best) = &mut best {
            best.steps = steps as u64 + 1;
        }
        if last {
            break;
        }
        point = relaxation.at(&iterate.x)?;
        bound = point.as_ref().bound(&iterate.x, choices);
    }
    match best {
        Some(best) => Ok(best),
        None => unreachable!("the first point counts"),
    }
}

/// A point on the quotas and away from 0 and 1: that with ln(x/(1 − x)) shifted alike in every group.
fn inside(mut x: Vec<f64>, choices: &Choices) -> Vec<f64> {
    /// Of the largest sum, for a start.
    const SHARE: f64 = 0.9;
    /// Groups that are to be had as a whole, or not at all, stay this far from it: bounds hold anywhere.
    const LEAST: f64 = 1e-9;
    x.iter_mut().for_each(|x| *x = x.clamp(MARGIN, 1.0 - MARGIN));
    for (l, items) in choices.groups.iter().enumerate() {
        match (&choices.counts, choices.most) {
            (Some(counts), _) => shift_to_sum(&mut x, items, counts[l] as f64),
            (None, Some(most)) if x.iter().sum::<f64>() > SHARE * most as f64 => {
                shift_to_sum(&mut x, items, SHARE * most as f64);
            }
            _ => {}
        }
    }
    x.iter_mut().for_each(|x| *x = x.clamp(LEAST, 1.0 - LEAST));
    x
}

fn shift_to_sum(x: &mut [f64], items: &[usize], total: f64) {
    const HALVINGS: usize = 50;
    const FURTHEST: f64 = 40.0;
    let shifted = |x: f64, shift: f64| (1.0 + (1.0 - x) / x * (-shift).exp()).recip();
    let (mut low, mut high) = (-FURTHEST, FURTHEST);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let sum: f64 = items.iter().map(|&i| shifted(x[i], middle)).sum();
        if sum > total { high = middle } else { low = middle }
    }
    items.iter().for_each(|&i| x[i] = shifted(x[i], 0.5 * (low + high)));
}

impl Iterate {
    /// With multipliers that share a gap alike.
    fn centred(x: Vec<f64>, gap: f64, choices: &Choices) -> Self {
        let each = (gap / (2 * x.len().max(1)) as f64).clamp(1e-9, 1.0);
        let mut iterate = Self {
            lower: x.iter().map(|x| each / x).collect(),
            upper: x.iter().map(|x| each / (1.0 - x)).collect(),
            x,
            sum: 0.0,
        };
        iterate.sum = iterate.room(choices).map_or(0.0, |room| each / room);
        iterate
    }

    /// What Σ x may still grow by, where that is bounded.
    fn room(&self, choices: &Choices) -> Option<f64> {
        choices.most.map(|most| most as f64 - self.x.iter().sum::<f64>())
    }

    /// A damped Newton step on the perturbed optimality conditions; `None` where it cannot be solved.
    fn step<R: Relaxation>(&self, relaxation: &R, point: &R::Point, choices: &Choices) -> Option<Self> {
        let len = self.x.len();
        let room = self.room(choices);
        let complementarity: f64 =
            (0..len).map(|i| self.lower[i] * self.x[i] + self.upper[i] * (1.0 - self.x[i])).sum::<f64>()
                + room.map_or(0.0, |room| self.sum * room);
        let target = CENTRING * complementarity / (2 * len) as f64;
        let mut system = relaxation.curvature(point);
        for i in 0..len {
            system[(i, i)] += self.lower[i] / self.x[i] + self.upper[i] / (1.0 - self.x[i]);
        }
        if let Some(room) = room {
            // The barrier of the sum: a multiple of 1 1ᵀ.
            for j in 0..len {
                column_mut(system.as_mut(), j).iter_mut().for_each(|entry| *entry += self.sum / room);
            }
        }
        let gradient = &point.as_ref().gradient;
        let barrier = room.map_or(0.0, |room| target / room);
        let ascent = |i: usize| gradient[i] + target / self.x[i] - target / (1.0 - self.x[i]) - barrier;
        let x = self.direction(&system, ascent, choices)?;
        Some(self.moved(&self.multipliers(x, target, room), room)).filter(Self::is_inside)
    }

    fn is_inside(&self) -> bool {
        self.x.iter().all(|&x| x > 0.0 && x < 1.0)
    }

    /// How the multipliers follow x.
    fn multipliers(&self, x: Vec<f64>, target: f64, room: Option<f64>) -> Direction {
        let all = 0..self.x.len();
        let follow =
            |multiplier: f64, slack: f64, change: f64| target / slack - multiplier * (1.0 + change / slack);
        Direction {
            lower: all.clone().map(|i| follow(self.lower[i], self.x[i], x[i])).collect(),
            upper: all.map(|i| follow(self.upper[i], 1.0 - self.x[i], -x[i])).collect(),
            sum: room.map_or(0.0, |room| follow(self.sum, room, -x.iter().sum::<f64>())),
            x,
        }
    }

    /// As far as everything stays positive.
    fn moved(&self, direction: &Direction, room: Option<f64>) -> Self {
        let from_one: Vec<f64> = self.x.iter().map(|x| 1.0 - x).collect();
        let towards_one: Vec<f64> = direction.x.iter().map(|d| -d).collect();
        let taken = -direction.x.iter().sum::<f64>();
        let primal = longest(&self.x, &direction.x)
            .min(longest(&from_one, &towards_one))
            .min(room.map_or(1.0, |room| longest(&[room], &[taken])));
        let dual = longest(&self.lower, &direction.lower)
            .min(longest(&self.upper, &direction.upper))
            .min(longest(&[self.sum], &[direction.sum]));
        let moved = |from: &[f64], by: &[f64], length: f64| -> Vec<f64> {
            from.iter().zip(by).map(|(from, by)| from + length * by).collect()
        };
        Self {
            x: moved(&self.x, &direction.x, primal),
            lower: moved(&self.lower, &direction.lower, dual),
            upper: moved(&self.upper, &direction.upper, dual),
            sum: self.sum + dual * direction.sum,
        }
    }

    /// d with M d = ascent − Σ ν_l 1_l and x + d on the quotas.
    fn direction(
        &self,
        system: &Mat<f64>,
        ascent: impl Fn(usize) -> f64,
        choices: &Choices,
    ) -> Option<Vec<f64>> {
        let len = self.x.len();
        let groups = if choices.counts.is_some() { choices.groups.len() } else { 0 };
        let mut sides = Mat::<f64>::zeros(len, groups + 1);
        (0..len).for_each(|i| sides[(i, groups)] = ascent(i));
        for (l, items) in choices.groups[..groups].iter().enumerate() {
            items.iter().for_each(|&i| sides[(i, l)] = 1.0);
        }
        let solved = system.llt(Side::Lower).ok()?.solve(&sides);
        let free = |i: usize| solved[(i, groups)];
        let Some(counts) = &choices.counts else { return Some((0..len).map(free).collect()) };
        // 1_lᵀ (d − Σ_j ν_j M⁻¹ 1_j) = κ_l − Σ_{P_l} x.
        let over =
            |l: usize, column: usize| choices.groups[l].iter().map(|&i| solved[(i, column)]).sum::<f64>();
        let short = |l: usize| counts[l] as f64 - choices.groups[l].iter().map(|&i| self.x[i]).sum::<f64>();
        let sums = Mat::from_fn(groups, groups, over);
        let excess = Mat::from_fn(groups, 1, |l, _| over(l, groups) - short(l));
        let multipliers = sums.partial_piv_lu().solve(&excess);
        let along = |i: usize| (0..groups).map(|l| multipliers[(l, 0)] * solved[(i, l)]).sum::<f64>();
        let direction: Vec<f64> = (0..len).map(|i| free(i) - along(i)).collect();
        direction.iter().all(|d| d.is_finite()).then_some(direction)
    }
}

/// How much of a direction keeps all entries positive: at most all of it.
fn longest(from: &[f64], direction: &[f64]) -> f64 {
    let to_face = from.iter().zip(direction).filter(|(_, d)| **d < 0.0).map(|(x, d)| -x / d);
    (TOWARDS_FACE * to_face.fold(f64::INFINITY, f64::min)).min(1.0)
}

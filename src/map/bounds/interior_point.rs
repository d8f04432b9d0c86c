//! Maximisation of a concave function under quotas and ranges by primal-dual interior-point steps.

use faer::{
    Mat, Side,
    linalg::solvers::{Llt, Solve},
};

use super::{
    choice::Choices,
    relaxation::{Linearised, Majorant, Relaxation},
    sums::Sums,
};
use crate::{
    Result,
    linalg::{column_mut, inverse_of_lower},
};

/// The largest step, as a fraction of the way to the nearest face.
const TOWARDS_FACE: f64 = 0.95;
/// The fraction of the current complementarity at which every step aims.
const CENTRING: f64 = 0.1;
const MOST_STEPS: usize = 80;
/// The number of steps without a better bound after which the run ends.
const PATIENCE: usize = 8;
/// The distance from 0 and 1 to which a start is moved.
const MARGIN: f64 = 0.02;

/// The best bound of a run, and its point.
#[derive(Clone, Debug)]
pub(super) struct Bounded<P> {
    pub(super) upper_bound: f64,
    /// The least bound from the gradient alone, by which parameters are judged.
    ///
    /// At the end it is the relaxation's maximum.
    pub(super) maximum: f64,
    pub(super) x: Vec<f64>,
    pub(super) point: P,
    /// The last step, if any.
    newton: Option<Newton>,
    /// The proof of the bound.
    pub(super) majorant: Majorant,
    pub(super) steps: u64,
}

impl<P> Bounded<P> {
    /// The expected decrease of the bound if an item is decided: the geometric mean of both choices, for a parabola
    /// in x_i.
    pub(super) fn doubts(&self) -> Vec<f64> {
        let curvatures = self.newton.as_ref().map_or_else(|| vec![1.0; self.x.len()], Newton::curvatures);
        self.x.iter().zip(curvatures).map(|(x, curvature)| curvature * x * (1.0 - x)).collect()
    }
}

/// Variables and the multipliers of their bounds. Also represents a direction in all of them.
struct Iterate {
    x: Vec<f64>,
    /// Multipliers of x ≥ 0.
    lower: Vec<f64>,
    /// Multipliers of x ≤ 1.
    upper: Vec<f64>,
    /// Multipliers of the limits of sums.
    limits: Vec<f64>,
}

/// The solved equations of a Newton step.
#[derive(Clone, Debug)]
struct Newton {
    factor: Llt<f64>,
    /// The diagonal terms from the barriers of x ≥ 0 and x ≤ 1.
    barrier: Vec<f64>,
    /// M⁻¹ 1_l for every equation.
    along: Mat<f64>,
    /// 1_lᵀ M⁻¹ 1_j.
    matrix: Mat<f64>,
}

impl Newton {
    /// −½ ∂²f/∂x_i² if all other entries follow x_i as far as their barriers allow.
    ///
    /// By Schur's complement this is the inverse of a diagonal entry of the inverse, on the equations, minus the
    /// barrier of that entry.
    fn curvatures(&self) -> Vec<f64> {
        let (root, lu) = (inverse_of_lower(self.factor.L()), self.matrix.partial_piv_lu());
        let turned = lu.solve(self.along.transpose());
        let len = self.barrier.len();
        let equations =
            |i: usize| -> f64 { (0..self.along.ncols()).map(|l| self.along[(i, l)] * turned[(l, i)]).sum() };
        let free = |i: usize| -> f64 { (i..len).map(|j| root[(j, i)] * root[(j, i)]).sum() };
        let curvature = |i: usize| 0.5 * ((free(i) - equations(i)).recip() - self.barrier[i]);
        (0..len).map(curvature).map(|c| if c.is_finite() { c.max(0.0) } else { 0.0 }).collect()
    }
}

/// Whether a run must end now: an infinite gap is close enough only if the time is up.
pub(super) fn is_over(enough: &dyn Fn(f64, f64) -> bool) -> bool {
    enough(f64::INFINITY, f64::NEG_INFINITY)
}

/// Maximises until `enough(bound, value)`, starting near `start` or from the centre.
///
/// # Cost
/// Ten to twenty steps, each with an evaluation, a curvature and m³/3 operations.
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
    let mut majorant = relaxation.majorant(&point, &choices.counts);
    let mut bound = majorant.maximum(choices);
    let sums = Sums::of(choices);
    let gap = from_maximum(point.as_ref(), &x, choices);
    let mut iterate = Iterate::centred(x, gap, &sums);
    let mut best: Option<Bounded<R::Point>> = None;
    let (mut since_best, mut maximum) = (0, f64::INFINITY);
    let mut newton: Option<Newton> = None;
    for steps in 0..MOST_STEPS {
        // With the best scales for rows, the bound may be below the value.
        let distance = from_maximum(point.as_ref(), &iterate.x, choices);
        maximum = maximum.min(point.as_ref().value + distance);
        let finished = enough(bound, bound - distance) || steps + 1 == MOST_STEPS || since_best >= PATIENCE;
        let next = if finished { None } else { iterate.step(relaxation, &point, &sums) };
        let next = next.map(|(next, made)| {
            newton = Some(made);
            next
        });
        let better = best.as_ref().is_none_or(|best| bound < best.upper_bound);
        since_best = if better { 0 } else { since_best + 1 };
        let x = next.map(|next| std::mem::replace(&mut iterate, next).x);
        let last = x.is_none();
        if better {
            let x = x.unwrap_or_else(|| iterate.x.clone());
            let steps = steps as u64 + 1;
            best = Some(Bounded { upper_bound: bound, maximum, x, point, newton: None, majorant, steps });
        } else if let Some(best) = &mut best {
            best.steps = steps as u64 + 1;
        }
        if last {
            break;
        }
        point = relaxation.at(&iterate.x)?;
        majorant = relaxation.majorant(&point, &choices.counts);
        bound = majorant.maximum(choices);
    }
    match best {
        Some(best) => Ok(Bounded { maximum, newton, ..best }),
        None => unreachable!("the first point counts"),
    }
}

/// The most by which the maximum of a concave function can exceed its value at x.
fn from_maximum(point: &Linearised, x: &[f64], choices: &Choices) -> f64 {
    let here: f64 = point.gradient.iter().zip(x).map(|(g, x)| g * x).sum();
    choices.best(&point.gradient).value - here
}

/// Moves a point inside the ranges and away from 0 and 1, by shifting ln(x/(1 − x)) equally within every group.
fn inside(mut x: Vec<f64>, choices: &Choices) -> Vec<f64> {
    /// The distance from 0 and 1 for groups that are taken as a whole or not at all. Bounds hold anywhere.
    const LEAST: f64 = 1e-9;
    x.iter_mut().for_each(|x| *x = x.clamp(MARGIN, 1.0 - MARGIN));
    let sum = |items: &Vec<usize>| items.iter().map(|&i| x[i]).sum();
    let sums: Vec<f64> = choices.groups.iter().map(sum).collect();
    let moved = choices.sums_inside(&sums);
    for (items, (before, after)) in choices.groups.iter().zip(sums.iter().zip(&moved)) {
        if before.to_bits() != after.to_bits() {
            shift_to_sum(&mut x, items, *after);
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
    /// Creates an iterate whose multipliers share a gap equally.
    fn centred(x: Vec<f64>, gap: f64, sums: &Sums) -> Self {
        let each = (gap / (2 * x.len().max(1)) as f64).clamp(1e-9, 1.0);
        Self {
            lower: x.iter().map(|x| each / x).collect(),
            upper: x.iter().map(|x| each / (1.0 - x)).collect(),
            limits: sums.limits.iter().map(|limit| each / limit.room(&x)).collect(),
            x,
        }
    }

    /// A damped Newton step on the perturbed optimality conditions; `None` if it cannot be solved.
    fn step<R: Relaxation>(&self, relaxation: &R, point: &R::Point, sums: &Sums) -> Option<(Self, Newton)> {
        let len = self.x.len();
        let rooms: Vec<f64> = sums.limits.iter().map(|limit| limit.room(&self.x)).collect();
        let complementarity: f64 =
            (0..len).map(|i| self.lower[i] * self.x[i] + self.upper[i] * (1.0 - self.x[i])).sum::<f64>()
                + self.limits.iter().zip(&rooms).map(|(limit, room)| limit * room).sum::<f64>();
        let target = CENTRING * complementarity / (2 * len) as f64;
        let mut system = relaxation.curvature(point);
        let of_bounds = |i: usize| self.lower[i] / self.x[i] + self.upper[i] / (1.0 - self.x[i]);
        let of_bounds: Vec<f64> = (0..len).map(of_bounds).collect();
        (0..len).for_each(|i| system[(i, i)] += of_bounds[i]);
        let mut barrier = vec![0.0; len];
        for (at, limit) in sums.limits.iter().enumerate() {
            // The barrier of a sum is a multiple of 1 1ᵀ.
            let bend = self.limits[at] / rooms[at];
            for &j in &limit.items {
                let column = column_mut(system.as_mut(), j);
                limit.items.iter().for_each(|&i| column[i] += bend);
                barrier[j] += limit.sign * target / rooms[at];
            }
        }
        let gradient = &point.as_ref().gradient;
        let ascent = |i: usize| gradient[i] + target / self.x[i] - target / (1.0 - self.x[i]) - barrier[i];
        let (x, newton) = self.direction(&system, ascent, sums, of_bounds)?;
        let next = self.moved(&self.multipliers(x, target, &rooms, sums), &rooms, sums);
        next.is_inside().then_some((next, newton))
    }

    fn is_inside(&self) -> bool {
        self.x.iter().all(|&x| x > 0.0 && x < 1.0)
    }

    /// The direction of the multipliers that belongs to a direction of x.
    fn multipliers(&self, x: Vec<f64>, target: f64, rooms: &[f64], sums: &Sums) -> Self {
        let all = 0..self.x.len();
        let follow =
            |multiplier: f64, slack: f64, change: f64| target / slack - multiplier * (1.0 + change / slack);
        let of_limit = |at: usize| {
            let limit = &sums.limits[at];
            follow(self.limits[at], rooms[at], -limit.sign * limit.sum(&x))
        };
        Self {
            lower: all.clone().map(|i| follow(self.lower[i], self.x[i], x[i])).collect(),
            upper: all.map(|i| follow(self.upper[i], 1.0 - self.x[i], -x[i])).collect(),
            limits: (0..rooms.len()).map(of_limit).collect(),
            x,
        }
    }

    /// Moves in a direction as far as everything stays positive.
    fn moved(&self, direction: &Self, rooms: &[f64], sums: &Sums) -> Self {
        let from_one: Vec<f64> = self.x.iter().map(|x| 1.0 - x).collect();
        let towards_one: Vec<f64> = direction.x.iter().map(|d| -d).collect();
        let taken: Vec<f64> = sums.limits.iter().map(|limit| -limit.sign * limit.sum(&direction.x)).collect();
        let primal =
            longest(&self.x, &direction.x).min(longest(&from_one, &towards_one)).min(longest(rooms, &taken));
        let dual = longest(&self.lower, &direction.lower)
            .min(longest(&self.upper, &direction.upper))
            .min(longest(&self.limits, &direction.limits));
        let moved = |from: &[f64], by: &[f64], length: f64| -> Vec<f64> {
            from.iter().zip(by).map(|(from, by)| from + length * by).collect()
        };
        Self {
            x: moved(&self.x, &direction.x, primal),
            lower: moved(&self.lower, &direction.lower, dual),
            upper: moved(&self.upper, &direction.upper, dual),
            limits: moved(&self.limits, &direction.limits, dual),
        }
    }

    /// The direction d with M d = ascent − Σ ν_l 1_l and x + d on the equations.
    fn direction(
        &self,
        system: &Mat<f64>,
        ascent: impl Fn(usize) -> f64,
        sums: &Sums,
        barrier: Vec<f64>,
    ) -> Option<(Vec<f64>, Newton)> {
        let len = self.x.len();
        let equations = &sums.equations;
        let last = equations.len();
        let mut sides = Mat::<f64>::zeros(len, last + 1);
        (0..len).for_each(|i| sides[(i, last)] = ascent(i));
        for (l, equation) in equations.iter().enumerate() {
            equation.items.iter().for_each(|&i| sides[(i, l)] = 1.0);
        }
        let factor = system.llt(Side::Lower).ok()?;
        let solved = factor.solve(&sides);
        let free = |i: usize| solved[(i, last)];
        // 1_lᵀ (d − Σ_j ν_j M⁻¹ 1_j) = value − Σ x.
        let over =
            |l: usize, column: usize| equations[l].items.iter().map(|&i| solved[(i, column)]).sum::<f64>();
        let short =
            |l: usize| equations[l].value - equations[l].items.iter().map(|&i| self.x[i]).sum::<f64>();
        let matrix = Mat::from_fn(last, last, over);
        let excess = Mat::from_fn(last, 1, |l, _| over(l, last) - short(l));
        let multipliers = matrix.partial_piv_lu().solve(&excess);
        let along = |i: usize| (0..last).map(|l| multipliers[(l, 0)] * solved[(i, l)]).sum::<f64>();
        let direction: Vec<f64> = (0..len).map(|i| free(i) - along(i)).collect();
        let along = solved.subcols(0, last).to_owned();
        direction
            .iter()
            .all(|d| d.is_finite())
            .then_some((direction, Newton { factor, barrier, along, matrix }))
    }
}

/// The longest step, at most 1, that keeps all entries positive.
fn longest(from: &[f64], direction: &[f64]) -> f64 {
    let to_face = from.iter().zip(direction).filter(|(_, d)| **d < 0.0).map(|(x, d)| -x / d);
    (TOWARDS_FACE * to_face.fold(f64::INFINITY, f64::min)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curvatures_are_those_of_what_follows() {
        check_curvatures(0);
        check_curvatures(2);
    }

    /// Compares with the minimum of ½ dᵀ M d over the d with d_i = 1 whose sums of items 0 … 2 and of 3 … 5 are zero.
    fn check_curvatures(sums: usize) {
        const LEN: usize = 6;
        let matrix =
            |i: usize, j: usize| if i == j { 3.0 + i as f64 } else { 1.0 / (1.0 + i as f64 + j as f64) };
        let curvature = Mat::from_fn(LEN, LEN, matrix);
        let barrier: Vec<f64> = (0..LEN).map(|i| 0.5 * i as f64).collect();
        let system = Mat::from_fn(LEN, LEN, |i, j| matrix(i, j) + if i == j { barrier[i] } else { 0.0 });
        let factor = system.llt(Side::Lower).unwrap();
        let ones = Mat::from_fn(LEN, sums, |i, l| if i / 3 == l { 1.0 } else { 0.0 });
        let along = factor.solve(&ones);
        let newton = Newton { factor, barrier: barrier.clone(), matrix: ones.transpose() * &along, along };
        for (item, found) in newton.curvatures().into_iter().enumerate() {
            // Stationarity, and the equations with d_i = 1. The barriers of the other entries hold them back.
            let of_item = |i: usize| if i == item { 0.0 } else { barrier[i] };
            let sides =
                |i: usize, l: usize| if l < sums { ones[(i, l)] } else { f64::from(u8::from(i == item)) };
            let equations = Mat::from_fn(LEN + sums + 1, LEN + sums + 1, |i, j| match (i < LEN, j < LEN) {
                (true, true) => curvature[(i, j)] + if i == j { of_item(i) } else { 0.0 },
                (true, false) => sides(i, j - LEN),
                (false, true) => sides(j, i - LEN),
                (false, false) => 0.0,
            });
            let right = Mat::from_fn(LEN + sums + 1, 1, |i, _| if i == LEN + sums { 1.0 } else { 0.0 });
            let solved = equations.partial_piv_lu().solve(&right);
            // The multiplier of d_i = 1 is minus twice the minimum.
            approx::assert_abs_diff_eq!(found, -0.5 * solved[(LEN + sums, 0)], epsilon = 1e-12);
        }
    }
}

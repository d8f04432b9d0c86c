//! Tests of relaxations at arbitrary points: bounds, slopes and curvatures against enumeration and differences.

use approx::assert_abs_diff_eq;
use faer::Mat;

use super::{
    Subproblem,
    choice::Choices,
    dense::DenseKernel,
    descent::{Descent, Family, descend},
    gamma::{Gamma, GammaPoint},
    information::Information,
    interior_point::maximise,
    linx::{Linx, LinxPoint, Scaled, equal_scales},
    relaxation::{Linearised, Relaxation},
    shift::ShiftedGamma,
};
use crate::{
    Dpp, Features, KDpp, Partition, PartitionDpp, Quota,
    map::{Candidates, Objective, Place},
    model::Counts,
};

const ITEMS: usize = 9;
const LABELS: [usize; ITEMS] = [0, 0, 0, 0, 1, 1, 1, 1, 1];
const QUOTA: [usize; 2] = [2, 2];

/// Numbers in (0, 1), the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64 + 0.5) / (1_u64 << 31) as f64
    }

    fn features(&mut self, dims: usize) -> Features {
        let values = (0..ITEMS * dims).map(|_| 2.0 * self.next() - 1.0).collect::<Vec<_>>();
        Features::from_rows(ITEMS, dims, values).unwrap()
    }

    fn point(&mut self) -> Vec<f64> {
        (0..ITEMS).map(|_| self.next()).collect()
    }
}

/// Calls `check` with random problems and their largest ln det: under a quota, of any size, and under ranges with and
/// without a total.
fn each_problem(dims: usize, mut check: impl FnMut(&Subproblem, f64, &mut Numbers)) {
    let partition = Partition::from_labels(&LABELS).unwrap();
    let quota = Quota::new(&partition, QUOTA).unwrap();
    for seed in 0..30 {
        let mut numbers = Numbers(seed);
        let features = numbers.features(dims);
        let mut check = |candidates: Candidates<'_>| {
            let problem = Subproblem::new(&candidates, super::places(&candidates));
            check(&problem, largest(&candidates, &problem), &mut numbers);
        };
        check(PartitionDpp::new(&features, &partition, &quota).unwrap().candidates());
        check(Dpp::new(&features).unwrap().candidates());
        for (ranges, total) in [([0..=2, 3..=4], None), ([1..=3, 0..=2], Some(4)), ([0..=4, 1..=1], None)] {
            let ranges = Quota::new(&partition, &ranges).unwrap();
            let ranges = total.map_or(Ok(ranges.clone()), |total| ranges.with_total(total)).unwrap();
            check(PartitionDpp::new(&features, &partition, &ranges).unwrap().candidates());
        }
    }
}

/// The largest ln det of the sets that the counts of a subproblem allow.
fn largest(candidates: &Candidates<'_>, problem: &Subproblem) -> f64 {
    let sets = (0_u32..1 << ITEMS)
        .map(|mask| (0..ITEMS).filter(|i| mask >> i & 1 == 1).map(|i| problem.place(i)).collect::<Vec<_>>());
    let allowed = |set: &Vec<Place>| problem.counts.allow(&candidates.counts_of(set));
    sets.filter(allowed).map(|set| candidates.log_det(&set)).fold(f64::NEG_INFINITY, f64::max)
}

/// The bound at a point.
fn bound<R: Relaxation>(relaxation: &R, x: &[f64], choices: &Choices) -> f64 {
    relaxation.majorant(&relaxation.at(x).unwrap(), &choices.counts).maximum(choices)
}

/// ln γ of every item, and ln ν = 0.
fn equal(items: usize, log_scale: f64) -> Vec<f64> {
    [vec![log_scale; items], vec![0.0; items]].concat()
}

fn shifted(kernel: &DenseKernel, scaling: &[f64]) -> ShiftedGamma {
    ShiftedGamma::new(kernel, scaling).unwrap()
}

#[test]
fn bounds_hold_at_any_point() {
    for dims in [5, 9] {
        each_problem(dims, |problem, best, numbers| {
            let (choices, kernel) = (Choices::of(problem), DenseKernel::of(problem));
            for _ in 0..5 {
                let x = numbers.point();
                let scaling: Vec<f64> = (0..ITEMS).map(|_| 2.0 * numbers.next() - 3.0).collect();
                let far = if numbers.next() < 0.2 { 20.0 } else { 4.0 };
                let scales: Vec<f64> = (0..2 * ITEMS).map(|_| far * (numbers.next() - 0.5)).collect();
                let bounds = [
                    bound(&Gamma::of(problem), &x, &choices),
                    bound(&Gamma::of(problem).compressed(), &x, &choices),
                    bound(&shifted(&kernel, &scaling).gamma, &x, &choices),
                    bound(&Linx::new(&kernel, &scales), &x, &choices),
                ];
                assert!(bounds.iter().all(|&bound| bound >= best - 1e-12), "{bounds:?} {best}");
                if let Ok(Some(inverse)) = kernel.complement() {
                    let y: Vec<f64> = x.iter().map(|x| 1.0 - x).collect();
                    let bound = bound(&shifted(&inverse, &scaling).gamma, &y, &choices.complement());
                    assert!(bound >= best - 1e-12, "{bound} {best}");
                }
            }
        });
    }
}

#[test]
fn whole_and_empty_groups_are_bounded() {
    let (mut numbers, close) = (Numbers(7), |bound: f64, value: f64| bound - value < 1e-6);
    let features = numbers.features(9);
    let partition = Partition::from_labels(&LABELS).unwrap();
    let quota = Quota::new(&partition, QUOTA).unwrap();
    let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let candidates = model.candidates();
    let mut problem = Subproblem::new(&candidates, super::places(&candidates));
    for counts in [[4, 2], [4, 0], [0, 0], [4, 5]] {
        problem.counts = Counts::exactly(&counts);
        let best = largest(&candidates, &problem);
        let bounded = maximise(&Gamma::of(&problem), &Choices::of(&problem), None, &close).unwrap();
        assert!(counts != [4, 2] || bounded.steps > 1, "the first point is no maximum");
        let found = bounded.upper_bound;
        assert!(found >= best - 1e-12 && found < best + 3.0, "{counts:?}: {found} {best}");
    }
}

#[test]
fn planted_faults_break_the_bounds() {
    let broken = std::cell::RefCell::new([0; 3]);
    each_problem(9, |problem, best, _| {
        let (choices, kernel) = (Choices::of(problem), DenseKernel::of(problem));
        let mut faults = [Gamma::of(problem), shifted(&kernel, &[-1.0; ITEMS]).gamma, Gamma::of(problem)];
        // Faults: a direction is missing, the identity is missing, every weight is too small.
        let dims = faults[0].rows.nrows();
        faults[0].rows = faults[0].rows.subrows(1, dims - 1).to_owned();
        faults[1].known_shift = 0.0;
        faults[2].linear.iter_mut().for_each(|c| *c -= 0.5);
        for (count, fault) in broken.borrow_mut().iter_mut().zip(&faults) {
            let close = |bound: f64, value: f64| bound - value < 1e-6;
            let Ok(bounded) = maximise(fault, &choices, None, &close) else { continue };
            *count += usize::from(bounded.upper_bound < best - 1e-9);
        }
    });
    let broken = broken.into_inner();
    assert!(broken.iter().all(|&count| count > 0), "{broken:?}");
}

/// The margin of a bound for rounding, relative to 1 + |bound|.
///
/// It is computed against f and its gradient. `scaled` returns the changes from the best scale of every row: in the
/// part that every set has, and in the gradient.
fn added<R: Relaxation>(
    relaxation: &R,
    x: &[f64],
    choices: &Choices,
    scaled: impl Fn(&R::Point) -> (f64, Vec<f64>),
) -> f64 {
    let point = relaxation.at(x).unwrap();
    let Linearised { value, gradient } = point.as_ref();
    let here: f64 = gradient.iter().zip(x).map(|(g, x)| g * x).sum();
    let (constant, changes) = scaled(&point);
    let slopes: Vec<f64> = gradient.iter().zip(&changes).map(|(g, change)| g + change).collect();
    let plain = value + constant + choices.best(&slopes).value - here;
    (relaxation.majorant(&point, &choices.counts).maximum(choices) - plain) / (1.0 + plain.abs())
}

/// The change of a term f from the best scale: 1 + ln f − f.
fn rescaled(form: f64) -> f64 {
    1.0 + form.ln() - form
}

#[test]
fn rounding_adds_little() {
    for (items, size) in [(12, 5), (60, 20), (120, 40)] {
        let mut numbers = Numbers(items as u64);
        let values = (0..items * items).map(|_| 2.0 * numbers.next() - 1.0).collect::<Vec<_>>();
        let features = Features::from_rows(items, items, values).unwrap();
        let model = KDpp::new(&features, size).unwrap();
        let candidates = model.candidates();
        let problem = Subproblem::new(&candidates, super::places(&candidates));
        let (choices, kernel) = (Choices::of(&problem), DenseKernel::of(&problem));
        let x = choices.centre(items);
        let scaling = kernel.scaling_or_guess(&[]).unwrap();
        let (gamma, linx) = (Gamma::of(&problem), Linx::new(&kernel, &equal(items, -3.0)));
        let forms = |point: &GammaPoint| {
            let form = |(g, c): (&f64, &f64)| rescaled(g - c);
            (0.0, point.as_ref().gradient.iter().zip(&gamma.linear).map(form).collect())
        };
        let of_linx = |point: &LinxPoint| {
            let (gained, kept) =
                (|i| 0.5 * rescaled(point.whole[(i, i)]), |i| 0.5 * rescaled(point.inverse[(i, i)]));
            ((0..items).map(kept).sum(), (0..items).map(|i| gained(i) - kept(i)).collect())
        };
        let shifted_plainly = |_: &GammaPoint| (0.0, vec![0.0; items]);
        let rows = problem.rows().subrows(0, 5).to_owned();
        let design = Information { rows, base: Mat::zeros(5, 0), constant: 0.5 };
        let mut added = vec![
            added(&gamma, &x, &choices, forms),
            added(&gamma.clone().compressed(), &x, &choices, forms),
            added(&shifted(&kernel, &scaling).gamma, &x, &choices, shifted_plainly),
            added(&linx, &x, &choices, of_linx),
            added(&design, &x, &choices, |_| (0.0, vec![0.0; items])),
        ];
        if let Ok(Some(inverse)) = kernel.complement() {
            let scaling = inverse.scaling_or_guess(&[]).unwrap();
            let y: Vec<f64> = x.iter().map(|x| 1.0 - x).collect();
            let gamma = shifted(&inverse, &scaling).gamma;
            added.push(self::added(&gamma, &y, &choices.complement(), shifted_plainly));
        }
        assert!(added.iter().all(|added| added.abs() < 1e-9), "{items}: {added:?}");
    }
}

/// Rows of a hundredth of the length: the best row scales cost them 2 ln 100, but the gradient costs at most 1.
#[test]
fn short_rows_are_ruled_out_far_from_the_optimum() {
    let mut numbers = Numbers(5);
    let values = (0..ITEMS * 6).map(|at| (2.0 * numbers.next() - 1.0) * if at < 12 { 0.01 } else { 1.0 });
    let features = Features::from_rows(ITEMS, 6, values.collect::<Vec<_>>()).unwrap();
    let model = KDpp::new(&features, 4).unwrap();
    let candidates = model.candidates();
    let problem = Subproblem::new(&candidates, super::places(&candidates));
    let choices = Choices::of(&problem);
    let (kernel, gamma, x) = (DenseKernel::of(&problem), Gamma::of(&problem), choices.centre(ITEMS));
    let linx = Linx::new(&kernel, &equal(ITEMS, 0.0));
    let majorants = [
        gamma.majorant(&gamma.at(&x).unwrap(), &choices.counts),
        linx.majorant(&linx.at(&x).unwrap(), &choices.counts),
    ];
    for majorant in majorants {
        let regret = choices.best(&majorant.slopes).regret;
        assert!(regret[0] > 4.0 && regret[1] > 4.0, "{regret:?}");
    }
}

/// Checks gradient and curvature against central differences.
fn check_derivatives<R: Relaxation>(relaxation: &R, x: &[f64]) {
    const STEP: f64 = 1e-5;
    let point = relaxation.at(x).unwrap();
    let curvature: Mat<f64> = relaxation.curvature(&point);
    for i in 0..x.len() {
        let moved = |by: f64| {
            let mut x = x.to_vec();
            x[i] += by;
            relaxation.at(&x).unwrap()
        };
        let (up, down) = (moved(STEP), moved(-STEP));
        let slope = (up.as_ref().value - down.as_ref().value) / (2.0 * STEP);
        assert_abs_diff_eq!(slope, point.as_ref().gradient[i], epsilon = 1e-6 * (1.0 + slope.abs()));
        for j in 0..x.len() {
            let bend = (up.as_ref().gradient[j] - down.as_ref().gradient[j]) / (2.0 * STEP);
            assert_abs_diff_eq!(bend, -curvature[(i, j)], epsilon = 1e-5 * (1.0 + bend.abs()));
        }
    }
}

#[test]
fn derivatives() {
    each_problem(9, |problem, _, numbers| {
        let kernel = DenseKernel::of(problem);
        let x: Vec<f64> = numbers.point().iter().map(|x| 0.1 + 0.8 * x).collect();
        check_derivatives(&Gamma::of(problem), &x);
        check_derivatives(&shifted(&kernel, &[-1.5; ITEMS]).gamma, &x);
        let scales: Vec<f64> = (0..2 * ITEMS).map(|_| numbers.next() - 0.5).collect();
        check_derivatives(&Linx::new(&kernel, &scales), &x);
        let (rows, base) =
            (problem.rows().subrows(0, 4).to_owned(), problem.rows().get(4..8, 0..2).to_owned());
        check_derivatives(&Information { rows, base, constant: 0.5 }, &x);
    });
}

#[test]
fn slopes_of_parameters() {
    each_problem(9, |problem, _, numbers| {
        let kernel = DenseKernel::of(problem);
        let x: Vec<f64> = numbers.point().iter().map(|x| 0.1 + 0.8 * x).collect();
        let scaling: Vec<f64> = (0..ITEMS).map(|_| numbers.next() - 2.0).collect();
        check_slopes(&kernel, &scaling, &x);
        let scales: Vec<f64> = (0..2 * ITEMS).map(|_| numbers.next() - 0.5).collect();
        check_slopes(&Scaled(&kernel), &scales, &x);
    });
}

/// Checks slopes in parameters against central differences.
fn check_slopes<F: Family>(family: &F, parameters: &[f64], x: &[f64]) {
    const STEP: f64 = 1e-5;
    let member = family.member(parameters).unwrap();
    for (at, slope) in F::slope(&member, x, &member.at(x).unwrap()).into_iter().enumerate() {
        let moved = |by: f64| {
            let mut parameters = parameters.to_vec();
            parameters[at] += by;
            family.member(&parameters).unwrap().at(x).unwrap().as_ref().value
        };
        assert_abs_diff_eq!((moved(STEP) - moved(-STEP)) / (2.0 * STEP), slope, epsilon = 1e-6);
    }
}

/// Scales per item give lower bounds than equal ones, and more steps give no higher bounds.
///
/// If the target is above the bound that one step reaches, the bound falls below the target.
#[test]
fn scales_of_every_item_lower_the_bound() {
    let mut lowered = 0;
    each_problem(9, |problem, best, _| {
        let (choices, kernel) = (Choices::of(problem), DenseKernel::of(problem));
        let equal = equal_scales(&kernel, &choices, &|_, _| false).unwrap();
        let bound_to = |steps: usize, target: f64| {
            let descent = Descent { steps, share: 0.0, target };
            let enough = |bound: f64, value: f64| bound < target || bound - value < 1e-9;
            descend(&Scaled(&kernel), &choices, &equal, None, descent, &enough).unwrap().1.upper_bound
        };
        let bound = |steps: usize| bound_to(steps, f64::NEG_INFINITY);
        let bounds = [bound(0), bound(3), bound(40)];
        let between = 0.5 * (bounds[0] + bound(1));
        assert!(bounds[0] - between < 1e-9 || bound_to(1, between) < between, "{between} {bounds:?}");
        assert!(bounds.is_sorted_by(|a, b| a >= b) && bounds[2] >= best - 1e-9, "{bounds:?} {best}");
        lowered += usize::from(bounds[2] < bounds[0] - 0.1 * (bounds[0] - best));
    });
    assert!(lowered > 5, "{lowered}");
}

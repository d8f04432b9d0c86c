//! The paper's claims about random points.

use super::{
    super::{Solved, mean_and_deviation},
    LARGE, SMALL,
    instance::{Instance, bounded, over},
};
use crate::report::{Section, Verdict, scientific};

/// The difference of ln det below which values count as equal up to rounding.
const EQUAL: f64 = 1e-9;

pub(super) fn add(section: &mut Section, small: &[Instance], large: &[Instance]) {
    gains(section, small);
    optimum(section, small);
    printed_values(section, small, large);
    any_size(section, small, large);
    guarantee(section, small, large);
}

fn count(instances: &[Instance], test: impl Fn(&Instance) -> bool) -> usize {
    instances.iter().filter(|one| test(one)).count()
}

fn gains(section: &mut Section, small: &[Instance]) {
    let improved = |at: usize| count(small, |one| one.solved[at].climbed > one.solved[at].greedy + EQUAL);
    let at_size = |at: usize| {
        let gain = over(small, at, |solved| solved.climbed - solved.greedy).0.exp();
        format!("{} of {} at k = {} (factor {gain:.2})", improved(at), small.len(), SMALL.sizes[at].0)
    };
    section.claim(
        "50×40: no improvement over greedy at first, but from k = 20 on, and growing.",
        format!(
            "Local search improves {}, {}, {}: gains grow with k, but begin earlier.",
            at_size(1),
            at_size(2),
            at_size(6)
        ),
        if 4 * improved(1) > small.len() { Verdict::Partly } else { Verdict::Holds },
    );
}

fn optimum(section: &mut Section, small: &[Instance]) {
    let gap = |solved: &Solved| solved.optimal.map(|best| best - solved.climbed);
    let gaps: Vec<f64> = small.iter().filter_map(|one| gap(&one.solved[0])).collect();
    let reached = gaps.iter().filter(|gap| **gap < 1e-6).count();
    let most = gaps.iter().copied().fold(0.0, f64::max);
    section.claim(
        "50×40, k = 4: the optimum, 2.05e9, is 1.23 times what greedy and local search find.",
        format!(
            "Optima proven on {} of {} instances: {:.2} times local search in the mean, {:.2} times at most; local search \
             finds {reached} of them.",
            gaps.len(),
            small.len(),
            mean_and_deviation(&gaps).0.exp(),
            most.exp()
        ),
        if most.exp() > 1.05 { Verdict::Holds } else { Verdict::Partly },
    );
}

fn printed_values(section: &mut Section, small: &[Instance], large: &[Instance]) {
    let greedy = |instances: &[Instance], at: usize| over(instances, at, |solved| solved.greedy).0;
    let off = |at: usize| (greedy(small, at) - SMALL.sizes[at].1.ln()).abs() / std::f64::consts::LN_10;
    section.claim(
        "Table 3 (50×40): greedy finds 4.27e16 at k = 10, … 2.07e51 at k = 40.",
        format!(
            "{} and {} in the mean. Off by {:.0} to {:.0} powers of ten for k ≥ 10: the printed values cannot come from the \
             stated points, nor from any multiple of them (k = 4 fits).",
            scientific(greedy(small, 1)),
            scientific(greedy(small, 6)),
            (1..7).map(off).fold(f64::INFINITY, f64::min),
            (1..7).map(off).fold(0.0, f64::max)
        ),
        Verdict::of(off(1) < 1.0),
    );
    let factor = |at: usize| (greedy(large, at) - LARGE.sizes[at].1.ln()).abs().exp();
    section.claim(
        "Table 4 (200×200): greedy finds 3.62e7 at k = 5, … 5.14e98 at k = 100, 1.03e155 at k = 150.",
        format!(
            "The other five rows agree within a factor of {:.2}. At k = 100 it is {}: 5.14e98 seems to be a misprint for \
             5.14e114.",
            [0, 1, 2, 3, 5].map(factor).into_iter().fold(1.0, f64::max),
            scientific(greedy(large, 4))
        ),
        Verdict::Partly,
    );
}

fn any_size(section: &mut Section, small: &[Instance], large: &[Instance]) {
    let size = |one: &Instance| one.symmetric.at_its_size.size as f64;
    let mean = |instances: &[Instance]| mean_and_deviation(&instances.iter().map(size).collect::<Vec<_>>()).0;
    let (of_small, of_large) = (mean(small), mean(large));
    section.claim(
        "Symmetric greedy picks 39 of the 50 points and all of the 200.",
        format!("{of_small:.1} and {of_large:.1} in the mean; it depends on the order of the points."),
        if (of_small - 39.0).abs() < 1.5 { Verdict::Partly } else { Verdict::DoesNotHold },
    );
    let worse = count(small, |one| one.symmetric.log_det < one.symmetric.at_its_size.greedy - EQUAL);
    let below = count(small, |one| one.softmax.log_det < one.softmax.at_its_size.climbed - EQUAL);
    section.claim(
        "50×40: symmetric greedy is worse than greedy at its own size, and softmax worse than local search at its own.",
        format!("On {worse} and on {below} of {} instances (softmax here ends with swaps of single items).", small.len()),
        if 2 * worse > small.len() && 2 * below > small.len() { Verdict::Holds } else { Verdict::Partly },
    );
}

fn guarantee(section: &mut Section, small: &[Instance], large: &[Instance]) {
    let mut proven = true;
    let mut never_below = true;
    for one in bounded(small).iter().chain(bounded(large)) {
        for solved in &one.solved {
            proven &= solved.upper_bound <= solved.climbed + one.spectrum.guarantee(solved.size);
        }
    }
    for solved in small.iter().chain(large).flat_map(|one| &one.solved) {
        never_below &= solved.climbed >= solved.greedy - EQUAL;
    }
    let at = 2;
    let allowed = mean_and_deviation(
        &bounded(large).iter().map(|one| one.spectrum.guarantee(LARGE.sizes[at].0)).collect::<Vec<_>>(),
    );
    section.claim(
        "Theorem 4.1: local search is within a factor 2^(k log min(k, κ)) of the optimum.",
        format!(
            "Local search is {} below greedy. At k = 20 of 200×200 the theorem allows a factor of {}; the bounds here leave {:.2} \
             above local search{}.",
            if never_below { "never" } else { "SOMETIMES" },
            scientific(allowed.0),
            over(bounded(large), at, |solved| solved.upper_bound - solved.climbed).0.exp(),
            if proven { ", and prove the theorem's factor at every k" } else { "" }
        ),
        Verdict::of(proven && never_below),
    );
}

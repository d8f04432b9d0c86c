//! Greedy and local search on random points: tables 3 and 4, figure 1a.

mod claims;
mod instance;
mod tables;

use self::instance::instances;
use crate::{context::Context, failure::Failure, outcome::Outcome, report::Section};

/// A distribution of points, and the paper's sizes with its printed values for greedy and for its method.
struct Regime {
    name: &'static str,
    file: &'static str,
    figure: &'static str,
    bounds_figure: &'static str,
    items: usize,
    dims: usize,
    largest: f64,
    sizes: &'static [(usize, f64, f64)],
    /// Sizes up to this are solved exactly.
    exact_to: usize,
}

const SMALL: Regime = Regime {
    name: "50 points, 40 dimensions, 5·U(0,1)",
    file: "map-synthetic-50x40",
    figure: "map-synthetic-50x40-gains",
    bounds_figure: "map-synthetic-50x40-bounds",
    items: 50,
    dims: 40,
    largest: 5.0,
    sizes: &[
        (4, 1.67e9, 1.67e9),
        (10, 4.27e16, 4.27e16),
        (20, 3.09e31, 3.09e31),
        (25, 9.93e37, 1.82e38),
        (35, 2.87e48, 3.01e48),
        (39, 9.69e50, 1.06e51),
        (40, 2.07e51, 2.91e51),
    ],
    exact_to: 4,
};

const LARGE: Regime = Regime {
    name: "200 points, 200 dimensions, U(0,1)",
    file: "map-synthetic-200x200",
    figure: "map-synthetic-200x200-gains",
    bounds_figure: "map-synthetic-200x200-bounds",
    items: 200,
    dims: 200,
    largest: 1.0,
    sizes: &[
        (5, 3.62e7, 3.89e7),
        (10, 1.30e14, 1.48e14),
        (20, 5.34e26, 5.99e26),
        (50, 2.96e62, 3.18e62),
        (100, 5.14e98, 5.61e98),
        (150, 1.03e155, 1.08e155),
    ],
    exact_to: 0,
};

/// The number of instances whose optimum is bounded. Bounds take longer than everything else.
const BOUNDED: u64 = 5;

pub(crate) fn steps(instances: u64) -> u64 {
    2 * instances
}

pub(crate) fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let mut section = Section::new("MAP on random points");
    section.text(format!(
        "K = AAᵀ with uniform entries; the largest determinant of k points by greedy, by the paper's method (greedy, then \
         the best swap of one item as long as it improves), and here also by eight restarts of it. The paper has one instance \
         of each set; here are {}, and means of ln det over them, as factors over greedy. What the paper could not \
         have: the optimum by branch and bound where k = 4, and at every k a bound that no set exceeds (on the first five \
         instances), κ(A), and what theorem 4.1 guarantees there.",
        context.setup.instances
    ));
    let small = instances(context, &SMALL)?;
    let large = instances(context, &LARGE)?;
    for (regime, instances) in [(&SMALL, &small), (&LARGE, &large)] {
        section.table(tables::by_size(regime, instances));
        let figure = regime.figure;
        section.figure(
            figure,
            "Figure 1a of the paper, as factors over greedy.",
            &tables::gains_chart(regime, instances),
        )?;
        let caption = "The optimum lies between what restarts found and what is proven.";
        section.figure(regime.bounds_figure, caption, &tables::bounds_chart(regime, instances))?;
    }
    section.table(tables::any_size(&[(&SMALL, &small), (&LARGE, &large)]));
    claims::add(&mut section, &small, &large);
    Ok(Outcome::Done(Box::new(section)))
}

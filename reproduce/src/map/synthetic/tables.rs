//! Tables and figures of random instances.

use pdpp_plot::{Axis, Chart, Mark, Point};

use super::{
    super::{Solved, Spectrum, mean_and_deviation, series},
    Regime,
    instance::{Free, Instance, bounded, over},
};
use crate::report::{Cell, Table};

pub(super) fn by_size(regime: &Regime, instances: &[Instance]) -> Table {
    let mut table = Table::new(
        regime.file,
        &format!(
            "{}: means over the instances. Gains are factors over greedy: exp of the mean difference of ln det, ×/÷ exp of its \
             standard deviation; the .csv file has logarithms. Gap: factor by which the optimum may still exceed the best \
             found (first five instances). Theorem 4.1: factor that it guarantees for local search.",
            regime.name
        ),
        [
            "k",
            "greedy in the paper",
            "greedy",
            "gain in the paper",
            "gain of local search",
            "improved",
            "swaps",
            "of 8 restarts",
            "of the optimum",
            "gap",
            "κ(A)",
            "theorem 4.1",
        ],
    );
    for (at, (size, greedy, method)) in regime.sizes.iter().enumerate() {
        let own = |instance: &&Instance| instance.solved[at].climbed > instance.solved[at].greedy + 1e-9;
        let improved = instances.iter().filter(own).count();
        let logs = |of: fn(&Solved) -> f64| over(instances, at, of);
        let greedy_here = logs(|solved| solved.greedy).0;
        let optimal = instances[0].solved[at].optimal;
        let spectral = |of: &dyn Fn(&Spectrum) -> f64| {
            mean_and_deviation(&instances.iter().map(|instance| of(&instance.spectrum)).collect::<Vec<_>>()).0
        };
        table.rows.push(vec![
            Cell::count(*size),
            Cell::determinant(greedy.ln()),
            Cell::determinant(greedy_here),
            Cell::factor((method / greedy).ln()),
            Cell::factor_and_deviation(logs(|solved| solved.climbed - solved.greedy)),
            Cell::text(format!("{improved} of {}", instances.len())),
            Cell::fixed(logs(|solved| solved.swaps as f64).0, 1),
            Cell::factor_and_deviation(logs(|solved| solved.restarted.log_det - solved.greedy)),
            Cell::or_missing(optimal, |_| {
                Cell::factor_and_deviation(logs(|solved| {
                    solved.optimal.unwrap_or(solved.restarted.log_det) - solved.greedy
                }))
            }),
            Cell::factor(over(bounded(instances), at, Solved::gap).0),
            Cell::fixed(spectral(&|spectrum| spectrum.condition(*size)), 0),
            Cell::determinant(spectral(&|spectrum| spectrum.guarantee(*size))),
        ]);
    }
    table
}

/// Returns figure 1a, with factors over greedy.
pub(super) fn gains_chart(regime: &Regime, instances: &[Instance]) -> Chart {
    let points = |of: fn(&Solved) -> f64| -> Vec<Point> {
        let point = |at: usize| {
            let (mean, deviation) = over(instances, at, of);
            let (low, high) = ((mean - deviation).exp(), (mean + deviation).exp());
            Point { x: regime.sizes[at].0 as f64, y: mean.exp(), spread: Some((low, high)) }
        };
        (0..regime.sizes.len()).map(point).collect()
    };
    let paper = regime.sizes.iter().map(|(k, greedy, method)| Point::new(*k as f64, method / greedy));
    Chart {
        title: format!("How much better than greedy: {}", regime.name),
        subtitle: format!(
            "determinant over greedy's: mean and one standard deviation of {} instances",
            instances.len()
        ),
        x: Axis::linear("items chosen, k"),
        y: Axis::linear("factor over greedy"),
        series: vec![
            series("8 restarts", 4, Mark::Discs, points(|s| s.restarted.log_det - s.greedy)),
            series("local search", 0, Mark::Discs, points(|s| s.climbed - s.greedy)),
            series("the paper, one instance", 2, Mark::Rings, paper.collect()),
        ],
    }
}

/// Returns a chart of the largest possible distance of the optimum from local search.
pub(super) fn bounds_chart(regime: &Regime, instances: &[Instance]) -> Chart {
    let instances = bounded(instances);
    let points = |of: &dyn Fn(&Instance, usize) -> f64| -> Vec<Point> {
        let point = |at: usize| {
            let values: Vec<f64> =
                instances.iter().map(|one| of(one, at) / std::f64::consts::LN_10).collect();
            Point::new(regime.sizes[at].0 as f64, mean_and_deviation(&values).0)
        };
        (0..regime.sizes.len()).map(point).collect()
    };
    let title = format!("How much better the optimum can be: {}", regime.name);
    let subtitle = format!("; mean of {} instances", instances.len());
    let proven = points(&|one, at| one.solved[at].upper_bound - one.solved[at].climbed);
    let allowed = points(&|one, at| one.spectrum.guarantee(regime.sizes[at].0));
    super::super::bounds_chart(title, &subtitle, "items chosen, k", proven, allowed)
}

pub(super) fn any_size(regimes: &[(&Regime, &Vec<Instance>)]) -> Table {
    let mut table = Table::new(
        "map-synthetic-any-size",
        "Sets of any size, means over the instances: the size that the solver chose, and greedy and local search at that \
         very size.",
        [
            "points",
            "solver",
            "size",
            "its determinant",
            "greedy at this size",
            "local search at this size",
            "8 restarts at this size",
        ],
    );
    for (regime, instances) in regimes {
        for (solver, free) in solvers() {
            let mean = |of: &dyn Fn(&Free) -> f64| {
                mean_and_deviation(&instances.iter().map(|instance| of(free(instance))).collect::<Vec<_>>()).0
            };
            table.rows.push(vec![
                Cell::text(regime.name),
                Cell::text(solver),
                Cell::fixed(mean(&|free| free.at_its_size.size as f64), 1),
                Cell::determinant(mean(&|free| free.log_det)),
                Cell::determinant(mean(&|free| free.at_its_size.greedy)),
                Cell::determinant(mean(&|free| free.at_its_size.climbed)),
                Cell::determinant(mean(&|free| free.at_its_size.restarted.log_det)),
            ]);
        }
    }
    table
}

type Named = (&'static str, fn(&Instance) -> &Free);

fn solvers() -> [Named; 2] {
    [("symmetric greedy", |instance| &instance.symmetric), ("softmax", |instance| &instance.softmax)]
}

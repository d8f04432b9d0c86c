//! Table 5 and figure 1b of the paper.

use pdpp_plot::{Axis, Chart, Mark, Point};

use super::{
    super::{Solved, Spectrum, series},
    PAPER,
};
use crate::report::{Cell, Table};

/// The findings at the paper's sizes.
pub(super) struct BySize {
    /// With K = WWᵀ.
    pub(super) solved: Vec<Solved>,
    /// With rows of equal length.
    pub(super) equal: Vec<Solved>,
    pub(super) spectrum: Spectrum,
}

impl BySize {
    /// Returns the bound of theorem 4.1, in powers of ten.
    pub(super) fn guarantees(&self) -> Vec<Point> {
        let guarantee = |solved: &Solved| self.spectrum.guarantee(solved.size) / std::f64::consts::LN_10;
        self.solved.iter().map(|solved| Point::new(solved.size as f64, guarantee(solved))).collect()
    }
}

pub(super) fn table(found: &BySize) -> Table {
    let mut table = Table::new(
        "map-debates",
        "Table 5 of the paper. Gains are factors over greedy; the .csv file has logarithms. Gap: factor by which the optimum \
         may still exceed the best found, after at most 20 s (other runs may differ a little). Theorem 4.1: factor that it guarantees for local search. Equal lengths: the same \
         with all rows of W scaled to one length.",
        [
            "k",
            "greedy in the paper",
            "greedy",
            "gain in the paper",
            "gain of local search",
            "swaps",
            "of 4 restarts",
            "gap",
            "κ(A)",
            "theorem 4.1",
            "equal lengths: local search",
            "4 restarts",
        ],
    );
    let rows = found.solved.iter().zip(&found.equal).zip(PAPER);
    for ((solved, equal), (size, greedy, method)) in rows {
        table.rows.push(vec![
            Cell::count(size),
            Cell::determinant(greedy.ln()),
            Cell::determinant(solved.greedy),
            Cell::factor((method / greedy).ln()),
            Cell::factor(solved.climbed - solved.greedy),
            Cell::fixed(solved.swaps as f64, 0),
            Cell::factor(solved.restarted.log_det - solved.greedy),
            Cell::factor(solved.gap()),
            Cell::fixed(found.spectrum.condition(size), 0),
            Cell::determinant(found.spectrum.guarantee(size)),
            Cell::factor(equal.climbed - equal.greedy),
            Cell::factor(equal.restarted.log_det - equal.greedy),
        ]);
    }
    table
}

/// Returns figure 1b, with factors over greedy.
pub(super) fn gains_chart(found: &BySize) -> Chart {
    let paper = PAPER.iter().map(|(k, greedy, method)| Point::new(*k as f64, method / greedy));
    Chart {
        title: "Statements: how much better than greedy".into(),
        subtitle:
            "determinant over greedy's; local search starts from greedy, so a factor below 1 is a misprint"
                .into(),
        x: Axis::linear("statements chosen, k"),
        y: Axis::linear("factor over greedy"),
        series: vec![
            series("equal lengths, 4 restarts", 4, Mark::Discs, gains(&found.equal, |s| s.restarted.log_det)),
            series("equal lengths, local search", 1, Mark::Discs, gains(&found.equal, |s| s.climbed)),
            series("local search", 0, Mark::Discs, gains(&found.solved, |s| s.climbed)),
            series("the paper", 2, Mark::Rings, paper.collect()),
        ],
    }
}

/// Returns factors over greedy.
pub(super) fn gains(solved: &[Solved], of: fn(&Solved) -> f64) -> Vec<Point> {
    solved.iter().map(|one| Point::new(one.size as f64, (of(one) - one.greedy).exp())).collect()
}

/// Returns a chart of the largest possible distance of the optimum from local search.
pub(super) fn bounds_chart(title: &str, solved: &[Solved], allowed: Vec<Point>) -> Chart {
    let gap = |one: &Solved| (one.upper_bound - one.climbed) / std::f64::consts::LN_10;
    let proven = solved.iter().map(|one| Point::new(one.size as f64, gap(one))).collect();
    super::super::bounds_chart(title.to_owned(), "", "statements chosen, k", proven, allowed)
}

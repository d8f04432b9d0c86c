//! Sets whose size the solver chooses.

use partition_dpp::{Dpp, Features, Softmax, Solution, SymmetricGreedy, engine::Cpu};

use super::{
    super::{Solved, solve_size},
    Debates, without_bounds,
};
use crate::{
    failure::Failure,
    reproduce::{
        context::Context,
        report::{Cell, Section, Table, Verdict, factor},
    },
};

/// A set of any size, and the others at its size.
struct Found {
    log_det: f64,
    there: Solved,
}

pub(super) fn add(context: &Context<'_>, debates: &Debates, section: &mut Section) -> Result<(), Failure> {
    let mut table = Table::new(
        "map-debates-any-size",
        "Sets of any size: the size that the solver chose, and greedy and local search at that very size.",
        [
            "rows",
            "solver",
            "size, paper",
            "size",
            "its determinant",
            "greedy there",
            "local search there",
            "4 restarts there",
        ],
    );
    let mut of_equal = Vec::new();
    for (rows, features) in [("as they are", &debates.features), ("equal lengths", &debates.equal)] {
        context.step(&format!("map-debates: sets of any size, {rows}"))?;
        let any = Dpp::new(features)?;
        let symmetric = found(context, features, &SymmetricGreedy::default().solve(&any, &Cpu)?)?;
        let softmax = found(context, features, &Softmax::default().solve(&any, &Cpu)?)?;
        for (solver, paper, Found { log_det, there }) in
            [("symmetric greedy", 312, &symmetric), ("softmax", 327, &softmax)]
        {
            table.rows.push(vec![
                Cell::text(rows),
                Cell::text(solver),
                Cell::count(paper),
                Cell::count(there.size),
                Cell::determinant(*log_det),
                Cell::determinant(there.greedy),
                Cell::determinant(there.climbed),
                Cell::determinant(there.restarted.log_det),
            ]);
        }
        of_equal = vec![symmetric, softmax];
    }
    section.table(table);
    let better = |found: &Found| found.there.climbed - found.log_det;
    section.claim(
        "Symmetric greedy picks 312 of 400 statements, softmax 327; symmetric greedy does worse than greedy at its size, \
         softmax better than local search.",
        format!(
            "As they are, all statements are worth taking. With rows of equal length {} and {} of {}; there local search has {} \
             times symmetric greedy's determinant and {} times softmax's.",
            of_equal[0].there.size,
            of_equal[1].there.size,
            debates.features.items(),
            factor(better(&of_equal[0])),
            factor(better(&of_equal[1]))
        ),
        Verdict::Partly,
    );
    Ok(())
}

fn found(context: &Context<'_>, features: &Features<'_>, solution: &Solution) -> Result<Found, Failure> {
    let there = solve_size(features, solution.subset.len(), without_bounds(context))?;
    Ok(Found { log_det: solution.log_det, there })
}

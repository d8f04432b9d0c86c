//! Sets of any size.

use partition_dpp::{
    Dpp, Engine, Features,
    map::{Softmax, Solution, Solver, SymmetricGreedy},
};

use super::{
    super::{Solved, solve_size},
    Debates, without_bounds,
};
use crate::{
    context::Context,
    failure::Failure,
    report::{Cell, Section, Table, Verdict, factor},
};

/// A set of any size, and the results of the other solvers at its size.
struct Found {
    log_det: f64,
    there: Solved,
}

pub(super) fn add(context: &Context<'_>, debates: &Debates, section: &mut Section) -> Result<(), Failure> {
    let mut table = Table::new(
        "map-debates-any-size",
        "Sets of any size: the size that the solver chose, and greedy and local search at that size.",
        [
            "rows",
            "solver",
            "size, paper",
            "size",
            "its determinant",
            "greedy at this size",
            "local search at this size",
            "4 restarts at this size",
        ],
    );
    let as_they_are = both(context, "as they are", &debates.features)?;
    let of_equal = both(context, "equal lengths", &debates.equal)?;
    for (rows, [symmetric, softmax]) in [("as they are", &as_they_are), ("equal lengths", &of_equal)] {
        for (solver, paper, Found { log_det, there }) in
            [("symmetric greedy", 312, symmetric), ("softmax", 327, softmax)]
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
    }
    section.table(table);
    let [symmetric, softmax] = &of_equal;
    let all = debates.features.items();
    let better = |found: &Found| factor(found.there.climbed - found.log_det);
    section.claim(
        "Symmetric greedy picks 312 of 400 statements, softmax 327; symmetric greedy does worse than greedy at its size, \
         softmax better than local search.",
        if symmetric.there.size == all && softmax.there.size == all {
            format!("Both take all {all}, with rows of equal length too: long statements have little in common.")
        } else {
            format!(
                "With rows of equal length {} and {} of {all}; there local search has {} times symmetric greedy's determinant \
                 and {} times softmax's.",
                symmetric.there.size,
                softmax.there.size,
                better(symmetric),
                better(softmax)
            )
        },
        Verdict::DoesNotHold,
    );
    Ok(())
}

/// Runs symmetric greedy and softmax.
fn both(context: &Context<'_>, rows: &str, features: &Features) -> Result<[Found; 2], Failure> {
    context.step(&format!("map-debates: sets of any size, {rows}"))?;
    let any = Dpp::new(features)?;
    let symmetric = SymmetricGreedy::default().solve(&any, &Engine::cpu())?;
    let softmax = Softmax::default().solve(&any, &Engine::cpu())?;
    Ok([found(context, features, &symmetric)?, found(context, features, &softmax)?])
}

fn found(context: &Context<'_>, features: &Features, solution: &Solution) -> Result<Found, Failure> {
    let there = solve_size(features, solution.subset.len(), without_bounds(context))?;
    Ok(Found { log_det: solution.log_det, there })
}

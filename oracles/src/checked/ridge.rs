//! Checks the law of a kernel with a ridge as a mixture, which needs no features for the ridge.

use partition_dpp::{Features, Law, Partition, Result, RidgeDpp, Subset};

use super::{Constraint, Examined, Kind, Numbers, Problem, draws, log_floor, sets};
use crate::exact::items_of;

/// Returns the mixture, or `None` for problems without one.
fn mixture(problem: &Problem) -> Option<Result<RidgeDpp>> {
    let (rows, delta) = problem.ridge.as_ref()?;
    if problem.data.is_kernel() || matches!(problem.constraint, Constraint::Independent(_)) {
        return None;
    }
    let made = || {
        let features = Features::from_rows(rows.len(), rows[0].len(), rows.concat())?;
        let partition = Partition::from_labels(&problem.labels)?;
        let sets = sets(&partition, &problem.constraint)?;
        let Law::Ridge(dpp) = Law::new(&features, &sets, Some(*delta))? else { unreachable!() };
        let dpp = match &problem.log_weights[..] {
            [] => dpp,
            weights => dpp.with_log_quality(weights)?,
        };
        dpp.including(&problem.include)?.excluding(&problem.exclude)
    };
    Some(made())
}

/// Checks the same answers of the mixture as of the features.
pub(super) fn look(examined: &mut Examined<'_>) {
    let Some(made) = mixture(examined.problem) else { return };
    let Some(dpp) = examined.answered("mixture", made) else { return };
    let Some(law) = examined.law else { return };
    if let Some(inference) = examined.answered("mixture's inference", dpp.inference(examined.engine)) {
        let (log_z, exact) = (inference.log_partition_function(), law.log_z());
        let numbers = Numbers { got: log_z.value, exact, stated: log_z.error, floor: log_floor(exact) };
        examined.compare(Kind::LogZ, "mixture", "ln Z", numbers);
        if let Some(found) = examined.answered("mixture's marginals", inference.inclusion_probabilities()) {
            for (item, exact) in law.marginals(examined.problem.items()).into_iter().enumerate() {
                let numbers = Numbers { got: found.value[item], exact, stated: found.error, floor: 0.0 };
                examined.compare(Kind::Marginals, "mixture", &format!("item {item}"), numbers);
            }
        }
        for set in examined.minors.sets() {
            let subset = Subset::new(items_of(set), examined.problem.items()).unwrap();
            let found = inference.log_probability(&subset);
            let Some(found) = examined.answered("mixture's log-probabilities", found) else { continue };
            let (got, exact, stated) = (found.value.exp(), law.log_probability(set).exp(), found.error);
            let numbers = Numbers { got, exact, stated, floor: 0.0 };
            examined.compare(Kind::LogProbabilities, "mixture", &format!("{subset}"), numbers);
        }
    }
    // The mixture has no sampler under ranges with a total.
    let is_drawn = !matches!(examined.problem.constraint, Constraint::Ranges(_, Some(_)));
    if examined.effort.draws > 0 && is_drawn {
        let options = partition_dpp::SamplerOptions::default();
        draws::sampler(examined, "sampler of the mixture", dpp.sampler(options, examined.engine));
    }
}

//! The solver that covers items, in place of spanning a volume.

use partition_dpp::map::{Coverage, KernelModel, Solution, Solver};

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::{
    arguments::{MapArguments, SolverChoice},
    search::{Search, union},
};
use crate::{
    compute::EngineChoice,
    failure::Failure,
    input::{Conditions, Input, Represented},
    law::{LawRequest, Question},
};

/// Refuses what coverage knows nothing of, and `--coverage` without its solver.
pub(super) fn check(arguments: &MapArguments) -> Result<(), Failure> {
    let MapArguments { input, law, solver, coverage, candidates, independent, certify, compute, .. } =
        arguments;
    if *solver != SolverChoice::Coverage {
        let only = |option: &str| Err(Failure::Arguments(format!("{option} is for --solver coverage")));
        return match (coverage, candidates) {
            (Some(_), _) => only("--coverage"),
            (_, Some(_)) => only("--candidates"),
            (None, None) => Ok(()),
        };
    }
    let weighing = &input.weighing;
    let has_scores = !weighing.scores.is_empty() || weighing.score_column.is_some();
    let is_open = law.k.is_none() && law.quota.is_none() && !has_scores;
    let refused = [
        (weighing.represent.is_some(), "takes no --represent: a covering set represents items already"),
        (weighing.ridge.is_some(), "takes no --ridge: it needs none for any number of items"),
        (
            weighing.diversity == Some(0.0),
            "takes no --diversity 0, which leaves nothing to cover: use --solver greedy",
        ),
        (*independent, "takes no --independent: --coverage parts covers every part by itself"),
        (*certify, "takes no --certify: it always states its guarantee"),
        (input.multi_label, "takes no --multi-label, which would choose an item for several of its labels"),
        (compute.engine == EngineChoice::Gpu, "takes no --engine gpu: it is computed on the CPU"),
        (is_open, "needs --quota, --k or --scores: otherwise the set of all items covers most"),
    ];
    match refused.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, why)) => Err(Failure::Arguments(format!("--solver coverage {why}"))),
        None => Ok(()),
    }
}

/// The set found, under this question.
pub(super) fn search(search: &Search<'_>, question: &Question<'_>) -> Result<Solution, Failure> {
    let Question { input, law, conditions } = *question;
    if search.arguments.coverage == Some(Represented::Parts) && input.partition.is_none() {
        let sentence = "--coverage parts needs --labels, the part of each item";
        return Err(Failure::Arguments(sentence.into()));
    }
    let kernel = input.similarity()?;
    let Some(count) = search.arguments.candidates else {
        return union(
            law.kernel_models(&*kernel, input, conditions)?.iter().map(|model| cover(search, input, model)),
        );
    };
    let (given, conditions) = (conditions.exclude.len(), among(count, law, input, conditions));
    let models = law.kernel_models(&*kernel, input, &conditions)?;
    let mut found = union(models.iter().map(|model| cover(search, input, model)))?;
    if conditions.exclude.len() > given {
        // Proven among candidates alone.
        found.covered.iter_mut().for_each(|covered| covered.guarantee = None);
    }
    Ok(found)
}

/// Conditions that leave `count` random items of every part, or as many as it must have, in addition to the items in the
/// set.
fn among(count: usize, law: &LawRequest, input: &Input, conditions: &Conditions) -> Conditions {
    let least = |part: usize| match (law.sets.quota(), law.size()) {
        (Some((_, quota)), _) => quota.low()[part],
        (None, size) => size.unwrap_or_default(),
    };
    let mut is_open = vec![true; input.features.items()];
    // Items that do not exist are left for models to refuse.
    for &item in conditions.include.iter().chain(&conditions.exclude) {
        is_open.get_mut(item).into_iter().for_each(|is_open| *is_open = false);
    }
    let mut groups = vec![Vec::new(); input.parts()];
    for item in (0..is_open.len()).filter(|&item| is_open[item]) {
        groups[input.partition.as_ref().map_or(0, |partition| partition.part_of(item))].push(item);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut exclude = conditions.exclude.clone();
    for (part, mut group) in groups.into_iter().enumerate() {
        let count = count.max(least(part)).min(group.len());
        let (_, rest) = group.partial_shuffle(&mut rng, count);
        exclude.extend_from_slice(rest);
    }
    Conditions { include: conditions.include.clone(), exclude }
}

fn cover(search: &Search<'_>, input: &Input, model: &KernelModel<'_>) -> Result<Solution, Failure> {
    let coverage = match (&input.partition, search.arguments.coverage) {
        (Some(partition), None | Some(Represented::Parts)) => Coverage::within(partition),
        _ => Coverage::of_all(),
    };
    Ok(coverage.with_swaps().solve(model, &search.covering())?)
}

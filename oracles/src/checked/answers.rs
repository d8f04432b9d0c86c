//! Checks of normalisers, inclusion probabilities, log-probabilities, part counts, and probabilities of quotas.

use std::collections::BTreeMap;

use partition_dpp::{
    Error, Estimate, Inference, Law, PartCounts, PartitionDpp, Quota, Result, Subset,
    sample::{TRUSTED_PARETO_K, WeightStatistics},
};

use super::{Data, Examined, Kind, Numbers, Parts, log_floor};
use crate::exact::{Set, counts, items_of};

pub(super) fn inference(examined: &mut Examined<'_>, model: &Law) {
    if let Law::Independent(_) = model {
        return;
    }
    let Some(inference) = examined.answered("inference", model.inference(examined.engine)) else { return };
    let Some(law) = examined.law else { return };
    let (log_z, exact) = (inference.log_partition_function(), law.log_z());
    let numbers = Numbers { got: log_z.value, exact, stated: log_z.error, floor: log_floor(exact) };
    examined.compare(Kind::LogZ, "inference", "ln Z", numbers);
    if let Law::Quota(dpp) = model
        && dpp.quota().exact_counts().is_some()
    {
        let by_phases = dpp.log_partition_function_by_phases(examined.engine);
        if let Some(log_z) = examined.answered("phases", by_phases) {
            let numbers = Numbers { got: log_z.value, exact, stated: log_z.error, floor: log_floor(exact) };
            examined.compare(Kind::LogZ, "phases", "ln Z", numbers);
        }
    }
    if let Law::Quota(dpp) = model {
        estimate(examined, dpp, exact);
    }
    if let Some(found) = examined.answered("marginals", inference.inclusion_probabilities()) {
        for (item, exact) in law.marginals(examined.problem.items()).into_iter().enumerate() {
            let numbers = Numbers { got: found.value[item], exact, stated: found.error, floor: 0.0 };
            examined.compare(Kind::Marginals, "inference", &format!("item {item}"), numbers);
        }
    }
    for set in examined.minors.sets() {
        log_probability(examined, &inference, set);
    }
}

/// Checks ln Z estimated from weighted draws, and its upper bound.
///
/// The estimate must be right within standard errors, unless the weights vary too much. The bound must be right
/// within
/// rounding.
fn estimate(examined: &mut Examined<'_>, dpp: &PartitionDpp, exact: f64) {
    const DRAWS: u64 = 512;
    let sampler = dpp.importance_sampler(examined.engine);
    // Rows that span many decades need exact methods.
    if matches!(sampler, Err(Error::IllConditioned { .. })) {
        return;
    }
    let Some(sampler) = examined.answered("estimates", sampler) else { return };
    let got = sampler.log_upper_bound().min(exact);
    let numbers = Numbers { got, exact, stated: sampler.rounding(), floor: log_floor(exact) };
    examined.compare(Kind::LogZ, "estimates", "an upper bound of ln Z", numbers);
    let drawn = sampler.sample_many(DRAWS, 0);
    let WeightStatistics { log_z, effective_share: share, pareto_k, .. } = drawn.statistics();
    if share > 0.1 && pareto_k.is_none_or(|k| k < TRUSTED_PARETO_K) {
        // The second term accounts for sets that no draw has met.
        let stated = 8.0 * log_z.standard_error + 20.0 / (share * DRAWS as f64);
        let numbers = Numbers { got: log_z.value, exact, stated, floor: log_floor(exact) };
        examined.compare(Kind::Estimates, "estimates", "ln Z", numbers);
    }
}

/// Checks the log-probability of one set. If it is −∞, found or exact, compares probabilities instead.
fn log_probability(examined: &mut Examined<'_>, inference: &Inference, set: Set) {
    let Some(law) = examined.law else { return };
    let subset = Subset::new(items_of(set), examined.problem.items()).unwrap();
    let Some(Estimate { value: got, error: stated }) =
        examined.answered("log-probabilities", inference.log_probability(&subset))
    else {
        return;
    };
    let exact = law.log_probability(set);
    let what = format!("{subset}");
    if got == f64::NEG_INFINITY || exact == f64::NEG_INFINITY {
        let (got, exact) = (got.exp(), exact.exp());
        let numbers = Numbers { got, exact, stated, floor: 0.0 };
        return examined.compare(Kind::LogProbabilities, "inference", &what, numbers);
    }
    let floor = log_floor(examined.minors.log_det(set)) + log_floor(law.log_z());
    let numbers = Numbers { got, exact, stated, floor };
    examined.compare(Kind::LogProbabilities, "inference", &what, numbers);
}

/// Estimates the rounding error of ln det(K_S), to first order.
///
/// Let r_i be the residual of row i after projection onto the other rows of S. The error is 24 ε Σ ‖a_i‖ / ‖r_i‖ for
/// features. For a kernel it is (24 ε tr(K) + d) Σ 1 / ‖r_i‖², where d is `Problem::indefiniteness` of the kernel.
pub(super) fn rounding_of_det(examined: &Examined<'_>, set: Set) -> f64 {
    let minors = examined.minors;
    // The kernel is rounded before its weights are applied.
    let weight = |item: usize| 2.0 * examined.problem.log_weight(item);
    let whole: f64 = match examined.problem.data {
        Data::Features => 0.0,
        Data::Kernel | Data::Gaussian => {
            (0..minors.items()).map(|item| (minors.log_det(1 << item) - weight(item)).exp()).sum()
        }
    };
    let of = |item: usize| {
        let beyond = minors.log_det(set) - minors.log_det(set & !(1 << item));
        match examined.problem.data {
            Data::Features => (0.5 * (minors.log_det(1 << item) - beyond)).exp(),
            Data::Kernel | Data::Gaussian => {
                let whole = whole + examined.problem.indefiniteness() / (24.0 * f64::EPSILON);
                whole * (weight(item) - beyond).exp()
            }
        }
    };
    let sum = 24.0 * f64::EPSILON * items_of(set).into_iter().map(of).sum::<f64>();
    if sum.is_nan() { f64::INFINITY } else { sum }
}

/// Checks the part counts of laws that do not fix them.
pub(super) fn part_counts(examined: &mut Examined<'_>, model: &Law, parts: &Parts) {
    let (partition, engine) = (&parts.partition, examined.engine);
    let found = match model {
        Law::AnySize(dpp) => dpp.part_counts(partition, engine),
        Law::Size(dpp) => dpp.part_counts(partition, engine),
        _ => return,
    };
    let exact = |examined: &Examined<'_>| {
        examined.law.map_or_else(BTreeMap::new, |law| law.counts(&examined.problem.labels, partition.parts()))
    };
    let exact = exact(examined);
    if let Some(found) = examined.answered("part counts", found) {
        table(examined, &found, &exact);
    }
    // The counts of an arbitrary set, which may be impossible, and the likeliest counts.
    let likely = exact.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(counts, _)| counts.clone());
    let sets = [Some(examined.seed as Set & ((1 << examined.problem.items()) - 1)), None];
    for set in sets {
        let of_set = |set| counts(set, &examined.problem.labels, partition.parts());
        let Some(wanted) = set.map_or_else(|| likely.clone(), |set| Some(of_set(set))) else { continue };
        let Ok(quota) = Quota::new(partition, &wanted) else { continue };
        chance(examined, model, parts, &quota);
    }
}

fn table(examined: &mut Examined<'_>, found: &PartCounts, exact: &BTreeMap<Vec<usize>, f64>) {
    let listed = found.entries().iter().map(|(counts, p)| (counts.clone(), *p));
    let missing = exact.keys().filter(|counts| found.entries().iter().all(|(entry, _)| entry != *counts));
    for (counts, got) in listed.chain(missing.map(|counts| (counts.clone(), 0.0))).collect::<Vec<_>>() {
        let exact = exact.get(&counts).copied().unwrap_or(0.0);
        let numbers = Numbers { got, exact, stated: found.error(), floor: 0.0 };
        examined.compare(Kind::Counts, "part counts", &format!("{counts:?}"), numbers);
    }
}

/// Checks the probability of a quota, and of ranges around it.
fn chance(examined: &mut Examined<'_>, model: &Law, parts: &Parts, quota: &Quota) {
    let (partition, engine, labels) = (&parts.partition, examined.engine, &examined.problem.labels);
    let around: Vec<_> = quota.low().iter().map(|&count| count.saturating_sub(1)..=count + 1).collect();
    let Ok(ranges) = Quota::new(partition, &around) else { return };
    let (of_quota, of_ranges) = match model {
        Law::AnySize(dpp) => {
            (dpp.probability_of(partition, quota, engine), dpp.probability_of(partition, &ranges, engine))
        }
        Law::Size(dpp) => {
            (dpp.probability_of(partition, quota, engine), dpp.probability_of(partition, &ranges, engine))
        }
        _ => return,
    };
    let of = |set: Set| counts(set, labels, partition.parts());
    let exact = examined.law.map_or(0.0, |law| law.probability_that(|set| of(set) == quota.low()));
    one_chance(examined, &format!("quota {:?}", quota.low()), of_quota, exact);
    let exact = examined.law.map_or(0.0, |law| law.probability_that(|set| ranges.allows(&of(set))));
    one_chance(examined, &format!("ranges {around:?}"), of_ranges, exact);
}

fn one_chance(examined: &mut Examined<'_>, what: &str, found: Result<Estimate<f64>>, exact: f64) {
    // Counts that the size rules out have probability zero even if there is no law.
    if examined.law.is_none() && found.as_ref().is_ok_and(|found| found.value == 0.0) {
        return;
    }
    if let Some(found) = examined.answered(&format!("chance of {what}"), found) {
        let numbers = Numbers { got: found.value, exact, stated: found.error, floor: 0.0 };
        examined.compare(Kind::Chance, "chance", what, numbers);
    }
}

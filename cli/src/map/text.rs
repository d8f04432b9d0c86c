//! The best set found, and how good it is, as text.

use comfy_table::Cell;
use partition_dpp::map::{Covered, Solution, Stats, Termination};

use super::{answer::Found, arguments::MapArguments, design::Efficiency};
use crate::{
    input::{Represented, Worth},
    law::Question,
    output::{
        numbers::{decimals, factor_of_log, significant},
        table::{MOST_ROWS, more, new_table, right},
    },
};

/// The set and its determinant; unless quiet also the question and the work done.
pub(super) fn render(question: &Question<'_>, found: &Found, arguments: &MapArguments) -> String {
    let mut answer = items(question, found);
    answer.push_str(&worth(&found.solution, question, arguments));
    answer.push_str(&efficient(found));
    answer.push_str(&explained(found));
    answer.push_str(&scored(question, &found.solution));
    if !arguments.output.quiet {
        answer.push_str(&describe(question, found));
        if let Some(file) = &arguments.rows.output {
            answer.extend(["rows      ", &file.path().display().to_string(), "\n"]);
        }
        if let Some(file) = &arguments.plot_search {
            answer.extend(["search    ", &file.path().display().to_string(), "\n"]);
        }
        if let Some(file) = &arguments.resume {
            answer.extend(["search    ", &file.display().to_string(), "\n"]);
        }
        if let Some(file) = &arguments.plot {
            answer.extend(["plot      ", &file.path().display().to_string(), "\n"]);
        }
    }
    answer
}

/// One row per part that has an item.
fn items(question: &Question<'_>, found: &Found) -> String {
    let subset = &found.solution.subset;
    if subset.is_empty() {
        return "set       (empty)\n".into();
    }
    let Some(partition) = &question.input.partition else {
        return format!("set       {}\n", question.items(subset));
    };
    let shares = found.explained.as_ref().and_then(|explained| explained.by_part.as_ref()?.first());
    let head = ["part", "quota", "items"].into_iter().chain(shares.map(|_| "explains"));
    let mut table = new_table(head.collect::<Vec<_>>());
    let quota = question.law.asked();
    let chosen = |part: usize| subset.iter().filter(|&item| partition.part_of(item) == part).count();
    let parts: Vec<usize> = (0..partition.parts()).filter(|&part| chosen(part) > 0).collect();
    for &part in parts.iter().take(MOST_ROWS) {
        let asked = quota.of(part).unwrap_or_else(|| "–".into());
        let name = Cell::new(&partition.names()[part]);
        let items = Cell::new(question.items_in_part(subset, partition, part));
        let share = shares.map(|shares| right(format!("{:.3}", shares[part])));
        table.add_row([name, right(asked), items].into_iter().chain(share).collect::<Vec<_>>());
    }
    format!("{}\n{}", table.trim_fmt(), more(parts.len()))
}

/// Gaps below this fraction of ln det are rounding.
const ROUNDING: f64 = 1e-12;

/// The coverage of the set.
fn cover(covered: &Covered, question: &Question<'_>, arguments: &MapArguments) -> String {
    let Covered { total, guarantee, .. } = covered;
    let mean = total / question.input.features.items() as f64;
    let by = match (&question.input.partition, arguments.coverage) {
        (None, _) | (_, Some(Represented::All)) => "by any chosen item",
        _ => "by chosen items of its part",
    };
    let what = if question.input.scored.is_some() { "objective" } else { "coverage" };
    let proof = guarantee.map_or(String::new(), |fraction| {
        format!("proven    at least {} of the largest {what}\n", significant(fraction))
    });
    format!("covers    {}, {mean:.4} per item, {by}\n{proof}", decimals(*total))
}

/// ln det and the bound on the optimum, or what the set covers.
fn worth(solution: &Solution, question: &Question<'_>, arguments: &MapArguments) -> String {
    let mut log_det = match solution.log_det {
        f64::NEG_INFINITY if solution.covered.is_some() => {
            "log det   none: rows depend on each other\n".into()
        }
        log_det if log_det.is_nan() => "log det   not computed for this many items\n".into(),
        log_det => format!("log det   {}\n", decimals(log_det)),
    };
    if solution.missing > 0 {
        let asked = solution.subset.len() + solution.missing;
        log_det = format!("{log_det}lacks     {} of the {asked} items asked for\n", solution.missing);
    }
    if let Some(covered) = &solution.covered {
        return cover(covered, question, arguments) + &log_det;
    }
    let (Some(bound), Some(gap)) = (solution.upper_bound, solution.gap()) else { return log_det };
    let proof = match solution.termination {
        // Rounded up.
        Termination::Optimal if gap > 0.0 => {
            format!("proven optimal: no log det is larger by more than {:.1e}", 1.05 * gap)
        }
        Termination::Optimal => "proven optimal".to_owned(),
        _ if gap <= ROUNDING * (1.0 + bound.abs()) => "within rounding of the optimum".to_owned(),
        _ => {
            format!(
                "gap {}: no set has a determinant more than {} times as large",
                decimals(gap),
                factor_of_log(gap)
            )
        }
    };
    format!("{log_det}at most   {}; {proof}\n", decimals(bound))
}

/// How efficient a design is.
fn efficient(found: &Found) -> String {
    let Some(Efficiency { distinct, repeated }) = found.efficiency else { return String::new() };
    // Rounded down: they are proven.
    let [distinct, repeated] = [distinct, repeated].map(|share| (share * 1e4).floor() / 1e4);
    format!(
        "efficient at least {distinct:.4} of designs of as many distinct rows, {repeated:.4} of those that may repeat rows\n"
    )
}

/// How well the set stands for all rows.
fn explained(found: &Found) -> String {
    let total = found.explained.as_ref().and_then(|explained| explained.total.first());
    let share = total.map(|total| format!("explains  {total:.4} of the squared length of all rows\n"));
    let mean = found
        .mean_distance
        .map(|mean| format!("distance  {} on average to the nearest chosen item\n", significant(mean)));
    share.unwrap_or_default() + &mean.unwrap_or_default()
}

/// The objective of the set, and its terms.
fn scored(question: &Question<'_>, solution: &Solution) -> String {
    let input = question.input;
    let worth = input.worth(solution);
    let Some((Worth { log_det_similarity, score_total, objective }, scored)) =
        worth.zip(input.scored.as_ref())
    else {
        return String::new();
    };
    let similarity = if log_det_similarity.is_finite() {
        format!(", log det of the similarity {log_det_similarity:.6}")
    } else {
        String::new()
    };
    format!(
        "scores    {score_total:.6} in all{similarity}\n\
         objective {objective:.6} at diversity {}\n",
        scored.diversity,
    )
}

/// The question, the solver, and its time.
fn describe(question: &Question<'_>, found: &Found) -> String {
    let Found { solution, solver, time, .. } = found;
    let items = question.input.features.items();
    let left = solution.stats.survivors.filter(|&left| left < items);
    let left = left.map_or(String::new(), |left| {
        format!("left      {left} of {items} items can be in a better set; the bound rules out the others\n")
    });
    format!(
        "{question}{left}solver    {solver} on {engine}: {termination}{work}\n\
         time      {seconds:.3} s\n",
        question = question.describe(),
        engine = solution.engine,
        termination = solution.termination,
        work = work(&solution.stats),
        seconds = time.as_secs_f64(),
    )
}

/// The solver's counts that are not zero.
fn work(stats: &Stats) -> String {
    let counts = [
        (stats.swaps, "swap"),
        (stats.exchanges, "exchange"),
        (stats.restarts, "restart"),
        (stats.nodes, "node"),
        (stats.iterations, "iteration"),
    ];
    let mut text = String::new();
    for (count, noun) in counts.into_iter().filter(|(count, _)| *count > 0) {
        let plural = if count == 1 { "" } else { "s" };
        text.extend([", ", &count.to_string(), " ", noun, plural]);
    }
    text
}

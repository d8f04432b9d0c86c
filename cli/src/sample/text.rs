//! The answer as text: a table of subsets, and a few lines on how they were drawn.

use comfy_table::Cell;
use partition_dpp::{
    Subset,
    data::LabelCopies,
    sample::{Algorithm, BoundCost, WeightStatistics},
};

use super::{
    answer::{Drawer, Drawn},
    arguments::SampleArguments,
    mixing,
    plan::reason,
};
use crate::{
    estimates::{caution, spread},
    law::Question,
    output::{
        numbers::{error, large, short, significant},
        table::{MOST_COLUMNS, MOST_ROWS, more, new_table, right},
    },
};

/// The subsets; unless quiet also the question and the work done.
pub(super) fn render(question: &Question<'_>, drawn: &Drawn, arguments: &SampleArguments) -> String {
    let mut answer = subsets(question, drawn);
    if !arguments.output.quiet {
        answer.push_str(&describe(question, drawn, arguments.seed));
        if let Some(file) = &arguments.rows.output {
            answer.extend(["rows      ", &file.path().display().to_string(), "\n"]);
        }
        if let Some(file) = &arguments.plot {
            answer.extend(["plot      ", &file.path().display().to_string(), "\n"]);
        }
    }
    answer
}

/// One row per subset.
fn subsets(question: &Question<'_>, drawn: &Drawn) -> String {
    let subsets = &drawn.subsets;
    let columns = part_columns(question);
    let mut head = header(question, columns.as_deref());
    head.extend(drawn.log_weights.as_ref().map(|_| "log weight".to_owned()));
    head.extend(drawn.explained.as_ref().map(|_| "explains".to_owned()));
    head.extend(drawn.mean_distances.as_ref().map(|_| "mean distance".to_owned()));
    let mut table = new_table(head);
    for (number, subset) in subsets.iter().take(MOST_ROWS).enumerate() {
        let mut row = vec![right(number)];
        match (&columns, &question.input.partition) {
            (Some(parts), Some(partition)) => {
                let cell = |&part| Cell::new(or_dash(question.items_in_part(subset, partition, part)));
                row.extend(parts.iter().map(cell));
            }
            _ => row.push(Cell::new(or_dash(question.items(subset)))),
        }
        row.extend(drawn.log_weights.as_ref().map(|logs| right(format!("{:.4}", logs[number]))));
        row.extend(drawn.explained.as_ref().map(|shares| right(format!("{:.3}", shares.total[number]))));
        row.extend(drawn.mean_distances.as_ref().map(|means| right(significant(means[number]))));
        table.add_row(row);
    }
    format!("{}\n{}", table.trim_fmt(), more(subsets.len()))
}

/// The parts that items may come from, unless they are too many for columns.
fn part_columns(question: &Question<'_>) -> Option<Vec<usize>> {
    let partition = question.input.partition.as_ref()?;
    let asked = question.law.asked();
    let parts = (0..partition.parts()).filter(|&part| !asked.is_nothing(part));
    let parts: Vec<usize> = parts.collect();
    (parts.len() <= MOST_COLUMNS).then_some(parts)
}

fn header(question: &Question<'_>, columns: Option<&[usize]>) -> Vec<String> {
    let asked = question.law.asked();
    let mut cells = vec!["sample".to_owned()];
    match (columns, &question.input.partition) {
        (Some(parts), Some(partition)) => cells.extend(parts.iter().map(|&part| {
            let name = &partition.names()[part];
            asked.of(part).map_or(name.clone(), |count| format!("{name} ({count})"))
        })),
        _ => cells.push("items".to_owned()),
    }
    cells
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "–".into() } else { text }
}

/// The question, the method, its exactness and its cost.
fn describe(question: &Question<'_>, drawn: &Drawn, seed: u64) -> String {
    let Drawn { drawer, plan, engine, setup, sampling, .. } = drawn;
    let why = plan.as_ref().map_or(String::new(), |plan| format!("why       {}\n", reason(plan)));
    let bound = bounds_in_words(&drawn.bounds);
    format!(
        "{question}method    {drawer} on {engine}, seed {seed}\n\
         {why}{bound}exactness {exactness}\n\
         {mixing}{estimate}{repeats}proposals {proposals}\n\
         time      set-up {setup:.3} s, sampling {sampling:.3} s\n",
        question = question.describe(),
        exactness = exactness(question, drawn),
        estimate = drawn.estimate.as_ref().map_or(String::new(), estimate),
        repeats =
            question.input.copies.as_ref().map_or(String::new(), |copies| repeats(copies, &drawn.subsets)),
        mixing = drawn
            .mixing
            .as_ref()
            .map_or(String::new(), |mixing| mixing::describe(mixing, drawn.subsets.len())),
        proposals = proposals(drawn),
        setup = setup.as_secs_f64(),
        sampling = sampling.as_secs_f64(),
    )
}

/// The bound of rejection, and what the next best would cost.
fn bounds_in_words(bounds: &[BoundCost]) -> String {
    let Some(first) = bounds.first() else { return String::new() };
    let next = bounds[1..].iter().min_by(|a, b| a.cost().total_cmp(&b.cost()));
    let next = next.map_or(String::new(), |next| {
        let [own, other] = [first.cost(), next.cost()].map(|operations| large(operations, 1));
        format!(": {own} operations per sample, {other} by {}", next.bound)
    });
    format!("bound     {}{next}\n", first.bound)
}

/// The results of weighted draws about the law.
fn estimate(found: &WeightStatistics) -> String {
    let (log_z, off) = (found.log_z.value, error(found.log_z.standard_error));
    format!("weights   {}; log Z {log_z:.4} ± {off}\n{}", spread(found), caution(found))
}

/// Whether the draws are exact, for which kernel, and the error of their law.
fn exactness(question: &Question<'_>, Drawn { drawer, law_error, log_weights, .. }: &Drawn) -> String {
    let approximate = question.input.kernel().is_approximate();
    let of_kernel = if approximate { " for the approximate kernel" } else { "" };
    let exactness = format!("{}{of_kernel}", drawer.exactness());
    match law_error {
        _ if log_weights.is_some() => format!("{exactness}: averages by weights are over the law"),
        Some(off) => format!("{exactness}; law error {} (total variation)", error(*off)),
        None => format!("{exactness}: approximate, with an unknown distance from the law"),
    }
}

/// How often an item is chosen for more than one of its labels.
fn repeats(copies: &LabelCopies, subsets: &[Subset]) -> String {
    let repeats: Vec<usize> = subsets.iter().map(|subset| copies.repeats(subset)).collect();
    let (all, with) = (repeats.iter().sum::<usize>(), repeats.iter().filter(|&&count| count > 0).count());
    match all {
        0 => "repeats   none: no sample contains an item twice\n".into(),
        _ => format!(
            "repeats   {all}, in {with} of {} samples: an item for several of its labels\n",
            repeats.len()
        ),
    }
}

fn proposals(drawn: &Drawn) -> String {
    let algorithm = match drawn.drawer {
        _ if drawn.subsets.is_empty() => return "none yet".into(),
        Drawer::Chains => return format!("{} moves in all, including burn-in", drawn.proposals),
        Drawer::Sampler(algorithm) => algorithm,
    };
    match algorithm {
        Algorithm::Rejection => {
            let observed = drawn.proposals as f64 / drawn.subsets.len() as f64;
            let predicted = drawn
                .bounds
                .first()
                .map_or(String::new(), |cost| format!("{} predicted, ", short(cost.proposals)));
            let guaranteed = short(drawn.acceptance_bound.recip());
            format!("{} per sample; {predicted}at most {guaranteed} guaranteed", short(observed))
        }
        Algorithm::Interpolation | Algorithm::PerCandidate => {
            "none: items are picked one by one with their exact probabilities".into()
        }
        Algorithm::Estimated if drawn.log_weights.is_some() => {
            format!(
                "{} weighted draws, {} of them at a dead end",
                drawn.proposals,
                drawn.proposals - drawn.subsets.len() as u64
            )
        }
        Algorithm::Estimated => {
            let observed = drawn.proposals as f64 / drawn.subsets.len() as f64;
            format!("{} weighted draws per sample", short(observed))
        }
        Algorithm::Settled => "none: nothing is left to choose".into(),
        _ => "one per sample: nothing is ever rejected".into(),
    }
}

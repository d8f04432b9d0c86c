//! Probabilities of items and sets as text.

use comfy_table::Cell;
use partition_dpp::{Partition, sample::LogInterval};

use super::answer::{Estimated, Inferred};
use crate::{
    input::Input,
    law::Question,
    output::{
        numbers::{error, probability, probability_of_log},
        table::{MOST_ROWS, more, new_table, right},
    },
};

/// The number of most and of least probable items shown.
const EXTREMES: usize = 10;

/// Tables of items, parts and sets, and log Z; unless quiet also the question and the accuracy.
pub(super) fn render(question: &Question<'_>, inferred: &Inferred, quiet: bool) -> String {
    let marginals = &inferred.marginals;
    let of_items = question.input.marginals(marginals);
    let partition = question.input.partition.as_ref();
    let mut text = items(&of_items.value, question.input);
    text.extend(partition.map(|partition| parts(&marginals.value, partition)));
    text.push_str(&sets(question, inferred));
    text.push_str(&normaliser(inferred));
    if !quiet {
        text.push_str(&describe(question, inferred, of_items.error));
    }
    text
}

/// log Z, with its error, and its bound if it is estimated.
fn normaliser(Inferred { log_z, estimated, .. }: &Inferred) -> String {
    match estimated {
        None => format!("log Z     {:.10} ± {}\n", log_z.value, error(log_z.error)),
        Some(Estimated { log_z_upper, interval, .. }) => {
            let (value, error) = (log_z.value, error(log_z.error));
            let interval = match interval {
                None => String::new(),
                Some(Ok(interval)) => of_interval(interval),
                Some(Err(error)) => format!("interval  none: {error}\n"),
            };
            format!(
                "log Z     {value:.4} ± {error} (standard error), at most {log_z_upper:.4} (proven)\n{interval}"
            )
        }
    }
}

/// A proven interval of log Z, as a line.
fn of_interval(LogInterval { low, high, confidence, acceptances, proposals, .. }: &LogInterval) -> String {
    format!(
        "interval  {low:.4} to {high:.4}, which covers log Z with probability {confidence} (proven; {acceptances} of \
         {proposals} proposals accepted)\n"
    )
}

/// The most and the least probable items of positive probability; all of them if they are few.
fn items(marginals: &[f64], input: &Input) -> String {
    let mut order: Vec<usize> = (0..marginals.len()).filter(|&item| marginals[item] > 0.0).collect();
    order.sort_by(|&a, &b| marginals[b].total_cmp(&marginals[a]));
    let cells = |item: usize| {
        let part = input.parts_of(item).map(Cell::new);
        [Some(right(input.shown(item))), part, Some(right(probability(marginals[item])))]
            .into_iter()
            .flatten()
    };
    let part = || input.partition.as_ref().map(|_| "part").into_iter();
    let head = |title| [title].into_iter().chain(part()).chain(["probability"]);
    let zeros = match marginals.len() - order.len() {
        0 => String::new(),
        1 => "1 item has probability 0\n".into(),
        many => format!("{many} items have probability 0\n"),
    };
    let table = if order.len() <= 2 * EXTREMES {
        let mut table = new_table(head("item").collect::<Vec<_>>());
        table.add_rows(order.iter().map(|&item| cells(item).collect::<Vec<_>>()));
        table
    } else {
        let mut table = new_table(head("most probable").chain(head("least probable")).collect::<Vec<_>>());
        let pairs = order.iter().zip(order.iter().rev()).take(EXTREMES);
        table.add_rows(pairs.map(|(&most, &least)| cells(most).chain(cells(least)).collect::<Vec<_>>()));
        table
    };
    format!("{}\n{zeros}", table.trim_fmt())
}

/// The expected number of items of each part; parts with none are left out.
fn parts(marginals: &[f64], partition: &Partition) -> String {
    let mut expected = vec![0.0; partition.parts()];
    marginals.iter().enumerate().for_each(|(item, p)| expected[partition.part_of(item)] += p);
    let open: Vec<usize> = (0..partition.parts()).filter(|&part| expected[part] > 0.0).collect();
    let mut table = new_table(vec!["part", "items", "expected in a set"]);
    for &part in open.iter().take(MOST_ROWS) {
        let name = Cell::new(&partition.names()[part]);
        table.add_row([name, right(partition.size(part)), right(format!("{:.4}", expected[part]))]);
    }
    let hidden = open.len().saturating_sub(MOST_ROWS);
    let more = if hidden > 0 { format!("… and {hidden} more parts\n") } else { String::new() };
    format!("{}\n{more}", table.trim_fmt())
}

/// One row per set; nothing without sets.
fn sets(question: &Question<'_>, Inferred { sets, log_probs, explained, .. }: &Inferred) -> String {
    if sets.is_empty() {
        return String::new();
    }
    let head = ["set", "items", "log-probability", "probability"].into_iter();
    let mut table = new_table(head.chain(explained.as_ref().map(|_| "explains")).collect::<Vec<_>>());
    for (number, (set, log)) in sets.iter().zip(log_probs).enumerate().take(MOST_ROWS) {
        let log = log.value;
        let log_text = if log.is_infinite() { "–∞".into() } else { format!("{log:.6}") };
        let items = if set.is_empty() { "–".into() } else { question.named(set.iter()) };
        let cells = [right(number), Cell::new(items), right(log_text), right(probability_of_log(log))];
        let share = explained.as_ref().map(|shares| right(format!("{:.3}", shares.total[number])));
        table.add_row(cells.into_iter().chain(share).collect::<Vec<_>>());
    }
    format!("{}\n{}", table.trim_fmt(), more(sets.len()))
}

fn describe(question: &Question<'_>, inferred: &Inferred, of_items: f64) -> String {
    let Inferred { sets, engine, time, .. } = inferred;
    let of_sets = match sets.len() {
        0 => String::new(),
        _ => format!(", log-probabilities of sets ± {}", error(inferred.largest_log_prob_error())),
    };
    format!(
        "{question}{draws}accuracy  probabilities of items ± {error}{of_sets}{kind}\n\
         time      {time:.3} s on {engine}\n",
        question = question.describe(),
        error = error(of_items),
        draws = inferred.estimated.as_ref().map_or(String::new(), |found| found.draws.describe()),
        kind = if inferred.estimated.is_some() { " (standard errors)" } else { "" },
        time = time.as_secs_f64(),
    )
}

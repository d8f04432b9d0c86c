//! Part counts and their probabilities as text.

use comfy_table::Cell;
use partition_dpp::PartCounts;

use super::answer::{Chance, Counted};
use crate::{
    law::Question,
    output::{
        numbers::{error, probability, short},
        table::{MOST_COLUMNS, MOST_ROWS, more, new_table, right},
    },
    quota::Asked,
};

/// The law of the counts and the probability of the quota; unless quiet also the question and the accuracy.
pub(super) fn render(question: &Question<'_>, counted: &Counted<'_>, quiet: bool) -> String {
    let mut text = match &counted.law {
        Ok(law) => format!("{}mean      {}\n", table(counted, law), means(counted, law)),
        Err(reason) => format!("counts    not listed: {reason}\n"),
    };
    text.push_str(&chance(counted));
    if !quiet {
        text.push_str(&describe(question, counted));
    }
    text
}

/// One row per vector of counts, the most probable first.
fn table(Counted { partition, .. }: &Counted<'_>, law: &PartCounts) -> String {
    let mut entries: Vec<_> = law.entries().iter().collect();
    entries.sort_by(|a, b| b.1.total_cmp(&a.1));
    let wide = partition.parts() > MOST_COLUMNS;
    let mut header = if wide { vec!["items of each part".into()] } else { partition.names().to_vec() };
    header.push("probability".into());
    let mut table = new_table(header);
    for (counts, p) in entries.iter().take(MOST_ROWS) {
        let mut row: Vec<Cell> =
            if wide { vec![Cell::new(list(counts))] } else { counts.iter().map(right).collect() };
        row.push(right(probability(*p)));
        table.add_row(row);
    }
    format!("{}\n{}", table.trim_fmt(), more(entries.len()))
}

fn means(Counted { partition, .. }: &Counted<'_>, law: &PartCounts) -> String {
    let means = law.means();
    let means = means.iter().zip(partition.names()).map(|(mean, name)| format!("{name}: {mean:.3}"));
    means.collect::<Vec<_>>().join(", ")
}

fn chance(Counted { quota, .. }: &Counted<'_>) -> String {
    let Some((quota, Chance { value: p, standard_error, .. })) = quota else { return String::new() };
    let asked = Asked { quota: Some(quota), has_ranges: false };
    let one_in = if *p > 0.0 { format!(", one set in {}", short(p.recip())) } else { String::new() };
    let error = standard_error.map_or(String::new(), |off| format!(" ± {} (standard error)", error(off)));
    format!("quota     {}: probability {}{error} by chance{one_in}\n", asked, probability(*p))
}

fn list(counts: &[usize]) -> String {
    counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn describe(question: &Question<'_>, Counted { law, quota, engine, time, .. }: &Counted<'_>) -> String {
    let draws = quota.and_then(|(_, chance)| chance.draws).map_or(String::new(), |draws| draws.describe());
    let of_quota = quota.map_or(f64::NAN, |(_, chance)| chance.error);
    format!(
        "{question}{draws}accuracy  probabilities ± {error}\n\
         time      {time:.3} s on {engine}\n",
        question = question.describe(),
        error = error(law.as_ref().map_or(of_quota, PartCounts::error)),
        time = time.as_secs_f64(),
    )
}

//! Part counts and their probabilities.

use std::io::Write;

use comfy_table::Cell;
use partition_dpp::PartCounts;
use serde::Serialize;

use super::{
    Question,
    numbers::{error, probability, short},
    print, print_json,
    table::{MOST_COLUMNS, MOST_ROWS, more, new_table, right},
};
use crate::{arguments::OutputArguments, counts::Counted, failure::Failure};

/// A contract that scripts rely on.
#[derive(Serialize)]
struct Answer<'a> {
    counts: Vec<Entry<'a>>,
    quota_prob: Option<f64>,
    engine: &'a str,
    precision: String,
}

#[derive(Serialize)]
struct Entry<'a> {
    count: &'a [usize],
    prob: f64,
}

/// Writes the part counts in the format asked for.
pub(crate) fn write(
    question: &Question<'_>,
    counted: &Counted<'_>,
    arguments: &OutputArguments,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if arguments.json {
        let entries = counted.law.as_ref().map_or(&[][..], PartCounts::entries).iter();
        return print_json(
            out,
            &Answer {
                counts: entries.map(|(count, prob)| Entry { count, prob: *prob }).collect(),
                quota_prob: counted.quota.map(|(_, prob)| prob),
                engine: counted.engine.name,
                precision: counted.engine.precision.to_string(),
            },
        );
    }
    let mut text = match &counted.law {
        Ok(law) => format!("{}mean      {}\n", table(counted, law), means(counted, law)),
        Err(reason) => format!("counts    not listed: {reason}\n"),
    };
    text.push_str(&chance(counted));
    if !arguments.quiet {
        text.push_str(&describe(question, counted));
    }
    print(out, &text)
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
    let Some((quota, p)) = quota else { return String::new() };
    let one_in = if *p > 0.0 { format!(", one set in {}", short(p.recip())) } else { String::new() };
    format!("quota     {}: probability {} by chance{one_in}\n", quota, probability(*p))
}

fn list(counts: &[usize]) -> String {
    counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn describe(question: &Question<'_>, Counted { law, engine, time, .. }: &Counted<'_>) -> String {
    format!(
        "{question}accuracy  probabilities ± {error}\n\
         time      {time:.3} s on {engine}\n",
        question = question.describe(),
        error = law.as_ref().map_or_else(|_| "–".into(), |law| error(law.error())),
        time = time.as_secs_f64(),
    )
}

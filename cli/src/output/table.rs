//! The answer for people: a table of subsets, and a few lines on how they came about.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, presets};
use console::Term;
use partition_dpp::{Partition, Subset};

use super::Summary;
use crate::sample::{Drawn, Law};

/// Subsets shown.
const MOST_ROWS: usize = 20;
/// Parts that get a column each.
const MOST_COLUMNS: usize = 12;

/// One row per subset.
pub(super) fn render(summary: &Summary<'_>) -> String {
    let subsets = summary.drawn.samples.subsets();
    let columns = part_columns(summary);
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()))
        .set_header(header(summary, columns.as_deref()));
    if let Some((_, width)) = Term::stdout().size_checked() {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    for (number, subset) in subsets.iter().take(MOST_ROWS).enumerate() {
        let mut row = vec![Cell::new(number).set_alignment(CellAlignment::Right)];
        match (&columns, &summary.input.partition) {
            (Some(parts), Some(partition)) => {
                row.extend(parts.iter().map(|&part| Cell::new(items_of(subset, partition, part))));
            }
            _ => row.push(Cell::new(or_dash(subset.to_string()))),
        }
        table.add_row(row);
    }
    let more = match subsets.len() {
        all if all > MOST_ROWS => format!("… and {} more; --json prints all\n", all - MOST_ROWS),
        _ => String::new(),
    };
    format!("{}\n{more}", table.trim_fmt())
}

/// The parts that items may come from, unless they are too many for columns.
fn part_columns(summary: &Summary<'_>) -> Option<Vec<usize>> {
    let partition = summary.input.partition.as_ref()?;
    let quota = summary.law.quota();
    let parts = (0..partition.parts()).filter(|&part| quota.get(part) != Some(&0));
    let parts: Vec<usize> = parts.collect();
    (parts.len() <= MOST_COLUMNS).then_some(parts)
}

fn header(summary: &Summary<'_>, columns: Option<&[usize]>) -> Vec<String> {
    let quota = summary.law.quota();
    let mut cells = vec!["sample".to_owned()];
    match (columns, &summary.input.partition) {
        (Some(parts), Some(partition)) => cells.extend(parts.iter().map(|&part| {
            let name = &partition.names()[part];
            quota.get(part).map_or(name.clone(), |count| format!("{name} ({count})"))
        })),
        _ => cells.push("items".to_owned()),
    }
    cells
}

fn items_of(subset: &Subset, partition: &Partition, part: usize) -> String {
    let items = subset.iter().filter(|&item| partition.part_of(item) == part);
    or_dash(items.map(|item| item.to_string()).collect::<Vec<_>>().join(" "))
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "–".into() } else { text }
}

/// What was done, how, and what it took.
pub(super) fn describe(summary: &Summary<'_>) -> String {
    let Drawn { samples, algorithm, engine, precision, setup, sampling } = summary.drawn;
    let features = &summary.input.features;
    let proposals = if matches!(summary.law, Law::PartitionDpp { .. }) {
        let observed = samples.acceptance_observed().recip();
        let bound = samples.acceptance_bound().recip();
        format!("{} per sample, guaranteed at most {} on average", short(observed), short(bound))
    } else {
        "one per sample: nothing is ever rejected".into()
    };
    format!(
        "law       {law}, from {items} items of {dims} dimensions\n\
         method    {algorithm} on {engine} in {precision}, seed {seed}\n\
         proposals {proposals}\n\
         time      set-up {setup:.3} s, sampling {sampling:.3} s\n",
        law = law(summary),
        items = features.items(),
        dims = features.dims(),
        seed = summary.seed,
        setup = setup.as_secs_f64(),
        sampling = sampling.as_secs_f64(),
    )
}

fn law(summary: &Summary<'_>) -> String {
    match summary.law {
        Law::PartitionDpp { partition, quota, .. } => {
            format!("Partition-DPP of {} items over {} parts", quota.total(), partition.parts())
        }
        Law::IndependentKDpps { partition, quota } => {
            format!("independent k-DPPs of {} items over {} parts", quota.total(), partition.parts())
        }
        Law::KDpp { k } => format!("k-DPP, k = {k}"),
        Law::Dpp => "DPP of any size".into(),
    }
}

/// Three digits or so, for numbers of proposals.
fn short(number: f64) -> String {
    if number < 100.0 {
        format!("{number:.2}")
    } else if number < 1e6 {
        format!("{number:.0}")
    } else {
        format!("{number:.2e}")
    }
}

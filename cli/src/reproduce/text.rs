//! The summary on the terminal.

use std::{fmt::Write as _, iter, path::Path};

use comfy_table::Cell;
use pdpp_reproduce::{PAGE, Report};

use crate::output::table::new_table;

/// A line per claim, a line per part, and where the report is.
pub(super) fn render(report: &Report, folder: &Path, files: usize) -> String {
    let mut table = new_table(["part", "the paper", "here", ""]);
    for finished in &report.parts {
        let names = iter::once(finished.part.name()).chain(iter::repeat(""));
        for (claim, name) in finished.claims().iter().zip(names) {
            table.add_row([name, claim.paper, &claim.here, claim.verdict.name()].map(Cell::new));
        }
    }
    let mut text = if table.row_count() > 0 { format!("{table}\n") } else { String::new() };
    for finished in &report.parts {
        let (name, seconds) = (finished.part.name(), finished.time.as_secs_f64());
        let _ = match (finished.skipped(), finished.stand_in()) {
            (Some(reason), _) => writeln!(text, "{name:14} skipped: {reason}"),
            (None, Some(reason)) => writeln!(text, "{name:14} {seconds:.0} s; {reason}"),
            (None, None) => writeln!(text, "{name:14} {seconds:.0} s"),
        };
    }
    let _ = writeln!(text, "report         {} ({files} files)", folder.join(PAGE).display());
    text
}

//! What the terminal shows in the end.

use std::{fmt::Write as _, path::Path};

use comfy_table::Cell;

use super::{Finished, Outcome};
use crate::output::table::new_table;

/// A line per claim, a line per part, and where the report is.
pub(super) fn render(finished: &[Finished], folder: &Path, files: usize) -> String {
    let mut table = new_table(["part", "the paper", "here", ""]);
    for Finished { name, outcome, .. } in finished {
        let Outcome::Done(section) = outcome else { continue };
        for (claim, first) in section.claims.iter().zip([true].into_iter().chain(std::iter::repeat(false))) {
            let part = if first { *name } else { "" };
            table.add_row([part, claim.paper, &claim.here, claim.verdict.name()].map(Cell::new));
        }
    }
    let mut text = if table.row_count() > 0 { format!("{table}\n") } else { String::new() };
    for Finished { name, outcome, time } in finished {
        let seconds = time.as_secs_f64();
        let _ = match outcome {
            Outcome::Skipped(reason) => writeln!(text, "{name:14} skipped: {reason}"),
            Outcome::Done(section) => match &section.stand_in {
                Some(reason) => writeln!(text, "{name:14} {seconds:.0} s; {reason}"),
                None => writeln!(text, "{name:14} {seconds:.0} s"),
            },
        };
    }
    let _ = writeln!(text, "report         {} ({files} files)", folder.join("report.html").display());
    text
}

//! The style of all tables.

use std::fmt::Display;

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Row, Table, presets};
use console::Term;

/// The most rows shown.
pub(crate) const MOST_ROWS: usize = 20;
/// The most parts that get a column each.
pub(crate) const MOST_COLUMNS: usize = 12;

/// The width of tables that are written to files and pipes.
const WIDTH: u16 = 120;

/// A table without rows, at most as wide as the terminal.
pub(crate) fn new_table(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none())).set_header(header);
    let width = Term::stdout().size_checked().map_or(WIDTH, |(_, width)| width);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table
}

/// A cell for a number.
pub(crate) fn right(content: impl Display) -> Cell {
    Cell::new(content.to_string()).set_alignment(CellAlignment::Right)
}

/// A line that states how many rows are not shown, if any.
pub(crate) fn more(rows: usize) -> String {
    match rows.checked_sub(MOST_ROWS) {
        Some(hidden) if hidden > 0 => format!("… and {hidden} more; --json prints all\n"),
        _ => String::new(),
    }
}

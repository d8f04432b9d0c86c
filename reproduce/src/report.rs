//! The findings of a part: text, tables, figures, claims.

use pdpp_plot::{Picture, svg};

use crate::failure::Failure;

/// One part of the report.
#[derive(Debug)]
pub(crate) struct Section {
    /// The heading.
    pub(crate) title: String,
    /// The reason why the data are not the paper's, if they are not.
    pub(crate) stand_in: Option<String>,
    /// The contents, in order.
    pub(crate) blocks: Vec<Block>,
    /// The paper's claims and the findings.
    pub(crate) claims: Vec<Claim>,
}

impl Section {
    pub(crate) fn new(title: &str) -> Self {
        Self { title: title.to_owned(), stand_in: None, blocks: Vec::new(), claims: Vec::new() }
    }

    pub(crate) fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    pub(crate) fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    /// Adds a long table, which the reader can unfold.
    pub(crate) fn folded(&mut self, table: Table) {
        self.blocks.push(Block::Folded(table));
    }

    pub(crate) fn gallery(&mut self, gallery: Gallery) {
        self.blocks.push(Block::Gallery(gallery));
    }

    /// Adds many images, which the reader can unfold.
    pub(crate) fn folded_gallery(&mut self, gallery: Gallery) {
        self.blocks.push(Block::FoldedGallery(gallery));
    }

    /// Draws a figure.
    pub(crate) fn figure(
        &mut self,
        name: &'static str,
        caption: &str,
        picture: &impl Picture,
    ) -> Result<(), Failure> {
        let svg = svg(picture).map_err(|source| Failure::Figure { name, source })?;
        self.blocks.push(Block::Figure(Figure { name, caption: caption.to_owned(), svg }));
        Ok(())
    }

    pub(crate) fn claim(&mut self, paper: &'static str, here: impl Into<String>, verdict: Verdict) {
        self.claims.push(Claim { paper, here: here.into(), verdict });
    }
}

/// An element of a section.
#[derive(Debug)]
pub(crate) enum Block {
    Text(String),
    Table(Table),
    Folded(Table),
    Figure(Figure),
    Gallery(Gallery),
    FoldedGallery(Gallery),
}

/// Rows under a header, also written as a .csv file.
#[derive(Debug)]
pub(crate) struct Table {
    /// The name of the file, without extension.
    pub(crate) name: &'static str,
    pub(crate) caption: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(
        name: &'static str,
        caption: &str,
        header: impl IntoIterator<Item: Into<String>>,
    ) -> Self {
        let header = header.into_iter().map(Into::into).collect();
        Self { name, caption: caption.to_owned(), header, rows: Vec::new() }
    }

    /// Whether a column holds numbers.
    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().map(|row| &row[column]);
        cells.all(|cell| matches!(cell, Cell::Number { .. } | Cell::Missing))
    }

    /// Returns the text of the .csv file, with numbers in full.
    pub(crate) fn csv(&self) -> Result<Vec<u8>, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.header)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Cell::in_full))?;
        }
        writer.into_inner().map_err(|error| error.into_error().into())
    }
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// Text.
    Text(String),
    /// A long text, which the reader can unfold.
    Long(String),
    /// A number, and its text.
    Number { value: f64, shown: String },
    /// No value.
    Missing,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    pub(crate) fn count(count: usize) -> Self {
        Cell::Number { value: count as f64, shown: count.to_string() }
    }

    /// Creates a number with this many digits after the decimal point.
    pub(crate) fn fixed(value: f64, digits: usize) -> Self {
        Cell::Number { value, shown: format!("{value:.digits$}") }
    }

    /// Creates a probability as a percentage.
    pub(crate) fn percent(value: f64) -> Self {
        let digits = if value != 0.0 && value < 0.001 { 3 } else { 1 };
        Cell::Number { value, shown: format!("{:.digits$} %", 100.0 * value) }
    }

    /// Creates a time with at least two significant digits and a unit.
    pub(crate) fn seconds(value: f64) -> Self {
        Cell::Number { value, shown: seconds(value) }
    }

    /// Creates a factor from its logarithm.
    pub(crate) fn factor(log: f64) -> Self {
        Cell::Number { value: log, shown: factor(log) }
    }

    /// Creates a mean factor with its standard deviation.
    pub(crate) fn factor_and_deviation((log, deviation): (f64, f64)) -> Self {
        Cell::Number { value: log, shown: format!("{} ×/÷ {:.2}", factor(log), deviation.exp()) }
    }

    /// Creates a determinant from its logarithm, in the paper's format.
    pub(crate) fn determinant(log: f64) -> Self {
        Cell::Number { value: log, shown: scientific(log) }
    }

    pub(crate) fn or_missing<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Cell::Missing, cell)
    }

    fn in_full(&self) -> String {
        match self {
            Cell::Text(text) | Cell::Long(text) => text.clone(),
            Cell::Number { value, .. } => value.to_string(),
            Cell::Missing => String::new(),
        }
    }
}

/// Formats seconds with at least two significant digits and a unit.
pub(crate) fn seconds(value: f64) -> String {
    let (number, unit) = match value {
        x if x >= 0.3 => (x, "s"),
        x if x >= 0.3e-3 => (1e3 * x, "ms"),
        x => (1e6 * x, "µs"),
    };
    let digits = if number >= 9.95 {
        0
    } else if number >= 0.995 {
        1
    } else {
        2
    };
    format!("{number:.digits$} {unit}")
}

/// Formats a factor from its logarithm, in full if it is small.
pub(crate) fn factor(log: f64) -> String {
    match log.exp() {
        x if x < 99.5 => format!("{x:.3}"),
        x if x < 1e5 => format!("{x:.0}"),
        _ => scientific(log),
    }
}

/// Formats e^log as 1.23e45, however large or small it is.
pub(crate) fn scientific(log: f64) -> String {
    let decimal = log / std::f64::consts::LN_10;
    let exponent = decimal.floor();
    let digits = 10_f64.powf(decimal - exponent);
    // 9.996 rounds to 10.00.
    let (digits, exponent) = if digits >= 9.995 { (1.0, exponent + 1.0) } else { (digits, exponent) };
    format!("{digits:.2}e{exponent:.0}")
}

/// A drawing, also written as an .svg file.
#[derive(Debug)]
pub(crate) struct Figure {
    /// The name of the file, without extension.
    pub(crate) name: &'static str,
    pub(crate) caption: String,
    pub(crate) svg: String,
}

/// Images in rows and columns.
#[derive(Debug)]
pub(crate) struct Gallery {
    pub(crate) caption: String,
    pub(crate) header: Vec<String>,
    /// The title of each row, and its images per column.
    pub(crate) rows: Vec<(String, Vec<Vec<Image>>)>,
}

impl Gallery {
    /// Returns the line that unfolds the gallery.
    pub(crate) fn summary(&self) -> String {
        let images: usize = self.rows.iter().flat_map(|(_, columns)| columns).map(Vec::len).sum();
        format!("{} more rows, {images} images", self.rows.len())
    }
}

/// A grey image with its title.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub(crate) png: Vec<u8>,
    pub(crate) title: String,
}

/// A claim of the paper, and the findings.
#[derive(Debug)]
pub struct Claim {
    /// The paper's claim, quoted or summarised.
    pub paper: &'static str,
    /// The findings.
    pub here: String,
    /// Whether the claim holds.
    pub verdict: Verdict,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It holds in part.
    Partly,
    /// It does not hold.
    DoesNotHold,
}

impl Verdict {
    pub(crate) fn of(holds: bool) -> Self {
        if holds { Verdict::Holds } else { Verdict::DoesNotHold }
    }

    /// Returns the verdict in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Partly => "holds in part",
            Verdict::DoesNotHold => "does not hold",
        }
    }
}

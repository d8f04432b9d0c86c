//! What a part of the reproduction found: words, tables, figures, claims.

use pdpp_plot::{Picture, svg};

use crate::failure::Failure;

/// One part of the report.
#[derive(Debug)]
pub(crate) struct Section {
    /// Its heading.
    pub(crate) title: String,
    /// Why it shows something else than the paper's data, where it does.
    pub(crate) stand_in: Option<String>,
    /// What there is to read and see, in order.
    pub(crate) blocks: Vec<Block>,
    /// What the paper says, and what was found here.
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

    /// A long table: unfolded on request.
    pub(crate) fn folded(&mut self, table: Table) {
        self.blocks.push(Block::Folded(table));
    }

    pub(crate) fn gallery(&mut self, gallery: Gallery) {
        self.blocks.push(Block::Gallery(gallery));
    }

    /// Many images: unfolded on request.
    pub(crate) fn folded_gallery(&mut self, gallery: Gallery) {
        self.blocks.push(Block::FoldedGallery(gallery));
    }

    /// Draws a picture.
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

/// A piece of a section.
#[derive(Debug)]
pub(crate) enum Block {
    Text(String),
    Table(Table),
    Folded(Table),
    Figure(Figure),
    Gallery(Gallery),
    FoldedGallery(Gallery),
}

/// Rows under a header; also written as a .csv file.
#[derive(Debug)]
pub(crate) struct Table {
    /// Name of the file, without its ending.
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

    /// The text of the .csv file, numbers in full.
    pub(crate) fn csv(&self) -> Result<Vec<u8>, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.header)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Cell::in_full))?;
        }
        writer.into_inner().map_err(|error| error.into_error().into())
    }
}

/// What a table holds at one place.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// More words than fit: unfolded on request.
    Long(String),
    /// A number, and how it is shown.
    Number { value: f64, shown: String },
    /// Nothing is known.
    Missing,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    pub(crate) fn count(count: usize) -> Self {
        Cell::Number { value: count as f64, shown: count.to_string() }
    }

    /// With so many digits after the point.
    pub(crate) fn fixed(value: f64, digits: usize) -> Self {
        Cell::Number { value, shown: format!("{value:.digits$}") }
    }

    /// A probability.
    pub(crate) fn percent(value: f64) -> Self {
        let digits = if value != 0.0 && value < 0.001 { 3 } else { 1 };
        Cell::Number { value, shown: format!("{:.digits$} %", 100.0 * value) }
    }

    /// Two significant digits at least, with a unit.
    pub(crate) fn seconds(value: f64) -> Self {
        Cell::Number { value, shown: seconds(value) }
    }

    /// How many times as much, from the logarithm.
    pub(crate) fn factor(log: f64) -> Self {
        Cell::Number { value: log, shown: factor(log) }
    }

    /// The same as a mean, with a standard deviation.
    pub(crate) fn factor_and_deviation((log, deviation): (f64, f64)) -> Self {
        Cell::Number { value: log, shown: format!("{} ×/÷ {:.2}", factor(log), deviation.exp()) }
    }

    /// A determinant from its logarithm, as the paper prints them.
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

/// Two significant digits at least, with a unit.
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

/// How many times as much, from the logarithm: in full where it is not much.
pub(crate) fn factor(log: f64) -> String {
    match log.exp() {
        x if x < 99.5 => format!("{x:.3}"),
        x if x < 1e5 => format!("{x:.0}"),
        _ => scientific(log),
    }
}

/// e^log as 1.23e45, whatever its size.
pub(crate) fn scientific(log: f64) -> String {
    let decimal = log / std::f64::consts::LN_10;
    let exponent = decimal.floor();
    let digits = 10_f64.powf(decimal - exponent);
    // 9.996 is 10.00 on paper.
    let (digits, exponent) = if digits >= 9.995 { (1.0, exponent + 1.0) } else { (digits, exponent) };
    format!("{digits:.2}e{exponent:.0}")
}

/// A drawing; also written as an .svg file.
#[derive(Debug)]
pub(crate) struct Figure {
    /// Name of the file, without its ending.
    pub(crate) name: &'static str,
    pub(crate) caption: String,
    pub(crate) svg: String,
}

/// Images in rows and columns.
#[derive(Debug)]
pub(crate) struct Gallery {
    pub(crate) caption: String,
    pub(crate) header: Vec<String>,
    /// What a row is of, and the images of every column.
    pub(crate) rows: Vec<(String, Vec<Vec<Image>>)>,
}

impl Gallery {
    /// The line that unfolds it.
    pub(crate) fn summary(&self) -> String {
        let images: usize = self.rows.iter().flat_map(|(_, columns)| columns).map(Vec::len).sum();
        format!("{} more rows, {images} images", self.rows.len())
    }
}

/// A grey image, and what it is.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub(crate) png: Vec<u8>,
    pub(crate) title: String,
}

/// What the paper says, and what was found.
#[derive(Debug)]
pub struct Claim {
    /// The paper's words, or their gist.
    pub paper: &'static str,
    /// What was found.
    pub here: String,
    /// Whether it is true.
    pub verdict: Verdict,
}

/// Whether a claim is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes.
    Holds,
    /// As far as it goes.
    Partly,
    /// No.
    DoesNotHold,
}

impl Verdict {
    pub(crate) fn of(holds: bool) -> Self {
        if holds { Verdict::Holds } else { Verdict::DoesNotHold }
    }

    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Partly => "holds in part",
            Verdict::DoesNotHold => "does not hold",
        }
    }
}

//! A report as files.

use std::path::Path;

use crate::{
    failure::Failure,
    html::{self, Page},
    outcome::Report,
    report::Block,
};

/// The name of the page that contains everything.
pub const PAGE: &str = "report.html";

/// A file of a report.
#[derive(Clone, Debug)]
pub struct File {
    /// The name.
    pub name: String,
    /// The contents.
    pub bytes: Vec<u8>,
}

impl Report {
    /// Returns a .csv file per table, an .svg file per figure, and last the [page](PAGE), which shows how it was
    /// `made`.
    ///
    /// # Errors
    /// [`Failure::File`] if a table cannot be written as .csv.
    pub fn files(&self, made: &str) -> Result<Vec<File>, Failure> {
        let mut files = Vec::new();
        let sections = self.parts.iter().filter_map(|part| part.section());
        for block in sections.flat_map(|section| &section.blocks) {
            match block {
                Block::Table(table) | Block::Folded(table) => {
                    let name = format!("{}.csv", table.name);
                    let bytes = table.csv();
                    let bytes = bytes.map_err(|error| Failure::file(Path::new(&name), error.to_string()))?;
                    files.push(File { name, bytes });
                }
                Block::Figure(figure) => {
                    let bytes = figure.svg.clone().into_bytes();
                    files.push(File { name: format!("{}.svg", figure.name), bytes });
                }
                Block::Text(_) | Block::Gallery(_) | Block::FoldedGallery(_) => {}
            }
        }
        let page = html::render(&Page { made: made.to_owned(), parts: self.parts.iter().collect() });
        files.push(File { name: PAGE.to_owned(), bytes: page.into_bytes() });
        Ok(files)
    }
}

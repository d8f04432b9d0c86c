//! Comma-separated tables with quoted fields.

use std::path::Path;

/// A table with records by position and columns by name.
pub struct Table {
    names: Vec<String>,
    records: Vec<Vec<String>>,
}

impl Table {
    pub fn read(path: &Path) -> Self {
        let mut records = parse(&std::fs::read_to_string(path).unwrap());
        let names = records.remove(0);
        assert!(records.iter().all(|record| record.len() == names.len()), "{}", path.display());
        Self { names, records }
    }

    /// Returns all values of the named column.
    pub fn column(&self, name: &str) -> Vec<&str> {
        let at = self.names.iter().position(|known| known == name).unwrap();
        self.records.iter().map(|record| &*record[at]).collect()
    }
}

/// Parses records of fields. Inside quotes, a quote is doubled, and commas and line ends are text.
fn parse(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            '\r' if !quoted => {}
            c => field.push(c),
        }
    }
    records
}

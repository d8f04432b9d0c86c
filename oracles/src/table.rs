//! Comma-separated tables with quoted fields.

use std::path::Path;

/// Records by position, columns by name.
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

    /// All values of a column.
    pub fn column(&self, name: &str) -> Vec<&str> {
        let at = self.names.iter().position(|known| known == name).unwrap();
        self.records.iter().map(|record| &*record[at]).collect()
    }
}

/// A quote inside quotes is doubled; commas and line ends inside quotes are text.
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

//! The lines of a .csv file on which its records begin.

use std::{
    collections::VecDeque,
    io::{self, Read},
};

/// The first line of a record, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) line: u64,
    /// A blank line right before the record. The reader of records skips it without a word.
    pub(super) blank: Option<u64>,
}

/// The place of the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    LineStart,
    CellStart,
    Cell,
    Quoted,
    /// Behind a quotation mark in a quoted cell: its end, or the first of two.
    Quote,
}

/// Passes the bytes of a file on, and notes where records begin. Lines end in \n, \r\n or \r.
#[derive(Debug)]
pub(super) struct Lines<R> {
    source: R,
    place: Place,
    line: u64,
    after_return: bool,
    blank: Option<u64>,
    at_start: bool,
    /// The records that are read ahead.
    starts: VecDeque<Start>,
}

impl<R> Lines<R> {
    pub(super) fn new(source: R) -> Self {
        let (place, starts) = (Place::LineStart, VecDeque::new());
        Self { source, place, line: 1, after_return: false, blank: None, at_start: true, starts }
    }

    /// The start of the next record.
    pub(super) fn next_start(&mut self) -> Option<Start> {
        self.starts.pop_front()
    }

    fn follow(&mut self, byte: u8) {
        let second_of_two = std::mem::replace(&mut self.after_return, byte == b'\r') && byte == b'\n';
        let ends_line = matches!(byte, b'\n' | b'\r') && !second_of_two;
        if self.place == Place::Quoted {
            self.place = if byte == b'"' { Place::Quote } else { Place::Quoted };
        } else if ends_line {
            if self.place == Place::LineStart {
                self.blank = self.blank.or(Some(self.line));
            }
            self.place = Place::LineStart;
        } else if !second_of_two {
            if self.place == Place::LineStart {
                self.starts.push_back(Start { line: self.line, blank: self.blank.take() });
            }
            self.place = match (self.place, byte) {
                (_, b',') => Place::CellStart,
                (Place::LineStart | Place::CellStart | Place::Quote, b'"') => Place::Quoted,
                _ => Place::Cell,
            };
        }
        self.line += u64::from(ends_line);
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        let read = &buffer[..count];
        // A byte order mark is no part of the first cell.
        let read = if self.at_start { read.strip_prefix(b"\xef\xbb\xbf").unwrap_or(read) } else { read };
        self.at_start &= count == 0;
        read.iter().for_each(|&byte| self.follow(byte));
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines at which records begin, and blank lines before them.
    fn starts(text: &str) -> Vec<(u64, Option<u64>)> {
        let mut lines = Lines::new(text.as_bytes());
        io::copy(&mut lines, &mut io::sink()).unwrap();
        std::iter::from_fn(|| lines.next_start()).map(|start| (start.line, start.blank)).collect()
    }

    #[test]
    fn lines_end_in_three_ways() {
        for end in ["\n", "\r\n", "\r"] {
            let text = |text: &str| text.replace('|', end);
            assert_eq!(starts(&text("a|b|c|")), [(1, None), (2, None), (3, None)]);
            assert_eq!(starts(&text("a|||b||")), [(1, None), (4, Some(2))]);
            assert_eq!(starts(&text("|a")), [(2, Some(1))]);
            assert_eq!(starts(&text("\"a||b\",\"\"\"|\"|c")), [(1, None), (5, None)]);
            assert_eq!(starts(&text("5\" pipe,a\"|b")), [(1, None), (2, None)]);
            assert_eq!(starts(&text("\u{feff}\"a|\"|b")), [(1, None), (3, None)]);
        }
    }
}

//! All that is written to standard output and standard error, or what stands in for them.

#[cfg(feature = "gpu")]
pub(crate) mod bench;
pub(crate) mod counts;
#[cfg(feature = "gpu")]
pub(crate) mod devices;
pub(crate) mod infer;
pub(crate) mod map;
mod numbers;
pub(crate) mod plan;
pub(crate) mod sample;
pub(crate) mod table;

use std::io::{self, BufWriter, Write};

use partition_dpp::{Partition, Subset};
use serde::Serialize;

use crate::{arguments::ConditionArguments, failure::Failure, input::Input, law::Law};

/// What was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    /// The items.
    pub(crate) input: &'a Input,
    /// The law over their subsets.
    pub(crate) law: &'a Law<'a>,
    /// Items that are settled.
    pub(crate) conditions: &'a ConditionArguments,
}

impl Question<'_> {
    /// In words, one or two lines.
    fn describe(&self) -> String {
        let features = &self.input.features;
        let (items, rows, dims) = (self.input.items(), features.items(), features.dims());
        let copies =
            self.input.copies.as_ref().map_or(String::new(), |_| format!(", one copy per label ({rows}),"));
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let source = format!("{items} item{}{copies} of {dims} dimension{}", plural(items), plural(dims));
        let law = format!("law       {}, from {source}\n", self.law);
        let ConditionArguments { include, exclude } = self.conditions;
        match (&include[..], &exclude[..]) {
            ([], []) => law,
            (include, []) => format!("{law}given     {} in\n", list(include)),
            ([], exclude) => format!("{law}given     {} out\n", list(exclude)),
            (include, exclude) => format!("{law}given     {} in; {} out\n", list(include), list(exclude)),
        }
    }

    /// The items of a set of rows, in words.
    fn items(&self, rows: &Subset) -> String {
        join(self.input.items_of(rows).iter())
    }

    /// The items of those rows that are in a part.
    fn items_in_part(&self, rows: &Subset, partition: &Partition, part: usize) -> String {
        let rows = rows.iter().filter(|&row| partition.part_of(row) == part);
        join(rows.map(|row| self.input.item_of(row)))
    }
}

fn join(items: impl Iterator<Item = impl ToString>) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}

/// Items by index, the first ten of many.
fn list(items: &[usize]) -> String {
    const MOST: usize = 10;
    let noun = if items.len() == 1 { "item" } else { "items" };
    let more = if items.len() > MOST { format!(" … ({} in all)", items.len()) } else { String::new() };
    format!("{noun} {}{more}", join(items.iter().take(MOST)))
}

/// Writes one object on one line.
fn print_json(out: &mut dyn Write, answer: &impl Serialize) -> Result<(), Failure> {
    written(out, |out| {
        serde_json::to_writer(&mut *out, answer)?;
        out.write_all(b"\n")
    })
}

/// Writes text. A reader who has seen enough (`| head`) is no failure.
pub(crate) fn print(out: &mut dyn Write, text: &str) -> Result<(), Failure> {
    written(out, |out| out.write_all(text.as_bytes()))
}

fn written(out: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(out);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Writes one line on what is wrong, whatever the message holds.
pub(crate) fn report_failure(failure: &Failure, messages: &mut dyn Write) {
    let message: String = failure.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // Nobody is left to tell if standard error is closed.
    let _ = writeln!(messages, "error: {message}");
}

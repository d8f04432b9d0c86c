//! The question, in words.

use std::borrow::Cow;

use partition_dpp::{Partition, Subset};

use super::LawRequest;
use crate::input::{Conditions, Input};

/// The question that a command answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    pub(crate) input: &'a Input,
    pub(crate) law: &'a LawRequest,
    pub(crate) conditions: &'a Conditions,
}

impl Question<'_> {
    /// In words, one or two lines.
    pub(crate) fn describe(&self) -> String {
        let (features, comparison) = (&self.input.features, &self.input.comparison);
        let (items, rows, dims) = (self.input.items(), features.items(), comparison.dims(features));
        let copies =
            self.input.copies.as_ref().map_or(String::new(), |_| format!(", one copy per label ({rows}),"));
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let source = format!("{items} item{}{copies} of {dims} dimension{}", plural(items), plural(dims));
        let kernel = match self.input.kernel() {
            kernel if kernel.is_approximate() => format!("kernel    {kernel}\n"),
            _ if comparison.is_of_pairs() => "kernel    exact, computed from pairs of items\n".into(),
            _ => String::new(),
        };
        let similarity = comparison.describe();
        let scores = self
            .input
            .scored
            .as_ref()
            .map_or(String::new(), |scored| format!(", scores at diversity {}", scored.diversity));
        let law = format!("law       {}, from {source}{similarity}{scores}\n{kernel}", self.law);
        let Conditions { include, exclude } = self.conditions;
        match (&include[..], &exclude[..]) {
            ([], []) => law,
            (include, []) => format!("{law}given     {} in\n", list(include)),
            ([], exclude) => format!("{law}given     {} out\n", list(exclude)),
            (include, exclude) => format!("{law}given     {} in; {} out\n", list(include), list(exclude)),
        }
    }

    /// The items of rows, in words.
    pub(crate) fn items(&self, rows: &Subset) -> String {
        self.named(self.input.items_of(rows).iter().copied())
    }

    /// The items of a part, in words.
    pub(crate) fn items_in_part(&self, rows: &Subset, partition: &Partition, part: usize) -> String {
        let rows = rows.iter().filter(|&row| partition.part_of(row) == part);
        self.named(rows.map(|row| self.input.item_of(row)))
    }

    /// Items as tables show them; ids may have spaces, so semicolons stand between them.
    pub(crate) fn named(&self, items: impl Iterator<Item = usize>) -> String {
        let shown: Vec<Cow<'_, str>> = items.map(|item| self.input.shown(item)).collect();
        let has_spaces = shown.iter().any(|name| name.contains(' '));
        shown.join(if has_spaces { "; " } else { " " })
    }
}

/// Items by index, the first ten of many.
fn list(items: &[usize]) -> String {
    const MOST: usize = 10;
    let noun = if items.len() == 1 { "item" } else { "items" };
    let more = if items.len() > MOST { format!(" … ({} in all)", items.len()) } else { String::new() };
    let listed: Vec<String> = items.iter().take(MOST).map(usize::to_string).collect();
    format!("{noun} {}{more}", listed.join(" "))
}

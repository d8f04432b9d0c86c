//! The alias tables of parts, one after another, and the parts that picks are from.

use super::{proposals::impossible, words};
use crate::{
    Result,
    engine::proposals::{Found, Proposal, Verdict, alias::AliasTable},
};

/// The part of every pick.
#[derive(Debug)]
pub(super) struct PartTrials {
    /// First position, entries, shares of an entry and number of the part of every pick.
    pub(super) picks: Vec<[u32; 4]>,
}

impl PartTrials {
    /// With shares of its own, and alias, of every position of a part and of its null entry.
    pub(super) fn new(tables: &[&AliasTable], picks: &[usize]) -> (Self, Vec<u32>) {
        let (mut entries, mut parts, mut start) = (Vec::new(), Vec::new(), 0);
        for (number, table) in tables.iter().enumerate() {
            let (own, capacity) = table.entries();
            entries.extend(own);
            parts.push([start, words(table.len() + 1), capacity, words(number)]);
            start += words(table.len());
        }
        (Self { picks: picks.iter().map(|&part| parts[part]).collect() }, entries)
    }

    /// What was found, if every pick is of its part.
    ///
    /// # Errors
    /// [`DeviceProblem::Refused`](crate::error::DeviceProblem).
    pub(super) fn checked(&self, found: Found) -> Result<Found> {
        let is_of_its_part = |(position, &[start, length, ..]): (&u32, &[u32; 4])| {
            (start..start + length - 1).contains(position)
        };
        let is_possible = |proposal: &Proposal| match &proposal.verdict {
            Verdict::Accepted(positions) => positions.iter().zip(&self.picks).all(is_of_its_part),
            Verdict::Undecided => true,
        };
        if found.all(is_possible) { Ok(found) } else { Err(impossible()) }
    }
}

//! The alias tables of parts, one after another, and the part of every pick.

use super::{proposals::impossible, words};
use crate::{
    Result,
    engine::proposals::{Found, Proposal, Verdict, alias::AliasTable},
};

/// The part of every pick.
#[derive(Debug)]
pub(super) struct PartTrials {
    /// The part's first position, number of entries, shares per entry and number, for every pick.
    pub(super) picks: Vec<[u32; 4]>,
}

impl PartTrials {
    /// Creates the trials. The words are each entry's own shares and alias, for every position of a part and its null
    /// entry.
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

    /// Returns what was found, after checking that every pick is from its part.
    ///
    /// # Errors
    /// [`DeviceProblem::Refused`](crate::error::DeviceProblem) if a pick is not from its part.
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

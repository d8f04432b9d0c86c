//! Batches of proposals: from a projection DPP, item after item, or of independent items. Their random numbers are
//! functions of the proposal's number.
//!
//! A device that makes them is only an accelerator: it returns what the host would find in f64 for the same numbers,
//! and leaves any decision that rounding puts in doubt to the host.

pub(crate) mod alias;
mod philox;
mod sweep;
mod words;

use std::fmt;

pub(crate) use philox::random_words;
pub(crate) use words::{Coin, NUMBERED_TRIALS, Stream, Trial};

use self::alias::AliasTable;
use crate::{Features, Result, parallel::map_in_tasks};

/// A device that can make proposals.
pub trait ProposalDevice: fmt::Debug + Send + Sync {
    /// Whether the device can make proposals of this shape.
    fn takes(&self, shape: &ProposalShape) -> bool;

    /// Uploads the tables of proposals.
    ///
    /// # Errors
    /// Errors of the device.
    fn prepare(&self, tables: &ProposalTables<'_>) -> Result<Box<dyn Proposer>>;

    /// Whether the device can make sequential draws of this shape.
    fn takes_sequential(&self, shape: &ProposalShape) -> bool;

    /// Uploads the tables of sequential draws.
    ///
    /// # Errors
    /// Errors of the device.
    fn prepare_sequential(&self, tables: &SequentialTables<'_>) -> Result<Box<dyn Proposer>>;

    /// Whether the device can make proposals of independent items of this shape.
    fn takes_items(&self, shape: &ProposalShape) -> bool;

    /// Uploads the tables of independent items.
    ///
    /// # Errors
    /// Errors of the device.
    fn prepare_items(&self, tables: &ItemTables<'_>) -> Result<Box<dyn Proposer>>;
}

/// Tables on a device, and the proposals made from them.
pub trait Proposer: fmt::Debug + Send + Sync {
    /// Makes the proposals of a wave, in one submission and one wait unless a driver needs a break.
    ///
    /// # Errors
    /// Errors of the device.
    fn propose(&self, wave: &Wave) -> Result<Found>;

    /// Maximum number of proposals per wave: about a second of work for the slowest device, which cannot be
    /// interrupted.
    fn most(&self) -> u32;
}

/// The size of proposals and of their tables.
#[derive(Clone, Copy, Debug)]
pub struct ProposalShape {
    /// Number of items that may be tried.
    pub(crate) items: usize,
    /// Number of eigenvectors, or of values per row, r.
    pub(crate) rank: usize,
    /// Number of items picked and of eigenvectors chosen, k.
    pub(crate) size: usize,
    /// Number of parts with a limit, or with picks.
    pub(crate) parts: usize,
    /// Maximum average number of trials per proposal.
    pub(crate) expected_trials: f64,
}

/// The tables of proposals from a projection DPP.
pub struct ProposalTables<'t> {
    pub(crate) shape: ProposalShape,
    /// The table of items to try, by position.
    pub(crate) trials: &'t AliasTable,
    /// ⌊2³² Pr(take eigenvector j | c are still wanted)⌋ for c = 1 … k, by eigenvector.
    pub(crate) coins: &'t [u32],
    /// The position at which every part begins, ascending, and the maximum number of its items.
    pub(crate) parts: &'t [[u32; 2]],
    /// Writes the row at a position in coordinates of all eigenvectors. Its length is at most 1.
    pub(crate) unit_row: &'t (dyn Fn(u32, &mut [f64]) + Sync),
}

impl fmt::Debug for ProposalTables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProposalTables").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// The tables of sequential draws.
///
/// A draw picks from one part after another, in proportion to ‖P v_i‖², and is kept with probability
///
/// ```text
/// min(1, det(QᵀBQ) Π (f tr(P Ĝ_l) / tr Ĝ_l))
/// ```
pub struct SequentialTables<'t> {
    pub(crate) shape: ProposalShape,
    /// The table of items of every part, by position, in proportion to ‖v_i‖².
    pub(crate) trials: &'t [&'t AliasTable],
    /// The part of every pick.
    pub(crate) picks: &'t [usize],
    /// Ĝ_l / tr Ĝ_l, column by column.
    pub(crate) grams: &'t [Vec<f64>],
    /// √β_j, the square roots of the eigenvalues of B, all at least 1.
    pub(crate) roots: &'t [f64],
    /// The factor f.
    pub(crate) factor: f64,
    /// Writes the row at a position, counted over all parts: v_i over the root of its weight in `trials`. Its length
    /// is at most 1.
    pub(crate) unit_row: &'t (dyn Fn(u32, &mut [f64]) + Sync),
}

impl fmt::Debug for SequentialTables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequentialTables").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// The tables of proposals of independent items.
///
/// A proposal picks an item from one part after another, in proportion to its weight in `trials`. It is kept with
/// probability det(M Mᵀ), where M has the rows f_i a_i of its items.
pub struct ItemTables<'t> {
    pub(crate) shape: ProposalShape,
    /// The rows a_i, r values each.
    pub(crate) features: &'t Features,
    /// The table of items of every part, by position.
    pub(crate) trials: &'t [&'t AliasTable],
    /// The part of every pick.
    pub(crate) picks: &'t [usize],
    /// f_i at every position, counted over all parts.
    pub(crate) factors: &'t [f64],
}

impl fmt::Debug for ItemTables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemTables").field("shape", &self.shape).finish_non_exhaustive()
    }
}

/// A range of proposals to make.
#[derive(Clone, Copy, Debug)]
pub struct Wave {
    /// The random numbers of the proposals.
    pub(crate) stream: Stream,
    /// The number of the first proposal.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Maximum number of proposals expected to be accepted or undecided.
    pub(crate) expected: u32,
}

/// The outcome of a wave: proposals that are not listed were rejected.
#[derive(Debug, Default)]
pub struct Found {
    /// The proposals, in ascending order of their numbers.
    pub(crate) proposals: Vec<Proposal>,
}

impl Found {
    /// Whether `is_true` holds for all proposals.
    pub(crate) fn all(&self, is_true: impl Fn(&Proposal) -> bool + Sync + Send) -> bool {
        map_in_tasks(self.proposals.len(), |at| is_true(&self.proposals[at]))
            .into_iter()
            .all(|is_true| is_true)
    }

    /// Whether this is a possible outcome of the wave.
    pub(crate) fn answers(&self, wave: &Wave, shape: &ProposalShape) -> bool {
        let numbers = || self.proposals.iter().map(|proposal| proposal.number);
        numbers().all(|number| (wave.first..wave.first + wave.count).contains(&number))
            && numbers().zip(numbers().skip(1)).all(|(number, next)| number < next)
            && self.all(|proposal| proposal.verdict.is_possible(shape))
    }
}

/// A proposal that is not rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    pub(crate) number: u32,
    pub(crate) verdict: Verdict,
}

/// A device's decision on one proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Accepted, with the items at these positions in the order of picks.
    Accepted(Vec<u32>),
    /// A decision was within the device's rounding error, or the proposal took too long.
    Undecided,
}

impl Verdict {
    /// Whether the items have the required number, exist, and are distinct.
    fn is_possible(&self, shape: &ProposalShape) -> bool {
        let Self::Accepted(positions) = self else { return true };
        let exists = |&position: &u32| (position as usize) < shape.items;
        let is_new = |at: usize| !positions[..at].contains(&positions[at]);
        positions.len() == shape.size && positions.iter().all(exists) && (0..positions.len()).all(is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_answers_are_noticed() {
        let stream = Stream { seed: 1, block: 0 };
        let wave = Wave { stream, first: 10, count: 5, expected: 5 };
        let shape = ProposalShape { items: 7, rank: 3, size: 2, parts: 1, expected_trials: 4.0 };
        let accepted = |number: u32, positions: &[u32]| Proposal {
            number,
            verdict: Verdict::Accepted(positions.to_vec()),
        };
        let undecided = |number: u32| Proposal { number, verdict: Verdict::Undecided };
        let answers = |proposals: Vec<Proposal>| Found { proposals }.answers(&wave, &shape);
        assert!(answers(Vec::new()));
        assert!(answers(vec![undecided(10), accepted(12, &[6, 0]), undecided(14)]));
        assert!(!answers(vec![undecided(9)]));
        assert!(!answers(vec![undecided(15)]));
        assert!(!answers(vec![undecided(12), undecided(12)]));
        assert!(!answers(vec![undecided(13), undecided(12)]));
        assert!(!answers(vec![accepted(12, &[7, 0])]));
        assert!(!answers(vec![accepted(12, &[3, 3])]));
        assert!(!answers(vec![accepted(12, &[3])]));
    }
}

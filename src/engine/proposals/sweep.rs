//! The entries of an alias table, filled in one sweep that is cut into blocks.

use std::ops::Range;

use super::alias::Entry;
use crate::parallel::map_ordered;

/// Entries to fill, which begin with shares of their own, on average as many as each holds.
///
/// From left to right a heavy entry, which has too many, fills light ones until it fits, and the next heavy one fills
/// what it lacks then. Let D(i) be what the light entries before i lack, and E(h) what the heavy ones up to h have too
/// much. Then
///
/// - light i is filled by the first heavy h with E(h) > D(i);
/// - heavy h keeps C + E(h) − D(i), for the capacity C and the first i with D(i) ≥ E(h), and the next heavy one fills it.
///
/// With these sums at their beginnings, blocks are filled in any order, each in one pass over it and over its partners.
///
/// # Source
/// Hübschle-Schneider and Sanders, *Parallel weighted random sampling* (2022), §4.2 and §4.3.
pub(super) struct Sweep<'s> {
    /// The shares that every entry begins with.
    own: &'s [u64],
    capacity: u64,
    /// A block has two to this power entries.
    log_block: u32,
    /// Before every block, and at the end.
    sums: Vec<Sums>,
}

/// What the light entries so far lack and the heavy ones have too much.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    lack: u64,
    excess: u64,
}

impl<'s> Sweep<'s> {
    pub(super) fn new(own: &'s [u64], capacity: u64, log_block: u32) -> Self {
        let mut sweep = Self { own, capacity, log_block, sums: vec![Sums::default()] };
        let own = map_ordered(own.len().div_ceil(1 << log_block), |block| Sums {
            lack: sweep.range(block).map(|at| sweep.lack(at)).sum(),
            excess: sweep.range(block).map(|at| sweep.excess(at)).sum(),
        });
        sweep.sums.extend(own.iter().scan(Sums::default(), |sums, own| {
            (sums.lack, sums.excess) = (sums.lack + own.lack, sums.excess + own.excess);
            Some(*sums)
        }));
        sweep
    }

    fn lack(&self, at: usize) -> u64 {
        self.capacity.saturating_sub(self.own[at])
    }

    fn excess(&self, at: usize) -> u64 {
        self.own[at].saturating_sub(self.capacity)
    }

    fn range(&self, block: usize) -> Range<usize> {
        block << self.log_block..self.own.len().min((block + 1) << self.log_block)
    }

    /// Fills the entries of a block.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an entry holds about 2³⁰ shares, items are counted in 32 bits"
    )]
    pub(super) fn fill(&self, block: usize, entries: &mut [Entry]) {
        let (range, Sums { lack: mut lacking, mut excess }) = (self.range(block), self.sums[block]);
        let (mut donors, mut receivers) = (Donors::new(self, lacking), Receivers::new(self, excess));
        let (start, mut last) = (range.start, None);
        for at in range.clone() {
            let own = self.own[at];
            let (kept, alias) = if own <= self.capacity {
                // Without a donor the entry is full.
                let donor = donors.beyond(lacking).unwrap_or(at);
                lacking += self.lack(at);
                (own, donor)
            } else {
                excess += self.excess(at);
                if let Some(heavy) = last.replace(at - start) {
                    entries[heavy].alias = at as u32;
                }
                (self.capacity - (receivers.up_to(excess) - excess), at)
            };
            (entries[at - start].own, entries[at - start].alias) = (kept as u32, alias as u32);
        }
        if let (Some(heavy), Some(next)) = (last, self.heavy(range.end)) {
            entries[heavy].alias = next as u32;
        }
    }

    /// The next heavy entry.
    fn heavy(&self, from: usize) -> Option<usize> {
        let block = from >> self.log_block;
        let find = |range: Range<usize>| {
            Some(range.start + self.own.get(range)?.iter().position(|own| *own > self.capacity)?)
        };
        find(from..self.range(block).end).or_else(|| {
            let passed = self.sums.get(block + 1)?.excess;
            find(self.range(self.sums.partition_point(|sums| sums.excess <= passed) - 1))
        })
    }
}

/// The heavy entries from one on.
struct Donors<'s> {
    sweep: &'s Sweep<'s>,
    /// The entry, if any is left.
    at: Option<usize>,
    /// What the heavy entries up to this one have too much.
    excess: u64,
}

impl<'s> Donors<'s> {
    /// From the first block on that has one with E > D.
    fn new(sweep: &'s Sweep<'s>, lacking: u64) -> Self {
        let block = sweep.sums.partition_point(|sums| sums.excess <= lacking) - 1;
        let mut donors = Self { sweep, at: None, excess: sweep.sums[block].excess };
        donors.take(block << sweep.log_block);
        donors
    }

    fn take(&mut self, from: usize) {
        self.at = self.sweep.heavy(from);
        self.excess += self.at.map_or(0, |at| self.sweep.excess(at));
    }

    /// The first with E > D.
    fn beyond(&mut self, lacking: u64) -> Option<usize> {
        while let Some(at) = self.at
            && self.excess <= lacking
        {
            self.take(at + 1);
        }
        self.at
    }
}

/// The light entries from one on.
struct Receivers<'s> {
    sweep: &'s Sweep<'s>,
    at: usize,
    /// What the light entries before this one lack.
    lacking: u64,
}

impl<'s> Receivers<'s> {
    /// From the last block on that begins with D ≤ E.
    fn new(sweep: &'s Sweep<'s>, excess: u64) -> Self {
        let block = sweep.sums.partition_point(|sums| sums.lack <= excess) - 1;
        Self { sweep, at: block << sweep.log_block, lacking: sweep.sums[block].lack }
    }

    /// The least D ≥ E.
    fn up_to(&mut self, excess: u64) -> u64 {
        while self.lacking < excess {
            // Whole blocks are passed at once.
            if self.at.trailing_zeros() >= self.sweep.log_block {
                *self = Self::new(self.sweep, excess - 1);
            }
            self.lacking += self.sweep.lack(self.at);
            self.at += 1;
        }
        self.lacking
    }
}

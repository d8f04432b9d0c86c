//! The entries of an alias table, filled in one sweep that is cut into blocks.

use std::ops::Range;

use super::alias::Entry;
use crate::parallel::map_ordered;

/// The entries to fill. Each begins with its own shares, on average as many as an entry holds.
///
/// From left to right, a heavy entry, whose shares exceed the capacity, fills light ones until it fits. The next
/// heavy entry then fills what it lacks. Let D(i) be the total that the light entries before i lack, and E(h) the
/// total excess of the heavy entries up to h. Then
///
/// - light i is filled by the first heavy h with E(h) > D(i);
/// - heavy h keeps C + E(h) − D(i), where C is the capacity and i is the first with D(i) ≥ E(h), and the next heavy
///   entry fills it.
///
/// With both sums known at the start of every block, blocks can be filled in any order, each in one pass over the
/// block and its partners.
///
/// # Source
/// Hübschle-Schneider and Sanders, *Parallel weighted random sampling* (2022), §4.2 and §4.3.
pub(super) struct Sweep<'s> {
    /// The shares that every entry begins with.
    own: &'s [u64],
    capacity: u64,
    /// Binary logarithm of the number of entries per block.
    log_block: u32,
    /// The sums before every block, and at the end.
    sums: Vec<Sums>,
}

/// The total that the light entries so far lack, and the total excess of the heavy ones.
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
                // Without a donor, the entry is full.
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

    /// Returns the first heavy entry at or after `from`.
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

/// A cursor over the heavy entries.
struct Donors<'s> {
    sweep: &'s Sweep<'s>,
    /// The current entry, if any is left.
    at: Option<usize>,
    /// The total excess of the heavy entries up to this one.
    excess: u64,
}

impl<'s> Donors<'s> {
    /// Starts at the first block that has an entry with E > D.
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

    /// Returns the first entry with E > D.
    fn beyond(&mut self, lacking: u64) -> Option<usize> {
        while let Some(at) = self.at
            && self.excess <= lacking
        {
            self.take(at + 1);
        }
        self.at
    }
}

/// A cursor over the light entries.
struct Receivers<'s> {
    sweep: &'s Sweep<'s>,
    at: usize,
    /// The total that the light entries before this one lack.
    lacking: u64,
}

impl<'s> Receivers<'s> {
    /// Starts at the last block that begins with D ≤ E.
    fn new(sweep: &'s Sweep<'s>, excess: u64) -> Self {
        let block = sweep.sums.partition_point(|sums| sums.lack <= excess) - 1;
        Self { sweep, at: block << sweep.log_block, lacking: sweep.sums[block].lack }
    }

    /// Returns the least D ≥ E.
    fn up_to(&mut self, excess: u64) -> u64 {
        while self.lacking < excess {
            // Skips whole blocks at once.
            if self.at.trailing_zeros() >= self.sweep.log_block {
                *self = Self::new(self.sweep, excess - 1);
            }
            self.lacking += self.sweep.lack(self.at);
            self.at += 1;
        }
        self.lacking
    }
}

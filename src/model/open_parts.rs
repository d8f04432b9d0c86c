//! The choices left by a quota, conditions and ranks.

use super::{
    Counts, FreeItems, Left, OpenPart, PartitionDpp,
    feasibility::{self, Dependence, PartBasis, Violation},
};
use crate::{Error, Result, engine::Items};

impl PartitionDpp {
    /// The choices left, ignoring ranks.
    pub(super) fn left(&self) -> Result<Left> {
        Left::of_quota(&self.partition, &self.quota, self.ground.conditions())
    }

    /// Finds the choices left and narrows them; returns an error if they have probability zero.
    pub(super) fn find_open_parts(&mut self) -> Result<()> {
        let left = self.left()?;
        (self.total, self.parts) = (left.total, left.open());
        self.check_dims()?;
        let bases = self.checked_bases()?;
        let counts = self.counts();
        self.beyond_rank = self.mass_beyond(&counts);
        self.total = counts.total();
        let given = std::mem::take(&mut self.parts);
        let narrowed = given.into_iter().zip(bases).enumerate().filter_map(|(at, (part, basis))| {
            let (low, high) = (counts.low[at], counts.high[at]);
            // Rows that are zero, or lie in the span of the included rows, are never chosen.
            let real = || self.ground.exact_rank_beyond(part.items.iter()) > 0;
            (high > 0 && (!basis.is_empty() || real())).then_some(OpenPart { low, high, ..part })
        });
        self.parts = narrowed.collect();
        Ok(())
    }

    /// Narrows the ranges to the exact ranks of the parts and of the ground set, and drops parts with nothing left to
    /// choose.
    pub(crate) fn narrowed(mut self) -> Self {
        for part in &mut self.parts {
            let rank = self.ground.exact_rank_beyond(part.items.iter());
            part.high = part.high.min(rank).max(part.low);
        }
        let counts = self.counts();
        self.beyond_rank += self.mass_beyond(&counts);
        self.total = counts.total();
        let given = std::mem::take(&mut self.parts).into_iter().enumerate();
        let narrow = |(at, part): (usize, OpenPart)| {
            let (low, high) = (counts.low[at], counts.high[at]);
            (high > 0).then_some(OpenPart { low, high, ..part })
        };
        self.parts = given.filter_map(narrow).collect();
        self
    }

    /// An upper bound on the probability of sets that the ranges allow but the rank of a kernel's factor does not; 0
    /// if the total is fixed.
    fn mass_beyond(&self, narrowed: &Counts) -> f64 {
        if self.quota.total().is_some() {
            return 0.0;
        }
        let included = self.ground.conditions().included_by(&self.partition);
        let wanted =
            |part: &OpenPart| (self.quota.high()[part.part] - included[part.part]).min(part.items.len());
        let limited = self.parts.iter().zip(&narrowed.high).filter(|(part, high)| **high < wanted(part));
        self.ground.beyond_rank(limited.flat_map(|(part, _)| part.items.iter()))
    }

    /// The open groups with their smallest and largest counts, ignoring ranks.
    pub(crate) fn parts_of_any_rank(&self) -> (Vec<FreeItems>, Vec<usize>, Vec<usize>) {
        let parts = self.left().map(Left::open).unwrap_or_default();
        let groups = parts.iter().map(|part| part.items.clone()).collect();
        (groups, parts.iter().map(|part| part.low).collect(), parts.iter().map(|part| part.high).collect())
    }

    /// The total left beyond the included items, if the quota has a total.
    pub(crate) fn total_left(&self) -> Option<usize> {
        self.quota.total().map(|total| total - self.ground.included().len())
    }

    /// Rejects quotas for more items than there are dimensions, before any row is read.
    fn check_dims(&self) -> Result<()> {
        let (free, dims) = (self.least(), self.ground.dims_left());
        if free <= dims {
            return Ok(());
        }
        let included = self.ground.included().len();
        Err(Error::SizeAboveRank { k: free + included, rank: dims + included })
    }

    /// The number of free items in the smallest allowed sets.
    fn least(&self) -> usize {
        self.total.unwrap_or_else(|| self.parts.iter().map(|part| part.low).sum())
    }

    /// Checks the quota against ranks. Returns rows of every open part, at least one from each part with a nonzero
    /// row.
    fn checked_bases(&self) -> Result<Vec<PartBasis>> {
        if self.is_met_by_first_rows() {
            return Ok(self.bases_up_to(1));
        }
        let bases = self.bases();
        self.check_ranks(&bases)?;
        Ok(bases)
    }

    /// Whether the first rows make a set with the smallest counts, raised to the total.
    fn is_met_by_first_rows(&self) -> bool {
        let least = self.least();
        let mut more = least - self.parts.iter().map(|part| part.low).sum::<usize>();
        let counted = self.parts.iter().map(|part| {
            let added = more.min(part.high - part.low);
            more -= added;
            (Items::from(&part.items), part.low + added)
        });
        feasibility::has_independent_rows(&self.ground, counted)
    }

    /// Rows that span every open part, limited to the number that the smallest counts and the total need.
    fn bases(&self) -> Vec<PartBasis> {
        self.bases_up_to(self.least().max(1))
    }

    /// Rows that span every open part, at most `limit`.
    pub(crate) fn bases_up_to(&self, limit: usize) -> Vec<PartBasis> {
        let basis = |part: &OpenPart| feasibility::part_basis(&self.ground, Items::from(&part.items), limit);
        self.parts.iter().map(basis).collect()
    }

    /// Returns an error if no set with a positive determinant meets the ranges.
    ///
    /// Counts of independent sets form a polymatroid. So if the smallest counts can be met, raising them part by part
    /// attains the largest possible total: the rank of the parts that could not be raised, plus the upper ends of the
    /// others.
    fn check_ranks(&self, bases: &[PartBasis]) -> Result<()> {
        let dims = self.ground.dims_left();
        let mut counts: Vec<usize> = self.parts.iter().map(|part| part.low).collect();
        if let Err(violation) = feasibility::check(bases, &counts, dims) {
            let near = self.dependence == Dependence::Exact && !self.is_exact(&violation);
            // These parts are only nearly dependent, but another part may be too small in exact arithmetic.
            let other = if near { self.too_small_part() } else { Some(violation) };
            return other.map_or(Ok(()), |violation| Err(self.infeasible(violation)));
        }
        let Some(total) = self.total else { return Ok(()) };
        let mut stuck = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let left = total - counts.iter().sum::<usize>();
            let (mut possible, mut tried) = (part.low, part.high.min(part.low + left));
            let mut above = tried + 1;
            let mut violated = Vec::new();
            while possible + 1 < above {
                counts[at] = tried;
                match feasibility::check(bases, &counts, dims) {
                    Ok(()) => possible = tried,
                    Err(violation) => (above, violated) = (tried, violation.parts),
                }
                tried = possible.midpoint(above);
            }
            counts[at] = possible;
            stuck.append(&mut violated);
        }
        let rank: usize = counts.iter().sum();
        let near = || self.dependence == Dependence::Exact && self.largest_total(&stuck, &counts) >= total;
        if rank == total || near() {
            return Ok(());
        }
        let included = self.ground.included().len();
        Err(Error::SizeAboveRank { k: total + included, rank: rank + included })
    }

    /// The joint exact rank of these parts, plus the counts of all others.
    fn largest_total(&self, parts: &[usize], counts: &[usize]) -> usize {
        let (within, others): (Vec<usize>, Vec<usize>) =
            (0..self.parts.len()).partition(|at| parts.contains(at));
        let items = within.iter().flat_map(|&at| self.parts[at].items.iter());
        self.ground.exact_rank_beyond(items) + others.iter().map(|&at| counts[at]).sum::<usize>()
    }

    /// A single part whose exact rank is too small.
    fn too_small_part(&self) -> Option<Violation> {
        self.parts.iter().enumerate().find_map(|(at, part)| {
            let rank = self.ground.exact_rank_beyond(part.items.iter());
            (rank < part.low).then(|| Violation { parts: vec![at], rank, quota: part.low })
        })
    }

    /// Whether a violation holds in exact arithmetic.
    fn is_exact(&self, violation: &Violation) -> bool {
        let items = violation.parts.iter().flat_map(|&at| self.parts[at].items.iter());
        self.ground.exact_rank_beyond(items) < violation.quota
    }

    fn infeasible(&self, violation: Violation) -> Error {
        violation.into_error(&self.ground, |at| self.partition.names()[self.parts[at].part].clone())
    }
}

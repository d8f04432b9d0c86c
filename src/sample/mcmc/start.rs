//! Starts of chains: draws of the tilted k-DPP with repaired counts.

use rand::Rng;

use super::candidates::CandidateDistribution;
use crate::{
    PartitionDpp,
    engine::Items,
    linalg::OrthonormalBasis,
    model::{FreeItems, GroundSet, feasibility},
    polynomial::ConditionalBernoulli,
    sample::projection::{ProjectionDpp, Scratch},
};

/// Candidates that a part with too few items tries before items are replaced along augmenting paths.
const PATIENCE: usize = 100;

/// Draws starts; a start lists its items group after group.
#[derive(Debug)]
pub(super) struct Starts<'a> {
    pub(super) eigenvectors: ConditionalBernoulli,
    pub(super) projection: ProjectionDpp<'a>,
    ground: GroundSet<'a>,
    groups: Vec<FreeItems>,
    counts: Vec<usize>,
}

/// The items chosen so far by group, and the span of their rows and the included ones.
struct Partial {
    chosen: Vec<Vec<u32>>,
    span: OrthonormalBasis,
}

impl<'a> Starts<'a> {
    pub(super) fn new(
        dpp: &PartitionDpp<'a>,
        counts: Vec<usize>,
        eigenvectors: ConditionalBernoulli,
        projection: ProjectionDpp<'a>,
    ) -> Self {
        let ground = dpp.ground().clone();
        Self { eigenvectors, projection, ground, groups: dpp.groups(), counts }
    }

    /// A proposal of tilted rejection with repaired counts: surplus items of a part are left out, missing ones are drawn
    /// from its candidates, and if these are dependent, items are replaced along augmenting paths. `None` if rounding
    /// prevents it.
    pub(super) fn draw<R: Rng + ?Sized>(
        &self,
        candidates: &[CandidateDistribution],
        rng: &mut R,
    ) -> Option<Vec<u32>> {
        let mut partial = Partial { chosen: vec![Vec::new(); self.groups.len()], span: self.ground.span() };
        for item in self.proposal(rng) {
            let group = self.groups.iter().position(|group| group.contains(item as usize))?;
            self.add(&mut partial, group, item);
        }
        for (group, candidates) in candidates.iter().enumerate() {
            for _ in 0..PATIENCE {
                if partial.chosen[group].len() == self.counts[group] {
                    break;
                }
                self.add(&mut partial, group, candidates.draw(rng).item);
            }
        }
        if self.counts.iter().zip(&partial.chosen).any(|(&count, chosen)| chosen.len() < count) {
            return self.augmented(&partial.chosen);
        }
        Some(partial.chosen.concat())
    }

    /// A start that involves no chance: augmenting paths from the empty set.
    pub(super) fn certain(&self) -> Option<Vec<u32>> {
        self.augmented(&vec![Vec::new(); self.groups.len()])
    }

    /// Items of the tilted k-DPP, whatever their counts.
    fn proposal<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<u32> {
        let mut scratch = Scratch::default();
        self.eigenvectors.sample_into(rng, &mut scratch.chosen);
        self.projection.draw(rng, &mut scratch, |_| true).map_or_else(Vec::new, <[u32]>::to_vec)
    }

    /// Adds an item if its part has room and its row is independent of the chosen ones.
    fn add(&self, partial: &mut Partial, group: usize, item: u32) {
        if partial.chosen[group].len() == self.counts[group] {
            return;
        }
        let mut row = self.ground.features().row(item as usize);
        let unit = OrthonormalBasis::normalise(&mut row);
        if unit.and_then(|_| partial.span.extend(&row)).is_some() {
            partial.chosen[group].push(item);
        }
    }

    /// Replaces the items chosen so far along augmenting paths until the counts are met.
    fn augmented(&self, chosen: &[Vec<u32>]) -> Option<Vec<u32>> {
        let total = self.counts.iter().sum();
        let elements: Vec<Vec<(u32, Vec<f64>)>> = (self.groups.iter().zip(chosen))
            .map(|(group, chosen)| self.spanning(group, chosen, total))
            .collect();
        let bases: Vec<Vec<Vec<f64>>> =
            elements.iter().map(|elements| elements.iter().map(|(_, unit)| unit.clone()).collect()).collect();
        let chosen: Vec<usize> = chosen.iter().map(Vec::len).collect();
        let found = feasibility::complete(&bases, &chosen, &self.counts, self.ground.dims_left())?;
        let items = found.iter().zip(&elements);
        Some(items.flat_map(|(taken, elements)| taken.iter().map(|&at| elements[at].0)).collect())
    }

    /// The chosen items of a group, and others until they span what the group spans or as much as needed.
    fn spanning(&self, group: &FreeItems, chosen: &[u32], most: usize) -> Vec<(u32, Vec<f64>)> {
        let mut span = self.ground.span();
        let mut elements = Vec::new();
        let own = chosen.iter().map(|&item| item as usize);
        for item in own.chain(Items::from(group).iter()) {
            if elements.len() == most.min(self.ground.dims_left()) {
                break;
            }
            let mut row = self.ground.features().row(item);
            let unit = OrthonormalBasis::normalise(&mut row).and_then(|_| span.extend(&row));
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            let element = unit.and_then(|_| Some((item as u32, self.ground.unit_residual(&row)?)));
            elements.extend(element);
        }
        elements
    }
}

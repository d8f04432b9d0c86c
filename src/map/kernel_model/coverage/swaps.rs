//! Swaps that improve coverage, each made as soon as it is found.

use super::{
    super::{
        super::{Place, Stats, Termination, watch::Clock},
        KernelModel,
    },
    regions::{Effects, Regions},
};
use crate::Result;

/// The number of items that are compared with the chosen ones at a time.
const BLOCK: usize = 64;
/// Improvements below this fraction of the objective count as rounding.
const ROUNDING: f64 = 1e-12;

/// A move from a set to a neighbouring one.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// The index of the place that is left, if any.
    leaving: Option<usize>,
    entering: Option<Place>,
    /// The increase of the objective.
    gain: f64,
}

/// Items of one group and one region.
struct Block {
    group: usize,
    region: usize,
    positions: Vec<usize>,
    items: Vec<u32>,
}

/// Swaps items, and adds and removes some if the counts allow it, until nothing improves the set.
///
/// # Cost
/// Every round over all items costs the same as the first greedy pick.
pub(super) fn improve<'k>(
    model: &KernelModel<'k>,
    regions: &mut Regions<'_, 'k>,
    places: &mut Vec<Place>,
    clock: &Clock,
    stats: &mut Stats,
) -> Result<Termination> {
    let included = model.included().len();
    let blocks = blocks(model, regions);
    let mut set = Set { model, regions, places, included };
    let mut known = set.known();
    let (mut at, mut in_vain) = (0, 0);
    while in_vain < blocks.len() {
        clock.report(known.objective, None, stats.evaluations);
        if let Some(ended) = clock.ended() {
            return Ok(ended);
        }
        let block = &blocks[at];
        stats.evaluations += block.items.len() as u64;
        let effects = set.regions.effects(block.region, &block.items)?;
        match set.best(block, &effects, &known) {
            Some(found) if found.gain > ROUNDING * known.scale => {
                match (found.leaving, found.entering) {
                    (Some(_), Some(_)) => stats.swaps += 1,
                    _ => stats.resizes += 1,
                }
                set.make(found)?;
                let before = std::mem::replace(&mut known, set.known()).objective;
                // Rounding must not swap items back and forth.
                if known.objective <= before {
                    break;
                }
                in_vain = 0;
            }
            _ => in_vain += 1,
        }
        at = (at + 1) % blocks.len();
    }
    Ok(Termination::LocallyOptimal)
}

/// All items that can be chosen, in blocks.
fn blocks(model: &KernelModel<'_>, regions: &Regions<'_, '_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (group, items) in model.groups.iter().enumerate().filter(|(group, _)| model.counts.high[*group] > 0) {
        let mut sorted: Vec<(usize, usize)> =
            items.iter().enumerate().map(|(position, &item)| (regions.of(item), position)).collect();
        sorted.sort_unstable();
        for of_region in sorted.chunk_by(|one, other| one.0 == other.0) {
            blocks.extend(of_region.chunks(BLOCK).map(|block| {
                let positions: Vec<usize> = block.iter().map(|(_, position)| *position).collect();
                let items = positions.iter().map(|&position| items[position]).collect();
                Block { group, region: block[0].0, positions, items }
            }));
        }
    }
    blocks
}

struct Set<'s, 'm, 'k> {
    model: &'s KernelModel<'k>,
    /// The included items are in the first slots, the items of `places` in the next ones.
    regions: &'s mut Regions<'m, 'k>,
    places: &'s mut Vec<Place>,
    included: usize,
}

/// The numbers of a set from which moves are evaluated.
struct Known {
    /// The contribution of every place to the objective.
    worths: Vec<f64>,
    counts: Vec<usize>,
    objective: f64,
    /// The magnitude of the numbers that the objective adds up.
    scale: f64,
}

impl Set<'_, '_, '_> {
    fn weight(&self, place: Place) -> f64 {
        self.model.log_square(self.model.item(place))
    }

    fn known(&self) -> Known {
        let weights: Vec<f64> = self.places.iter().map(|&place| self.weight(place)).collect();
        let (total, losses) = (self.regions.total(), self.regions.losses());
        Known {
            worths: losses[self.included..]
                .iter()
                .zip(&weights)
                .map(|(loss, weight)| loss + weight)
                .collect(),
            counts: self.model.counts_of(self.places),
            objective: total + weights.iter().sum::<f64>(),
            scale: total + weights.iter().map(|weight| weight.abs()).sum::<f64>(),
        }
    }

    /// The best move that adds an item of a block, or only removes one.
    fn best(&self, block: &Block, effects: &Effects, known: &Known) -> Option<Move> {
        let (counts, allowed) = (&known.counts, &self.model.counts);
        let mut best: Option<Move> = None;
        let mut offer = |leaving: Option<usize>, entering: Option<Place>, gain: f64| {
            if best.is_none_or(|best| gain > best.gain) {
                best = Some(Move { leaving, entering, gain });
            }
        };
        let leaves = |group: Option<usize>| {
            let of = move |&at: &usize| allowed.allow_move(counts, Some(self.places[at].group), group);
            (0..self.places.len()).filter(of).collect::<Vec<usize>>()
        };
        leaves(None).into_iter().for_each(|at| offer(Some(at), None, -known.worths[at]));
        let (grows, leaving) =
            (allowed.allow_move(counts, None, Some(block.group)), leaves(Some(block.group)));
        for (index, &position) in block.positions.iter().enumerate() {
            let place = Place { group: block.group, position };
            if self.places.contains(&place) {
                continue;
            }
            let gain = effects.gains[index] + self.weight(place);
            if grows {
                offer(None, Some(place), gain);
            }
            for &at in &leaving {
                let loss = known.worths[at] - effects.prevented(index, self.included + at);
                offer(Some(at), Some(place), gain - loss);
            }
        }
        best
    }

    fn make(&mut self, found: Move) -> Result<()> {
        let item = |place: Place| self.model.groups[place.group][place.position];
        match (found.leaving, found.entering) {
            (Some(at), Some(place)) => {
                self.regions.take(self.included + at)?;
                self.regions.put(self.included + at, item(place))?;
                self.places[at] = place;
            }
            (Some(at), None) => {
                let last = self.places.len() - 1;
                self.regions.take(self.included + at)?;
                if at != last {
                    self.regions.take(self.included + last)?;
                    self.regions.put(self.included + at, item(self.places[last]))?;
                }
                self.regions.forget_last();
                self.places.swap_remove(at);
            }
            (None, Some(place)) => {
                self.regions.insert(item(place))?;
                self.places.push(place);
            }
            (None, None) => {}
        }
        Ok(())
    }
}

//! Exchanges of one item each of two or three parts, for sets that no swap of one item improves.

use std::collections::HashSet;

use super::{
    SearchSpace,
    chosen::Chosen,
    entering::{Entering, Found, Leaving},
};
use crate::{
    Result,
    engine::{self, Engine, Group, LeavingPairs, RowMap, Rows},
    map::{Place, Stats, watch::Clock},
    parallel::map_ordered,
};

/// The number of combinations of entering items that may be compared in total, over all leaving ones.
const BUDGET: usize = 1 << 22;
/// The least number of entering items of each part that are considered for a choice of leaving ones.
const SHORTEST: usize = 8;
/// The number of operations up to which the host computes C for exchanges of three parts: 2mnk.
const MOST_OPERATIONS: u64 = 1 << 32;
/// The number of entries of C that exchanges of three parts may read.
const MOST_READ: usize = 1 << 26;
/// The number of edges (part of the entering item, leaving item) from which cycles begin.
const EDGES: usize = 1 << 12;

/// Leaving items: group and slot of each.
pub(super) type Slots<const N: usize> = [(usize, usize); N];

/// Returns the set after the best exchange of two parts or, if none improves it, after the best one of three.
///
/// ```text
/// det K_{S − I + J} / det K_S = det M_II · det E,   |I| = |J| = 2 or 3, one item per part
/// E_jj' = r_j·r_j' + C_{I,j}ᵀ (M_II)⁻¹ C_{I,j'},    e_j = E_jj
/// ```
///
/// e_j is the squared distance of a_j from the span of S − I, and r_j the residual of a_j beyond the span of S. Since
/// det E is at most the product of the e_j (Hadamard), combinations are compared in descending order of that bound while
/// it exceeds the best.
///
/// All combinations of a choice of I are compared if parts have at most L items, L² = 2²²/(choices of I) for two parts
/// and L³ for three (L ≥ 8); in larger parts, the L items with the largest e_j. For three parts, the choices of I are the
/// exchange cycles with the largest weights among the cycles through one of the 2¹² heaviest edges |C|, at most 2¹³ of
/// them and as many as 2²⁶ items of average parts allow:
///
/// ```text
/// max_j |C_i'j| · max_j' |C_i''j'| · max_j'' |C_ij''|,   j, j', j'' of the parts of i, i', i''
/// ```
///
/// Choices of I are skipped once the time is up, and exchanges of three parts if 2mnk exceeds 2³².
///
/// # Cost
/// 2mnk operations and 8mk bytes for C, 7mk² operations for the e_j of pairs, at most 2²² n for the combinations. A device
/// computes C and e_j for pairs in its own memory and returns the items that can matter; unless these are too many, the
/// host continues with them alone. Exchanges of three parts run on the host.
///
/// # Source
/// Exchange cycles: Brown, Laddha, Pittu, Singh and Tetali, *Determinant maximization via matroid intersection
/// algorithms* (2022).
pub(super) fn best_exchange(
    space: &SearchSpace<'_>,
    chosen: &Chosen<'_>,
    clock: &Clock,
    stats: &mut Stats,
) -> Result<Option<Vec<Place>>> {
    let slots = open_slots(space, chosen);
    let pairs = pairs(&slots);
    if pairs.is_empty() {
        return Ok(None);
    }
    let items = Compared::for_pairs(space, chosen, &pairs)?;
    let improved = best_of(&items, &pairs, clock, stats);
    if improved.is_some() {
        return Ok(improved);
    }
    let sizes = [2, space.rows.len(), space.rows.features().dims(), chosen.free_duals().ncols()];
    let operations = sizes.iter().fold(1, |product: u64, &size| product.saturating_mul(size as u64));
    let open = slots.chunk_by(|x, y| x.0 == y.0).count();
    if open < 3 || operations > MOST_OPERATIONS || clock.ended().is_some() {
        return Ok(None);
    }
    let of_all_on_host = !space.engine.picks_ahead() && items.positions.is_none();
    let items = if of_all_on_host { items } else { Compared::all(Engine::host(), space, chosen)? };
    let triples = items.cycles(&slots);
    Ok(best_of(&items, &triples, clock, stats))
}

/// Returns the set after the best exchange of some leaving items, if it improves the determinant.
fn best_of<const N: usize>(
    items: &Compared<'_>,
    choices: &[Slots<N>],
    clock: &Clock,
    stats: &mut Stats,
) -> Option<Vec<Place>> {
    let each = BUDGET / choices.len().max(1);
    let affordable = |&limit: &usize| [limit; N].iter().product::<usize>() <= each;
    let limit = (SHORTEST..BUDGET).take_while(affordable).last().unwrap_or(SHORTEST);
    let in_time = |at: usize| clock.ended().is_none().then(|| items.best(&choices[at], limit));
    let mut best = Found::none();
    for found in map_ordered(choices.len(), in_time).into_iter().flatten() {
        stats.evaluations += found.compared;
        if found.ratio > best.ratio {
            best = found;
        }
    }
    let entering = best.entering.filter(|_| items.space.improves(best.ratio))?;
    let mut places = items.chosen.places();
    for (leaving, entering) in best.leaving.iter().zip(entering) {
        places.iter_mut().filter(|place| *place == leaving).for_each(|place| *place = entering);
    }
    Some(places)
}

/// The slots of the groups that have other items, group after group.
fn open_slots(space: &SearchSpace<'_>, chosen: &Chosen<'_>) -> Vec<(usize, usize)> {
    let open = |group: &usize| chosen.slots[*group].len() < space.rows.groups()[*group].items.len();
    let slots_of = |group: usize| (0..chosen.slots[group].len()).map(move |slot| (group, slot));
    (0..chosen.slots.len()).filter(open).flat_map(slots_of).collect()
}

/// All pairs of slots in different groups.
fn pairs(slots: &[(usize, usize)]) -> Vec<Slots<2>> {
    let later = |&first: &(usize, usize)| {
        slots.iter().filter(move |other| other.0 > first.0).map(move |&other| [first, other])
    };
    slots.iter().flat_map(later).collect()
}

/// C and d of the items that are compared: all of them, or those that the engine finds able to improve the determinant
/// in an exchange of two parts. The others come after these in every descending order of bounds, so none would be
/// compared.
pub(super) struct Compared<'a> {
    pub(super) space: &'a SearchSpace<'a>,
    pub(super) chosen: &'a Chosen<'a>,
    /// The positions of the items of every group; `None` for all.
    positions: Option<Vec<Vec<usize>>>,
    /// C, item after item.
    coefficients: Vec<f64>,
    /// d, −∞ for chosen items.
    pub(super) residuals: Vec<f64>,
    /// The first item of every group, and the number of all items.
    pub(super) starts: Vec<usize>,
    /// The number of chosen items, k.
    slots: usize,
}

impl<'a> Compared<'a> {
    fn for_pairs(space: &'a SearchSpace<'a>, chosen: &'a Chosen<'a>, pairs: &[Slots<2>]) -> Result<Self> {
        let column = |(group, slot): (usize, usize)| (group, chosen.column(group, slot) - chosen.first[0]);
        let pairs: Vec<[(usize, usize); 2]> = pairs.iter().map(|pair| pair.map(column)).collect();
        let leaving = LeavingPairs { duals: chosen.free_duals(), pairs: &pairs };
        match chosen.table.entrants(&leaving)? {
            Some(positions) => Self::listed(space, chosen, positions),
            None => Self::all(space.engine, space, chosen),
        }
    }

    fn all(engine: &Engine, space: &'a SearchSpace<'a>, chosen: &'a Chosen<'a>) -> Result<Self> {
        let mut items = Self::of(engine, space.rows, space, chosen)?;
        chosen.span_complement().mark(space.rows, &mut items.residuals);
        Ok(items)
    }

    /// Items that are not chosen; few, so the host computes their numbers from the data.
    fn listed(
        space: &'a SearchSpace<'a>,
        chosen: &'a Chosen<'a>,
        positions: Vec<Vec<usize>>,
    ) -> Result<Self> {
        let groups = space.rows.groups();
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let items = |(group, positions): (&Group<'_>, &Vec<usize>)| {
            positions.iter().map(|&position| group.items.at(position) as u32).collect()
        };
        let items: Vec<Vec<u32>> = groups.iter().zip(&positions).map(items).collect();
        let listed = groups.iter().zip(&items);
        let listed = listed.map(|(group, items)| Group { items: engine::Items::Listed(items), ..*group });
        let rows = Rows::with_scales(space.rows.features(), listed.collect());
        Ok(Self { positions: Some(positions), ..Self::of(Engine::host(), &rows, space, chosen)? })
    }

    /// The numbers of these rows.
    fn of(
        engine: &Engine,
        rows: &Rows<'_>,
        space: &'a SearchSpace<'a>,
        chosen: &'a Chosen<'a>,
    ) -> Result<Self> {
        let groups = rows.groups().len();
        let weights = vec![1.0; groups];
        let map = RowMap { weights: &weights, factor: chosen.free_duals() };
        let coefficients = engine.whiten_rows(rows, &map)?;
        let residuals = chosen.span_complement().forms(&**engine, rows)?;
        let mut starts = vec![0];
        starts.extend(rows.groups().iter().scan(0, |next, group| {
            *next += group.items.len();
            Some(*next)
        }));
        let slots = chosen.free_duals().ncols();
        Ok(Self { space, chosen, positions: None, coefficients, residuals, starts, slots })
    }

    pub(super) fn position(&self, group: usize, at: usize) -> usize {
        self.positions.as_ref().map_or(at, |positions| positions[group][at])
    }

    /// C of an item and all chosen ones.
    pub(super) fn coefficients(&self, item: usize) -> &[f64] {
        &self.coefficients[item * self.slots..(item + 1) * self.slots]
    }

    fn best<const N: usize>(&self, slots: &Slots<N>, limit: usize) -> Found<N> {
        let place = |(group, slot): (usize, usize)| Place { group, position: self.chosen.slots[group][slot] };
        let found = Found { leaving: slots.map(place), ..Found::none() };
        match Leaving::new(self.chosen, slots) {
            Some(leaving) => Entering::new(self, slots, &leaving, limit).best(found),
            None => found,
        }
    }

    /// The leaving items of the cycles with the largest weights through three parts, the largest first.
    fn cycles(&self, slots: &[(usize, usize)]) -> Vec<Slots<3>> {
        let strongest = self.strongest();
        let column = |(group, slot): (usize, usize)| self.chosen.column(group, slot) - self.chosen.first[0];
        // The weight of a step: an item from the part of `from` takes the place of `to` in the span.
        let step = |from: usize, to: usize| strongest[slots[from].0][column(slots[to])];
        let others = |at: usize| (0..slots.len()).filter(move |&other| slots[other].0 != slots[at].0);
        let mut edges: Vec<(usize, usize)> =
            (0..slots.len()).flat_map(|from| others(from).map(move |to| (from, to))).collect();
        edges.sort_by(|x, y| step(y.0, y.1).total_cmp(&step(x.0, x.1)));
        edges.truncate(EDGES);
        let mut cycles: Vec<(f64, [usize; 3])> = Vec::new();
        for (a, b) in edges {
            for c in others(a).filter(|&c| slots[c].0 != slots[b].0) {
                let mut triple = [a, b, c];
                triple.sort_unstable();
                cycles.push((step(a, b) * step(b, c) * step(c, a), triple));
            }
        }
        let heaviest = |x: &(f64, [usize; 3]), y: &(f64, [usize; 3])| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1));
        let entries = 3 * self.residuals.len().div_ceil(self.starts.len() - 1);
        let most = (MOST_READ / entries.max(1)).clamp(1, BUDGET / SHORTEST.pow(3));
        // Cycles of both directions through three edges have the same leaving items.
        if cycles.len() > 6 * most {
            cycles.select_nth_unstable_by(6 * most, heaviest);
            cycles.truncate(6 * most);
        }
        cycles.sort_unstable_by(heaviest);
        let mut known = HashSet::new();
        let triples = cycles.into_iter().map(|(_, triple)| triple).filter(|&triple| known.insert(triple));
        triples.take(most).map(|triple| triple.map(|at| slots[at])).collect()
    }

    /// The largest |C| of the items of every group that are not chosen, for every chosen item.
    fn strongest(&self) -> Vec<Vec<f64>> {
        let of_group = |group: usize| {
            let mut largest = vec![0.0_f64; self.slots];
            for item in
                (self.starts[group]..self.starts[group + 1]).filter(|&item| self.residuals[item] >= 0.0)
            {
                for (largest, c) in largest.iter_mut().zip(self.coefficients(item)) {
                    *largest = largest.max(c.abs());
                }
            }
            largest
        };
        (0..self.starts.len() - 1).map(of_group).collect()
    }
}

#[cfg(test)]
mod tests;

//! A set, with the numbers from which the gains of all swaps follow.

use faer::{Mat, MatRef};

use super::{SearchSpace, rows::read_rows, swap::MadeSwap};
use crate::{
    Result,
    engine::{BestSwap, Beyond, Precision, SwapTable},
    linalg::{column, dual_basis, kernels::dot},
    map::Place,
};

/// Bounds of the weight of an addition. Beyond them the outcome is clear in any case.
const WEIGHTS: (f64, f64) = (1e-280, 1e280);
/// Bounds of the ratio of two scales.
const FACTORS: (f64, f64) = (1e-140, 1e140);

/// An item that an entering item may replace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// Group and slot of the leaving item; `None` if the entering item is only added.
    pub(super) leaving: Option<(usize, usize)>,
    /// Its column.
    pub(super) column: usize,
    /// s / s' for the scales of the groups of the leaving and the entering item: turns ratios into ratios of the given
    /// rows.
    pub(super) factor: f64,
}

/// The set, its rows b_i = s a_i, their dual basis W (w_i·b_j = 1 for i = j and 0 otherwise, inside their
/// span), and the engine's table of C and d.
pub(super) struct Chosen<'c> {
    pub(super) space: &'c SearchSpace<'c>,
    /// Positions of the chosen items, by group and slot.
    pub(super) slots: Vec<Vec<usize>>,
    /// The first column of each group; included items come first.
    pub(super) first: Vec<usize>,
    /// Offers for an entering item of each group: it may replace items of the group, items of other groups, or nothing.
    pub(super) offers: Vec<Vec<Offer>>,
    /// The included rows, the chosen rows of each group, and a column of zeros if items may be added.
    pub(super) rows: Mat<f64>,
    /// W, columns as above.
    pub(super) duals: Mat<f64>,
    /// An orthonormal basis of the orthogonal complement of the rows.
    pub(super) complement: Mat<f64>,
    pub(super) table: Box<dyn SwapTable + 'c>,
    /// ln det K of the set with the included items, when it was built.
    pub(super) log_det: f64,
}

impl<'c> Chosen<'c> {
    /// Computes all numbers from the data; `None` if the rows are dependent.
    ///
    /// # Cost
    /// 2mn² operations: n − k for the residuals and k for the table, times 2mn.
    pub(super) fn new(space: &'c SearchSpace<'c>, places: &[Place]) -> Result<Option<Self>> {
        let mut slots = vec![Vec::new(); space.rows.groups().len()];
        places.iter().for_each(|place| slots[place.group].push(place.position));
        let included = space.candidates.ground.included().len();
        let first = slots.iter().scan(included, |next, slots| {
            *next += slots.len();
            Some(*next - slots.len())
        });
        let first: Vec<usize> = first.collect();
        let Some((rows, log_det)) = read_rows(space, &slots) else { return Ok(None) };
        let Some((mut duals, complement, log_volume)) = dual_basis(rows.as_ref()) else { return Ok(None) };
        let mut rows = rows;
        if space.candidates.counts.total().is_none() {
            // The slot of additions: M = 1, C = 0.
            rows.resize_with(rows.nrows(), rows.ncols() + 1, |_, _| 0.0);
            duals.resize_with(duals.nrows(), duals.ncols() + 1, |_, _| 0.0);
        }
        let offers: Vec<Vec<Offer>> =
            (0..slots.len()).map(|group| offers_to(group, space, &slots, &first, duals.ncols())).collect();
        let offered: Vec<Mat<f64>> =
            offers.iter().map(|offers| offered_duals(offers, duals.as_ref())).collect();
        let offered: Vec<_> = offered.iter().map(Mat::as_ref).collect();
        let beyond = Beyond { complement: complement.as_ref(), chosen: &slots };
        let table = space.engine.fresh_swap_table(space.rows, &offered, &beyond)?;
        let log_det = log_det + log_volume;
        Ok(Some(Self { space, slots, first, offers, rows, duals, complement, table, log_det }))
    }

    pub(super) fn places(&self) -> Vec<Place> {
        let of_group = |(group, slots): (usize, &Vec<usize>)| {
            slots.iter().map(move |&position| Place { group, position }).collect::<Vec<_>>()
        };
        self.slots.iter().enumerate().flat_map(of_group).collect()
    }

    /// The complement of the span of the chosen rows, as a table of swaps takes it.
    pub(super) fn span_complement(&self) -> Beyond<'_> {
        Beyond { complement: self.complement.as_ref(), chosen: &self.slots }
    }

    /// The column of a slot.
    pub(super) fn column(&self, group: usize, slot: usize) -> usize {
        self.first[group] + slot
    }

    /// The dual vectors of the free items, all groups.
    pub(super) fn free_duals(&self) -> MatRef<'_, f64> {
        let (first, count) = (self.first[0], self.slots.iter().map(Vec::len).sum());
        self.duals.as_ref().subcols(first, count)
    }

    pub(super) fn dual(&self, column_index: usize) -> &[f64] {
        column(self.duals.as_ref(), column_index)
    }

    /// How many items each group has.
    pub(super) fn counts(&self) -> Vec<usize> {
        self.slots.iter().map(Vec::len).collect()
    }

    /// M_ii of everything that is offered.
    fn weights(&self) -> Vec<Vec<f64>> {
        let weight = |group: usize, offer: &Offer| match offer.leaving {
            Some((from, slot)) => self.weight(from, slot) * offer.factor * offer.factor,
            None => self.addition_weight(group),
        };
        let of_group =
            |(group, offers): (usize, &Vec<Offer>)| offers.iter().map(|offer| weight(group, offer)).collect();
        self.offers.iter().enumerate().map(of_group).collect()
    }

    /// M of the slot of additions, which undoes the scale of a group.
    pub(super) fn addition_weight(&self, group: usize) -> f64 {
        let scale = self.space.rows.groups()[group].scale;
        (scale * scale).recip().clamp(WEIGHTS.0, WEIGHTS.1)
    }

    /// The number of sets that one swap, addition or removal leads to.
    pub(super) fn neighbours(&self) -> u64 {
        let (counts, allowed) = (self.counts(), &self.space.candidates.counts);
        let entering = |group: usize| self.space.rows.groups()[group].items.len() - counts[group];
        let swaps = |group: usize| entering(group) * self.offers[group].len();
        let removals = |group: usize| {
            if allowed.allow_move(&counts, Some(group), None) { counts[group] } else { 0 }
        };
        (0..counts.len()).map(|group| (swaps(group) + removals(group)) as u64).sum()
    }

    pub(super) fn weight(&self, group: usize, slot: usize) -> f64 {
        let dual = self.dual(self.column(group, slot));
        dot(dual, dual)
    }

    /// The best swap of every group; its slot is the number of an offer.
    pub(super) fn best_swaps(&mut self, made: Option<&MadeSwap>) -> Result<Vec<Option<BestSwap>>> {
        let weights = self.weights();
        let update = made.map(MadeSwap::update);
        let found = self.table.gains(update.as_ref(), &weights)?;
        let precise = self.space.engine.info().precision == Precision::F64;
        let best = |(group, leading): (usize, Vec<BestSwap>)| {
            let exact = |swap: BestSwap| {
                if precise { swap } else { BestSwap { ratio: self.ratio(group, swap), ..swap } }
            };
            leading
                .into_iter()
                .map(exact)
                .reduce(|best, swap| if swap.ratio > best.ratio { swap } else { best })
        };
        Ok(found.into_iter().enumerate().map(best).collect())
    }
}

/// Returns the offers for an item that enters a group; the last column stands for additions.
fn offers_to(
    group: usize,
    space: &SearchSpace<'_>,
    slots: &[Vec<usize>],
    first: &[usize],
    columns: usize,
) -> Vec<Offer> {
    let counts: Vec<usize> = slots.iter().map(Vec::len).collect();
    let allowed = &space.candidates.counts;
    let scale = |group: usize| space.rows.groups()[group].scale;
    let others = (0..counts.len()).filter(|&other| other != group);
    let leaving = std::iter::once(group).chain(others);
    let mut offers = Vec::new();
    for from in leaving.filter(|&from| allowed.allow_move(&counts, Some(from), Some(group))) {
        let factor = (scale(from) / scale(group)).clamp(FACTORS.0, FACTORS.1);
        let offer = |slot| Offer { leaving: Some((from, slot)), column: first[from] + slot, factor };
        offers.extend((0..counts[from]).map(offer));
    }
    if allowed.allow_move(&counts, None, Some(group)) {
        offers.push(Offer { leaving: None, column: columns - 1, factor: 1.0 });
    }
    offers
}

/// The dual vectors of the items that an entering item may replace.
fn offered_duals(offers: &[Offer], duals: MatRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(duals.nrows(), offers.len(), |j, at| offers[at].factor * duals[(j, offers[at].column)])
}

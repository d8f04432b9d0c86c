//! The items that a solver chooses from, in one form for all models.
#![expect(private_interfaces, reason = "only this library implements and calls the methods of `Objective`")]

use super::{rounding::of_value, volume::LogVolume};
use crate::{
    Dpp, Features, KDpp, PartitionDpp, Subset,
    engine::{Group, Items, Rows},
    model::{Counts, FreeItems, GroundSet, PartKDpp, factor_error, log_determinant},
    sealed::Sealed,
};

/// A model that the solvers of [`map`](crate::map) maximise over: [`Dpp`] (sets of any size), [`KDpp`] (k items),
/// [`PartitionDpp`] (a quota), or [`PartKDpp`] (one part of independent k-DPPs), with its conditions.
///
/// The trait is sealed.
pub trait Objective: Sealed {
    #[doc(hidden)]
    fn candidates(&self) -> Candidates<'_>;

    /// The candidates of this model in `above`, a ground set whose determinants are upper bounds.
    ///
    /// The rank of `above` limits the counts.
    #[doc(hidden)]
    fn candidates_below<'a>(&'a self, above: &'a GroundSet) -> Candidates<'a>;
}

impl Sealed for Dpp {}
impl Sealed for KDpp {}
impl Sealed for PartKDpp {}
impl Sealed for PartitionDpp {}

impl Objective for Dpp {
    fn candidates(&self) -> Candidates<'_> {
        self.candidates_below(&self.ground)
    }

    fn candidates_below<'a>(&'a self, above: &'a GroundSet) -> Candidates<'a> {
        let group = self.ground.free_items();
        let most = group.len().min(above.dims_left());
        let counts = Counts::new(&[0], &[most], 0, most);
        Candidates { features: self.ground.given(), ground: above, groups: vec![group], counts }
    }
}

impl Objective for KDpp {
    fn candidates(&self) -> Candidates<'_> {
        self.candidates_below(&self.ground)
    }

    fn candidates_below<'a>(&'a self, above: &'a GroundSet) -> Candidates<'a> {
        let (groups, counts) = (vec![self.ground.free_items()], Counts::exactly(&[self.free_size()]));
        Candidates { features: self.ground.given(), ground: above, groups, counts }
    }
}

impl Objective for PartKDpp {
    fn candidates(&self) -> Candidates<'_> {
        self.candidates_below(&self.ground)
    }

    fn candidates_below<'a>(&'a self, above: &'a GroundSet) -> Candidates<'a> {
        let (groups, counts) = (vec![self.items.clone()], Counts::exactly(&[self.count]));
        Candidates { features: self.ground.given(), ground: above, groups, counts }
    }
}

impl Objective for PartitionDpp {
    fn candidates(&self) -> Candidates<'_> {
        let counts = self.counts();
        let total = counts.total();
        in_counts(self, self.ground(), (self.groups(), counts.low, counts.high), total)
    }

    fn candidates_below<'a>(&'a self, above: &'a GroundSet) -> Candidates<'a> {
        in_counts(self, above, self.parts_of_any_rank(), self.total_left())
    }
}

/// The groups, their least counts and their greatest counts.
type OpenParts = (Vec<FreeItems>, Vec<usize>, Vec<usize>);

fn in_counts<'a>(
    dpp: &'a PartitionDpp,
    ground: &'a GroundSet,
    (groups, low, high): OpenParts,
    total: Option<usize>,
) -> Candidates<'a> {
    let members: Vec<usize> = groups.iter().map(FreeItems::len).collect();
    let asked = Counts::in_ranges(&low, &high, total, usize::MAX);
    let Some(counts) = asked.limited(&members, ground.dims_left()) else {
        unreachable!("ranges that cannot be met are refused");
    };
    Candidates { features: dpp.ground().given(), ground, groups, counts }
}

/// The free items in groups, how many to choose from each, and the included items.
#[derive(Clone, Debug)]
pub(crate) struct Candidates<'a> {
    /// The features from which reported determinants are computed.
    pub(crate) features: &'a Features,
    /// The ground set for which bounds are computed: the one of the features, or one whose determinants are no
    /// smaller.
    pub(crate) ground: &'a GroundSet,
    pub(crate) groups: Vec<FreeItems>,
    pub(crate) counts: Counts,
}

/// A free item: its group and its position in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) group: usize,
    pub(crate) position: usize,
}

impl Candidates<'_> {
    /// The rows of all groups, each group scaled by a power of two.
    ///
    /// The scales change the determinant of a set by a factor that depends only on its counts. Under fixed counts all
    /// parts are scaled to the same size. Otherwise relaxations are tighter with less scaling, so parts keep their
    /// relative sizes up to a factor of 2¹⁰.
    pub(crate) fn rows(&self) -> Rows<'_> {
        const WIDEST: f64 = 1024.0;
        let rows = Rows::scaled(self.features(), self.groups.iter().map(Items::from).collect());
        if self.counts.is_fixed() {
            return rows;
        }
        let largest = rows.scales().into_iter().fold(f64::INFINITY, f64::min);
        let scale = |scale: f64| (scale / WIDEST).max(largest);
        let alike = rows.groups().iter().map(|group| Group { scale: scale(group.scale), ..*group }).collect();
        Rows::with_scales(self.features(), alike)
    }

    pub(crate) fn features(&self) -> &Features {
        self.ground.features()
    }

    /// The number of free items in all groups.
    pub(crate) fn members(&self) -> usize {
        self.groups.iter().map(FreeItems::len).sum()
    }

    /// The number of chosen items in each group.
    pub(crate) fn counts_of(&self, chosen: &[Place]) -> Vec<usize> {
        let mut counts = vec![0; self.groups.len()];
        chosen.iter().for_each(|place| counts[place.group] += 1);
        counts
    }

    /// Whether there is only one set.
    pub(crate) fn has_one_set(&self) -> bool {
        let full = |(group, &count): (&FreeItems, &usize)| count == 0 || count == group.len();
        let counts = &self.counts;
        counts.most == 0 || counts.is_fixed() && self.groups.iter().zip(&counts.low).all(full)
    }

    /// Returns the only set, if [`has_one_set`](Self::has_one_set).
    pub(crate) fn only_set(&self) -> Vec<Place> {
        let full = self.groups.iter().zip(&self.counts.low).enumerate().filter(|(_, (_, count))| **count > 0);
        full.flat_map(|(group, (members, _))| {
            (0..members.len()).map(move |position| Place { group, position })
        })
        .collect()
    }

    pub(crate) fn item(&self, place: Place) -> usize {
        Items::from(&self.groups[place.group]).at(place.position)
    }

    /// The chosen items together with those that must be included.
    pub(crate) fn subset(&self, chosen: &[Place]) -> Subset {
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let chosen = chosen.iter().map(|&place| self.item(place) as u32);
        Subset::from_distinct(chosen.chain(self.ground.included().iter().copied()).collect())
    }

    /// The place of a free item; `None` for other items.
    pub(crate) fn place(&self, item: usize) -> Option<Place> {
        let of_group =
            |(group, members): (usize, &FreeItems)| Some(Place { group, position: members.position(item)? });
        self.groups.iter().enumerate().find_map(of_group)
    }

    /// ln det K_S, computed from the data.
    pub(crate) fn log_det(&self, chosen: &[Place]) -> f64 {
        log_determinant(self.features, &self.subset(chosen))
    }

    /// An interval that contains ln det K_S.
    pub(crate) fn log_volume(&self, chosen: &[Place]) -> LogVolume {
        let set = self.subset(chosen);
        if self.features.residual().is_none() {
            return LogVolume::of(self.features, set.as_slice());
        }
        let above = LogVolume::of(self.features(), set.as_slice());
        let narrowed = |item| self.features.log_weight(item) - self.features().log_weight(item);
        let shift = 2.0 * set.iter().map(narrowed).sum::<f64>();
        let at_least = LogVolume::of(self.features, set.as_slice()).at_least;
        let at_least = at_least - factor_error(self.features, set.iter());
        LogVolume { at_least, at_most: above.at_most + shift + 2.0 * of_value(shift) }
    }

    /// An upper bound of ln det K_T; 0 for the empty set.
    pub(crate) fn log_det_included_at_most(&self) -> f64 {
        let (at_most, shift) = (self.log_volume(&[]).at_most, self.ground.log_shift());
        at_most + shift + if shift == 0.0 { 0.0 } else { of_value(at_most) + of_value(shift) }
    }
}

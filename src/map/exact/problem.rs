//! The interface between the tree and the problem that it searches.

use super::improve::improve;
use crate::{
    Result, Subset,
    map::{
        Candidates, Place,
        bounds::{Effort, Method, Relaxed, Subproblem, hadamard, relax, with_largest, worth_with},
        rounding::of_value,
        volume::LogVolume,
        watch::Clock,
    },
    model::Counts,
};

/// The sets that are searched, and their worth.
pub(in crate::map) trait Judge {
    /// The allowed numbers of items of every group in a set.
    fn counts(&self) -> &Counts;

    /// The set as it is reported.
    fn subset(&self, chosen: &[Place]) -> Subset;

    /// The log-determinant, computed from the data.
    fn log_det(&self, chosen: &[Place]) -> f64;

    /// An interval that contains the log-determinant.
    fn log_volume(&self, chosen: &[Place]) -> LogVolume;

    /// Whether a set has as many items of every group as it must.
    fn allows(&self, chosen: &[Place]) -> bool {
        let mut counts = vec![0; self.counts().low.len()];
        chosen.iter().for_each(|place| counts[place.group] += 1);
        self.counts().allow(&counts)
    }
}

/// The remaining choices once some items are included and others excluded.
pub(in crate::map) trait Problem: Clone + Sync {
    /// The undecided items, ascending.
    fn places(&self) -> &[Place];

    /// The numbers of undecided items to choose.
    fn counts(&self) -> &Counts;

    /// Limits the counts to what the items and their rank allow; false if they allow nothing.
    fn limit_counts(&mut self) -> bool;

    /// The problem restricted to some of the items, ascending.
    fn part(&self, items: &[usize]) -> Self;

    /// Includes this item.
    fn include(&mut self, item: usize);

    /// An upper bound of the log-determinant of the included items, if no other is chosen.
    fn worth(&self) -> f64;

    /// Whether a best set may need this item.
    fn is_useful(&self, item: usize) -> bool;

    /// Whether the determinant of sets with this item is indistinguishable from zero.
    fn is_dependent(&self, item: usize) -> bool;

    /// An upper bound of the sets with this item, from what is known without a relaxation.
    fn worth_with(&self, item: usize) -> f64;

    /// Makes the last pick, the best item, if that is easy.
    fn pick_last(&mut self) -> Option<Place>;

    /// An upper bound by this method, or by another if the method does not apply.
    fn bounded(
        &self,
        method: &Method,
        start: Option<Vec<f64>>,
        target: f64,
        ended: &dyn Fn() -> bool,
    ) -> Result<Relaxed>;

    /// Repeats the best swap, addition or removal that the counts allow, as long as it gains and time is left.
    fn improve(&self, set: Vec<Place>, clock: &Clock) -> Vec<Place>;

    /// The number of undecided items.
    fn len(&self) -> usize {
        self.places().len()
    }

    fn place(&self, item: usize) -> Place {
        self.places()[item]
    }

    fn position(&self, place: Place) -> Option<usize> {
        self.places().binary_search(&place).ok()
    }

    /// The number of undecided items in every group.
    fn members(&self) -> Vec<usize> {
        let mut members = vec![0; self.counts().low.len()];
        self.places().iter().for_each(|place| members[place.group] += 1);
        members
    }

    /// Keeps some items and excludes the others.
    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let kept: Vec<usize> = (0..self.len()).filter(|&item| keep(item)).collect();
        if kept.len() < self.len() {
            *self = self.part(&kept);
        }
    }

    /// The items with the largest x: as many of every group as are needed, and others above ½.
    fn with_largest(&self, x: &[f64]) -> Vec<Place> {
        with_largest(self.places(), self.counts(), x)
    }
}

impl Judge for Candidates<'_> {
    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn subset(&self, chosen: &[Place]) -> Subset {
        self.subset(chosen)
    }

    fn log_det(&self, chosen: &[Place]) -> f64 {
        self.log_det(chosen)
    }

    fn log_volume(&self, chosen: &[Place]) -> LogVolume {
        self.log_volume(chosen)
    }
}

impl Problem for Subproblem {
    fn places(&self) -> &[Place] {
        &self.places
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn limit_counts(&mut self) -> bool {
        let limited = self.counts.limited(&self.members(), self.dims);
        limited.map(|counts| self.counts = counts).is_some()
    }

    fn part(&self, items: &[usize]) -> Self {
        self.part(items)
    }

    fn include(&mut self, item: usize) {
        self.include(item);
    }

    fn worth(&self) -> f64 {
        self.offset
    }

    /// Gains only fall, so an item that multiplies the determinant by at most 1 can be left out unless a count needs
    /// it.
    fn is_useful(&self, item: usize) -> bool {
        let (group, counts) = (self.group(item), &self.counts);
        let is_needed = counts.low[group] > 0 || counts.least > counts.low.iter().sum();
        let least = if is_needed { f64::NEG_INFINITY } else { 0.0 };
        counts.high[group] > 0 && self.gain_at_most(item) > least
    }

    fn is_dependent(&self, item: usize) -> bool {
        self.is_dependent(item)
    }

    fn worth_with(&self, item: usize) -> f64 {
        worth_with(self, item)
    }

    /// Picks the largest gain, the first among ties.
    fn pick_last(&mut self) -> Option<Place> {
        let gains: Vec<f64> = (0..self.len()).map(|item| self.gain(item)).collect();
        let first_of_best = |best: usize, item: usize| if gains[item] > gains[best] { item } else { best };
        let best = (0..gains.len()).reduce(first_of_best)?;
        // Rounding may have decided between the items.
        let most = (0..gains.len()).map(|item| self.gain_at_most(item)).fold(f64::NEG_INFINITY, f64::max);
        let (at_most, place) = (self.offset + most, self.place(best));
        self.include(best);
        self.offset = self.offset.max(at_most + of_value(at_most));
        Some(place)
    }

    /// The bound from the lengths of rows.
    ///
    /// If it is not below the target, the method's bound, or the Γ bound if the method no longer applies.
    fn bounded(
        &self,
        method: &Method,
        start: Option<Vec<f64>>,
        target: f64,
        ended: &dyn Fn() -> bool,
    ) -> Result<Relaxed> {
        let by_lengths = hadamard(self);
        if by_lengths.upper_bound < target {
            return Ok(by_lengths);
        }
        for method in [method, &Method::Gamma] {
            if let Some(relaxed) = relax(self, method, start.clone(), Effort::of_node(target), ended)? {
                return Ok(relaxed.or(&by_lengths));
            }
        }
        Ok(by_lengths)
    }

    fn improve(&self, set: Vec<Place>, clock: &Clock) -> Vec<Place> {
        improve(self, set, clock)
    }
}

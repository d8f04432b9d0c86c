//! Designs as problems of the search tree.

use super::{exchange::exchange, log_volume, sum_at_most, transposed};
use crate::{
    Result,
    map::{
        Place,
        bounds::{DesignRows, Effort, Method, Relaxed},
        exact::Problem,
        watch::Clock,
    },
    model::Counts,
};

impl Problem for DesignRows {
    fn places(&self) -> &[Place] {
        &self.places
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn limit_counts(&mut self) -> bool {
        let limited = self.counts.limited(&self.members(), usize::MAX);
        limited.map(|counts| self.counts = counts).is_some()
    }

    fn part(&self, items: &[usize]) -> Self {
        self.part(items)
    }

    fn include(&mut self, item: usize) {
        self.include(item);
    }

    fn worth(&self) -> f64 {
        let base = self.base();
        let columns = transposed(self.dims, base.ncols(), |column, row| base[(column, row)]);
        // The volume of dependent rows is only rounding error, and then the other bound is sharp.
        sum_at_most(log_volume(columns.as_ref()).at_most, self.constant).min(self.included_at_most())
    }

    fn is_useful(&self, item: usize) -> bool {
        self.counts.high[self.places[item].group] > 0
    }

    fn is_dependent(&self, _: usize) -> bool {
        false
    }

    fn worth_with(&self, _: usize) -> f64 {
        f64::INFINITY
    }

    fn pick_last(&mut self) -> Option<Place> {
        None
    }

    fn bounded(
        &self,
        _: &Method,
        start: Option<Vec<f64>>,
        target: f64,
        ended: &dyn Fn() -> bool,
    ) -> Result<Relaxed> {
        self.relax(start, Effort::of_node(target), ended)
    }

    fn improve(&self, set: Vec<Place>, clock: &Clock) -> Vec<Place> {
        let items: Option<Vec<usize>> = set.iter().map(|&place| self.position(place)).collect();
        let Some(items) = items else { return set };
        let (items, _) = exchange(self, items, 0.0, clock);
        items.into_iter().map(|item| self.places[item]).collect()
    }
}

//! Gains that are updated by one pass over all rows per pick.

use super::{Place, pivots::Gains};
use crate::{
    Result,
    engine::{Ahead, Engine, GainTable, PickAhead, RemainingCounts, Rows, Top},
    linalg::OrthonormalBasis,
};

/// The gains of all items of the groups that are not full.
pub(super) struct PlainGains<'c> {
    engine: &'c Engine,
    rows: &'c Rows<'c>,
    table: Option<Box<dyn GainTable + 'c>>,
    /// The largest gains of every group, if nothing has changed since they were computed.
    tops: Option<Vec<Vec<Top>>>,
    /// A direction that the gains do not take into account yet.
    pending: Option<Vec<f64>>,
    /// The number of picks until the engine is asked again to pick ahead, now and after its next failure.
    patience: [usize; 2],
}

impl<'c> PlainGains<'c> {
    pub(super) fn new(engine: &'c Engine, rows: &'c Rows<'c>) -> Self {
        Self { engine, rows, table: None, tops: None, pending: None, patience: [0, 1] }
    }
}

impl Gains for PlainGains<'_> {
    fn top(&mut self, group: usize) -> Result<Vec<Top>> {
        let (Some(table), None) = (&mut self.table, &self.tops) else {
            return Ok(self.tops.as_ref().map_or_else(Vec::new, |tops| tops[group].clone()));
        };
        let tops = table.update(self.pending.take().as_deref())?;
        Ok(self.tops.insert(tops)[group].clone())
    }

    fn remove(&mut self, place: Place) {
        self.tops = None;
        if let Some(table) = &mut self.table {
            table.remove(place.group, place.position);
        }
    }

    fn close(&mut self, group: usize) {
        if let Some(table) = &mut self.table {
            table.close(group);
        }
    }

    fn apply(&mut self, direction: &[f64]) -> Result<()> {
        self.tops = None;
        self.pending = Some(direction.to_vec());
        Ok(())
    }

    fn pick_ahead(
        &mut self,
        basis: &OrthonormalBasis,
        remaining: &RemainingCounts,
        least: &[f64],
    ) -> Result<Option<Ahead>> {
        let Some(table) = &mut self.table else { return Ok(None) };
        let [wait, next] = self.patience;
        if wait > 0 {
            self.patience = [wait - 1, next];
            return Ok(None);
        }
        let applied = basis.len() - usize::from(self.pending.is_some());
        let request = PickAhead { basis: basis.as_matrix(), applied, remaining, least };
        let Some(ahead) = table.pick_ahead(&request)? else { return Ok(None) };
        self.tops = None;
        self.pending = None;
        // If many items are nearly alike, most choices are in doubt.
        self.patience = if ahead.places.is_empty() { [next, 2 * next] } else { [0, 1] };
        Ok(Some(ahead))
    }

    fn reset_to_norms(&mut self) -> Result<()> {
        self.table = Some(self.engine.norm_table(self.rows)?);
        self.tops = None;
        self.pending = None;
        Ok(())
    }

    fn reset(&mut self, gains: Vec<f64>) -> Result<()> {
        self.table = Some(self.engine.gain_table(self.rows, &gains)?);
        self.tops = None;
        self.pending = None;
        Ok(())
    }
}

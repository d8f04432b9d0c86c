//! Gains that are updated by one pass over all rows per pick.

use super::{Place, pivots::Gains};
use crate::{
    Result,
    engine::{Engine, GainTable, Rows, Top},
};

/// The gains of all items of the groups that are not full.
pub(super) struct PlainGains<'c> {
    engine: &'c dyn Engine,
    rows: &'c Rows<'c>,
    table: Option<Box<dyn GainTable + 'c>>,
    /// The largest gains of every group, if no item has been removed since they were computed.
    tops: Option<Vec<Vec<Top>>>,
}

impl<'c> PlainGains<'c> {
    pub(super) fn new(engine: &'c dyn Engine, rows: &'c Rows<'c>) -> Self {
        Self { engine, rows, table: None, tops: None }
    }
}

impl Gains for PlainGains<'_> {
    fn top(&mut self, group: usize) -> Result<Vec<Top>> {
        let (Some(table), None) = (&mut self.table, &self.tops) else {
            return Ok(self.tops.as_ref().map_or_else(Vec::new, |tops| tops[group].clone()));
        };
        let tops = table.update(None)?;
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
        let Some(table) = &mut self.table else { return Ok(()) };
        self.tops = Some(table.update(Some(direction))?);
        Ok(())
    }

    fn reset(&mut self, gains: Vec<f64>) -> Result<()> {
        self.table = Some(self.engine.gain_table(self.rows, &gains)?);
        self.tops = None;
        Ok(())
    }
}

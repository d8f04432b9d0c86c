//! Shared candidate evaluation with one matrix per node in the memory of a device.

use std::sync::Arc;

use faer::c64;
use rand::Rng;

use super::{interpolation::Uniforms, stage::Stage};
use crate::{
    Result,
    engine::{NodeFactors, NodeTable, PhaseGrid, Precision, RowMap, Soundness},
    polynomial::torus::less_one,
};

/// The conditional law of the next pick, as in [`RowNodes`](super::row_nodes::RowNodes). The matrices stay on the
/// device, and only the choices are downloaded: one answer per pick.
#[derive(Clone, Debug)]
pub(super) struct DeviceNodes {
    table: Box<dyn NodeTable>,
}

/// The result of drawing on a grid.
pub(super) enum Drawn {
    /// At least one pick.
    Some,
    /// No pick, because a matrix is singular on the device.
    Nothing,
}

impl DeviceNodes {
    /// The tables of a device; `None` if the engine has no such tables, or computes in single precision, where nodes
    /// are better conditioned on the host.
    ///
    /// In single precision, the weights would be accurate enough: the error of a pick's weights is at most 1e-7 in
    /// total variation, twice the error of conditioning on the host. The choice would not be: with a uniform number
    /// of 24 bits, the error of the law is 1e-3 among 10⁵ rows and 1e-2 among 10⁶, and no stated error covers it.
    pub(super) fn on(stage: &Stage, at: usize) -> Result<Option<Self>> {
        let Stage { setup, groups, function, torus, .. } = stage;
        if setup.engine.info().precision == Precision::F32 {
            return Ok(None);
        }
        let grid = PhaseGrid { shares: &function.shares, phases: &torus.phases };
        let map = RowMap { weights: &function.weights[at..=at], factor: function.map.as_ref() };
        let [form, coefficient] = factors(stage, at);
        let factors = NodeFactors { form: &form, coefficient: &coefficient };
        let table = setup.engine.node_table(&setup.rows(&groups[at..=at]), &map, &grid, &factors)?;
        Ok(table.map(|table| Self { table }))
    }

    /// The sum of the weights of the next pick's candidates; `None` if a matrix is singular on the device.
    pub(super) fn total(&mut self) -> Result<Option<f64>> {
        let choice = self.table.choose(0.0)?;
        Ok((choice.soundness == Soundness::Sound).then_some(choice.total))
    }

    /// Draws from a group until it is done or the grid is spent.
    pub(super) fn draw<R: Rng + ?Sized>(
        &mut self,
        stage: &mut Stage,
        at: usize,
        uniforms: &mut Uniforms<'_, R>,
    ) -> Result<Drawn> {
        let setup = Arc::clone(&stage.setup);
        let items = setup.items(stage.groups[at]);
        loop {
            setup.engine.proceed()?;
            let uniform = uniforms.next();
            let choice = self.table.choose(uniform)?;
            setup.engine.proceed_after(items.len())?;
            // Only now is it known whether the previous pick has spent the grid. A choice from a grid that has just
            // faded is good; a choice from a grid that has vanished is made again.
            let spent = choice.soundness != Soundness::Sound
                || stage.is_used() && stage.has_vanished(choice.coefficient);
            let is_last = stage.is_used() && stage.has_faded(choice.coefficient);
            if spent {
                uniforms.put_back(uniform);
                return Ok(if stage.is_used() { Drawn::Some } else { Drawn::Nothing });
            }
            let mut chosen = choice.chosen;
            let pick = loop {
                let (position, _) = chosen.ok_or_else(|| stage.lost())?;
                if let Some(pick) = stage.consider(items.at(position), at) {
                    break pick;
                }
                // The item's weight is a rounding error.
                self.table.exclude(position)?;
                chosen = self.table.choose(uniforms.next())?.chosen;
            };
            stage.record(&pick);
            if stage.left[at] == 0 || is_last {
                return Ok(Drawn::Some);
            }
            let [form, coefficient] = factors(stage, at);
            let factors = NodeFactors { form: &form, coefficient: &coefficient };
            self.table.condition(&pick.direction, &factors);
        }
    }
}

/// The factors of the nodes in the form of a group's next pick, and in the coefficient wanted.
fn factors(stage: &Stage, at: usize) -> [Vec<c64>; 2] {
    let Stage { torus, left, .. } = stage;
    [torus.extractors(&less_one(left, at)), torus.extractors(left)]
}

//! `swap_gains`: updates a table by one swap, and finds the best next swap.

use super::{
    buffers::{Lease, size_of},
    context::Context,
    leaders::{Choice, Leading},
    pace::Load,
    parameters::parameters,
    range::{Padded, QUAD, unit_of},
    recording::Work,
    resident::TILE,
    shaders::Shader,
    swap_table::DeviceSwaps,
};
use crate::{
    Result,
    engine::{
        BestSwap, LeavingPairs, Precision, SwapAhead, SwapNumbers, SwapTable, SwapUpdate, SwapsAhead,
        sealed::Sealed,
    },
};

/// The number of arrays that are read together if rounding cannot distinguish their swaps. An array holds the
/// residuals of a tile, or its coefficients for a slot.
const PARTS_TOGETHER: usize = 2048;

impl Sealed for DeviceSwaps<'_> {}

impl SwapTable for DeviceSwaps<'_> {
    fn gains(&mut self, update: Option<&SwapUpdate<'_>>, weights: &[Vec<f64>]) -> Result<Vec<Vec<BestSwap>>> {
        let gpu = self.gpu.clone();
        let context = gpu.context();
        context.checked("swap_gains", || {
            if let Some(update) = update {
                self.begin(context, update)?;
            }
            let numbers = Numbers::new(self, context.precision, update, weights, self.ratio_units(weights));
            let found = self.run(context, update, &numbers)?;
            let leading = |group: usize| {
                let own: Vec<&Leading> = found.iter().filter(|leading| leading.group == group).collect();
                self.leading(context, group, &own, numbers.units[group], &weights[group])
            };
            (0..self.slots.len()).map(leading).collect()
        })
    }

    fn swap_ahead(&mut self, request: &SwapAhead<'_>) -> Result<Option<SwapsAhead>> {
        self.swaps_ahead(request)
    }

    fn entrants(&self, leaving: &LeavingPairs<'_>) -> Result<Option<Vec<Vec<usize>>>> {
        self.entering(leaving)
    }

    fn read(&self) -> Result<Vec<SwapNumbers>> {
        self.numbers()
    }
}

/// The changes made by a swap, for numbers divided by the units of rows, duals and the vectors of the swap.
pub(super) struct Numbers {
    /// w and w'. Then, per group: α, γ, M_ii and the factor of C² for every slot, followed by a, b, 0 and the largest
    /// M_ii.
    pub(super) values: Vec<f64>,
    /// The number of slots that every group has places for.
    pub(super) most: usize,
    /// The divisor of the ratios of every group.
    units: Vec<f64>,
}

/// The task of a pass over the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Finds the best swap.
    Search,
    /// Updates the table, then finds the best swap.
    Update,
}

impl Pass {
    pub(super) fn of(update: Option<&SwapUpdate<'_>>) -> Self {
        update.map_or(Self::Search, |_| Self::Update)
    }
}

impl Numbers {
    /// Creates the numbers, with these divisors of M_ii d and C² per group.
    pub(super) fn new(
        table: &DeviceSwaps<'_>,
        precision: Precision,
        update: Option<&SwapUpdate<'_>>,
        weights: &[Vec<f64>],
        units: Vec<f64>,
    ) -> Self {
        let pitch = table.rows.quads() * QUAD;
        let vector = |vector: &[f64]| Padded::vector(precision, vector);
        let zeros = vec![0.0; pitch];
        let [leaving, entering] =
            update.map_or([&zeros[..]; 2], |update| [update.leaving, update.entering]).map(vector);
        let vector_units = [leaving.unit, entering.unit];
        let most = table.slots.iter().map(Vec::len).max().unwrap_or(0);
        let mut numbers = Self { values: [leaving.values, entering.values].concat(), most, units };
        for (group, (slots, weights)) in table.slots.iter().zip(weights).enumerate() {
            numbers.push_group(update, group, slots, weights, vector_units);
        }
        for (unit, rows) in numbers.units.iter_mut().zip(&table.rows.units) {
            *unit *= rows * rows;
        }
        numbers
    }

    fn push_group(
        &mut self,
        update: Option<&SwapUpdate<'_>>,
        group: usize,
        slots: &[f64],
        weights: &[f64],
        [leaving, entering]: [f64; 2],
    ) {
        let unit = self.units[group];
        for (slot, (&weight, own)) in weights.iter().zip(slots).enumerate() {
            let [alpha, gamma] = update.map_or([0.0; 2], |update| update.factors[group][slot]);
            let change = [alpha * leaving / own, gamma * entering / own];
            self.values.extend(change.into_iter().chain([weight / unit, own * own / unit]));
        }
        self.values.extend(std::iter::repeat_n(0.0, QUAD * (self.most - weights.len())));
        let (gain, loss) = update.map_or((0.0, 0.0), |update| (update.residual_gain, update.residual_loss));
        let largest = weights.iter().copied().fold(0.0, f64::max) / unit;
        self.values.extend([gain * leaving * leaving, loss * entering * entering, 0.0, largest]);
    }
}

impl DeviceSwaps<'_> {
    /// Marks the items of a swap that the table is about to take into account.
    pub(super) fn begin(&mut self, context: &Context, update: &SwapUpdate<'_>) -> Result<()> {
        self.updates += 1;
        self.mark(context, update.group, update.leaving_position, 0.0)?;
        self.mark(context, update.group, update.entering_position, f64::NEG_INFINITY)
    }

    /// The divisors per group that keep M_ii d and C² in range.
    fn ratio_units(&self, weights: &[Vec<f64>]) -> Vec<f64> {
        let precision = self.gpu.context().precision;
        let unit = |(slots, weights): (&Vec<f64>, &Vec<f64>)| {
            let squares = slots.iter().map(|slot| slot * slot);
            unit_of(precision, squares.zip(weights).map(|(square, &weight)| square.max(weight)))
        };
        self.slots.iter().zip(weights).map(unit).collect()
    }

    /// Sets an item's residual.
    fn mark(&self, context: &Context, group: usize, position: usize, residual: f64) -> Result<()> {
        match self.rows.place(group, position) {
            Some((chunk, row)) => context.write(&self.residuals[chunk], row, &[residual]),
            None => Ok(()),
        }
    }

    /// Updates all groups with slots and reads the best swap of every span.
    fn run(
        &self,
        context: &Context,
        update: Option<&SwapUpdate<'_>>,
        numbers: &Numbers,
    ) -> Result<Vec<Leading>> {
        let swap = context.uploaded(&numbers.values)?;
        let mut work = context.work("swap_gains");
        self.record_gains(context, &mut work, Pass::of(update), &swap, numbers.most)?;
        self.leaders.read(context, work)
    }

    /// Records a pass over the table with the numbers of a swap.
    pub(super) fn record_gains(
        &self,
        context: &Context,
        work: &mut Work,
        pass: Pass,
        swap: &Lease,
        most: usize,
    ) -> Result<()> {
        for piece in &self.pieces {
            let chunk = &self.rows.chunks[piece.chunk];
            self.rows.load(context, self.source.features(), work, chunk)?.dispatch(
                work,
                Shader::SwapGains,
                &parameters! {
                    first: piece.tiles.start,
                    count: piece.tiles.len(),
                    most,
                    update: pass == Pass::Update,
                    top: piece.first,
                },
                &[&piece.places, swap, &piece.coefficients, &self.residuals[piece.chunk], &self.leaders.tops],
                self.load(piece.tiles.len(), most),
            )?;
            self.rows.let_go(context, work)?;
        }
        Ok(())
    }

    /// Returns the best swap of a group and, in single precision, all swaps that may be better.
    fn leading(
        &self,
        context: &Context,
        group: usize,
        found: &[&Leading],
        unit: f64,
        weights: &[f64],
    ) -> Result<Vec<BestSwap>> {
        let slack = (context.precision == Precision::F32).then(|| self.tolerance(group, weights));
        let at_a_time = (PARTS_TOGETHER / (weights.len() + 1)).max(1);
        let all = (at_a_time, |tiles: &[Leading]| self.read_tiles(context, tiles, weights));
        let choices = self.leaders.best(context, &self.rows, (found, unit), slack, all)?;
        let swap = |Choice { position, slot, value: ratio }| BestSwap { slot, position, ratio };
        Ok(choices.into_iter().map(swap).collect())
    }

    /// A bound on the rounding error of a ratio.
    fn tolerance(&self, group: usize, weights: &[f64]) -> f64 {
        let weight = weights.iter().copied().fold(0.0, f64::max);
        let terms = ((self.rows.quads() * QUAD) as f64 + self.amplified) * (self.updates + 1) as f64;
        f64::from(f32::EPSILON) * weight * self.longest[group] * (2.0 * terms.sqrt() + 4.0)
    }

    /// Reads all swaps with the items of some tiles.
    fn read_tiles(&self, context: &Context, tiles: &[Leading], weights: &[f64]) -> Result<Vec<Choice>> {
        let width = size_of(context.precision);
        let part = |buffer, first: usize, len: usize| (buffer, (first * width) as u64, (len * width) as u64);
        let mut parts = Vec::new();
        for leading in tiles {
            let (chunk, tile) = self.rows.tile(leading.tile);
            let at = self.pieces.partition_point(|piece| piece.first + piece.tiles.len() <= leading.tile);
            let piece = &self.pieces[at];
            let base = piece.bases[leading.tile - piece.first];
            parts.push(part(&*self.residuals[chunk], tile.start, tile.len));
            let coefficients = |slot| part(&*piece.coefficients, base + slot * TILE, tile.len);
            parts.extend((0..weights.len()).map(coefficients));
        }
        let mut choices = Vec::new();
        let found = context.download(context.work("swap_gains"), &parts)?;
        for (leading, found) in tiles.iter().zip(found.chunks(weights.len() + 1)) {
            let (_, tile) = self.rows.tile(leading.tile);
            let (unit, slots) = (self.rows.units[tile.group], &self.slots[tile.group]);
            let residuals = context.values_or_lowest("swap_gains", &found[0])?;
            for (slot, bytes) in found[1..].iter().enumerate() {
                let coefficients = context.values("swap_gains", bytes)?;
                for (at, (residual, coefficient)) in residuals.iter().zip(coefficients).enumerate() {
                    let (d, c) = (residual * (unit * unit), coefficient * (slots[slot] * unit));
                    let value = weights[slot] * d + c * c;
                    choices.push(Choice { position: tile.position + at, slot, value });
                }
            }
        }
        Ok(choices)
    }

    /// The load of a pass over the rows, the residuals and the coefficients of every slot.
    pub(super) fn load(&self, tiles: usize, slots: usize) -> Load {
        let rows = self.rows.tile_load(tiles);
        let numbers = (TILE * (slots + 1)) as f64;
        let width = size_of(self.gpu.context().precision) as f64;
        Load { flops: 2.0 * rows.flops + 8.0 * numbers, bytes: rows.bytes + 2.0 * numbers * width, ..rows }
    }
}

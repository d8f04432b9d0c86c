//! `swap_gains`: the update of a table by one swap, and the best next one.

use super::{
    buffers::size_of,
    context::Context,
    pace::Load,
    range::{Padded, QUAD, unit_of},
    resident::{Chunk, TILE, tiles},
    shaders::Shader,
    swap_table::{DeviceSwaps, GroupSwaps},
    words,
};
use crate::{
    Result,
    engine::{BestSwap, Precision, SwapNumbers, SwapTable, SwapUpdate, sealed::Sealed},
};

/// The most tiles whose residuals and coefficients are read together where rounding cannot distinguish them.
const PARTS_TOGETHER: usize = 2048;

impl Sealed for DeviceSwaps {}

impl SwapTable for DeviceSwaps {
    fn gains(&mut self, update: Option<&SwapUpdate<'_>>, weights: &[Vec<f64>]) -> Result<Vec<Vec<BestSwap>>> {
        let gpu = self.gpu.clone();
        let context = gpu.context();
        context.checked("swap_gains", || {
            if let Some(update) = update {
                self.updates += 1;
                self.mark(context, update.group, update.leaving_position, 0.0)?;
                self.mark(context, update.group, update.entering_position, f64::NEG_INFINITY)?;
            }
            let found = self.run(context, update, weights)?;
            let leading =
                |(group, tiles): (usize, Vec<TileSwap>)| self.leading(context, group, &tiles, weights);
            found.into_iter().enumerate().map(leading).collect()
        })
    }

    fn read(&self) -> Result<Vec<SwapNumbers>> {
        self.numbers()
    }
}

/// The result of a tile.
struct TileSwap {
    piece: usize,
    /// First row of the tile in the piece.
    first: usize,
    best: BestSwap,
    second: f64,
}

impl DeviceSwaps {
    /// Sets the residual of an item.
    fn mark(&self, context: &Context, group: usize, position: usize, residual: f64) -> Result<()> {
        let GroupSwaps { rows, pieces, .. } = &self.groups[group];
        let at = pieces.partition_point(|piece| piece.start(rows) + piece.len <= position);
        match pieces.get(at) {
            Some(piece) => context.write(&piece.residuals, position - piece.start(rows), &[residual]),
            None => Ok(()),
        }
    }

    /// Updates all groups with slots and reads the results of their tiles.
    fn run(
        &self,
        context: &Context,
        update: Option<&SwapUpdate<'_>>,
        weights: &[Vec<f64>],
    ) -> Result<Vec<Vec<TileSwap>>> {
        let vector = |vector: &[f64]| Padded::vector(context.precision, vector);
        let [leaving, entering] =
            update.map_or([&[0.0][..]; 2], |update| [update.leaving, update.entering]).map(vector);
        let units = [leaving.unit, entering.unit];
        let swap = context.uploaded(&[leaving.values, entering.values].concat())?;
        let width = size_of(context.precision) as u64;
        let mut work = context.work("swap_gains");
        let mut parts: Vec<(&wgpu::Buffer, u64, u64)> = Vec::new();
        let mut ratio_units = Vec::with_capacity(self.groups.len());
        for (group, (own, weights)) in self.groups.iter().zip(weights).enumerate() {
            let factors = slot_factors(update, group, weights, own, units, context.precision);
            let slots = work.hold(context.uploaded(&factors.values)?);
            ratio_units.push(factors.unit * own.rows.unit * own.rows.unit);
            for piece in &own.pieces {
                let chunk: &Chunk = &own.rows.chunks[piece.chunk];
                context.dispatch(
                    &mut work,
                    Shader::SwapGains,
                    &[
                        words(piece.len),
                        words(own.rows.quads),
                        words(own.slots.len()),
                        words(piece.first),
                        u32::from(update.is_some()),
                    ],
                    &[
                        chunk.rows.as_entire_binding(),
                        swap.as_entire_binding(),
                        slots.as_entire_binding(),
                        piece.coefficients.as_entire_binding(),
                        piece.residuals.as_entire_binding(),
                        piece.values.as_entire_binding(),
                        piece.places.as_entire_binding(),
                    ],
                    load(context.precision, piece.len, own),
                )?;
                parts.push((&piece.values, 0, 2 * width * piece.tiles() as u64));
                parts.push((&piece.places, 0, 8 * piece.tiles() as u64));
            }
        }
        self.results(context, &context.download(work, &parts)?, &ratio_units)
    }

    /// The results of all tiles, by group, from the values and places of every piece.
    fn results(
        &self,
        context: &Context,
        found: &[Vec<u8>],
        ratio_units: &[f64],
    ) -> Result<Vec<Vec<TileSwap>>> {
        let mut found = found.iter();
        let mut all = Vec::with_capacity(self.groups.len());
        for (group, unit) in self.groups.iter().zip(ratio_units) {
            let mut tiles = Vec::new();
            for (number, piece) in group.pieces.iter().enumerate() {
                let (Some(values), Some(places)) = (found.next(), found.next()) else { break };
                let values = context.values_or_lowest("swap_gains", values)?;
                let places = bytemuck::pod_collect_to_vec::<u8, [u32; 2]>(places);
                for (tile, (values, [row, slot])) in values.chunks_exact(2).zip(places).enumerate() {
                    let position = piece.start(&group.rows) + row as usize;
                    let best = BestSwap { slot: slot as usize, position, ratio: values[0] * unit };
                    let second = values[1] * unit;
                    tiles.push(TileSwap { piece: number, first: tile * TILE, best, second });
                }
            }
            all.push(tiles);
        }
        Ok(all)
    }

    /// The best swap of a group, and in single precision those that may be better.
    fn leading(
        &self,
        context: &Context,
        group: usize,
        tiles: &[TileSwap],
        weights: &[Vec<f64>],
    ) -> Result<Vec<BestSwap>> {
        let best = tiles
            .iter()
            .map(|tile| tile.best)
            .reduce(|best, next| if next.ratio > best.ratio { next } else { best });
        let Some(best) = best.filter(|best| best.ratio > f64::NEG_INFINITY) else { return Ok(Vec::new()) };
        if context.precision == Precision::F64 {
            return Ok(vec![best]);
        }
        let floor = best.ratio - self.tolerance(group, &weights[group]);
        let place = |swap: &BestSwap| (swap.position, swap.slot);
        let is_rival = |swap: &BestSwap| swap.ratio >= floor && place(swap) != place(&best);
        let mut leading = vec![best];
        let (several, single): (Vec<&TileSwap>, Vec<_>) = tiles.iter().partition(|tile| tile.second >= floor);
        leading.extend(single.iter().map(|tile| tile.best).filter(is_rival));
        for tiles in several.chunks((PARTS_TOGETHER / (weights[group].len() + 1)).max(1)) {
            leading.extend(
                self.read_tiles(context, group, tiles, &weights[group])?.into_iter().filter(is_rival),
            );
        }
        Ok(leading)
    }

    /// A bound on the rounding error of a ratio.
    fn tolerance(&self, group: usize, weights: &[f64]) -> f64 {
        let GroupSwaps { rows, longest, .. } = &self.groups[group];
        let weight = weights.iter().copied().fold(0.0, f64::max);
        let terms = (rows.quads * QUAD) as f64 * (self.updates + 1) as f64;
        f64::from(f32::EPSILON) * weight * longest * (2.0 * terms.sqrt() + 4.0)
    }

    /// All swaps with the items of some tiles.
    fn read_tiles(
        &self,
        context: &Context,
        group: usize,
        tiles: &[&TileSwap],
        weights: &[f64],
    ) -> Result<Vec<BestSwap>> {
        let GroupSwaps { rows, slots, pieces, .. } = &self.groups[group];
        let width = size_of(context.precision);
        let mut parts = Vec::new();
        for tile in tiles {
            let piece = &pieces[tile.piece];
            let len = TILE.min(piece.len - tile.first);
            let part = |buffer, first: usize| (buffer, (first * width) as u64, (len * width) as u64);
            parts.push(part(&*piece.residuals, tile.first));
            parts.extend(
                (0..slots.len()).map(|slot| part(&*piece.coefficients, slot * piece.len + tile.first)),
            );
        }
        let found = context.download(context.work("swap_gains"), &parts)?;
        let mut swaps = Vec::new();
        for (tile, found) in tiles.iter().zip(found.chunks(slots.len() + 1)) {
            let first = pieces[tile.piece].start(rows) + tile.first;
            let residuals = context.values_or_lowest("swap_gains", &found[0])?;
            for (slot, bytes) in found[1..].iter().enumerate() {
                let coefficients = context.values("swap_gains", bytes)?;
                for (at, (residual, coefficient)) in residuals.iter().zip(coefficients).enumerate() {
                    let (d, c) =
                        (residual * (rows.unit * rows.unit), coefficient * (slots[slot] * rows.unit));
                    swaps.push(BestSwap { slot, position: first + at, ratio: weights[slot] * d + c * c });
                }
            }
        }
        Ok(swaps)
    }
}

/// The shader's numbers for every slot: α, γ, M_ii and the factor of C²; then a, b, 0, 0. They are for numbers divided
/// by the units of rows, duals and the vectors of the swap; `unit` is the divisor of ratios besides the square of the
/// unit of the rows.
fn slot_factors(
    update: Option<&SwapUpdate<'_>>,
    group: usize,
    weights: &[f64],
    own: &GroupSwaps,
    [leaving, entering]: [f64; 2],
    precision: Precision,
) -> Padded {
    let squares = own.slots.iter().map(|slot| slot * slot);
    let unit = unit_of(precision, squares.zip(weights).map(|(square, &weight)| square.max(weight)));
    let mut values = Vec::with_capacity(4 * (weights.len() + 1));
    for (slot, (&weight, own)) in weights.iter().zip(&own.slots).enumerate() {
        let [alpha, gamma] = update.map_or([0.0; 2], |update| update.factors[group][slot]);
        values.extend([alpha * leaving / own, gamma * entering / own, weight / unit, own * own / unit]);
    }
    let (gain, loss) = update.map_or((0.0, 0.0), |update| (update.residual_gain, update.residual_loss));
    values.extend([gain * leaving * leaving, loss * entering * entering, 0.0, 0.0]);
    Padded { values, unit }
}

/// A pass over the rows, the residuals and the coefficients of every slot.
fn load(precision: Precision, rows: usize, own: &GroupSwaps) -> Load {
    let tiles = tiles(precision, rows, own.rows.quads);
    let numbers = (TILE * (own.slots.len() + 1)) as f64;
    Load {
        flops: 2.0 * tiles.flops + 8.0 * numbers,
        bytes: tiles.bytes + 2.0 * numbers * size_of(precision) as f64,
        ..tiles
    }
}

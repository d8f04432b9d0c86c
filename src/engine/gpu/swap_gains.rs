//! `swap_gains`: the update of a table by one exchange, and the best next one.

use super::{
    Gpu,
    buffers::size_of,
    context::Context,
    kernels::Kernel,
    resident::{Chunk, QUAD, TILE, padded},
    swap_table::{DeviceSwaps, GroupSwaps},
    words,
};
use crate::{
    Result,
    engine::{BestSwap, Precision, SwapTable, SwapUpdate},
};

/// Exchanges that rounding cannot tell apart are listed up to this many of a group.
const MOST_RIVALS: usize = 1024;

pub(super) fn swap_gains(
    gpu: &Gpu,
    table: &mut SwapTable,
    update: Option<&SwapUpdate<'_>>,
    weights: &[Vec<f64>],
) -> Result<Vec<Vec<BestSwap>>> {
    let context = gpu.context();
    let device = table.values.device();
    context.checked("swap_gains", || {
        if let Some(update) = update {
            device.updates += 1;
            device.mark(context, update.group, update.leaving_position, 0.0);
            device.mark(context, update.group, update.entering_position, f64::NEG_INFINITY);
        }
        let found = device.run(context, update, weights)?;
        let leading =
            |(group, tiles): (usize, Vec<TileSwap>)| device.leading(context, group, &tiles, weights);
        found.into_iter().enumerate().map(leading).collect()
    })
}

/// What a tile has found.
struct TileSwap {
    piece: usize,
    /// First row of the tile in the piece.
    first: usize,
    best: BestSwap,
    second: f64,
}

impl DeviceSwaps {
    /// Sets the residual of an item.
    fn mark(&self, context: &Context, group: usize, position: usize, residual: f64) {
        let GroupSwaps { rows, pieces, .. } = &self.groups[group];
        let at = pieces.partition_point(|piece| piece.start(rows) + piece.len <= position);
        if let Some(piece) = pieces.get(at) {
            context.write(&piece.residuals, position - piece.start(rows), &[residual]);
        }
    }

    /// Updates all groups with slots and reads what their tiles have found.
    fn run(
        &self,
        context: &Context,
        update: Option<&SwapUpdate<'_>>,
        weights: &[Vec<f64>],
    ) -> Result<Vec<Vec<TileSwap>>> {
        let exchange = update.map_or_else(
            || vec![0.0; 2 * QUAD],
            |update| [padded(update.leaving), padded(update.entering)].concat(),
        );
        let exchange = context.uploaded(&exchange);
        let width = size_of(context.precision) as u64;
        let mut work = context.work();
        let mut parts: Vec<(&wgpu::Buffer, u64, u64)> = Vec::new();
        for (group, (own, weights)) in self.groups.iter().zip(weights).enumerate() {
            let slots = work.hold(context.uploaded(&slot_factors(update, group, weights)));
            for piece in &own.pieces {
                let chunk: &Chunk = &own.rows.chunks[piece.chunk];
                context.dispatch(
                    &mut work,
                    Kernel::SwapGains,
                    &[
                        words(piece.len),
                        words(own.rows.quads),
                        words(own.slots),
                        words(piece.first),
                        u32::from(update.is_some()),
                    ],
                    &[
                        chunk.rows.as_entire_binding(),
                        exchange.as_entire_binding(),
                        slots.as_entire_binding(),
                        piece.coefficients.as_entire_binding(),
                        piece.residuals.as_entire_binding(),
                        piece.values.as_entire_binding(),
                        piece.places.as_entire_binding(),
                    ],
                    piece.tiles(),
                )?;
                parts.push((&piece.values, 0, 2 * width * piece.tiles() as u64));
                parts.push((&piece.places, 0, 8 * piece.tiles() as u64));
            }
        }
        let mut found = context.download(work, "swap_gains", &parts)?.into_iter();
        let mut all = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let mut tiles = Vec::new();
            for (number, piece) in group.pieces.iter().enumerate() {
                let (Some(values), Some(places)) = (found.next(), found.next()) else { break };
                let values = context.values(&values);
                let places = bytemuck::pod_collect_to_vec::<u8, [u32; 2]>(&places);
                for (tile, (values, [row, slot])) in values.chunks_exact(2).zip(places).enumerate() {
                    let position = piece.start(&group.rows) + row as usize;
                    let best = BestSwap { slot: slot as usize, position, ratio: values[0] };
                    tiles.push(TileSwap { piece: number, first: tile * TILE, best, second: values[1] });
                }
            }
            all.push(tiles);
        }
        Ok(all)
    }

    /// The best exchange of a group, and in single precision those that may be better.
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
        let mut leading = vec![best];
        for tile in tiles.iter().filter(|tile| tile.best.ratio >= floor) {
            let others = if tile.second >= floor {
                self.read_tile(context, group, tile, &weights[group])?
            } else {
                vec![tile.best]
            };
            let place = |swap: &BestSwap| (swap.position, swap.slot);
            leading.extend(others.iter().filter(|swap| swap.ratio >= floor && place(swap) != place(&best)));
            if leading.len() > MOST_RIVALS {
                leading.truncate(MOST_RIVALS);
                break;
            }
        }
        Ok(leading)
    }

    /// By how much rounding may have put a ratio wrong.
    fn tolerance(&self, group: usize, weights: &[f64]) -> f64 {
        let GroupSwaps { rows, longest, .. } = &self.groups[group];
        let weight = weights.iter().copied().fold(0.0, f64::max);
        let terms = (rows.quads * QUAD) as f64 * (self.updates + 1) as f64;
        f64::from(f32::EPSILON) * weight * longest * (2.0 * terms.sqrt() + 4.0)
    }

    /// All exchanges with the items of a tile.
    fn read_tile(
        &self,
        context: &Context,
        group: usize,
        tile: &TileSwap,
        weights: &[f64],
    ) -> Result<Vec<BestSwap>> {
        let GroupSwaps { rows, slots, pieces, .. } = &self.groups[group];
        let piece = &pieces[tile.piece];
        let width = size_of(context.precision);
        let len = TILE.min(piece.len - tile.first);
        let part = |buffer, first: usize| (buffer, (first * width) as u64, (len * width) as u64);
        let mut parts = vec![part(&*piece.residuals, tile.first)];
        parts.extend((0..*slots).map(|slot| part(&*piece.coefficients, slot * piece.len + tile.first)));
        let found = context.download(context.work(), "swap_gains", &parts)?;
        let numbers: Vec<Vec<f64>> = found.iter().map(|bytes| context.values(bytes)).collect();
        let mut swaps = Vec::with_capacity(len * slots);
        for (at, &residual) in numbers[0].iter().enumerate() {
            for (slot, coefficients) in numbers[1..].iter().enumerate() {
                let ratio = weights[slot] * residual + coefficients[at] * coefficients[at];
                swaps.push(BestSwap { slot, position: piece.start(rows) + tile.first + at, ratio });
            }
        }
        Ok(swaps)
    }
}

/// α, γ, M_ii, 0 of every slot, then a, b, 0, 0.
fn slot_factors(update: Option<&SwapUpdate<'_>>, group: usize, weights: &[f64]) -> Vec<f64> {
    let mut factors = Vec::with_capacity(4 * (weights.len() + 1));
    for (slot, &weight) in weights.iter().enumerate() {
        let [alpha, gamma] = update.map_or([0.0; 2], |update| update.factors[group][slot]);
        factors.extend([alpha, gamma, weight, 0.0]);
    }
    let (gain, loss) = update.map_or((0.0, 0.0), |update| (update.residual_gain, update.residual_loss));
    factors.extend([gain, loss, 0.0, 0.0]);
    factors
}

//! `swap_table`: C = WᵀAᵀ in tiles; `swap_gains`: its update by one exchange, and the best next one.

use faer::MatRef;
use pulp::{Arch, Simd, WithSimd};

use super::{
    blocks::{Factor, Task, tasks},
    gain_update::Run,
};
use crate::{
    data::{Scalar, StoredRows, with_rows},
    engine::{
        BestSwap, Rows, SwapTable, SwapUpdate,
        row_kernels::row_dot_in,
        swaps::{SwapGroup, SwapValues, TILE},
    },
    linalg::column,
    parallel::map_ordered_mut,
};

pub(super) fn swap_table(rows: &Rows<'_>, duals: &[MatRef<'_, f64>], residuals: &[f64]) -> SwapTable {
    let slots: Vec<usize> = duals.iter().map(MatRef::ncols).collect();
    let mut groups = SwapGroup::empty(rows, &slots, residuals);
    let tasks = tasks(rows);
    map_ordered_mut(split(&tasks, &mut groups), |index, (coefficients, _)| {
        let task = &tasks[index];
        let factor = Factor::new(duals[task.group]);
        let slots = slots[task.group];
        if slots == 0 {
            return;
        }
        let mut image = factor.image_buffer();
        let mut tiles = coefficients.chunks_exact_mut(TILE * slots);
        task.for_each_block(rows, |block| {
            let mut image = image.as_mut().subcols_mut(0, block.ncols());
            factor.apply(block, 1.0, image.as_mut());
            for start in (0..image.ncols()).step_by(TILE) {
                let items = start..image.ncols().min(start + TILE);
                let Some(tile) = tiles.next() else { unreachable!("tiles cover the task") };
                for (lane, item) in items.enumerate() {
                    let lanes = tile[lane..].iter_mut().step_by(TILE);
                    lanes.zip(column(image.as_ref(), item)).for_each(|(out, &x)| *out = x);
                }
            }
        });
    });
    SwapTable { values: SwapValues::Host(groups) }
}

pub(super) fn swap_gains(
    rows: &Rows<'_>,
    table: &mut SwapTable,
    update: Option<&SwapUpdate<'_>>,
    weights: &[Vec<f64>],
) -> Vec<Option<BestSwap>> {
    let groups = table.values.host();
    if let Some(update) = update {
        let residuals = &mut groups[update.group].residuals;
        residuals[update.leaving_position] = 0.0;
        residuals[update.entering_position] = f64::NEG_INFINITY;
    }
    let tasks = tasks(rows);
    let found = map_ordered_mut(split(&tasks, groups), |index, (coefficients, residuals)| {
        let task = &tasks[index];
        if weights[task.group].is_empty() {
            return None;
        }
        let tiles = Tiles { weights: &weights[task.group], coefficients, residuals };
        let run = Run::new(rows, task);
        let len = task.len();
        match update {
            None => Arch::new().dispatch(Scan { tiles }),
            Some(update) => with_rows!(rows.features().values(), values => {
                let factors = &update.factors[task.group];
                Arch::new().dispatch(Update { run, len, values, exchange: update, factors, tiles })
            }),
        }
    });
    let mut best: Vec<Option<BestSwap>> = vec![None; rows.groups().len()];
    for (task, found) in tasks.iter().zip(found) {
        let Some(found) = found else { continue };
        let kept = &mut best[task.group];
        if kept.is_none_or(|kept| found.ratio > kept.ratio) {
            *kept = Some(BestSwap { position: found.position + task.start, ..found });
        }
    }
    best
}

/// Coefficients and residuals of every task. Tasks start at multiples of a tile.
fn split<'a>(tasks: &[Task], groups: &'a mut [SwapGroup]) -> Vec<(&'a mut [f64], &'a mut [f64])> {
    let mut rest: Vec<(usize, &mut [f64], &mut [f64])> = groups
        .iter_mut()
        .map(|SwapGroup { slots, coefficients, residuals }| {
            (*slots, &mut coefficients[..], &mut residuals[..])
        })
        .collect();
    let mut slices = Vec::with_capacity(tasks.len());
    for task in tasks {
        let padded = task.len().next_multiple_of(TILE);
        let (slots, coefficients, residuals) = &mut rest[task.group];
        let own = std::mem::take(coefficients).split_at_mut(*slots * padded);
        let own_residuals = std::mem::take(residuals).split_at_mut(padded);
        slices.push((own.0, own_residuals.0));
        (*coefficients, *residuals) = (own.1, own_residuals.1);
    }
    slices
}

/// The part of a table that a task works on.
struct Tiles<'a> {
    /// M_ii of every slot.
    weights: &'a [f64],
    coefficients: &'a mut [f64],
    residuals: &'a mut [f64],
}

/// The best exchange so far, as the tile and the lane of what enters.
struct Best {
    position: usize,
    ratio: f64,
}

impl Best {
    const NONE: Self = Self { position: 0, ratio: f64::NEG_INFINITY };

    /// Compares with a whole tile. One branch per tile, hardly ever taken.
    #[inline]
    fn offer(&mut self, tile: usize, ratios: &[f64; TILE]) {
        let largest = ratios.iter().fold(f64::NEG_INFINITY, |max, &x| if x > max { x } else { max });
        if largest > self.ratio {
            let lane = ratios.iter().position(|&x| x >= largest).unwrap_or_default();
            *self = Self { position: tile * TILE + lane, ratio: largest };
        }
    }

    /// Finds the slot.
    fn finish(self, tiles: &Tiles<'_>) -> Option<BestSwap> {
        if self.ratio == f64::NEG_INFINITY {
            return None;
        }
        let (tile, lane) = (self.position / TILE, self.position % TILE);
        let residual = tiles.residuals[self.position];
        let first = tile * tiles.weights.len();
        let mut best = BestSwap { slot: 0, position: self.position, ratio: f64::NEG_INFINITY };
        for (slot, weight) in tiles.weights.iter().enumerate() {
            let ratio = weight * residual + tiles.coefficients[(first + slot) * TILE + lane].powi(2);
            if ratio > best.ratio {
                best = BestSwap { slot, ratio, ..best };
            }
        }
        Some(best)
    }
}

/// The best exchange of a table as it is.
struct Scan<'a> {
    tiles: Tiles<'a>,
}

impl WithSimd for Scan<'_> {
    type Output = Option<BestSwap>;

    #[expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<BestSwap> {
        let tiles = self.tiles;
        let mut best = Best::NONE;
        let (residuals, _) = tiles.residuals.as_chunks::<TILE>();
        let slots = tiles.weights.len();
        for (tile, residuals) in residuals.iter().enumerate() {
            let mut ratios = [f64::NEG_INFINITY; TILE];
            let coefficients = &tiles.coefficients[tile * slots * TILE..(tile + 1) * slots * TILE];
            let (d, best_ratios) = (S::as_simd_f64s(residuals).0, S::as_mut_simd_f64s(&mut ratios).0);
            for (weight, row) in tiles.weights.iter().zip(coefficients.as_chunks::<TILE>().0) {
                let weight = simd.splat_f64s(*weight);
                for ((ratio, &d), &x) in best_ratios.iter_mut().zip(d).zip(S::as_simd_f64s(row).0) {
                    *ratio = simd.max_f64s(simd.mul_add_e_f64s(x, x, simd.mul_f64s(weight, d)), *ratio);
                }
            }
            best.offer(tile, &ratios);
        }
        best.finish(&tiles)
    }
}

/// The update by an exchange and the best next one, in one pass.
struct Update<'a, T: Scalar> {
    run: Run<'a>,
    len: usize,
    values: &'a StoredRows<'a, T>,
    exchange: &'a SwapUpdate<'a>,
    factors: &'a [[f64; 2]],
    tiles: Tiles<'a>,
}

impl<T: Scalar> WithSimd for Update<'_, T> {
    type Output = Option<BestSwap>;

    #[expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<BestSwap> {
        let Self { run, len, values, exchange, factors, tiles } = self;
        let mut best = Best::NONE;
        let slots = tiles.weights.len();
        let (residuals, _) = tiles.residuals.as_chunks_mut::<TILE>();
        for (tile, residuals) in residuals.iter_mut().enumerate() {
            let (mut c, mut g) = ([0.0; TILE], [0.0; TILE]);
            for lane in 0..TILE.min(len - tile * TILE) {
                let row = run.row(values, tile * TILE + lane);
                c[lane] = run.scale * row_dot_in(simd, row, exchange.leaving);
                g[lane] = run.scale * row_dot_in(simd, row, exchange.entering);
            }
            for lane in 0..TILE {
                let change =
                    exchange.residual_gain * c[lane] * c[lane] - exchange.residual_loss * g[lane] * g[lane];
                residuals[lane] += change;
            }
            let mut ratios = [f64::NEG_INFINITY; TILE];
            let coefficients = &mut tiles.coefficients[tile * slots * TILE..(tile + 1) * slots * TILE];
            let ratio = S::as_mut_simd_f64s(&mut ratios).0;
            let (d, c, g) = (S::as_simd_f64s(residuals).0, S::as_simd_f64s(&c).0, S::as_simd_f64s(&g).0);
            let rows = coefficients.as_chunks_mut::<TILE>().0;
            for ((row, weight), [alpha, gamma]) in rows.iter_mut().zip(tiles.weights).zip(factors) {
                let [weight, alpha, gamma] = [*weight, -alpha, -gamma].map(|x| simd.splat_f64s(x));
                let row = S::as_mut_simd_f64s(row).0;
                for ((((x, ratio), &d), &c), &g) in row.iter_mut().zip(ratio.iter_mut()).zip(d).zip(c).zip(g)
                {
                    *x = simd.mul_add_e_f64s(gamma, g, simd.mul_add_e_f64s(alpha, c, *x));
                    let new = simd.mul_add_e_f64s(*x, *x, simd.mul_f64s(weight, d));
                    *ratio = simd.max_f64s(new, *ratio);
                }
            }
            best.offer(tile, &ratios);
        }
        best.finish(&tiles)
    }
}

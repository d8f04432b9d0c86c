//! `swap_gains`: the update of a table by one swap, and the search for the best next swap.

use pulp::{Arch, Simd, WithSimd};

use super::{
    blocks::{TILE, tasks},
    gain_update::Run,
    swap_table::{CpuSwaps, split},
};
use crate::{
    Result,
    data::{Scalar, StoredRows, with_rows},
    engine::{
        BestSwap, LeavingPairs, SwapNumbers, SwapTable, SwapUpdate, row_kernels::row_dot_in, sealed::Sealed,
    },
    parallel::map_ordered_mut,
};

impl Sealed for CpuSwaps<'_> {}

impl SwapTable for CpuSwaps<'_> {
    fn gains(&mut self, update: Option<&SwapUpdate<'_>>, weights: &[Vec<f64>]) -> Result<Vec<Vec<BestSwap>>> {
        let Self { rows, groups } = self;
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
                    Arch::new().dispatch(Update { run, len, values, swap: update, factors, tiles })
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
        Ok(best.into_iter().map(|swap| swap.into_iter().collect()).collect())
    }

    fn entrants(&self, _: &LeavingPairs<'_>) -> Result<Option<Vec<Vec<usize>>>> {
        Ok(None)
    }

    fn read(&self) -> Result<Vec<SwapNumbers>> {
        let groups = self.groups.iter().zip(self.rows.groups());
        Ok(groups.map(|(group, rows)| group.read(rows.items.len())).collect())
    }
}

/// The part of a table that a task works on.
struct Tiles<'a> {
    /// M_ii of every slot.
    weights: &'a [f64],
    coefficients: &'a mut [f64],
    residuals: &'a mut [f64],
}

/// The best swap so far, by tile and lane of the entering item.
struct BestSoFar {
    position: usize,
    ratio: f64,
}

impl BestSoFar {
    const NONE: Self = Self { position: 0, ratio: f64::NEG_INFINITY };

    /// Compares with a whole tile, with one branch per tile that is rarely taken.
    #[inline]
    fn offer(&mut self, tile: usize, ratios: &[f64; TILE]) {
        let largest = ratios.iter().fold(f64::NEG_INFINITY, |max, &x| if x > max { x } else { max });
        if largest > self.ratio {
            let lane = ratios.iter().position(|&x| x >= largest).unwrap_or_default();
            *self = Self { position: tile * TILE + lane, ratio: largest };
        }
    }

    /// Finds the slot of the best swap.
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

/// The best swap of a table without an update.
struct Scan<'a> {
    tiles: Tiles<'a>,
}

impl WithSimd for Scan<'_> {
    type Output = Option<BestSwap>;

    #[expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<BestSwap> {
        let tiles = self.tiles;
        let mut best = BestSoFar::NONE;
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

/// The update by a swap and the search for the next one, in one pass.
struct Update<'a, T: Scalar> {
    run: Run<'a>,
    len: usize,
    values: &'a StoredRows<T>,
    swap: &'a SwapUpdate<'a>,
    factors: &'a [[f64; 2]],
    tiles: Tiles<'a>,
}

impl<T: Scalar> WithSimd for Update<'_, T> {
    type Output = Option<BestSwap>;

    #[expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<BestSwap> {
        let Self { run, len, values, swap, factors, tiles } = self;
        let mut best = BestSoFar::NONE;
        let slots = tiles.weights.len();
        let (residuals, _) = tiles.residuals.as_chunks_mut::<TILE>();
        for (tile, residuals) in residuals.iter_mut().enumerate() {
            let (mut c, mut g) = ([0.0; TILE], [0.0; TILE]);
            for lane in 0..TILE.min(len - tile * TILE) {
                let at = tile * TILE + lane;
                let (row, factor) = (run.row(values, at), run.factor(at));
                c[lane] = factor * row_dot_in(simd, row, swap.leaving);
                g[lane] = factor * row_dot_in(simd, row, swap.entering);
            }
            for lane in 0..TILE {
                let change = swap.residual_gain * c[lane] * c[lane] - swap.residual_loss * g[lane] * g[lane];
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

//! Rates of the CPU, measured with the library's own kernels.

use std::{
    hint::black_box,
    sync::{Mutex, PoisonError},
};

use faer::{Mat, c64};

use super::{Rates, rates::ORDERS};
use crate::{
    Features, Result,
    clock::Instant,
    engine::{Engine, GridRequest, Items, PhaseGrid, Rows},
    parallel::{map_ordered, threads},
};

/// Number of values per row.
pub(in crate::engine) const DIMS: usize = 64;
/// Number of rows that stay in the cache of a core.
const BLOCK: usize = 2048;
/// Number of rows in single precision that no cache holds: 64 MiB.
const LARGE: usize = 1 << 18;
/// Number of times that everything is measured; the shortest time counts.
const TIMES: usize = 5;
/// Number of determinants that each thread computes.
const NODES: usize = 8;

/// Rates measured before, by the number of threads.
static KNOWN: Mutex<Vec<(usize, Rates)>> = Mutex::new(Vec::new());

impl Rates {
    /// Measures the rates of this computer, on the threads of the current rayon pool.
    ///
    /// # Cost
    /// About 100 ms the first time, and 64 MiB for that time. The rates are kept for the life of the process, even if
    /// the computer was busy when they were measured.
    ///
    /// # Errors
    /// None in practice; errors of passes over rows.
    #[doc(hidden)]
    pub fn of_cpu() -> Result<Self> {
        let find =
            |known: &[(usize, Self)]| known.iter().find(|(of, _)| *of == threads()).map(|known| known.1);
        if let Some(rates) = find(&KNOWN.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(rates);
        }
        // Nothing is locked here, because a thread that waits for others may begin another job, which also measures.
        let [small, large] = ORDERS.map(eliminate);
        let rates = Self { read: read()?, multiply: multiply()?, eliminate: [small?, large?], gpu: None };
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(find(&known).unwrap_or_else(|| {
            known.push((threads(), rates));
            rates
        }))
    }
}

/// Returns the shortest of several times.
fn shortest(run: impl Fn() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best.max(1e-9))
}

/// Makes rows of small numbers, no two of them equal.
pub(in crate::engine) fn features(rows: usize) -> Result<Features> {
    let values: Vec<f32> =
        (0..rows * DIMS).map(|at| (at * 40_503 % 65_521) as f32 / 65_521.0 - 0.5).collect();
    Features::from_rows(rows, DIMS, values)
}

/// Measures the bytes of rows per second that a pass reads from memory, with all threads at work.
fn read() -> Result<f64> {
    let features = features(LARGE)?;
    let rows = Rows::scaled(&features, vec![Items::All(LARGE)]);
    let time = shortest(|| Engine::host().row_norms(&rows).map(|norms| drop(black_box(norms))))?;
    Ok((LARGE * features.row_bytes()) as f64 / time)
}

/// Measures the operations per second of all threads for products of cached rows with a matrix.
fn multiply() -> Result<f64> {
    let features = features(BLOCK)?;
    let factor = Mat::from_fn(DIMS, DIMS, |i, j| 1.0 / (1 + i + j) as f64);
    let of_one = |_| {
        let rows = Rows::scaled(&features, vec![Items::All(BLOCK)]);
        let time = shortest(|| {
            let forms = Engine::host().row_forms(&rows, &[factor.as_ref()])?;
            black_box(forms);
            Ok(())
        })?;
        Ok((2 * BLOCK * DIMS * DIMS) as f64 / time)
    };
    Ok(map_ordered(threads(), of_one).into_iter().collect::<Result<Vec<f64>>>()?.iter().sum())
}

/// Measures the operations per second of all threads for determinants of complex matrices with `order` rows.
fn eliminate(order: usize) -> Result<f64> {
    let nodes = NODES * threads();
    let engine = Engine::host();
    let time = shortest(|| determinants(engine, order, nodes))?;
    Ok(operations(order, nodes) / time)
}

/// Computes the determinants of `nodes` matrices of this order.
pub(in crate::engine) fn determinants(engine: &Engine, order: usize, nodes: usize) -> Result<()> {
    let entry = |i: usize, j: usize| 1.0 / (1 + i.abs_diff(j)) as f64;
    let share =
        Mat::from_fn(order, order, |i, j| if i == j { 0.5 } else { 0.1 * entry(i, j) / order as f64 });
    let phase = |node: usize| {
        let (sin, cos) = (node as f64).sin_cos();
        c64::new(cos, sin)
    };
    let phases: Vec<c64> = (0..nodes).map(phase).collect();
    let grid = PhaseGrid { shares: &[share], phases: &phases };
    engine.grid_determinants(&grid, GridRequest::Determinants).map(|points| drop(black_box(points)))
}

/// Number of operations of these determinants.
pub(in crate::engine) fn operations(order: usize, nodes: usize) -> f64 {
    8.0 / 3.0 * (order.pow(3) * nodes) as f64
}

//! Rates of a device in f64, measured once per process and adapter.

use std::sync::{Mutex, PoisonError};

use faer::Mat;

use super::{AdapterSummary, Gpu, read_rate};
use crate::{
    Result,
    clock::Instant,
    engine::{
        Items, Rows, Verbs,
        cost::{DIMS, GpuRates, OPENING, ORDERS, Rates, determinants, features, operations},
    },
};

/// Rates that were measured before, by name and driver of the adapter.
static KNOWN: Mutex<Vec<([String; 2], Rates)>> = Mutex::new(Vec::new());

fn find(key: &[String; 2]) -> Option<Rates> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.iter().find(|(of, _)| of == key).map(|&(_, rates)| rates)
}

/// The rates of an adapter, if they were measured before.
pub(super) fn known(adapter: &AdapterSummary) -> Option<Rates> {
    find(&[adapter.name.clone(), adapter.driver.clone()])
}

/// The rates of a device that computes in f64, measured unless they are known.
pub(super) fn of(gpu: &Gpu) -> Result<Rates> {
    let info = gpu.context().device.adapter_info();
    let driver = super::options::driver_of(&info);
    let key = [info.name, driver];
    if let Some(rates) = find(&key) {
        return Ok(rates);
    }
    let rates = measured(gpu)?;
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).push((key, rates));
    Ok(rates)
}

/// Rows of a submission that does next to nothing.
const FEW: usize = 64;
/// Rows that are uploaded: 16 MiB in single precision.
const MANY: usize = 1 << 16;
/// Columns of products. The extra time of more columns is spent on operations alone.
const COLUMNS: [usize; 2] = [64, 320];
/// The number of rows of these products, for half a billion operations, and the most rows. The rows grow until the
/// difference takes [`LONGER`] times as long as a submission that does nothing.
const BLOCK: [usize; 2] = [1 << 14, 1 << 18];
const LONGER: f64 = 10.0;
/// Determinants of each order: at first enough for every core of a large card to have one, and the most of them.
const NODES: [[usize; 2]; 2] = [[1 << 10, 1 << 16], [1 << 7, 1 << 11]];
/// The number of measurements. The shortest time counts.
const TIMES: usize = 3;
/// The seconds after which no run is repeated, since noise is small beside them.
const LONG: f64 = 0.25;

/// Measures with the engine's own verbs, so that jobs reach these rates.
pub(super) fn measured(gpu: &Gpu) -> Result<Rates> {
    let latency = latency(gpu)?;
    let upload = upload(gpu)?;
    let multiply = products(gpu, latency)?;
    let read = read_rate::read_rate(gpu.context())?;
    let [small, large] = [0, 1].map(|at| eliminations(gpu, latency, ORDERS[at], NODES[at]));
    Ok(Rates {
        read,
        multiply,
        eliminate: [small?, large?],
        gpu: Some(GpuRates { upload, latency, opening: OPENING }),
    })
}

/// The shortest time of several runs. The first run compiles shaders and uploads rows, so it is not counted.
fn shortest(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    run()?;
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
        if best > LONG {
            break;
        }
    }
    Ok(best)
}

/// The time of updating few gains and waiting for the largest.
fn latency(gpu: &Gpu) -> Result<f64> {
    let features = features(FEW)?;
    let rows = Rows::scaled(&features, vec![Items::All(FEW)]);
    let mut table = gpu.gain_table(&rows, &[1.0; FEW])?;
    let direction = [0.0; DIMS];
    shortest(|| table.update(Some(&direction)).map(drop))
}

/// The upload rate, in bytes as stored, from the extra time of the first pass over rows.
fn upload(gpu: &Gpu) -> Result<f64> {
    let warm = features(FEW)?;
    gpu.row_norms(&Rows::scaled(&warm, vec![Items::All(FEW)]))?;
    let features = features(MANY)?;
    let rows = Rows::scaled(&features, vec![Items::All(MANY)]);
    let start = Instant::now();
    gpu.row_norms(&rows)?;
    let first = start.elapsed().as_secs_f64();
    let again = shortest(|| gpu.row_norms(&rows).map(drop))?;
    // If the difference is lost in noise, it is taken to be a tenth of the time.
    Ok((MANY * features.row_bytes()) as f64 / (first - again).max(0.1 * first))
}

/// The rate of products, from the extra time of more columns.
fn products(gpu: &Gpu, latency: f64) -> Result<f64> {
    let [mut block, most] = BLOCK;
    loop {
        let times = times_of_products(gpu, block)?;
        let longer = times[1] - times[0];
        if longer >= LONGER * latency || block >= most {
            let more = 2.0 * (block * DIMS * (COLUMNS[1] - COLUMNS[0])) as f64;
            return Ok(more / longer.max(0.02 * times[1]));
        }
        block *= 4;
    }
}

/// The seconds of products of `block` rows, with few columns and with more.
fn times_of_products(gpu: &Gpu, block: usize) -> Result<[f64; 2]> {
    let features = features(block)?;
    let rows = Rows::scaled(&features, vec![Items::All(block)]);
    let mut times = [0.0; 2];
    for (time, columns) in times.iter_mut().zip(COLUMNS) {
        let factor = Mat::from_fn(DIMS, columns, |i, j| 1.0 / (1 + i + j) as f64);
        *time = shortest(|| gpu.row_forms(&rows, &[factor.as_ref()]).map(drop))?;
    }
    Ok(times)
}

/// The rate of eliminations. Determinants are added until they take [`LONGER`] times as long as an empty submission.
fn eliminations(gpu: &Gpu, latency: f64, order: usize, [mut nodes, most]: [usize; 2]) -> Result<f64> {
    let engine = gpu.engine();
    loop {
        let time = shortest(|| determinants(&engine, order, nodes))?;
        if time >= LONGER * latency || nodes >= most {
            return Ok(operations(order, nodes) / (time - latency).max(0.1 * time));
        }
        nodes *= 4;
    }
}

//! Rates of the CPU, measured with the library's own kernels.

use std::{
    hint::black_box,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use faer::{Mat, MatRef, c64};

use super::{
    HostRates,
    host::{CUBIC_EIGEN, CUBIC_NODES, entries},
};
use crate::{
    Features, Result,
    engine::{Engine, GridRequest, Items, PhaseGrid, Rows},
    linalg,
    parallel::{map_ordered, map_ordered_mut, threads},
};

/// Rows of a block that stays in the cache of a core, and that no verb shares among threads.
const BLOCK: usize = 2048;
/// Dimensions of short rows, of long ones, and of those that take nearly as long as their values.
const SHORT: usize = 16;
const LONG: usize = 64;
const LONGEST: usize = 256;
/// Rows of [`LONG`] values in single precision that no cache holds: 64 MiB.
const LARGE: usize = 1 << 18;
/// Of these, rows that are read again and again: 16 MiB.
const AGAIN: usize = 1 << 16;
/// Groups of scattered rows.
const GROUPS: usize = 4;
/// Nodes of a grid whose determinants are computed.
const NODES: usize = 16;
/// Dimensions of these determinants.
const RANK: usize = 32;
/// Runs of rows that threads share.
const PIECES: usize = 16;
/// Updates in a row of a table of gains.
const UPDATES: usize = 8;
/// Random steps of one thread.
const STEPS: u64 = 20_000;
/// Times that a block is measured, and that memory is; the shortest time counts.
const TIMES: [usize; 2] = [7, 5];

/// Rates that were measured before, by the number of threads.
static KNOWN: Mutex<Vec<HostRates>> = Mutex::new(Vec::new());

impl HostRates {
    /// The rates of this computer, on the threads of the current rayon pool.
    ///
    /// # Cost
    /// Some 0.1 s the first time, and 64 MiB for that time. The rates are kept for the life of the process, as they were
    /// when the computer was that busy.
    ///
    /// # Errors
    /// [`Error::Eigen`](crate::Error::Eigen).
    pub fn measured() -> Result<Self> {
        if let Some(rates) = known(threads() as f64) {
            return Ok(rates);
        }
        // Nothing is locked here: a thread that waits for others may begin another job, which measures too.
        let rates = measure()?;
        let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let first = all.iter().find(|found| found.threads.total_cmp(&rates.threads).is_eq()).copied();
        Ok(first.unwrap_or_else(|| {
            all.push(rates);
            rates
        }))
    }
}

fn known(threads: f64) -> Option<HostRates> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.iter().find(|rates| rates.threads.total_cmp(&threads).is_eq()).copied()
}

fn measure() -> Result<HostRates> {
    // Before and after, since other work on the computer comes and goes.
    let before = Cached::measure()?;
    let large = Large::measure()?;
    let [rows, dots, converted, products] = before.or(Cached::measure()?).rates();
    Ok(HostRates {
        threads: threads() as f64,
        memory: large.memory,
        near: large.near,
        scattered: large.scattered,
        fresh: large.fresh,
        serial: large.serial,
        rows,
        dots,
        converted,
        products,
        eigen: eigen()?,
        nodes: nodes()?,
        steps: steps(),
        latency: latency(),
    })
}

/// The shortest of so many times.
fn shortest(times: usize, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..times {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// How often all threads together run what each runs by itself.
fn per_second(run: impl Fn() -> Result<()> + Sync + Send) -> Result<f64> {
    let times =
        map_ordered(threads(), |_| shortest(TIMES[0], &run)).into_iter().collect::<Result<Vec<f64>>>()?;
    Ok(times.iter().map(|time| time.max(1e-9).recip()).sum())
}

/// Digits without a pattern, in (−1, 1).
fn digits(count: usize, start: usize) -> impl Iterator<Item = f32> {
    let mut state = start as u64;
    (0..count).map(move |_| {
        state = next(state);
        #[expect(clippy::cast_possible_truncation, reason = "digits")]
        let digit = ((state >> 40) as f64 / f64::from(1 << 23) - 1.0) as f32;
        digit
    })
}

/// Knuth's linear congruential generator.
fn next(state: u64) -> u64 {
    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// Two positive unknowns of a·x + b·y = c: each of the equations alone bounds them where noise makes one negative.
fn solved([first, second]: [[f64; 3]; 2]) -> [f64; 2] {
    let determinant = first[0] * second[1] - first[1] * second[0];
    let x = (first[2] * second[1] - first[1] * second[2]) / determinant;
    let y = (first[0] * second[2] - first[2] * second[0]) / determinant;
    let least = |sum: f64, factor: f64| 0.02 * sum / factor;
    let x = x.max(least(first[2], first[0]));
    [x, y.max(least(second[2], second[1]))]
}

/// Seconds for a row in the cache, with all threads at work.
#[derive(Clone, Copy)]
struct Cached {
    /// Multiplied by a vector: a short row, and one of the longest.
    dots: [f64; 2],
    /// A long one multiplied by a matrix of few columns, and of many.
    forms: [f64; 2],
}

impl Cached {
    fn measure() -> Result<Self> {
        let block = |rows: usize, dims: usize| {
            Features::from_rows(rows, dims, digits(rows * dims, dims).collect::<Vec<_>>())
        };
        let (short, long) = (block(BLOCK, SHORT)?, block(BLOCK, LONG)?);
        let longest = block(BLOCK * LONG / LONGEST, LONGEST)?;
        let [short, long, longest] =
            [&short, &long, &longest].map(|rows| Rows::scaled(rows, vec![Items::All(rows.items())]));
        let of_row = |rows: &Rows<'_>, per_second: f64| (rows.len() as f64 * per_second).recip();
        let dots = |rows: &Rows<'_>| {
            Ok::<_, crate::Error>(of_row(rows, UPDATES as f64 * per_second(|| updates(rows))?))
        };
        let factor = Mat::from_fn(LONG, LONG, |i, j| 1.0 / (1 + i + j) as f64);
        let forms = |columns: usize| {
            let factor = factor.as_ref().subcols(0, columns);
            Ok::<_, crate::Error>(of_row(&long, per_second(|| squares(&long, factor))?))
        };
        Ok(Self { dots: [dots(&short)?, dots(&longest)?], forms: [forms(SHORT)?, forms(LONG)?] })
    }

    /// The shorter times of two measurements.
    fn or(self, other: Self) -> Self {
        let least = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].min(b[1])];
        Self { dots: least(self.dots, other.dots), forms: least(self.forms, other.forms) }
    }

    /// Rows begun, values multiplied, values converted, and operations of products in a second.
    fn rates(&self) -> [f64; 4] {
        let (m, n) = (SHORT as f64, LONG as f64);
        let ([short, longest], [few, many]) = (self.dots, self.forms);
        let [per_value, per_row] = solved([[LONGEST as f64, 1.0, longest], [m, 1.0, short]]);
        let [per_product, rest] = solved([[n * n, 1.0, many], [n * m, 1.0, few]]);
        let per_conversion = ((rest - per_row) / n).max(per_value);
        [per_row.recip(), per_value.recip(), per_conversion.recip(), 2.0 / per_product]
    }
}

/// Updates of a table of gains.
fn updates(rows: &Rows<'_>) -> Result<()> {
    let direction = vec![1e-3; rows.features().dims()];
    let mut table = Engine::host().gain_table(rows, &vec![1.0; rows.len()])?;
    for _ in 0..UPDATES {
        black_box(table.update(Some(&direction))?);
    }
    Ok(())
}

fn norms(rows: &Rows<'_>) -> Result<()> {
    black_box(Engine::host().row_norms(rows)?);
    Ok(())
}

fn squares(rows: &Rows<'_>, factor: MatRef<'_, f64>) -> Result<()> {
    black_box(Engine::host().row_forms(rows, &vec![factor; rows.groups().len()])?);
    Ok(())
}

/// What memory allows.
struct Large {
    memory: f64,
    near: f64,
    scattered: f64,
    fresh: f64,
    serial: f64,
}

impl Large {
    fn measure() -> Result<Self> {
        let (values, fresh) = written();
        let serial = shortest(TIMES[1], || {
            black_box(sum(black_box(&values)));
            Ok(())
        })?;
        // Each piece is timed by itself, so that other work on the computer counts for little; the others drive it from
        // the cache.
        let count = 1 << (PIECES / threads()).clamp(1, 8).ilog2();
        let pieces =
            values.chunks(values.len() / count).map(|piece| Features::from_rows(LARGE / count, LONG, piece));
        let pieces = pieces.collect::<Result<Vec<_>>>()?;
        #[expect(clippy::cast_possible_truncation, reason = "fewer rows than 2³²")]
        let group =
            |first: usize| (first..LARGE / count).step_by(GROUPS).map(|i| i as u32).collect::<Vec<u32>>();
        let groups: Vec<Vec<u32>> = (0..GROUPS).map(group).collect();
        let listed = || groups.iter().map(|group| Items::Listed(group)).collect();
        let memory = passes(&pieces, || vec![Items::All(LARGE / count)])?;
        let scattered = passes(&pieces, listed)?;
        let again = [Features::from_rows(AGAIN, LONG, &values[..AGAIN * LONG])?];
        let near = passes(&again, || vec![Items::All(AGAIN)])?;
        let bytes = size_of_val(&values[..]) as f64;
        let [memory, scattered, serial] = [memory, scattered, serial].map(|time| bytes / time);
        let near = (size_of::<f32>() * AGAIN * LONG) as f64 / near;
        Ok(Self { memory, near: near.max(memory), scattered: scattered.min(memory), fresh, serial })
    }
}

/// Seconds to read all pieces.
fn passes<'p>(pieces: &'p [Features], groups: impl Fn() -> Vec<Items<'p>>) -> Result<f64> {
    let mut best = vec![f64::INFINITY; pieces.len()];
    for _ in 0..TIMES[1] {
        for (best, piece) in best.iter_mut().zip(pieces) {
            let rows = Rows::scaled(piece, groups());
            let start = Instant::now();
            norms(&rows)?;
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    Ok(best.iter().sum())
}

/// New memory, and the bytes per second at which all threads together write to it.
fn written() -> (Vec<f32>, f64) {
    /// Values of a piece.
    const PIECE: usize = 1 << 16;
    let mut values = vec![0.0_f32; LARGE * LONG];
    let mut times = map_ordered_mut(values.chunks_mut(PIECE).collect(), |at, piece| {
        let start = Instant::now();
        piece.iter_mut().for_each(|x| *x = 1.0 + at as f32);
        start.elapsed().as_secs_f64()
    });
    // The mean of the faster half: slower pieces were interrupted.
    times.sort_by(f64::total_cmp);
    times.truncate(times.len() / 2);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    (values, (4 * PIECE * threads()) as f64 / mean)
}

/// Σ x_j in lanes.
fn sum(values: &[f32]) -> f32 {
    let mut lanes = [0.0; 32];
    for values in values.as_chunks::<32>().0 {
        lanes.iter_mut().zip(values).for_each(|(lane, x)| *lane += x);
    }
    lanes.iter().sum()
}

/// Entries of symmetric matrices that one thread decomposes in a second.
fn eigen() -> Result<f64> {
    let values: Vec<f32> = digits(LONG * LONG, 1).collect();
    let entry = |i: usize, j: usize| f64::from(values[i.max(j) * LONG + i.min(j)]);
    let matrix = Mat::from_fn(LONG, LONG, entry);
    let time = shortest(TIMES[0], || linalg::eigen(matrix.as_ref()).map(|found| drop(black_box(found))))?;
    Ok(entries(LONG as f64, CUBIC_EIGEN) / time)
}

/// Entries of complex matrices whose determinants are computed in a second.
fn nodes() -> Result<f64> {
    let share = |start: usize| {
        let values: Vec<f32> = digits(RANK, start).collect();
        Mat::from_fn(RANK, RANK, |i, j| f64::from(values[i] * values[j]) / RANK as f64)
    };
    let shares = [share(1), share(2)];
    let angle = |at: usize| 0.1 + 0.7 * at as f64;
    let phases: Vec<c64> = (0..2 * NODES).map(|at| c64::new(angle(at).cos(), angle(at).sin())).collect();
    let grid = PhaseGrid { shares: &shares, phases: &phases };
    let grids = per_second(|| {
        black_box(Engine::host().grid_determinants(&grid, GridRequest::Determinants)?);
        Ok(())
    })?;
    Ok(grids * NODES as f64 * entries(RANK as f64, CUBIC_NODES))
}

fn steps() -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..TIMES[0] {
        let start = Instant::now();
        black_box((0..STEPS).fold(black_box(1), |state, _| next(state ^ (state >> 29))));
        best = best.min(start.elapsed().as_secs_f64());
    }
    STEPS as f64 / best
}

/// Seconds to hand an empty task to every thread, and to wait.
fn latency() -> f64 {
    let mut times: Vec<f64> = (0..32)
        .map(|_| {
            let start = Instant::now();
            black_box(map_ordered(2 * threads(), black_box));
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

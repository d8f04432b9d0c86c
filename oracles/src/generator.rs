//! Random small problems, most of them numerically difficult.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    Constraint, Data, Problem, Storage,
    exact::{counts, set_of},
};

/// The largest number of items, of points under a Gaussian kernel, and of features.
const ITEMS: usize = 9;
const POINTS: usize = 12;
const DIMS: usize = 6;
/// Entries below 10^−this in absolute value become 0, and entries above 10^this are clamped.
const LARGEST: f64 = 120.0;

struct Source(ChaCha8Rng);

impl Source {
    fn chance(&mut self, probability: f64) -> bool {
        self.0.random::<f64>() < probability
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.random::<f64>()
    }

    fn below(&mut self, count: usize) -> usize {
        self.0.random_range(0..count)
    }

    /// Returns a standard normal number by the Box–Muller method. It must not change: tests name problems by their
    /// seeds.
    fn normal(&mut self) -> f64 {
        let (u, v): (f64, f64) = (1.0 - self.0.random::<f64>(), self.0.random());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }

    fn power_of_ten(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.between(low, high))
    }
}

/// Returns the problem of a seed.
pub fn problem(seed: u64) -> Problem {
    let mut source = Source(ChaCha8Rng::seed_from_u64(seed));
    let (items, dims) = (1 + source.below(ITEMS), 1 + source.below(DIMS));
    let labels = labels(&mut source, items);
    let mut rows = base(&mut source, items, dims);
    // A fifth of the problems stay harmless.
    if !source.chance(0.2) {
        spoil(&mut source, &mut rows, &labels);
    }
    let mut problem = Problem::new(rows, labels, Constraint::Any);
    if source.chance(0.12) {
        problem.data = Data::Kernel;
        problem.rows = gram(&problem.rows);
    } else if source.chance(0.15) {
        problem.storage = Storage::F32;
        let single = |x: &mut f64| *x = f64::from((*x as f32).clamp(f32::MIN, f32::MAX));
        problem.rows.iter_mut().flatten().for_each(single);
    }
    constrain(&mut source, &mut problem, dims);
    problem
}

/// Returns the problem of a seed, with weights.
pub fn weighted(seed: u64) -> Problem {
    // A separate stream keeps the problem itself unchanged.
    let mut source = Source(ChaCha8Rng::seed_from_u64(seed));
    source.0.set_stream(1);
    let mut problem = problem(seed);
    let size = [0.3, 1.0, 10.0, 100.0, 500.0, 5000.0][source.below(6)];
    let of_parts = source.normals(problem.parts());
    problem.log_weights = problem
        .labels
        .iter()
        .map(|&label| {
            let own = source.normal();
            size * if source.chance(0.2) { of_parts[label] } else { own }
        })
        .collect();
    problem
}

/// Returns the problem of a seed with a ridge. Most have more features than items.
pub fn ridged(seed: u64) -> Problem {
    let mut source = Source(ChaCha8Rng::seed_from_u64(seed));
    source.0.set_stream(2);
    let mut problem = problem(seed);
    problem.storage = Storage::F64;
    let items = problem.items();
    if problem.data == Data::Features && source.chance(0.7) {
        let more = items + source.below(DIMS);
        let largest = problem.rows.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
        let reach = [0.0, 0.0, 3.0, 10.0][source.below(4)];
        for row in &mut problem.rows {
            let by = largest * source.power_of_ten(-reach, 0.0);
            row.extend(source.normals(more).into_iter().map(|x| by * x));
        }
    }
    let kernel_of = |row: &Vec<f64>, item: usize| match problem.data {
        Data::Features => row.iter().map(|x| x * x).sum::<f64>(),
        Data::Kernel | Data::Gaussian => row[item],
    };
    let own = problem.rows.iter().enumerate().map(|(item, row)| kernel_of(row, item));
    let unit = own.fold(0.0, f64::max);
    if unit <= 0.0 {
        // A kernel of zeros is refused before the ridge is added.
        problem.data = Data::Features;
    }
    let delta = source.power_of_ten(-3.0, 1.0) * if unit > 0.0 { unit } else { 1.0 };
    let mut problem = problem.with_ridge(delta);
    // With a ridge, sets may have any number of items.
    (problem.include, problem.exclude) = (Vec::new(), Vec::new());
    constrain(&mut source, &mut problem, items);
    problem
}

/// Returns a problem with the Gaussian kernel of points whose coordinates are up to 10¹² bandwidths.
pub fn gaussian(seed: u64) -> Problem {
    // A separate stream makes the problem a new one.
    let mut source = Source(ChaCha8Rng::seed_from_u64(seed));
    source.0.set_stream(2);
    let (items, dims) = (1 + source.below(POINTS), 1 + source.below(DIMS));
    let labels = labels(&mut source, items);
    let mut rows = base(&mut source, items, dims);
    let near = source.power_of_ten(-1.5, 0.5);
    rows.iter_mut().for_each(|row| scale(row, near));
    if !source.chance(0.2) {
        set_apart(&mut source, &mut rows);
    }
    let mut problem = Problem::new(rows, labels, Constraint::Any);
    problem.data = Data::Gaussian;
    constrain(&mut source, &mut problem, items);
    problem
}

/// Moves points far apart or almost together, in one to three ways.
fn set_apart(source: &mut Source, rows: &mut [Vec<f64>]) {
    for _ in 0..1 + source.below(3) {
        let dims = rows[0].len();
        match source.below(6) {
            // Missing values, encoded as one large number.
            0 => {
                let (missing, column) = (source.power_of_ten(3.0, 12.0).round(), source.below(dims));
                let share = source.between(0.1, 0.6);
                rows.iter_mut().filter(|_| source.chance(share)).for_each(|row| row[column] = missing);
            }
            // Timestamps: a distant origin, and sometimes one zero.
            1 => {
                let (origin, column) = (source.power_of_ten(6.0, 12.0).round(), source.below(dims));
                rows.iter_mut().for_each(|row| row[column] += origin);
                if source.chance(0.5) {
                    let at = source.below(rows.len());
                    rows[at][column] = 0.0;
                }
            }
            // Clusters far from each other.
            2 => {
                let reach = source.between(0.5, 12.0);
                let centres: Vec<Vec<f64>> = (0..2).map(|_| source.normals(dims)).collect();
                let by = 10_f64.powf(reach);
                rows.iter_mut().for_each(|row| {
                    let centre = &centres[source.below(2)];
                    row.iter_mut().zip(centre).for_each(|(x, c)| *x += by * c);
                });
            }
            3 => outliers(source, rows),
            4 => {
                let (from, to) = (source.below(rows.len()), source.below(rows.len()));
                rows[to] = rows[from].clone();
            }
            _ => near_copies(source, rows),
        }
    }
    // No coordinate is larger than this.
    rows.iter_mut().flatten().for_each(|x| *x = x.clamp(-1e12, 1e12));
}

fn labels(source: &mut Source, items: usize) -> Vec<usize> {
    let parts = 1 + source.below(4);
    let drawn: Vec<usize> = (0..items).map(|_| source.below(parts)).collect();
    let mut used = drawn.clone();
    used.sort_unstable();
    used.dedup();
    drawn.iter().map(|label| used.iter().position(|other| other == label).unwrap()).collect()
}

/// Returns Gaussian rows, small integers, or rows of a lower rank.
fn base(source: &mut Source, items: usize, dims: usize) -> Vec<Vec<f64>> {
    let kind: f64 = source.between(0.0, 1.0);
    if kind < 0.7 {
        return (0..items).map(|_| source.normals(dims)).collect();
    }
    let rank = if kind < 0.82 { 1 + source.below(dims) } else { dims };
    let whole = |source: &mut Source, count: usize| -> Vec<f64> {
        (0..count).map(|_| source.below(5) as f64 - 2.0).collect()
    };
    let directions: Vec<Vec<f64>> = (0..rank).map(|_| whole(source, dims)).collect();
    let row = |source: &mut Source| {
        let shares = if kind < 0.76 { source.normals(rank) } else { whole(source, rank) };
        let entry =
            |j: usize| shares.iter().zip(&directions).map(|(share, direction)| share * direction[j]).sum();
        if kind < 0.82 { (0..dims).map(entry).collect() } else { whole(source, dims) }
    };
    (0..items).map(|_| row(source)).collect()
}

/// Makes the rows difficult, in one to three ways.
fn spoil(source: &mut Source, rows: &mut [Vec<f64>], labels: &[usize]) {
    for _ in 0..1 + source.below(3) {
        match source.below(10) {
            0 => scale_all(source, rows),
            1 => scale_parts(source, rows, labels),
            2 => grade_rows(source, rows),
            3 => grade_columns(source, rows),
            4 => near_columns(source, rows),
            5 => outliers(source, rows),
            6 | 7 => copies(source, rows),
            8 => near_copies(source, rows),
            _ => zeros(source, rows),
        }
    }
    let limit = |x: &mut f64| {
        if x.abs() < 10_f64.powf(-LARGEST) {
            *x = 0.0;
        }
        *x = x.clamp(-(10_f64.powf(LARGEST)), 10_f64.powf(LARGEST));
    };
    rows.iter_mut().flatten().for_each(limit);
}

fn scale(row: &mut [f64], by: f64) {
    row.iter_mut().for_each(|x| *x *= by);
}

/// Returns how far scales reach, in powers of ten.
fn reach(source: &mut Source) -> f64 {
    [2.0, 5.0, 10.0, 20.0, 50.0, 100.0][source.below(6)]
}

fn scale_all(source: &mut Source, rows: &mut [Vec<f64>]) {
    let reach = reach(source);
    let by = source.power_of_ten(-reach, reach);
    rows.iter_mut().for_each(|row| scale(row, by));
}

fn scale_parts(source: &mut Source, rows: &mut [Vec<f64>], labels: &[usize]) {
    let reach = reach(source);
    let by: Vec<f64> = (0..rows.len()).map(|_| source.power_of_ten(-reach, reach)).collect();
    rows.iter_mut().zip(labels).for_each(|(row, &label)| scale(row, by[label]));
}

fn grade_rows(source: &mut Source, rows: &mut [Vec<f64>]) {
    let reach = reach(source);
    rows.iter_mut().for_each(|row| scale(row, source.power_of_ten(-reach, reach)));
}

fn grade_columns(source: &mut Source, rows: &mut [Vec<f64>]) {
    let reach = reach(source);
    for j in 0..rows[0].len() {
        let by = source.power_of_ten(-reach, reach);
        rows.iter_mut().for_each(|row| row[j] *= by);
    }
}

fn near_columns(source: &mut Source, rows: &mut [Vec<f64>]) {
    let dims = rows[0].len();
    let (from, to, apart) = (source.below(dims), source.below(dims), source.power_of_ten(-16.5, -4.0));
    if from != to {
        rows.iter_mut().for_each(|row| row[to] = row[from] + apart * row[to]);
    }
}

fn outliers(source: &mut Source, rows: &mut [Vec<f64>]) {
    for _ in 0..1 + source.below(2) {
        let (at, by) = (source.below(rows.len()), source.power_of_ten(8.0, 20.0));
        scale(&mut rows[at], by);
    }
}

/// Overwrites one or two rows with duplicates, opposite or parallel rows.
fn copies(source: &mut Source, rows: &mut [Vec<f64>]) {
    for _ in 0..1 + source.below(2) {
        let (from, to) = (source.below(rows.len()), source.below(rows.len()));
        rows[to] = rows[from].clone();
        let by = [1.0, -1.0, 2.0, source.between(-3.0, 3.0)][source.below(4)];
        scale(&mut rows[to], by);
    }
}

fn near_copies(source: &mut Source, rows: &mut [Vec<f64>]) {
    let (from, to, apart) =
        (source.below(rows.len()), source.below(rows.len()), source.power_of_ten(-16.0, -6.0));
    let size = rows[from].iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    rows[to] = rows[from].iter().map(|x| x + apart * size * source.normal()).collect();
}

fn zeros(source: &mut Source, rows: &mut [Vec<f64>]) {
    for _ in 0..1 + source.below(3) {
        let at = source.below(rows.len());
        rows[at].fill(0.0);
    }
}

/// Returns A Aᵀ, rounded and symmetric.
fn gram(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    rows.iter().map(|x| rows.iter().map(|y| product(x, y)).collect()).collect()
}

/// Adds a constraint and conditions that a random set meets. Occasionally, the set has more than `dims` items.
fn constrain(source: &mut Source, problem: &mut Problem, dims: usize) {
    let (items, parts) = (problem.items(), problem.parts());
    let mut order: Vec<usize> = (0..items).collect();
    for at in (1..items).rev() {
        order.swap(at, source.below(at + 1));
    }
    let most = if source.chance(0.1) { items } else { items.min(dims) };
    let (chosen, others) = order.split_at(1 + source.below(most));
    let met = counts(set_of(chosen.iter().copied()), &problem.labels, parts);
    problem.constraint = match source.between(0.0, 1.0) {
        kind if kind < 0.2 => Constraint::Any,
        kind if kind < 0.35 => Constraint::Size(chosen.len()),
        kind if kind < 0.67 => Constraint::Quota(met),
        kind if kind < 0.72 => Constraint::Independent(met),
        _ => {
            let range = |source: &mut Source, count: usize| {
                let low = if source.chance(0.5) { 0 } else { count.saturating_sub(source.below(2)) };
                // The upper end may exceed the size of the part.
                low..=if source.chance(0.3) { items } else { count + source.below(2) }
            };
            let ranges = met.iter().map(|&count| range(source, count)).collect();
            Constraint::Ranges(ranges, source.chance(0.4).then_some(chosen.len()))
        }
    };
    if source.chance(0.2) {
        problem.include = chosen[..1 + source.below(chosen.len().min(2))].to_vec();
    }
    if source.chance(0.2) && !others.is_empty() {
        problem.exclude = others[..1 + source.below(others.len().min(2))].to_vec();
    }
}

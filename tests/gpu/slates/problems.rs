//! Catalogues with requests.

use half::f16;
use partition_dpp::{
    CountRange, Features, Partition, Quota,
    slates::{SlateRequest, Slates},
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::index};

/// Requests for sets of one catalogue.
pub(super) struct Problem {
    pub(super) name: &'static str,
    features: Features,
    labels: Vec<usize>,
    ranges: Vec<CountRange>,
    size: usize,
    pub(super) requests: Vec<Request>,
    /// The number of requests that the host solves.
    pub(super) not_for_devices: u64,
}

#[derive(Clone, Default)]
pub(super) struct Request {
    candidates: Vec<u32>,
    scores: Vec<f32>,
    included: Vec<u32>,
    excluded: Vec<u32>,
}

impl Request {
    fn asked(&self) -> SlateRequest<'_> {
        let Self { candidates, scores, included, excluded } = self;
        SlateRequest::of(candidates).with_scores(scores).including(included).excluding(excluded)
    }
}

impl Problem {
    pub(super) fn solved<T>(&self, with: impl FnOnce(&Slates, &[SlateRequest<'_>]) -> T) -> T {
        let partition = Partition::from_labels(&self.labels).unwrap();
        let quota = Quota::new(&partition, self.ranges.clone()).unwrap().with_total(self.size).unwrap();
        let slates = Slates::new(&self.features, &partition, &quota).unwrap();
        let requests: Vec<SlateRequest<'_>> = self.requests.iter().map(Request::asked).collect();
        with(&slates, &requests)
    }
}

/// Returns rows around ten centres.
fn rows(items: usize, dims: usize, seed: u64) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(seed);
    let centres: Vec<f64> = (0..10 * dims).map(|_| rng.random_range(-1.0..1.0)).collect();
    let value = |at: usize| centres[at / dims % 10 * dims + at % dims] + rng.random_range(-0.5..0.5);
    (0..items * dims).map(value).collect()
}

fn requests(items: usize, candidates: usize, count: usize, seed: u64) -> Vec<Request> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut request = || {
        let drawn = index::sample(&mut rng, items, candidates).into_iter();
        let candidates: Vec<u32> = drawn.map(|item| item as u32).collect();
        let scores = candidates.iter().map(|_| rng.random_range(0.0..2.0)).collect();
        Request { candidates, scores, ..Request::default() }
    };
    (0..count).map(|_| request()).collect()
}

/// Twelve of two hundred items, at least one from each of three categories and at most four from each of eight.
pub(super) fn service(count: usize) -> Problem {
    let (items, dims) = (2_000, 24);
    let values: Vec<f32> = rows(items, dims, 1).into_iter().map(|x| x as f32).collect();
    Problem {
        name: "a service",
        features: Features::from_rows(items, dims, values).unwrap(),
        labels: (0..items).map(|item| item * item % 31 % 8).collect(),
        ranges: (0..8).map(|part| CountRange::from(usize::from(part < 3)..=4)).collect(),
        size: 12,
        requests: requests(items, 200, count, 2),
        not_for_devices: 0,
    }
}

/// Every row appears four times, among all of its copies.
pub(super) fn copies() -> Problem {
    let (items, dims) = (400, 9);
    let mut rng = StdRng::seed_from_u64(3);
    let distinct: Vec<f32> = rows(items / 4, dims, 4).into_iter().map(|x| x as f32).collect();
    let mut problem = Problem {
        name: "copies",
        features: Features::from_rows(items, dims, distinct.repeat(4)).unwrap(),
        labels: (0..items).map(|item| item % (items / 4) % 3).collect(),
        ranges: vec![CountRange::from(0..=3); 3],
        size: 5,
        requests: requests(items, 120, 32, 5),
        not_for_devices: 0,
    };
    // Equal scores, any order, and some items twice.
    for request in &mut problem.requests {
        request.scores.clear();
        let again = request.candidates[rng.random_range(0..120)];
        request.candidates.push(again);
    }
    problem
}

/// Copies that are longer by parts in 10¹², which single precision cannot represent.
fn near_copies() -> Problem {
    let (items, dims) = (120, 6);
    let mut values = rows(items / 4, dims, 12).repeat(4);
    for (item, row) in values.chunks_exact_mut(dims).enumerate() {
        row.iter_mut().for_each(|x| *x *= 1.0 + 1e-12 * (item * 7 % items) as f64);
    }
    let mut problem = Problem {
        name: "near copies",
        features: Features::from_rows(items, dims, values).unwrap(),
        labels: (0..items).map(|item| item % 2).collect(),
        ranges: vec![CountRange::from(0..=3); 2],
        size: 4,
        requests: requests(items, 100, 24, 13),
        not_for_devices: 24,
    };
    problem.requests.iter_mut().for_each(|request| request.scores.clear());
    problem
}

/// Copies whose scores differ by parts in 10⁹.
fn near_scores() -> Problem {
    let mut problem = Problem { name: "near scores", not_for_devices: 32, ..copies() };
    for request in &mut problem.requests {
        request.candidates.truncate(120);
        let score = |item: &u32| 1e-9 * (item / 100) as f32;
        request.scores = request.candidates.iter().map(score).collect();
    }
    problem
}

/// Rows that permute the entries of other rows, so they are equally long up to rounding.
fn turned() -> Problem {
    let mut problem = Problem { name: "turned", not_for_devices: 32, ..copies() };
    let (items, dims) = (400, 9);
    let mut values: Vec<f32> =
        rows(items / 4, dims, 14).into_iter().map(|x| x as f32).collect::<Vec<_>>().repeat(4);
    values.chunks_exact_mut(dims).enumerate().for_each(|(item, row)| row.rotate_left(item / (items / 4)));
    problem.features = Features::from_rows(items, dims, values).unwrap();
    problem
}

/// A problem of a given shape: numbers of rows, columns, parts, picks and candidates around the edges of tiles and
/// groups
/// of four.
fn shaped(name: &'static str, [dims, parts, size, candidates]: [usize; 4], count: usize) -> Problem {
    let items = 1_000;
    let features = Features::from_rows(items, dims, rows(items, dims, 6)).unwrap();
    Problem {
        name,
        features: features.with_unit_rows().unwrap(),
        labels: (0..items).map(|item| item % parts).collect(),
        ranges: vec![CountRange::from(0..=2 * size.div_ceil(parts)); parts],
        size,
        requests: requests(items, candidates, count, 7),
        not_for_devices: 0,
    }
}

/// Exact counts, rows in half precision, and weights of rows.
fn exact() -> Problem {
    let (items, dims) = (500, 16);
    let mut rng = StdRng::seed_from_u64(8);
    let values: Vec<f16> = rows(items, dims, 9).into_iter().map(f16::from_f64).collect();
    let features = Features::from_rows(items, dims, values).unwrap();
    let scores: Vec<f64> = (0..items).map(|_| rng.random_range(-3.0..3.0)).collect();
    Problem {
        name: "exact counts",
        features: features.with_scores(&scores, 0.4).unwrap(),
        labels: (0..items).map(|item| item % 4).collect(),
        ranges: [3, 1, 0, 2].map(|count| CountRange::from(count..=count)).into(),
        size: 6,
        requests: requests(items, 90, 32, 10),
        not_for_devices: 0,
    }
}

/// Every second request has no answer, or is not for devices.
fn mixed() -> Problem {
    let mut problem = Problem { name: "mixed", ..service(48) };
    let few: Vec<u32> = (0..2_000).filter(|item| item * item % 31 % 8 > 2).take(60).collect();
    for (at, request) in problem.requests.iter_mut().enumerate() {
        match at % 12 {
            0 => request.included = request.candidates[5..7].to_vec(),
            2 => *request = Request { candidates: few.clone(), ..Request::default() },
            4 => request.candidates[3] = 2_000,
            6 => request.scores[9] = f32::NAN,
            8 => request.candidates.truncate(11),
            10 => request.excluded = request.candidates[100..130].to_vec(),
            _ => {}
        }
    }
    problem.not_for_devices = 20;
    problem
}

/// Dependent rows: a part has too few independent ones for the device to decide.
fn dependent() -> Problem {
    let values = [10.0, 0.0, 0.0, 1.0, 1.0, 0.0];
    let mut problem = Problem {
        name: "dependent",
        features: Features::from_rows(3, 2, values.to_vec()).unwrap(),
        labels: vec![0, 0, 1],
        ranges: vec![CountRange::from(1..=1); 2],
        size: 2,
        requests: requests(3, 3, 1, 1),
        not_for_devices: 2,
    };
    problem.requests[0].scores.clear();
    problem.requests.push(Request { candidates: vec![0, 2], ..Request::default() });
    problem
}

/// Scores far apart. The largest belongs to an item that cannot be picked, so the weights of others lose all digits.
fn tiny() -> Problem {
    let mut problem = Problem { name: "tiny weights", ..service(24) };
    problem.ranges[7] = CountRange::from(0..=0);
    for (at, request) in problem.requests.iter_mut().enumerate() {
        for (candidate, score) in request.candidates.iter().zip(&mut request.scores) {
            if candidate * candidate % 31 % 8 == 7 {
                *score += [10.0, 60.0, 100.0, 500.0][at % 4];
            }
        }
    }
    problem.not_for_devices = 18;
    problem
}

/// A problem that chooses one of a few rows.
fn one_of(name: &'static str, features: Features, scores: Vec<f32>) -> Problem {
    Problem {
        name,
        features,
        labels: vec![0; scores.len()],
        ranges: vec![CountRange::from(0..=1)],
        size: 1,
        requests: vec![Request {
            candidates: (0..scores.len() as u32).collect(),
            scores,
            ..Request::default()
        }],
        not_for_devices: 1,
    }
}

/// Scores so large that the logarithm of a length is lost when it is added.
fn large_scores() -> Problem {
    let features = Features::from_rows(2, 2, vec![1.0_f64, 0.0, 1.0 + 1e-8, 0.0]).unwrap();
    one_of("large scores", features, vec![1e9; 2])
}

/// Copies whose scores differ by less than their exponentials resolve. The divisor makes their length 1.
fn nearest_scores() -> Problem {
    let features = Features::from_rows(3, 4, vec![1.0_f32; 12]).unwrap();
    one_of("nearest scores", features, vec![0.0, -5.0, 1e-17])
}

/// Rows that are far shorter than the longest.
fn short() -> Problem {
    let (items, dims) = (2_000, 24);
    let mut values = rows(items, dims, 15);
    values[dims..].iter_mut().for_each(|x| *x *= 1e-7);
    Problem { name: "short rows", features: Features::from_rows(items, dims, values).unwrap(), ..service(24) }
}

/// Requests with neighbouring items, and with items from everywhere.
pub(super) fn in_chunks() -> Problem {
    let mut problem = Problem { name: "chunks", ..service(60) };
    for (at, request) in problem.requests.iter_mut().enumerate() {
        if at % 3 > 0 {
            let first = at as u32 * 30;
            request.candidates.iter_mut().zip(first..).for_each(|(candidate, item)| *candidate = item);
        }
    }
    problem
}

pub(super) fn problems() -> Vec<Problem> {
    vec![
        service(32),
        copies(),
        exact(),
        mixed(),
        dependent(),
        tiny(),
        near_copies(),
        near_scores(),
        turned(),
        large_scores(),
        nearest_scores(),
        short(),
        shaped("one pick", [8, 1, 1, 5], 24),
        shaped("all candidates", [12, 2, 6, 6], 24),
        shaped("a whole tile", [7, 3, 4, 256], 8),
        shaped("one more than a tile", [33, 3, 9, 257], 8),
        shaped("several tiles", [5, 3, 4, 800], 8),
        shaped("many columns", [300, 5, 20, 60], 4),
        shaped("many parts", [20, 256, 9, 150], 8),
    ]
}

//! The choice of an engine: five made-up cards over a grid of jobs, and crossovers by hand.

use partition_dpp::{
    Features,
    engine::{
        self, Precision,
        cost::{CardKind, CardRates, Comparison, EngineReason, HostRates, Job, Standing, Task},
    },
};

const TASKS: [Task; 12] = [
    Task::Passes(16),
    Task::SetUp,
    Task::Proposals(10_000),
    Task::Draws(100_000),
    Task::EstimatedDraws(10_000),
    Task::Normaliser,
    Task::Inference,
    Task::Interpolation(3),
    Task::Greedy,
    Task::LazyGreedy,
    Task::LocalSearch(2),
    Task::Slates { requests: 20_000, candidates: 200 },
];
const STANDINGS: [Standing; 3] = [Standing::Closed, Standing::Open, Standing::Resident];

/// Two cores of a laptop, or sixteen of a workstation.
fn host(threads: f64) -> HostRates {
    let mut host = HostRates::slowest();
    host.threads = threads;
    (host.memory, host.scattered, host.fresh, host.serial) = (4e10, 2e10, 2e9 * threads, 1e10);
    host.near = 8e10;
    (host.rows, host.dots, host.converted) = (2e8 * threads, 5e9 * threads, 1.5e9 * threads);
    (host.products, host.eigen, host.nodes) = (5e10 * threads, 2e7, 1.5e8 * threads);
    (host.steps, host.latency) = (5e8, 2e-5);
    host
}

/// Bytes per second up and in memory, operations per second in f32 and in f64.
fn card(kind: CardKind, precision: Precision, [upload, memory, single, double]: [f64; 4]) -> CardRates {
    let mut card = CardRates::estimated(kind, precision);
    let products = if precision == Precision::F32 { single } else { double };
    (card.upload, card.memory, card.products) = (upload, memory, products);
    (card.latency, card.opening) = (5e-5, 0.3);
    card
}

/// Integrated, laptop, workstation, data centre, software.
fn cards(precision: Precision) -> [CardRates; 5] {
    [
        card(CardKind::Integrated, precision, [1e10, 6e10, 1e12, 6e10]),
        card(CardKind::Discrete, precision, [6e9, 2.5e11, 8e12, 1.25e11]),
        workstation(precision),
        card(CardKind::Discrete, precision, [2.5e10, 3e12, 4e13, 2e13]),
        // Faster than all others, were it to be believed.
        card(CardKind::Software, precision, [1e15; 4]),
    ]
}

fn workstation(precision: Precision) -> CardRates {
    card(CardKind::Discrete, precision, [2e10, 8e11, 3e13, 5e11])
}

/// Every cell: job, bytes of its rows, rates of the CPU and of a card.
fn for_each_cell(mut check: impl FnMut(&Job, f64, &HostRates, &CardRates)) {
    let sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000].into_iter();
    let sizes = sizes.flat_map(|m| [16, 64, 256, 512].map(|n| (m, n)));
    for (items, dims) in sizes {
        for (task, parts) in TASKS.into_iter().flat_map(|task| [1, 4, 40].map(|parts| (task, parts))) {
            let value_bytes = [2, 4, 8][(items / 10 + parts) % 3];
            let job = Job::of_size(items, dims, value_bytes, task).with_parts(parts).with_picks(40.min(dims));
            let bytes = (items * dims * value_bytes) as f64;
            for (precision, threads) in [(Precision::F32, 2.0), (Precision::F64, 2.0), (Precision::F64, 16.0)]
            {
                cards(precision).iter().for_each(|card| check(&job, bytes, &host(threads), card));
            }
        }
    }
}

#[test]
fn the_choice_is_the_faster_one_in_every_cell() {
    let (mut cells, mut taken) = (0, 0);
    for_each_cell(|job, bytes, host, card| {
        for standing in STANDINGS {
            let found = Comparison::of(job, host, card, standing);
            let upload = if standing == Standing::Resident { 0.0 } else { bytes / card.upload };
            let opening = if standing == Standing::Closed { 0.3 } else { 0.0 };
            let gpu = opening + upload + found.gpu.computing;
            assert!((gpu / found.gpu.seconds() - 1.0).abs() < 1e-12, "{job:?} {standing:?}");
            assert!(found.gpu.computing > 0.0 && found.cpu.upload + found.cpu.opening == 0.0, "{job:?}");
            let is_software = card.kind == CardKind::Software;
            assert_eq!(found.prefers_gpu(), gpu < found.cpu.computing && !is_software, "{job:?} {card:?}");
            cells += 1;
            taken += usize::from(found.prefers_gpu());
        }
    });
    println!("the card is faster in {taken} of {cells} cells");
    assert!(taken > cells / 10 && taken < cells / 10 * 9, "{taken} of {cells}");
}

#[test]
fn a_software_driver_is_never_taken() {
    let mut faster = 0;
    for_each_cell(|job, _, host, card| {
        if card.kind == CardKind::Software {
            let found = Comparison::of(job, host, card, Standing::Resident);
            faster += usize::from(found.gpu.seconds() < found.cpu.seconds());
            assert!(!found.prefers_gpu());
        }
    });
    assert!(faster > 100, "it would be faster by its rates in {faster} cells");
}

#[test]
fn a_card_that_is_closer_is_taken_where_one_further_away_is() {
    for_each_cell(|job, _, host, card| {
        let [closed, open, resident] =
            STANDINGS.map(|standing| Comparison::of(job, host, card, standing).prefers_gpu());
        assert!(closed <= open && open <= resident, "{job:?} {card:?}");
    });
}

/// The fewest rows from which on the card is taken.
fn crossover(job: impl Fn(usize) -> Job, host: &HostRates, card: &CardRates) -> usize {
    let prefers = |items: usize| Comparison::of(&job(items), host, card, Standing::Closed).prefers_gpu();
    let (mut low, mut high) = (1, 1_000_000_000);
    assert!(!prefers(low) && prefers(high), "no crossover");
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        *(if prefers(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}

#[test]
fn passes_cross_over_where_a_hand_calculation_says() {
    // Rows of 64 values in f32 are 256 bytes. The CPU reads them with two gains of 8 bytes at 40 GB/s: 16 · 272 / 40e9 =
    // 108.8 ns a row, and waits 16 times for 20 µs. The workstation's card brings them over at 20 GB/s, 12.8 ns a row, and reads as much as
    // the CPU at 800 GB/s: 16 · 272 / 800e9 = 5.44 ns; it opens in 0.3 s and waits 3 times for 50 µs.
    // m = (0.3 + 1.5e-4 − 3.2e-4) / (108.8 − 12.8 − 5.44) ns = 0.29983 / 90.56 ns = 3.3108 million.
    let mut host = host(16.0);
    host.rows = 1e15;
    host.dots = 1e15;
    let job = |items| Job::of_size(items, 64, 4, Task::Passes(16));
    let found = crossover(job, &host, &workstation(Precision::F64)) as f64;
    assert!((found / 3.3108e6 - 1.0).abs() < 1e-4, "{found}");
    // Stored in f16, the rows are half as many bytes: 16 · 144 / 40e9 = 57.6 ns, and 6.4 ns up. The card would read them in 16 · 144 / 800e9 =
    // 2.88 ns, but computes 16 · 128 operations at 500 G/s, 4.096 ns: m = 0.29983 / 47.104 ns = 6.3653 million.
    let job = |items| Job::of_size(items, 64, 2, Task::Passes(16));
    let found = crossover(job, &host, &workstation(Precision::F64)) as f64;
    assert!((found / 6.3653e6 - 1.0).abs() < 1e-4, "{found}");
}

#[test]
fn set_up_crosses_over_where_a_hand_calculation_says() {
    // A Gram matrix and leverages are 2 · 64² = 8192 operations a row each. The CPU does 100 G/s: 2 · 81.92 ns; a
    // leverage in new memory is 8 bytes at 4 GB/s, 2 ns; an entry of the table is 30 steps at 0.5 G/s, 60 ns: 225.84 ns.
    // In f64 the laptop's card does 125 G/s: 2 · 65.536 ns; 256 bytes up and 8 down at 6 GB/s, 44 ns; and the host's
    // 62 ns: 237.072 ns. It never pays.
    let mut host = host(2.0);
    (host.memory, host.rows, host.converted, host.eigen) = (1e15, 1e15, 1e15, 1e15);
    let job = |items| Job::of_size(items, 64, 4, Task::SetUp);
    let [_, laptop, ..] = cards(Precision::F64);
    let at_all = |items| Comparison::of(&job(items), &host, &laptop, Standing::Closed).prefers_gpu();
    assert!((0..10).all(|power| !at_all(10_usize.pow(power))));
    // In f32 the Gram matrix stays on the host, 81.92 ns; leverages read 256 bytes at 250 GB/s or compute 8192 operations
    // at 8 T/s, both 1.024 ns; 260 bytes at 6 GB/s, 43.333 ns; 62 ns: 188.277 ns. With two waits each, of 20 µs on the
    // CPU and 50 µs for the card, m = (0.3 + 6e-5) / (225.84 − 188.277) ns = 7.988 million.
    let [_, laptop, ..] = cards(Precision::F32);
    let found = crossover(job, &host, &laptop) as f64;
    assert!((found / 7.988e6 - 1.0).abs() < 1e-3, "{found}");
}

#[test]
fn draws_by_interpolation_cross_over_where_a_hand_calculation_says() {
    // Nothing takes time but the inverses of nodes, read and written 4 times at each pick: of 9·√4 + 16 = 34 nodes
    // ⌈0.325 · 34⌉ = 12 are used, of 16 · 64² bytes, 12.583 MB a draw of 4 picks. Each of 16 threads does 10 GB/s for a
    // draw of its own: 78.643 µs a draw. The card does 800 GB/s, 15.729 µs, reads 4 · 25,600 bytes of rows, 0.128 µs,
    // and waits 4 times for 1 µs: d = (0.3 + 3e-6) / (78.643 − 15.729 − 0.128 − 4) µs = 5103.3.
    let mut host = host(16.0);
    (host.memory, host.near, host.scattered, host.fresh) = (1e18, 1e18, 1e18, 1e18);
    (host.rows, host.dots, host.converted, host.products) = (1e18, 1e18, 1e18, 1e18);
    (host.eigen, host.nodes, host.steps, host.latency) = (1e18, 1e18, 1e18, 1e-18);
    let mut card = workstation(Precision::F64);
    (card.upload, card.products, card.latency) = (1e18, 1e18, 1e-6);
    let job = |draws| Job::of_size(100, 64, 4, Task::Interpolation(draws)).with_picks(4);
    let found = crossover(job, &host, &card) as f64;
    assert!((found / 5103.3 - 1.0).abs() < 1e-3, "{found}");
}

/// A host whose threads together do 10 billion multiply-adds a second, and for which nothing else takes time; and a card that
/// reads 800 GB/s, does 500 G/s, 100 of them in a workgroup's memory, and does not wait.
fn only_arithmetic() -> (HostRates, CardRates) {
    let mut host = host(16.0);
    (host.memory, host.near, host.scattered, host.fresh, host.serial) = (1e18, 1e18, 1e18, 1e18, 1e18);
    (host.rows, host.converted, host.products) = (1e18, 1e18, 1e18);
    (host.eigen, host.nodes, host.steps, host.latency) = (1e18, 1e18, 1e18, 1e-18);
    host.dots = 1e10;
    let mut card = workstation(Precision::F64);
    (card.upload, card.latency) = (1e18, 1e-18);
    (host, card)
}

#[test]
fn draws_in_batches_cross_over_where_a_hand_calculation_says() {
    // A draw of 4 of 16 eigenvectors is 16 · 4 · (16 + 4) = 1280 multiply-adds and 330 for each of 16 (1 + ln 5) = 41.75
    // trials, 15,057.8 on the host: 1505.78 ns. On the card 16 (1 + ln 4) + 4 = 42.181 trials read 16 · 8 bytes each, 6.75 ns,
    // and compute 4 · 6 operations each, 1012.3: 10.123 ns. The host maps 1000 rows for the tables, 16 · 16 multiply-adds each,
    // 25.6 µs, and the card's set-up is 2 · 2 · 1000 · 16 · 16 operations, 2.05 µs:
    // d = (0.3 + 2.765e-5) / (1505.78 − 10.123) ns = 200,599.
    let (host, card) = only_arithmetic();
    let job = |draws| Job::of_size(1000, 16, 4, Task::Draws(draws)).with_picks(4);
    let found = crossover(job, &host, &card) as f64;
    assert!((found / 200_599.0 - 1.0).abs() < 1e-3, "{found}");
    // Under a quota of 2 of each of two parts a draw takes at most 4⁴/4! · (2!/2²)² = 2.667 proposals, 2.6683 by Stirling's
    // formula with its term 1/12κ.
    let job = |draws| Job::of_size(1000, 16, 4, Task::Draws(draws)).with_picks(4).with_parts(2);
    let found = crossover(job, &host, &card) as f64;
    assert!((found / (200_599.0 / 2.6683) - 1.0).abs() < 1e-3, "{found}");
    // With 10 of each of four parts that would be 257 proposals: other bounds are cheaper, against which the host draws.
    let job = Job::of_size(1000, 64, 4, Task::Draws(1_000_000_000)).with_picks(40).with_parts(4);
    assert!(!Comparison::of(&job, &host, &card, Standing::Closed).prefers_gpu());
}

#[test]
fn estimated_draws_cross_over_where_a_hand_calculation_says() {
    // A draw with a weight of 4 items is 4 · (0.75 · 16² + 3 · 4 · 16 + 1100) = 5936 multiply-adds, and one without takes
    // two of them: 1187.2 ns. On the card they read 2 · 3 · 4 · 16 values of 8 bytes, 3.84 ns, and compute
    // 2 · 3 · 4 · 16² operations, 61.44 ns. Grams and rows in
    // other coordinates are 2 · 2 · 1000 · 16 · 16 operations, 2.05 µs; the pilot is the host's in any case:
    // d = (0.3 + 2.05e-6) / (1187.2 − 61.44) ns = 266,488.
    let (host, card) = only_arithmetic();
    let job = |draws| Job::of_size(1000, 16, 4, Task::EstimatedDraws(draws)).with_picks(4).with_parts(4);
    let found = crossover(job, &host, &card) as f64;
    assert!((found / 266_488.0 - 1.0).abs() < 1e-3, "{found}");
    // A basis of 40 directions of 80 values does not fit.
    let job = Job::of_size(1000, 80, 4, Task::EstimatedDraws(1_000_000_000)).with_picks(40).with_parts(4);
    assert!(!Comparison::of(&job, &host, &card, Standing::Closed).prefers_gpu());
}

#[test]
fn slates_cross_over_where_a_hand_calculation_says() {
    // 10 picks of 100 candidates × 64 are 10 · 100 · (0.75 · 64 + 65) multiply-adds on the host, 11.3 µs. The card reads 64,000 values
    // of 8 bytes, 0.64 µs, but computes 1.28 µs; the host's ln det is 2 · 10² · 64 multiply-adds, 1.28 µs; 100 factors of 8 bytes and 204
    // words go up, and 5 numbers of 8 bytes down, at 20 GB/s: 80.8 and 2 ns. The catalogue takes 12.8 µs:
    // r = (0.3 + 1.28e-5) / (11.3 − 2.6428) µs = 34,655.
    let (host, mut card) = only_arithmetic();
    card.upload = 2e10;
    let task = |requests| Task::Slates { requests, candidates: 100 };
    let job = |requests| Job::of_size(1000, 64, 4, task(requests)).with_picks(10);
    let found = crossover(job, &host, &card) as f64;
    assert!((found / 34_655.0 - 1.0).abs() < 1e-3, "{found}");
    // Where every request has rows of its own, 25.6 KB go up for it, 1.28 µs more: r = 0.3 s / 7.3772 µs = 40,666.
    let job = |requests| Job::of_size(100 * requests, 64, 4, task(requests)).with_picks(10);
    let found = crossover(job, &host, &card) as f64;
    assert!((found / 40_666.0 - 1.0).abs() < 1e-3, "{found}");
}

#[test]
fn exchanges_cross_over_where_a_hand_calculation_says() {
    // A climb starts from its rows three times, and the host then writes a number per item: 24 bytes at 1 GB/s, 24 ns. For the card
    // 64 bytes a row go up at 64 GB/s, 1 ns, and 3 · 512 numbers come home, 12.5 µs: m = (0.3 + 1.25e-5) / 23 ns = 13.044 million.
    let (mut host, mut card) = only_arithmetic();
    (host.dots, host.fresh) = (1e18, 1e9);
    (card.upload, card.memory, card.products) = (6.4e10, 1e18, 1e18);
    let job = |items| Job::of_size(items, 16, 4, Task::LocalSearch(1)).with_parts(2).with_picks(2);
    let found = crossover(job, &host, &card) as f64;
    assert!((found / 1.3044e7 - 1.0).abs() < 1e-3, "{found}");
}

#[test]
fn swaps_cross_over_where_a_hand_calculation_says() {
    // A climb of 40 items is 40 passes of greedy and 22 of swaps, at each of which the CPU waits 20 µs: 1.24 ms. The host waits
    // for a card 50 µs at a quarter of 10 swaps, and twice at the start and at each of 3 fresh starts: 0.525 ms. Loops of passes
    // wait 6 times in all: c = (0.3 + 3e-4) / (1.24 − 0.525) ms = 420.0.
    let (mut host, mut card) = only_arithmetic();
    host.dots = 1e18;
    (host.latency, card.latency) = (2e-5, 5e-5);
    (card.memory, card.products) = (1e18, 1e18);
    let job = |climbs| Job::of_size(1000, 64, 4, Task::LocalSearch(climbs)).with_picks(40);
    let found = crossover(job, &host, &card) as f64;
    assert!((found / 420.0 - 1.0).abs() < 5e-3, "{found}");
}

#[test]
fn passes_over_few_rows_stay_in_the_cache_however_many_they_are() {
    let fast = host(2.0);
    let mut slow = fast;
    (slow.memory, slow.near, slow.scattered) = (1.0, 1.0, 1.0);
    for task in [Task::Greedy, Task::Interpolation(1000), Task::LocalSearch(1000)] {
        let job = Job::of_size(1000, 16, 4, task).with_parts(2).with_picks(8);
        assert_eq!(job.on_cpu(&fast), job.on_cpu(&slow), "{task:?}");
    }
}

#[cfg(feature = "parallel")]
#[test]
fn rates_are_measured_on_any_number_of_threads() {
    for threads in 1..=9 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let rates = pool.install(HostRates::measured).unwrap();
        assert!((rates.threads - threads as f64).abs() < 0.5, "{rates:?}");
        assert!(rates.scattered <= rates.memory && rates.memory <= rates.near, "{rates:?}");
    }
}

#[cfg(feature = "parallel")]
#[test]
fn jobs_of_one_pool_may_measure_at_once() {
    use rayon::prelude::*;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(11).build().unwrap();
    let measured = || (0..4).into_par_iter().map(|_| HostRates::measured().unwrap()).collect();
    let all: Vec<HostRates> = pool.install(measured);
    assert!(all.windows(2).all(|two| two[0] == two[1]), "{all:?}");
}

#[test]
fn where_memory_is_shared_rows_come_cheaply() {
    // Twice the memory's rate is all that passes gain here, so that one pass pays for the copy only on a shared memory.
    let host = host(2.0);
    let job = Job::of_size(1_000_000, 64, 4, Task::Passes(3)).with_parts(4);
    let shared = card(CardKind::Integrated, Precision::F64, [4e10, 6e10, 1e12, 1e12]);
    let own = card(CardKind::Discrete, Precision::F64, [6e9, 6e10, 1e12, 1e12]);
    let prefers = |card: &CardRates| Comparison::of(&job, &host, card, Standing::Open).prefers_gpu();
    assert_eq!([prefers(&shared), prefers(&own)], [true, false]);
}

#[test]
fn short_jobs_are_not_measured() {
    let features = Features::from_rows(100, 8, vec![1.0_f32; 800]).unwrap();
    assert_eq!(engine::auto(&features).info().name, "cpu");
    let few = |task| match task {
        Task::Draws(_) => Task::Draws(10),
        Task::EstimatedDraws(_) => Task::EstimatedDraws(10),
        Task::Slates { .. } => Task::Slates { requests: 10, candidates: 10 },
        task => task,
    };
    for task in TASKS.map(few) {
        let chosen = engine::auto_for(&Job::new(&features, task).with_parts(2).with_picks(4));
        assert_eq!(chosen.engine.info().name, "cpu");
        let short = matches!(chosen.reason, EngineReason::Short(seconds) if seconds < 0.3);
        assert!(short || chosen.reason == EngineReason::NotBuilt, "{}", chosen.reason);
    }
}

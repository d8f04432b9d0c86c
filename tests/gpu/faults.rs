//! Simulated failures of real devices: each ends as a typed error, and the process survives.

use std::{
    sync::{Barrier, Mutex},
    thread,
    time::Duration,
};

use faer::{Mat, c64};
use oracles::{
    assert_error,
    engines::{self, gpu, open},
    random::normals,
};
use partition_dpp::{
    Engine, Error, Features, KDpp,
    engine::{
        Precision,
        gpu::{Fault, Gpu, GpuOptions},
        low_level::{
            Beyond, CandidateGrid, FormGrid, GridRequest, Items, LeavingPairs, PhaseGrid, RowMap, Rows, Verbs,
        },
    },
    error::DeviceProblem,
    map::{Greedy, LocalSearch, Solver},
};

fn features() -> Features {
    Features::from_rows(600, 7, normals(4200, 2)).unwrap()
}

fn all(features: &Features) -> Rows<'_> {
    Rows::scaled(features, vec![Items::All(600)])
}

/// Asserts that nothing more is computed on a device, and that the process continues.
#[track_caller]
fn assert_lost_for_ever(gpu: &Gpu) {
    let features = features();
    let rows = Rows::scaled(&features, vec![Items::All(600)]);
    for _ in 0..2 {
        assert_error!(gpu.row_norms(&rows), Error::Device(DeviceProblem::Lost { .. }), ["lost"]);
    }
    let grid = PhaseGrid { shares: &[Mat::from_fn(1, 1, |_, _| 0.5)], phases: &[c64::new(0.0, 1.0)] };
    let determinants = gpu.grid_determinants(&grid, GridRequest::Determinants);
    assert_error!(determinants, Error::Device(DeviceProblem::Lost { .. }), ["lost"]);
    let dpp = KDpp::new(&features, 3).unwrap();
    assert_error!(
        Greedy::default().solve(&dpp, &gpu.engine()),
        Error::Device(DeviceProblem::Lost { .. }),
        ["lost"]
    );
    assert_eq!(Greedy::default().solve(&dpp, &Engine::cpu()).unwrap().subset.as_slice().len(), 3);
}

#[test]
fn a_reset_while_it_is_waited_for() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let features = features();
    gpu.row_norms(&all(&features)).unwrap();
    gpu.fake(Fault::Reset);
    let error = Error::Device(DeviceProblem::Lost { reason: String::new() }).to_string();
    assert!(error.contains("lost"));
    assert_error!(
        gpu.row_norms(&all(&features)),
        Error::Device(DeviceProblem::Lost { .. }),
        ["Parent device is lost"]
    );
    assert_lost_for_ever(&gpu);
}

#[test]
fn a_reset_in_the_middle_of_a_search() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let features = features();
    let rows = all(&features);
    let mut table = gpu.gain_table(&rows, &gpu.row_norms(&rows).unwrap()).unwrap();
    table.update(None).unwrap();
    gpu.fake(Fault::Reset);
    let outcome = table.update(Some(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    assert_error!(outcome, Error::Device(DeviceProblem::Lost { .. }), ["lost"]);
    assert_error!(table.read(), Error::Device(DeviceProblem::Lost { .. }), ["lost"]);
    let dpp = KDpp::new(&features, 3).unwrap();
    let outcome = LocalSearch::default().solve(&dpp, &gpu.engine());
    assert_error!(outcome, Error::Device(DeviceProblem::Lost { .. }), ["lost"]);
}

#[test]
fn commands_that_never_finish() {
    // Correct commands take milliseconds.
    let limit = Duration::from_millis(5500);
    let options = GpuOptions::default().with_precision(Precision::F32).with_time_limit(limit);
    let Some(gpu) = open(&options, "graphics device") else { return };
    let features = features();
    gpu.fake(Fault::Hang);
    assert_error!(
        gpu.row_norms(&all(&features)),
        Error::Device(DeviceProblem::TimedOut { what: "row_norms", .. }),
        ["row_norms", "5.5 s"]
    );
    assert_lost_for_ever(&gpu);
}

/// A driver may report success for commands of a device that has been lost.
#[test]
fn a_loss_that_is_not_reported() {
    for precision in [Precision::F32, Precision::F64] {
        let Some(gpu) = gpu(precision) else { return };
        let features = features();
        // Run twice, so that an old answer exists that could be mistaken for a new one.
        gpu.row_norms(&all(&features)).unwrap();
        gpu.fake(Fault::Dropped);
        let outcome = gpu.row_norms(&all(&features));
        assert_error!(outcome, Error::Device(DeviceProblem::Lost { .. }), ["row_norms", "without"]);
        assert_lost_for_ever(&gpu);
    }
}

/// An application may have its own callback for a lost device, or none.
#[test]
fn a_loss_that_only_the_application_hears_of() {
    let Some((device, queue)) = engines::own_device(wgpu::Features::empty()) else { return };
    let mine = Gpu::from_device(device.clone(), queue, &GpuOptions::default()).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    device.set_device_lost_callback(move |_, _| {
        let _ = tell.send(());
    });
    let features = features();
    mine.row_norms(&all(&features)).unwrap();
    device.destroy();
    let outcome = mine.row_norms(&all(&features));
    assert_error!(outcome, Error::Device(DeviceProblem::Lost { .. }), ["lost"]);
    let _ = device.poll(wgpu::PollType::Poll);
    assert!(told.recv_timeout(Duration::from_secs(600)).is_ok(), "the application's callback was replaced");
    assert_lost_for_ever(&mine);
}

/// Shaders with inaccurate arithmetic are refused for f64, and without a wanted precision, f32 is opened instead.
#[test]
fn f64_that_divides_in_single_precision() {
    let Some(honest) = gpu(Precision::F64) else { return };
    assert_eq!(honest.engine().info().precision, Precision::F64);
    for (from, to, operation) in [
        ("x / y", "x * real(1.0f / f32(y))", "division"),
        ("x / y", "x / y * 1.00000001", "division"),
        ("x * y", "x * y * 1.00000001", "multiplication"),
        ("x + y", "real(f32(x + y))", "addition"),
        ("sqrt(abs(x))", "real(sqrt(f32(abs(x))))", "square root"),
        ("= dot(real4(x", "= real(1.0e-9) + dot(real4(x", "inner product"),
    ] {
        let flawed = GpuOptions::default().with_patch("arithmetic", from, to);
        assert!(is_refused(&flawed.clone().with_precision(Precision::F64), 64, operation) > 1e-9, "{to}");
        let narrow = Gpu::new(&flawed).unwrap();
        assert_eq!(narrow.engine().info().precision, Precision::F32, "{to}");
        assert_eq!(narrow.row_norms(&all(&features())).unwrap().len(), 600);
    }
}

/// Asserts that a device is refused for this operation, and returns its error.
fn is_refused(options: &GpuOptions, wanted: usize, operation: &str) -> f64 {
    match Gpu::new(options) {
        Err(Error::Device(DeviceProblem::Inaccurate { bits, operation: found, error, .. })) => {
            assert_eq!((bits, found), (wanted, operation));
            error
        }
        other => panic!("{other:?}"),
    }
}

/// Without accurate single precision there is nothing to fall back on.
#[test]
fn inaccurate_single_precision_is_refused() {
    let Some(honest) = gpu(Precision::F32) else { return };
    assert_eq!(honest.engine().info().precision, Precision::F32);
    for (from, to, operation) in [
        ("x / y", "x / y * 1.00001", "division"),
        ("sqrt(abs(x))", "sqrt(abs(x)) * 0.99999", "square root"),
        ("real(f32(x))", "real(f32(x)) * 1.00001", "conversion to single precision"),
        ("real(at * 0x9E3779B1u)", "real((at * 0x9E3779B1u) & 0xffff0000u)", "conversion of integers"),
        ("= dot(real4(x", "= 1.0e-4 + dot(real4(x", "inner product"),
    ] {
        let flawed = GpuOptions::default().with_patch("arithmetic", from, to);
        assert!(is_refused(&flawed.clone().with_precision(Precision::F32), 32, operation) > 1e-6, "{to}");
        assert!(is_refused(&flawed, 32, operation) > 1e-6, "{to}");
    }
}

const NOT_A_NUMBER: &str = "real(bitcast<f32>(0x7fc00000u + parameters.start))";
const INFINITY: &str = "real(bitcast<f32>(0x7f800000u + parameters.start))";

/// Opens a device on which one expression of a verb's shader yields NaN or infinity.
fn broken(precision: Precision, verb: &'static str, from: &'static str, nothing: &str) -> Option<Gpu> {
    let to = format!("{from} + {nothing}");
    let options = GpuOptions::default().with_precision(precision).with_patch(verb, from, String::leak(to));
    open(&options, "graphics device")
}

/// A verb with an expression of its shader.
type Verb = (&'static str, &'static str, fn(&Gpu, &Rows<'_>) -> Result<(), Error>);

fn swaps(gpu: &Gpu, rows: &Rows<'_>) -> Result<(), Error> {
    let duals = Mat::from_fn(7, 2, |i, j| if i == j { 1.0 } else { 0.1 });
    let mut table = gpu.swap_table(rows, &[duals.as_ref()], &vec![1.0; 600])?;
    table.gains(None, &[vec![1.0, 2.0]])?;
    let update = partition_dpp::engine::low_level::SwapUpdate {
        group: 0,
        leaving_position: 0,
        entering_position: 1,
        leaving: &[0.1; 7],
        entering: &[0.2; 7],
        factors: &[vec![[0.1, 0.2], [0.3, 0.4]]],
        residual_gain: 0.1,
        residual_loss: 0.01,
    };
    table.gains(Some(&update), &[vec![1.0, 2.0]]).map(drop)
}

/// Runs exchanges between two halves of the rows, whose residuals the device computes.
fn exchanges(gpu: &Gpu, rows: &Rows<'_>) -> Result<(), Error> {
    let halves = [0, 300].map(|first| (first..first + 300).collect::<Vec<u32>>());
    let rows = Rows::scaled(rows.features(), halves.iter().map(|items| Items::Listed(items)).collect());
    let duals = Mat::from_fn(7, 2, |i, j| if i == j { 1.0 } else { 0.1 });
    let complement = Mat::<f64>::identity(7, 3);
    let beyond = Beyond { complement: complement.as_ref(), chosen: &[vec![0], vec![1]] };
    let own = [0, 1].map(|l| duals.as_ref().subcols(l, 1));
    let mut table = gpu.fresh_swap_table(&rows, &own, &beyond)?;
    table.gains(None, &[vec![1.0], vec![2.0]])?;
    table.entrants(&LeavingPairs { duals: duals.as_ref(), pairs: &[[(0, 0), (1, 1)]] }).map(drop)
}

fn gains(gpu: &Gpu, rows: &Rows<'_>) -> Result<(), Error> {
    let mut table = gpu.gain_table(rows, &vec![9.0; 600])?;
    table.update(Some(&[0.1; 7])).map(drop)
}

fn determinants(gpu: &Gpu, size: usize, request: GridRequest) -> Result<(), Error> {
    let shares = [Mat::from_fn(size, size, |i, j| if i == j { 0.5 } else { 0.01 })];
    let grid = PhaseGrid { shares: &shares, phases: &[c64::new(0.0, 1.0), c64::new(1.0, 0.0)] };
    gpu.grid_determinants(&grid, request).map(drop)
}

fn forms(gpu: &Gpu, _: &Rows<'_>) -> Result<(), Error> {
    let shares = [Mat::from_fn(5, 5, |i, j| if i == j { 0.5 } else { 0.01 })];
    let grid = PhaseGrid { shares: &shares, phases: &[c64::new(0.0, 1.0), c64::new(1.0, 0.0)] };
    let of = FormGrid { grid, coefficients: &[c64::new(1.0, 0.0); 2] };
    gpu.grid_forms(&of, &|_| Ok(())).map(drop)
}

const VERBS: [Verb; 18] = [
    ("row_norms", "= row_sum(thread)", |gpu, rows| gpu.row_norms(rows).map(drop)),
    ("row_forms", "dot(e.r1, e.r1)", |gpu, rows| {
        gpu.row_forms(rows, &[Mat::<f64>::identity(7, 3).as_ref()]).map(drop)
    }),
    ("whiten_rows", "= values[c]", |gpu, rows| {
        let factor = Mat::<f64>::identity(7, 3);
        let map = RowMap { weights: &[1.0], factor: factor.as_ref() };
        gpu.whiten_rows(rows, &map).map(drop)
    }),
    ("part_grams", "a1.y * b1", |gpu, rows| gpu.part_grams(rows, None).map(drop)),
    ("gain_update", "gain - along * along", gains),
    ("gain_update", "(gains[tile.start + thread]", gains),
    ("swap_table", "= values[c]", swaps),
    ("swap_gains", "s.x * c", swaps),
    ("row_forms", "dot(e.r1, e.r1)", exchanges),
    ("entrants", "let d = residuals[start + row]", exchanges),
    ("entrants", "- n.z * x * y) + n.w", exchanges),
    ("swap_gains", "change.x * c * c", swaps),
    ("grid_determinants", "shares[(l * p.n + i) * p.n + j]", |gpu, _| {
        determinants(gpu, 5, GridRequest::Determinants)
    }),
    ("grid_determinants", "sh_pivots[j]] = tile[a * TILE + b]", |gpu, _| {
        determinants(gpu, 5, GridRequest::Inverses)
    }),
    ("grid_determinants", "matrices[row + panel.x + min(s, last)]", |gpu, _| {
        determinants(gpu, 66, GridRequest::Determinants)
    }),
    ("grid_forms", "sh_factors[number] * x.x", forms),
    ("grid_forms", "first + part], value)", forms),
    ("candidate_determinants", "candidates[unit + i]", |gpu, _| {
        let shares = [Mat::from_fn(5, 5, |i, j| if i == j { 0.5 } else { 0.01 })];
        let grid = PhaseGrid { shares: &shares, phases: &[c64::new(0.0, 1.0)] };
        let coefficients = [c64::new(1.0, 0.0)];
        let candidates = CandidateGrid { grid, coefficients: &coefficients, rows: &[0.1; 10] };
        gpu.candidate_determinants(&candidates).map(drop)
    }),
];

#[test]
fn what_is_no_number_is_never_an_answer() {
    let features = features();
    for (precision, nothing) in [(Precision::F32, NOT_A_NUMBER), (Precision::F64, INFINITY)] {
        let Some(sound) = gpu(precision) else { return };
        for (verb, from, run) in VERBS {
            run(&sound, &all(&features)).unwrap();
            let Some(gpu) = broken(precision, verb, from, nothing) else { return };
            match run(&gpu, &all(&features)) {
                Err(Error::Device(DeviceProblem::NotFinite { what, bits })) => {
                    assert_eq!(bits, if precision == Precision::F32 { 32 } else { 64 });
                    let is_its_own = what == verb || verb == "swap_table" || what == "swap_gains";
                    assert!(is_its_own, "{what} {verb}");
                }
                other => panic!("{verb} in {precision}, {from} + {nothing}: {other:?}"),
            }
        }
    }
}

#[test]
fn threads_share_a_device() {
    // A thread may see the end of another thread's submission before that one requests its results, and then wait for
    // nothing.
    let options =
        GpuOptions::default().with_precision(Precision::F32).with_time_limit(Duration::from_secs(100));
    let Some(gpu) = open(&options, "threads") else { return };
    let features = features();
    let expected = gpu.row_norms(&all(&features)).unwrap();
    // After every round, nobody is left to answer a late thread.
    let (round, wrong) = (Barrier::new(2), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for number in 0..5_000 {
                    round.wait();
                    if wrong.lock().unwrap().is_empty() {
                        let found = gpu.row_norms(&all(&features));
                        if !found.as_ref().is_ok_and(|found| *found == expected) {
                            wrong.lock().unwrap().push((number, found));
                        }
                    }
                }
            });
        }
    });
    assert!(wrong.lock().unwrap().is_empty(), "{:?}", wrong.lock().unwrap());
}

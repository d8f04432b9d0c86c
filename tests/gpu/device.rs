//! Devices: opening them, and their failures as typed errors.

use std::time::{Duration, Instant};

use approx::assert_abs_diff_eq;
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
        gpu::{Gpu, GpuOptions, summaries},
        low_level::{GridRequest, Items, PhaseGrid, Rows, Verbs},
    },
    error::DeviceProblem,
    map::{Greedy, Solver},
};

#[test]
fn no_adapter_of_that_name() {
    let options = GpuOptions::default().with_adapter("no such thing");
    assert_error!(Gpu::new(&options), Error::Device(DeviceProblem::NoAdapter { .. }), ["adapter"]);
}

#[test]
fn adapters_are_summarised_and_chosen_by_name() {
    let Some(first) = gpu(Precision::F32) else { return };
    let info = first.engine().info();
    let known = summaries();
    assert!(known.iter().any(|adapter| Some(&adapter.name) == info.adapter.as_ref()), "{known:?}");
    let part = known[0].name.to_uppercase();
    let by_name = Gpu::new(&GpuOptions::default().with_adapter(&part[..4]).with_precision(Precision::F32));
    assert_eq!(by_name.unwrap().engine().info(), info);
    assert_eq!(info.precision, Precision::F32);
    assert!(info.to_string().contains("f32") && info.to_string().contains(&known[0].name));
}

#[test]
fn a_device_of_the_application() {
    let Some((device, queue)) = engines::own_device(wgpu::Features::SHADER_F64) else { return };
    let mine = Gpu::from_device(device.clone(), queue.clone(), &GpuOptions::default()).unwrap();
    let features = Features::from_rows(500, 9, normals(4500, 2)).unwrap();
    let dpp = KDpp::new(&features, 6).unwrap();
    let found = Greedy::default().solve(&dpp, &mine.engine()).unwrap();
    let on_cpu = Greedy::default().solve(&dpp, &Engine::cpu()).unwrap();
    assert_eq!((found.subset, found.engine), (on_cpu.subset, mine.engine().info()));
    assert!(mine.dispatches().iter().any(|(verb, count)| *verb == "gain_update" && *count >= 6));
    // The application continues to use it.
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 16,
        usage: wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, &[0; 16]);
}

#[test]
fn f64_needs_its_feature() {
    let Some((device, queue)) = engines::own_device(wgpu::Features::empty()) else { return };
    let options = GpuOptions::default().with_precision(Precision::F64);
    assert_error!(
        Gpu::from_device(device.clone(), queue.clone(), &options),
        Error::Device(DeviceProblem::NoDoublePrecision { .. }),
        ["64-bit"]
    );
    let narrow = Gpu::from_device(device, queue, &GpuOptions::default()).unwrap();
    assert_eq!(narrow.engine().info().precision, Precision::F32);
}

#[test]
fn a_lost_device_is_an_error_for_ever() {
    let Some((device, queue)) = engines::own_device(wgpu::Features::empty()) else { return };
    let mine = Gpu::from_device(device.clone(), queue, &GpuOptions::default()).unwrap();
    let features = Features::from_rows(10, 3, normals(30, 2)).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(10)]);
    mine.row_norms(&rows).unwrap();
    device.destroy();
    assert_error!(mine.row_norms(&rows), Error::Device(DeviceProblem::Lost { .. }), ["lost"]);
    assert_error!(mine.row_norms(&rows), Error::Device(DeviceProblem::Lost { .. }), ["lost"]);
}

#[test]
fn a_matrix_beyond_the_largest_binding() {
    let options = GpuOptions::default().with_precision(Precision::F32).with_largest_binding(1 << 12);
    let Some(small) = open(&options, "graphics device") else { return };
    let share = Mat::from_fn(100, 100, |i, j| if i == j { 1.0 } else { 0.0 });
    let grid = PhaseGrid { shares: &[share], phases: &[c64::new(0.0, 1.0)] };
    assert_error!(
        small.grid_determinants(&grid, GridRequest::Determinants),
        Error::Device(DeviceProblem::Limit { needed: 80_000, limit: 4096, .. }),
        ["80000", "4096"]
    );
}

/// Some drivers stop long loops without an error.
#[test]
fn matrices_that_need_long_loops_are_left_to_the_host() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    for (parts, is_taken) in [(1000_u16, true), (2000, false)] {
        let share = Mat::from_fn(66, 66, |i, j| if i == j { 1.0 / f64::from(parts) } else { 0.0 });
        let (shares, phases) = (vec![share; parts.into()], vec![c64::new(-1.0, 0.0); parts.into()]);
        let grid = PhaseGrid { shares: &shares, phases: &phases };
        let before = gpu.traffic();
        let found = gpu.grid_determinants(&grid, GridRequest::Determinants).unwrap();
        // P = I − 2I
        assert_abs_diff_eq!(found[0].determinant.value().re, 1.0, epsilon = 1e-2);
        assert_eq!((gpu.traffic() - before).dispatches > 0, is_taken, "{parts} parts");
    }
}

#[test]
fn a_refused_shader_is_an_error() {
    let options =
        GpuOptions::default().with_precision(Precision::F32).with_patch("row_norms", "var sum", "let sum");
    let Some(faulty) = open(&options, "graphics device") else { return };
    let features = Features::from_rows(10, 3, normals(30, 2)).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(10)]);
    assert_error!(faulty.row_norms(&rows), Error::Device(DeviceProblem::Refused { .. }), ["row_norms"]);
}

#[test]
fn rows_go_to_the_device_once_and_leave_with_their_features() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    let norms = |seed: u64| {
        let features = Features::from_rows(300, 5, normals(1500, seed)).unwrap();
        let rows = Rows::scaled(&features, vec![Items::All(300)]);
        let first = gpu.row_norms(&rows).unwrap();
        assert_eq!(gpu.row_norms(&rows).unwrap(), first);
        let other = Rows::scaled(&features, vec![Items::Listed(&[3, 1])]);
        let few = gpu.row_norms(&other).unwrap();
        assert_abs_diff_eq!(few[1] / few[0], first[1] / first[3], epsilon = 1e-5);
        first
    };
    // Other features are recognised, even at the same address.
    assert_ne!(norms(1), norms(2));
    assert_eq!(norms(1), norms(1));
}

#[test]
fn rows_beyond_the_memory_come_and_go() {
    let (items, dims) = (3_000, 32);
    let features = Features::from_rows(items, dims, normals(items * dims, 6)).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(items)]);
    for precision in [Precision::F32, Precision::F64] {
        let Some(whole) = gpu(precision) else { return };
        // Chunks have 512 rows in f64 and 1024 in f32, and one chunk stays on the device.
        let options = GpuOptions::default().with_precision(precision).with_largest_binding(1 << 17);
        let Some(small) = open(&options.with_row_memory(1 << 17), "graphics device") else { return };
        let grams = |gpu: &Gpu| gpu.part_grams(&rows, None).unwrap();
        let expected = grams(&whole);
        for _ in 0..2 {
            let before = small.traffic();
            let found = grams(&small);
            let uploaded = (small.traffic() - before).uploaded;
            let error = (&found[0] - &expected[0]).norm_max();
            assert!(error <= 1e-6 * expected[0].norm_max(), "{error}");
            // All chunks except the first are uploaded repeatedly.
            let width = if precision == Precision::F32 { 4 } else { 8 };
            assert!(uploaded as usize >= (items - 1024) * dims * width, "{uploaded}");
        }
        let dpp = KDpp::new(&features, 7).unwrap();
        let [found, expected] =
            [&small, &whole].map(|gpu| Greedy::default().solve(&dpp, &gpu.engine()).unwrap());
        assert_eq!(found.subset, expected.subset);
    }
}

fn arithmetic(precision: Precision) {
    let Some(gpu) = gpu(precision) else { return };
    for (operation, error, allowed) in gpu.errors_of_arithmetic().unwrap() {
        println!("{precision} {operation}: {error:.1e}, {:.2} of what is allowed", error / allowed);
        assert!(error <= allowed, "{operation}");
    }
}

#[test]
fn arithmetic_in_single_precision_is_as_the_specification_of_wgsl_has_it() {
    arithmetic(Precision::F32);
}

#[test]
fn arithmetic_in_double_precision_is_no_worse() {
    arithmetic(Precision::F64);
}

#[test]
fn stamps_tell_how_long_a_device_has_computed() {
    let options = GpuOptions::default().with_precision(Precision::F32);
    let Some(gpu) = open(&options.clone().with_time_stamps(), "graphics device") else { return };
    let features = Features::from_rows(3000, 40, vec![0.5_f32; 120_000]).unwrap();
    let rows = Rows::scaled(&features, vec![Items::All(3000)]);
    let start = Instant::now();
    gpu.row_norms(&rows).unwrap();
    let Some(busy) = gpu.busy().unwrap() else { return };
    assert!(busy > Duration::ZERO && busy < start.elapsed(), "{busy:?}");
    assert_eq!(gpu.busy().unwrap(), Some(Duration::ZERO));
    (0..3000).for_each(|_| drop(gpu.row_norms(&rows).unwrap()));
    assert_eq!(gpu.busy().unwrap(), None);
    assert_eq!(gpu.busy().unwrap(), Some(Duration::ZERO));
    assert_eq!(open(&options, "graphics device").unwrap().busy().unwrap(), None);
}

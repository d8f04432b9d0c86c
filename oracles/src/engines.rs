//! The engines that the conformance tests run on.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use approx::abs_diff_eq;
use partition_dpp::{
    Engine, Error,
    engine::{
        Precision,
        gpu::{Gpu, GpuOptions},
    },
    error::DeviceProblem,
};

/// The largest binding in bytes in tests that cut everything into chunks.
pub const CHUNK: u64 = 1 << 16;

/// An engine under test.
#[derive(Debug)]
pub struct Tested {
    pub engine: Engine,
    /// The rounding error of the engine's precision.
    pub epsilon: f64,
    /// The number of rows of the largest matrix that its bindings hold.
    pub largest_matrix: usize,
}

/// Rounded operations per term of a sum: a product, an addition and one to spare.
///
/// Each may be off by ε. WGSL lets a device round to either neighbour, and promises neither fused operations nor
/// subnormal numbers.
const ROUNDINGS: f64 = 3.0;

thread_local! {
    /// The largest error so far, in units of its bound.
    static LARGEST: Cell<f64> = const { Cell::new(0.0) };
}

impl Tested {
    /// Asserts that a number is right up to the rounding of `terms` terms of this magnitude.
    #[track_caller]
    pub fn close(&self, found: f64, expected: f64, terms: usize, magnitude: f64, what: &str) {
        let bound = ROUNDINGS * (terms + 2) as f64 * self.epsilon * magnitude + f64::MIN_POSITIVE;
        assert!(
            abs_diff_eq!(found, expected, epsilon = bound),
            "{what}: {found} is not {expected}, off by {:e}, bound {bound:e}",
            (found - expected).abs()
        );
        LARGEST.set(f64::max(LARGEST.get(), (found - expected).abs() / bound));
    }
}

/// Prints which share of its bound the largest error has reached since the last call.
pub fn say_largest_error(test: &str) {
    println!("{test}: the largest error is {:.4} of its bound", LARGEST.take());
}

pub fn cpu() -> Tested {
    Tested { engine: Engine::cpu(), epsilon: f64::EPSILON, largest_matrix: usize::MAX }
}

/// Opens a GPU, or prints a note and returns `None` if the machine has none.
///
/// Panics instead if `PDPP_REQUIRE_GPU` is set. The shaders are checked, so that an index out of bounds is at worst a
/// wrong value.
pub fn open(options: &GpuOptions, what: &str) -> Option<Gpu> {
    match Gpu::new(&options.clone().with_checked_shaders()) {
        Ok(gpu) => Some(gpu),
        Err(
            error @ Error::Device(DeviceProblem::NoAdapter { .. } | DeviceProblem::NoDoublePrecision { .. }),
        ) => {
            assert!(std::env::var_os("PDPP_REQUIRE_GPU").is_none(), "PDPP_REQUIRE_GPU is set, but: {error}");
            println!("SKIPPED {what}: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

pub fn gpu(precision: Precision) -> Option<Gpu> {
    open(&GpuOptions::default().with_precision(precision), "graphics device")
}

/// Opens a device with these features, as an application does.
pub fn own_device(features: wgpu::Features) -> Option<(wgpu::Device, wgpu::Queue)> {
    gpu(Precision::F32)?;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle().with_env());
    let adapter =
        pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default())).unwrap();
    let request = wgpu::DeviceDescriptor {
        required_features: features & adapter.features(),
        required_limits: adapter.limits(),
        ..Default::default()
    };
    Some(pollster::block_on(adapter.request_device(&request)).unwrap())
}

pub fn tested(gpu: &Gpu, largest_matrix: usize) -> Tested {
    let engine = gpu.engine();
    let epsilon = engine.info().precision.epsilon();
    Tested { engine, epsilon, largest_matrix }
}

/// Opens a GPU with bindings so small that everything is cut into chunks, and only a few chunks stay on the device.
pub fn in_chunks(precision: Precision) -> Option<Tested> {
    let options =
        GpuOptions::default().with_precision(precision).with_largest_binding(CHUNK).with_row_memory(CHUNK);
    open(&options, "graphics device")
        .map(|gpu| tested(&gpu, if precision == Precision::F64 { 60 } else { 85 }))
}

/// Returns options for single precision with dispatches so short that each holds one workgroup.
pub fn short_dispatches() -> GpuOptions {
    GpuOptions::default().with_precision(Precision::F32).with_longest_dispatch(Duration::from_nanos(1))
}

pub fn in_short_dispatches() -> Option<Tested> {
    open(&short_dispatches(), "graphics device").map(|gpu| tested(&gpu, usize::MAX))
}

/// A fault to plant: the verb, the text to replace in its shader, and the replacement.
pub type Fault = (&'static str, &'static str, &'static str);
/// A conformance test.
pub type Test = fn(&Tested);

/// Asserts that each test fails on a single-precision device whose shaders have a planted fault.
///
/// Tries it with small bindings and with the default ones.
#[track_caller]
pub fn assert_noticed(faults: &[(Fault, Test)]) {
    let single = GpuOptions::default().with_precision(Precision::F32);
    assert_noticed_on(&[single.clone(), single.with_largest_binding(CHUNK)], faults);
}

/// Asserts that each test fails on devices with these options whose shaders have a planted fault.
#[track_caller]
pub fn assert_noticed_on(options: &[GpuOptions], faults: &[(Fault, Test)]) {
    for &((verb, from, to), test) in faults {
        for options in options {
            let options = options.clone().with_patch(verb, from, to);
            let Some(gpu) = open(&options, "planted faults") else { return };
            let faulty = tested(&gpu, 85);
            noticed(&format!("{verb}: {from} → {to}"), || test(&faulty));
        }
    }
}

/// Returns the message of a check that must fail on a planted fault, though the shader compiles.
#[track_caller]
pub fn noticed(fault: &str, check: impl FnOnce()) -> String {
    let Err(message) = catch_unwind(AssertUnwindSafe(check)) else { panic!("{fault} goes unnoticed") };
    let message = message.downcast_ref::<String>().cloned().unwrap_or_default();
    assert!(!message.contains("parsing error") && !message.contains("is not in"), "{fault}: {message}");
    println!("{fault}: {message}");
    message
}

/// Defines tests, functions of a [`Tested`], for every engine.
#[macro_export]
macro_rules! on_every_engine {
    ($($test:ident),* $(,)?) => {
        /// The tests, by name.
        #[allow(dead_code, reason = "only some are run all at once")]
        pub(crate) const ALL: &[(&str, $crate::engines::Test)] = &[$((stringify!($test), $test)),*];

        $crate::on_every_engine!(@engine cpu_f64, Some($crate::engines::cpu()), $($test),*);
        $crate::on_every_engine!(@engine gpu_f32, $crate::engines::gpu(Precision::F32).map(|gpu| $crate::engines::tested(&gpu, usize::MAX)), $($test),*);
        $crate::on_every_engine!(@engine gpu_f64, $crate::engines::gpu(Precision::F64).map(|gpu| $crate::engines::tested(&gpu, usize::MAX)), $($test),*);
        $crate::on_every_engine!(@engine gpu_f32_in_chunks, $crate::engines::in_chunks(Precision::F32), $($test),*);
        $crate::on_every_engine!(@engine gpu_f64_in_chunks, $crate::engines::in_chunks(Precision::F64), $($test),*);
        $crate::on_every_engine!(@engine gpu_f32_in_short_dispatches, $crate::engines::in_short_dispatches(), $($test),*);
    };
    (@engine $name:ident, $tested:expr, $($test:ident),*) => {
        mod $name {
            #[allow(unused_imports, reason = "the CPU has one precision")]
            use partition_dpp::engine::Precision;

            $(#[test]
            fn $test() {
                if let Some(tested) = $tested {
                    super::$test(&tested);
                    $crate::engines::say_largest_error(concat!(module_path!(), "::", stringify!($test)));
                }
            })*
        }
    };
}

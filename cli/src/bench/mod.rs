//! `pdpp bench`: the processor against a graphics device over a grid of sizes, answers checked.

mod data;
mod tasks;

use std::{
    io::Write,
    time::{Duration, Instant},
};

use partition_dpp::{
    DeviceProblem, Error, Result as Outcome,
    engine::{Cpu, Engine, EngineInfo, gpu::Gpu},
};

use self::{
    data::{Problem, Size},
    tasks::{Task, tasks},
};
use crate::{
    arguments::{BenchArguments, PrecisionChoice},
    compute::gpu_options,
    failure::Failure,
    output,
    progress::Progress,
    whole_file,
};

/// One task at one size.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) size: Size,
    pub(crate) task: &'static str,
    pub(crate) cpu: Duration,
    pub(crate) device: Option<OnDevice>,
    /// Bytes that the task reads and writes at least, where they are what it costs.
    pub(crate) bytes: Option<f64>,
    /// Floating-point operations, where they are.
    pub(crate) operations: Option<f64>,
}

/// What a device took, and how far its answer is from the processor's.
#[derive(Debug)]
pub(crate) struct OnDevice {
    /// With the rows on their way.
    pub(crate) first: Duration,
    /// With the rows there.
    pub(crate) again: Duration,
    /// Largest difference of an answer, relative to the largest answer.
    pub(crate) difference: f64,
    /// What is allowed.
    pub(crate) tolerance: f64,
}

impl OnDevice {
    /// Whether the answer is right.
    pub(crate) fn is_right(&self) -> bool {
        self.difference <= self.tolerance
    }
}

/// A whole run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) measured: Vec<Measured>,
    /// The device, if there is one, and the bytes it copies in a second (counted twice: read and written).
    pub(crate) device: Option<(EngineInfo, f64)>,
    pub(crate) threads: usize,
}

/// Runs the command.
pub(crate) fn run(arguments: &BenchArguments, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(file) = &arguments.plot {
        file.check()?;
    }
    if let Some(path) = &arguments.csv {
        whole_file::check(path, "the table")?;
    }
    if arguments.parts.contains(&0) {
        return Err(Failure::Arguments("--parts 0: there is at least one part".into()));
    }
    let progress = Progress::new(arguments.quiet);
    let gpu = open(arguments)?;
    let copies = gpu.as_ref().map(Gpu::copy_rate).transpose()?;
    let mut measured = Vec::new();
    for &items in &arguments.items {
        for &dims in &arguments.dims {
            for &k in &arguments.k {
                for &parts in &arguments.parts {
                    let size = Size { items, dims, k, parts };
                    progress.stage("measuring");
                    measure(size, gpu.as_ref(), &mut measured)?;
                }
            }
        }
    }
    progress.finish();
    let device = gpu.map(|gpu| gpu.info()).zip(copies);
    let run = Run { measured, device, threads: rayon::current_num_threads() };
    output::bench::write(&run, arguments, out)
}

/// The device asked for; none where none is there, unless one was asked for by precision.
fn open(arguments: &BenchArguments) -> Result<Option<Gpu>, Failure> {
    match Gpu::new(&gpu_options(arguments.precision)) {
        Ok(gpu) => Ok(Some(gpu)),
        Err(Error::Device(DeviceProblem::NoAdapter { .. }))
            if arguments.precision == PrecisionChoice::Auto =>
        {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn measure(size: Size, gpu: Option<&Gpu>, measured: &mut Vec<Measured>) -> Result<(), Failure> {
    let problem = Problem::new(size)?;
    for Task { name, run, bytes, operations } in tasks(size) {
        let (cpu, expected) = timed(3, || run(&problem, &Cpu))?;
        let device = gpu.map(|gpu| on_device(size, gpu, run, &expected)).transpose()?;
        measured.push(Measured { size, task: name, cpu, device, bytes, operations });
    }
    Ok(())
}

fn on_device(
    size: Size,
    gpu: &Gpu,
    run: fn(&Problem, &dyn Engine) -> Outcome<Vec<f64>>,
    expected: &[f64],
) -> Result<OnDevice, Failure> {
    // Once before, for the shaders to be compiled; then features that the device has not seen.
    run(&Problem::new(size)?, gpu)?;
    let problem = Problem::new(size)?;
    let (first, _) = timed(1, || run(&problem, gpu))?;
    let (again, found) = timed(3, || run(&problem, gpu))?;
    let largest = expected.iter().fold(f64::MIN_POSITIVE, |max, x| f64::max(max, x.abs()));
    let differences = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
    let difference = differences.fold(0.0, |max, x| if x <= max { max } else { x }) / largest;
    let tolerance = size.dims as f64 * 30.0 * gpu.info().precision.epsilon();
    Ok(OnDevice { first, again, difference, tolerance })
}

/// The fastest of some runs, and the answer.
fn timed(runs: usize, work: impl Fn() -> Outcome<Vec<f64>>) -> Result<(Duration, Vec<f64>), Failure> {
    let mut best = (Duration::MAX, Vec::new());
    for _ in 0..runs {
        let start = Instant::now();
        let answer = work()?;
        let taken = start.elapsed();
        if taken < best.0 {
            best = (taken, answer);
        }
    }
    Ok(best)
}

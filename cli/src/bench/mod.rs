//! `pdpp bench`: compares the CPU with a GPU over a grid of sizes, and checks the answers.

mod answer;
mod arguments;
mod chart;
mod csv;
mod data;
mod tasks;
mod text;

use std::{
    io::Write,
    time::{Duration, Instant},
};

use partition_dpp::{Engine, Error, Result as Outcome, engine::gpu::Gpu, error::DeviceProblem};

pub(crate) use self::arguments::BenchArguments;
use self::{
    answer::{Measured, OnDevice, Run},
    data::{BenchCase, Size},
    tasks::{Task, tasks},
};
use crate::{
    compute::{PrecisionChoice, gpu_options},
    failure::Failure,
    output,
    progress::Progress,
    replacing::refuse_replacing,
    whole_file,
};

/// Runs the command.
pub(crate) fn run(arguments: &BenchArguments, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(file) = &arguments.plot {
        file.check()?;
    }
    if let Some(path) = &arguments.csv {
        whole_file::check(path, "the table")?;
    }
    let table = arguments.csv.as_deref().map(|path| ("--csv", path));
    let plot = arguments.plot.as_ref().map(|file| ("--plot", file.path()));
    refuse_replacing(&table.into_iter().chain(plot).collect::<Vec<_>>(), None)?;
    if arguments.parts.contains(&0) {
        return Err(Failure::Arguments("--parts 0: at least one part is needed".into()));
    }
    let progress = Progress::new(arguments.quiet);
    let gpu = open(arguments)?;
    let reads = gpu.as_ref().map(Gpu::read_rate).transpose()?;
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
    let device = gpu.map(|gpu| gpu.engine().info()).zip(reads);
    let run = Run { measured, device, threads: rayon::current_num_threads() };
    write(&run, arguments)?;
    output::print(out, &text::render(&run))
}

/// Writes the files asked for.
fn write(run: &Run, arguments: &BenchArguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.csv {
        let text = csv::render(run).map_err(|error| Failure::file(path, error.to_string()))?;
        whole_file::write(path, "the table", &text)?;
    }
    arguments.plot.as_ref().map_or(Ok(()), |file| file.save(&chart::chart(run)))
}

/// A GPU, or `None` if there is none and no precision was asked for.
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
    let case = BenchCase::new(size)?;
    for Task { name, run, bytes, operations } in tasks(size) {
        let (cpu, expected) = timed(3, || run(&case, &Engine::cpu()))?;
        let (device, refused) = match gpu.map(|gpu| on_device(size, gpu, run, &expected)).transpose() {
            Ok(device) => (device, None),
            // What a device cannot do is no reason to lose the other times.
            Err(Failure::Library(
                error @ (Error::IllConditioned { .. }
                | Error::Device(
                    DeviceProblem::SinglePrecision { .. }
                    | DeviceProblem::NotFinite { .. }
                    | DeviceProblem::Memory { .. },
                )),
            )) => (None, Some(error.to_string())),
            Err(error) => return Err(error),
        };
        measured.push(Measured { size, task: name, cpu, device, refused, bytes, operations });
    }
    Ok(())
}

fn on_device(
    size: Size,
    gpu: &Gpu,
    run: fn(&BenchCase, &Engine) -> Outcome<Vec<f64>>,
    expected: &[f64],
) -> Result<OnDevice, Failure> {
    let engine = gpu.engine();
    // A first run compiles the shaders; then the features are new to the device.
    run(&BenchCase::new(size)?, &engine)?;
    let case = BenchCase::new(size)?;
    let new = gpu.traffic();
    let (first, _) = timed(1, || run(&case, &engine))?;
    let loaded = gpu.traffic();
    run(&case, &engine)?;
    let (first_traffic, again_traffic) = (loaded - new, gpu.traffic() - loaded);
    let (again, found) = timed(3, || run(&case, &engine))?;
    let largest = expected.iter().fold(f64::MIN_POSITIVE, |max, x| f64::max(max, x.abs()));
    let differences = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
    let difference = differences.fold(0.0, |max, x| if x <= max { max } else { x }) / largest;
    let tolerance = size.dims as f64 * 30.0 * engine.info().precision.epsilon();
    Ok(OnDevice { first, again, first_traffic, again_traffic, difference, tolerance })
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

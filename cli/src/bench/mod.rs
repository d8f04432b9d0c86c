//! `pdpp bench`: compares the CPU with a GPU over a grid of sizes, and checks the answers.

mod answer;
mod arguments;
mod chart;
mod csv;
mod data;
mod engines;
mod tasks;
mod text;

use std::{io::Write, time::Instant};

use partition_dpp::{Error, engine::gpu::Gpu, error::DeviceProblem};

pub(crate) use self::arguments::BenchArguments;
use self::{
    answer::{Exchanged, Measured, Outcome, Run, Runs, Times},
    data::{BenchCase, Size},
    engines::Contender,
    tasks::{Answers, Task},
};
use crate::{failure::Failure, output, progress::Progress, replacing::refuse_replacing, whole_file};

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
    progress.stage("measuring rates");
    let (contenders, no_device) = engines::open(arguments)?;
    let mut measured = Vec::new();
    for size in sizes(arguments) {
        progress.stage("measuring");
        measure(size, arguments, &contenders, &mut measured)?;
    }
    progress.finish();
    let run = Run {
        version: env!("CARGO_PKG_VERSION"),
        commit: option_env!("PDPP_COMMIT"),
        cpu: engines::cpu_name(),
        threads: rayon::current_num_threads(),
        repeat: arguments.repeat.get(),
        engines: contenders.into_iter().map(|contender| contender.timed).collect(),
        no_device,
        measured,
    };
    write(&run, arguments)?;
    if arguments.json { output::print_json(out, &run) } else { output::print(out, &text::render(&run)) }
}

/// The grid.
fn sizes(arguments: &BenchArguments) -> Vec<Size> {
    let BenchArguments { items, dims, k, parts, .. } = arguments;
    let mut sizes = Vec::new();
    for &items in items {
        for &dims in dims {
            for &k in k {
                sizes.extend(parts.iter().map(|&parts| Size { items, dims, k, parts }));
            }
        }
    }
    sizes
}

/// Writes the files asked for.
fn write(run: &Run, arguments: &BenchArguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.csv {
        let text = csv::render(run).map_err(|error| Failure::file(path, error.to_string()))?;
        whole_file::write(path, "the table", &text)?;
    }
    arguments.plot.as_ref().map_or(Ok(()), |file| file.save(&chart::chart(run)))
}

fn measure(
    size: Size,
    arguments: &BenchArguments,
    contenders: &[Contender],
    measured: &mut Vec<Measured>,
) -> Result<(), Failure> {
    let case = BenchCase::new(size, arguments.values)?;
    for task in engines::tasks(&arguments.task) {
        let mut expected: Option<Answers> = None;
        for (engine, contender) in contenders.iter().enumerate() {
            let outcome = if engine > 0 && expected.is_none() {
                Outcome::Refused { refused: "the CPU has no answer to compare with".to_owned() }
            } else {
                match time(task, &case, contender, arguments.repeat.get(), &mut expected) {
                    Ok(times) => Outcome::Done(Box::new(times)),
                    Err(error) if ends(&error) => return Err(error.into()),
                    Err(error) => Outcome::Refused { refused: error.to_string() },
                }
            };
            measured.push(Measured { size, task, engine, outcome });
        }
    }
    Ok(())
}

/// Whether an error ends the run: of a device, unless it is one of this task. A failed task is no reason to lose
/// the times of others.
fn ends(error: &Error) -> bool {
    match error {
        Error::Device(problem) => !matches!(
            problem,
            DeviceProblem::SinglePrecision { .. }
                | DeviceProblem::NotFinite { .. }
                | DeviceProblem::Memory { .. }
                | DeviceProblem::Limit { .. }
        ),
        _ => false,
    }
}

/// Runs a task on an engine; `expected` are the answers of the first one, which has the rows already.
fn time(
    task: Task,
    case: &BenchCase,
    Contender { engine, gpu, timed }: &Contender,
    repeat: usize,
    expected: &mut Option<Answers>,
) -> Result<Times, Error> {
    let traffic = || gpu.as_ref().map(Gpu::traffic);
    let new = || BenchCase::new(case.size, case.values);
    let fresh = if gpu.is_some() {
        // This run compiles the shaders; then the features are new to the device.
        task.ready(&new()?, engine)?()?;
        Some(new()?)
    } else {
        None
    };
    let case = fresh.as_ref().unwrap_or(case);
    let began = (traffic(), Instant::now());
    let ready = task.ready(case, engine)?;
    let found = ready()?;
    let first = began.1.elapsed().as_secs_f64();
    let loaded = traffic();
    let busy = || gpu.as_ref().map_or(Ok(None), Gpu::busy);
    busy()?;
    let before = traffic();
    ready()?;
    let again = traffic();
    let device = busy()?;
    let one = |_| {
        let start = Instant::now();
        ready().map(|_| start.elapsed().as_secs_f64())
    };
    let runs = Runs((0..repeat).map(one).collect::<Result<_, Error>>()?);
    let difference = difference(&found, expected.get_or_insert_with(|| found.clone()));
    let per_second = |amount: Option<f64>| amount.map(|amount| amount / runs.best());
    let (bytes, operations) = (per_second(task.bytes(case)), per_second(task.operations(case)));
    let share = |rate: Option<f64>, peak: f64| rate.map(|rate| rate / peak);
    Ok(Times {
        best_seconds: runs.best(),
        mean_seconds: runs.mean(),
        deviation_seconds: runs.deviation(),
        first_seconds: first,
        device_seconds: device.map(|time| time.as_secs_f64()),
        predicted_seconds: timed.peaks.zip(task.job(case)).map(|(peaks, job)| peaks.rates.seconds_of(&job)),
        bytes_per_second: bytes,
        operations_per_second: operations,
        share_of_peak: timed.peaks.and_then(|peaks| {
            share(bytes, peaks.read_bytes_per_second).or(share(operations, peaks.operations_per_second))
        }),
        difference,
        right: difference <= task.tolerance(case.size, engine.info().precision.epsilon()),
        traffic: began
            .0
            .zip(loaded)
            .zip(before.zip(again))
            .map(|((began, loaded), (before, again))| Exchanged::of(loaded - began, again - before)),
    })
}

/// The largest difference, relative to the largest number expected in its group; ∞ if answers are missing, or NaN.
fn difference(found: &Answers, expected: &Answers) -> f64 {
    let of_group = |(found, expected): (&Vec<f64>, &Vec<f64>)| {
        if found.len() != expected.len() {
            return f64::INFINITY;
        }
        let largest = expected.iter().fold(f64::MIN_POSITIVE, |max, x| f64::max(max, x.abs()));
        let differences = found.iter().zip(expected).map(|(found, expected)| (found - expected).abs());
        differences.fold(0.0, |max, x| {
            if x <= max {
                max
            } else if x.is_nan() {
                f64::INFINITY
            } else {
                x
            }
        }) / largest
    };
    found.iter().zip(expected).map(of_group).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn differences_are_relative_to_their_group() {
        let expected = vec![vec![1e-3, 2e-3], vec![50.0]];
        let off = |found| difference(&found, &expected);
        assert!(off(expected.clone()) <= 0.0);
        assert!((off(vec![vec![1e-3, 1e-3], vec![50.0]]) - 0.5).abs() < 1e-12);
        for wrong in [vec![vec![f64::NAN, 2e-3], vec![50.0]], vec![vec![1e-3], vec![50.0]]] {
            assert!(off(wrong).is_infinite());
        }
    }
}

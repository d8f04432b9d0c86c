//! `pdpp reproduce`: the paper's tables and figures, reproduced by `pdpp_reproduce`.

mod arguments;
mod text;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use partition_dpp::{Engine, Watch};
use pdpp_reproduce::{Digits, PAGE, Report, Setup};

pub(crate) use self::arguments::ReproduceArguments;
use crate::{
    compute,
    failure::Failure,
    input::digits,
    interrupt, output,
    progress::Progress,
    replacing::{Written, refuse_replacing},
    whole_file::{self, Files},
};

/// The extensions of the files of a report.
const REPORTED: [&str; 3] = ["html", "csv", "svg"];

/// Runs the command.
pub(crate) fn run(arguments: &ReproduceArguments, out: &mut dyn Write) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    if let Some(data) = arguments.data.as_deref().filter(|data| !data.is_dir()) {
        return Err(Failure::file(data, "there is no such folder of data"));
    }
    make_folder(&arguments.out)?;
    if let Some(data) = &arguments.data {
        refuse_replacing_data(&arguments.out, data)?;
    }
    let watch = Watch::default().stopped_by(interrupt::flag());
    let progress = Progress::new(arguments.quiet);
    let device = compute::device_to_time(&arguments.compute)?;
    let parts = arguments.part.parts();
    progress.work(parts.iter().map(|part| part.steps(arguments.instances)).sum());
    let (features, partition) = digits::features_and_classes()?;
    let setup = Setup {
        data: arguments.data.as_deref(),
        digits: Digits { features: &features, partition: &partition },
        device: device.as_ref(),
        seed: arguments.seed,
        instances: arguments.instances,
        watch,
        on_step: &|begun, what| progress.at(begun, what),
    };
    let report = pdpp_reproduce::run(parts, &setup)?;
    progress.finish();
    let (done, of) = (report.parts.len(), parts.len());
    if done > 0 {
        let files = write(&arguments.out, &report, &made(device.as_ref(), arguments.seed))?;
        output::print(out, &text::render(&report, &arguments.out, files))?;
    }
    if done < of { Err(Failure::Stopped { done, of }) } else { Ok(()) }
}

/// Creates the folder of the report, and checks that files can be created in it.
fn make_folder(out: &Path) -> Result<(), Failure> {
    if out.exists() && !out.is_dir() {
        return Err(Failure::file(out, "the report cannot be written: this is not a folder"));
    }
    fs::create_dir_all(out).map_err(|error| Failure::io(out, &error))?;
    whole_file::check(&out.join(PAGE), "the report")
}

/// Refuses a folder with files that a report could replace and that are data, by whatever name or link.
fn refuse_replacing_data(out: &Path, data: &Path) -> Result<(), Failure> {
    let could_be_replaced =
        |path: &PathBuf| path.extension().is_some_and(|kind| REPORTED.iter().any(|other| kind == *other));
    let written: Vec<PathBuf> = inside(out).into_iter().filter(could_be_replaced).collect();
    let written: Vec<Written<'_>> = written.iter().map(|path| ("--out", path.as_path())).collect();
    let mut read = inside(data);
    let folders: Vec<PathBuf> = read.iter().filter(|path| path.is_dir()).cloned().collect();
    read.extend(folders.iter().flat_map(|folder| inside(folder)));
    refuse_replacing(&written, read.iter().map(PathBuf::as_path))
}

/// The files and folders in a folder, by name; none if it cannot be read.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .map_or_else(|_| Vec::new(), |entries| entries.flatten().map(|entry| entry.path()).collect());
    paths.sort();
    paths
}

fn made(device: Option<&Engine>, seed: u64) -> String {
    let device = device.map_or("no GPU".to_owned(), |device| device.info().to_string());
    format!(
        "Made by pdpp {}, seed {seed}, {} threads, {device}; everything in f64 unless said otherwise.",
        env!("CARGO_PKG_VERSION"),
        rayon::current_num_threads()
    )
}

/// Writes tables, figures and the page, all or none; returns the number of files.
fn write(folder: &Path, report: &Report, made: &str) -> Result<usize, Failure> {
    let (written, mut files) = (report.files(made)?, Files::default());
    for file in &written {
        let what = if file.name == PAGE { "the report" } else { "the file" };
        files.add(&folder.join(&file.name), what, &file.bytes)?;
    }
    files.finish()?;
    Ok(written.len())
}

impl From<pdpp_reproduce::Failure> for Failure {
    fn from(failure: pdpp_reproduce::Failure) -> Self {
        match failure {
            pdpp_reproduce::Failure::File { path, problem } => Failure::File { path, problem },
            pdpp_reproduce::Failure::InFile { path, source } => Failure::InFile { path, source },
            pdpp_reproduce::Failure::Library(error) => error.into(),
            pdpp_reproduce::Failure::Interrupted => Failure::Interrupted,
            other => Failure::Arguments(other.to_string()),
        }
    }
}

//! `pdpp reproduce`: the paper's tables and figures, computed again.

mod context;
mod corel;
mod html;
mod map;
mod report;
mod summary;
mod table_file;
mod timing;
mod yale;

use std::{
    fs,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use self::{
    context::Context,
    html::Page,
    report::{Block, Section},
};
use crate::{
    arguments::{ReproduceArguments, ReproducePart},
    compute,
    failure::Failure,
    interrupt, output,
    progress::Progress,
    whole_file::{self, Files},
};

/// The page that shows everything.
const PAGE: &str = "report.html";

/// One part: its name, how many steps it takes, and what it does.
struct Part {
    name: &'static str,
    steps: fn(instances: u64) -> u64,
    run: fn(&Context<'_>) -> Result<Outcome, Failure>,
}

/// What one part came to.
#[derive(Debug)]
enum Outcome {
    /// It was done.
    Done(Box<Section>),
    /// Its data are not there.
    Skipped(String),
}

/// A part that is over.
#[derive(Debug)]
struct Finished {
    /// Its name.
    name: &'static str,
    /// What it came to.
    outcome: Outcome,
    /// What it took.
    time: Duration,
}

/// All parts, in the paper's order.
const PARTS: [Part; 5] = [
    Part { name: "timing", steps: |_| timing::STEPS, run: timing::run },
    Part { name: "yale", steps: |_| yale::STEPS, run: yale::run },
    Part { name: "corel", steps: |_| corel::STEPS, run: corel::run },
    Part { name: "map-synthetic", steps: map::synthetic::steps, run: map::synthetic::run },
    Part { name: "map-debates", steps: |_| map::debates::STEPS, run: map::debates::run },
];

/// Runs the command.
pub(crate) fn run(arguments: &ReproduceArguments, out: &mut dyn Write) -> Result<(), Failure> {
    compute::prepare(&arguments.compute)?;
    if let Some(data) = arguments.data.as_deref().filter(|data| !data.is_dir()) {
        return Err(Failure::file(data, "there is no such folder of data"));
    }
    make_folder(&arguments.out)?;
    interrupt::flag();
    let progress = Progress::new(arguments.quiet);
    let device = compute::device_to_time(&arguments.compute)?;
    let wanted =
        |part: &&Part| arguments.part == ReproducePart::All || part.name == arguments.part.to_string();
    let parts: Vec<&Part> = PARTS.iter().filter(wanted).collect();
    progress.work(parts.iter().map(|part| (part.steps)(arguments.instances)).sum());
    let context = Context::new(arguments, device, &progress);
    let finished = run_parts(&parts, &context)?;
    progress.finish();
    let (done, of) = (finished.len(), parts.len());
    if done > 0 {
        let files = write(&arguments.out, &finished, &made(&context, arguments))?;
        output::print(out, &summary::render(&finished, &arguments.out, files))?;
    }
    if done < of { Err(Failure::Stopped { done, of }) } else { Ok(()) }
}

/// The folder of the report, which must be one that files can be made in.
fn make_folder(out: &Path) -> Result<(), Failure> {
    if out.exists() && !out.is_dir() {
        return Err(Failure::file(out, "the report cannot be written: this is not a folder"));
    }
    fs::create_dir_all(out).map_err(|error| Failure::io(out, &error))?;
    whole_file::check(&out.join(PAGE), "the report")
}

/// All parts, or those before somebody pressed Ctrl-C.
fn run_parts(parts: &[&Part], context: &Context<'_>) -> Result<Vec<Finished>, Failure> {
    let mut finished = Vec::new();
    for part in parts {
        let started = Instant::now();
        let outcome = match (part.run)(context) {
            Err(Failure::Interrupted) => break,
            outcome => outcome?,
        };
        // Its solvers may have been cut short.
        if interrupt::raised() {
            break;
        }
        finished.push(Finished { name: part.name, outcome, time: started.elapsed() });
    }
    Ok(finished)
}

fn made(context: &Context<'_>, arguments: &ReproduceArguments) -> String {
    let device = context
        .device
        .as_ref()
        .map_or("no graphics processor".to_owned(), |device| device.info().to_string());
    format!(
        "Made by pdpp {}, seed {}, {} threads, {device}; everything in f64 unless said otherwise.",
        env!("CARGO_PKG_VERSION"),
        arguments.seed,
        rayon::current_num_threads()
    )
}

/// Writes tables, figures and the page, all of them or none; how many files.
fn write(folder: &Path, finished: &[Finished], made: &str) -> Result<usize, Failure> {
    let (mut files, mut count) = (Files::default(), 1);
    let mut save = |name: &str, ending: &str, bytes: &[u8]| {
        count += 1;
        files.add(&folder.join(format!("{name}.{ending}")), "the file", bytes)
    };
    let sections = finished.iter().filter_map(|part| match &part.outcome {
        Outcome::Done(section) => Some(section),
        Outcome::Skipped(_) => None,
    });
    for block in sections.flat_map(|section| &section.blocks) {
        match block {
            Block::Table(table) | Block::Folded(table) => {
                let text = table.csv().map_err(|error| Failure::file(folder, error.to_string()))?;
                save(table.name, "csv", &text)?;
            }
            Block::Figure(figure) => save(figure.name, "svg", figure.svg.as_bytes())?,
            Block::Text(_) | Block::Gallery(_) | Block::FoldedGallery(_) => {}
        }
    }
    let parts = finished.iter().map(|part| match &part.outcome {
        Outcome::Done(section) => (part.name, Ok(&**section)),
        Outcome::Skipped(reason) => (part.name, Err(&**reason)),
    });
    let page = html::render(&Page { made: made.to_owned(), parts: parts.collect() });
    files.add(&folder.join(PAGE), "the report", page.as_bytes())?;
    files.finish()?;
    Ok(count)
}

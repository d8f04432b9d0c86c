//! The tables and figures of Kathuria and Deshpande (2016), computed again.
//!
//! A crate of its own because it is a program on top of `partition-dpp`, not a part of the command line, which only runs it
//! as `pdpp reproduce`. The crates depend on each other in one direction: `pdpp` → `pdpp-reproduce` → `pdpp-plot` →
//! `partition-dpp`. What belongs to a process stays with the caller: a [`Setup`] brings the data, a [`Watch`] and a callback
//! for the progress, and a [`Report`] returns files as bytes. Nothing here prints, writes files or catches signals.
//!
//! [`Watch`]: partition_dpp::Watch

#![forbid(unsafe_code)]

mod context;
mod corel;
mod failure;
mod html;
mod map;
mod report;
mod table_file;
mod timing;
mod written;
mod yale;

use std::time::{Duration, Instant};

use self::context::Context;
pub use self::{
    context::{Digits, Setup},
    failure::Failure,
    report::{Claim, Verdict},
    written::{File, PAGE},
};
use crate::report::Section;

/// A part of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Seconds per sample, what rejection accepts, how both grow.
    Timing,
    /// Faces in three lights.
    Yale,
    /// Images with several labels.
    Corel,
    /// The most diverse sets of random points.
    MapSynthetic,
    /// The most diverse sets of statements of debates.
    MapDebates,
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
pub struct Finished {
    /// Which one.
    pub part: Part,
    /// What it took.
    pub time: Duration,
    outcome: Outcome,
}

/// The parts that were finished.
#[derive(Debug)]
pub struct Report {
    /// In the order asked for.
    pub parts: Vec<Finished>,
}

impl Part {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 5] = [Part::Timing, Part::Yale, Part::Corel, Part::MapSynthetic, Part::MapDebates];

    /// Its name in the report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Timing => "timing",
            Part::Yale => "yale",
            Part::Corel => "corel",
            Part::MapSynthetic => "map-synthetic",
            Part::MapDebates => "map-debates",
        }
    }

    /// How many steps it takes, given the number of random instances.
    #[must_use]
    pub fn steps(self, instances: u64) -> u64 {
        match self {
            Part::Timing => timing::STEPS,
            Part::Yale => yale::STEPS,
            Part::Corel => corel::STEPS,
            Part::MapSynthetic => map::synthetic::steps(instances),
            Part::MapDebates => map::debates::STEPS,
        }
    }

    fn run(self, context: &Context<'_>) -> Result<Outcome, Failure> {
        match self {
            Part::Timing => timing::run(context),
            Part::Yale => yale::run(context),
            Part::Corel => corel::run(context),
            Part::MapSynthetic => map::synthetic::run(context),
            Part::MapDebates => map::debates::run(context),
        }
    }
}

impl Finished {
    /// Why it was skipped, if it was.
    #[must_use]
    pub fn skipped(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Done(_) => None,
            Outcome::Skipped(reason) => Some(reason),
        }
    }

    /// Why it shows something else than the paper's data, where it does.
    #[must_use]
    pub fn stand_in(&self) -> Option<&str> {
        self.section().and_then(|section| section.stand_in.as_deref())
    }

    /// What the paper says, and what was found.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        self.section().map_or(&[], |section| &section.claims)
    }

    fn section(&self) -> Option<&Section> {
        match &self.outcome {
            Outcome::Done(section) => Some(section),
            Outcome::Skipped(_) => None,
        }
    }
}

/// Computes some parts, or those before the watch ended the work.
///
/// # Errors
/// [`Failure`] where the data are damaged or a computation fails.
pub fn run(parts: &[Part], setup: &Setup<'_>) -> Result<Report, Failure> {
    let context = Context::new(*setup);
    let mut report = Report { parts: Vec::new() };
    for &part in parts {
        let started = Instant::now();
        let outcome = match part.run(&context) {
            Err(Failure::Interrupted) => break,
            outcome => outcome?,
        };
        // Its solvers may have been cut short.
        if setup.watch.ended().is_some() {
            break;
        }
        report.parts.push(Finished { part, time: started.elapsed(), outcome });
    }
    Ok(report)
}

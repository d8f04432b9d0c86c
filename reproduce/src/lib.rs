//! The tables and figures of Kathuria and Deshpande (2016), reproduced.
//!
//! The command line runs this program as `pdpp reproduce`. Dependencies go in one direction:
//! `pdpp` → `pdpp-reproduce` → `pdpp-plot` → `partition-dpp`. A [`Setup`] holds the data, a [`Watch`] and a callback
//! for progress, and a [`Report`] returns files as bytes. This crate does not print, write files or catch signals.
//!
//! [`Watch`]: partition_dpp::Watch

#![forbid(unsafe_code)]

mod context;
mod corel;
mod failure;
mod html;
mod map;
mod outcome;
mod report;
mod table_file;
mod timing;
mod written;
mod yale;

use std::time::Instant;

use self::{context::Context, outcome::Outcome};
pub use self::{
    context::{Digits, Setup},
    failure::Failure,
    outcome::{Finished, Part, Report},
    report::{Claim, Verdict},
    written::{File, PAGE},
};

impl Part {
    /// Returns the number of steps, given the number of random instances.
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

/// Computes some parts. If the watch ends the work, the report has only the parts finished before.
///
/// # Errors
/// [`Failure`] if the data are damaged or a computation fails.
pub fn run(parts: &[Part], setup: &Setup<'_>) -> Result<Report, Failure> {
    let context = Context::new(setup.clone());
    let mut report = Report { parts: Vec::new() };
    for &part in parts {
        let started = Instant::now();
        let outcome = match part.run(&context) {
            Err(Failure::Interrupted) => break,
            outcome => outcome?,
        };
        // The solvers of this part may have been cut short.
        if setup.watch.ended().is_some() {
            break;
        }
        report.parts.push(Finished { part, time: started.elapsed(), outcome });
    }
    Ok(report)
}

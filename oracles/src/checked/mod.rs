//! Answers of the library against exact laws: what is asked, what is compared, and what counts as wrong.
//!
//! A number is right within three times its stated error, and a floor for what nobody states: the rounding of the
//! exact number itself, and of a few operations on numbers up to 1. A typed error is a refusal, not a fault; that a
//! set or a law is impossible is a fault where it is not.
#![allow(clippy::range_plus_one, reason = "one and some more")]
#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "what is not a number is not within bounds")]
#![allow(clippy::assigning_clones, reason = "rows are short")]
#![allow(clippy::float_cmp, reason = "infinite ones are equal or not")]

mod answers;
mod chain;
pub mod draws;
mod model;
mod parts;
mod report;
mod ridge;
mod runner;
pub mod solvers;
pub mod uniform;

use partition_dpp::{Engine, Error};

pub use parts::{Parts, sets};
pub use report::{Kind, Refused, Report};
pub use runner::{DEADLINE, Outcome, Summary, search, with_deadline};

use crate::{
    Constraint, Data, Problem,
    exact::{Law, Minors, Set},
};

/// What nobody states: rounding of a few operations on numbers up to 1.
pub const FLOOR: f64 = 1e-12;
/// Errors may be so many times what is stated.
pub const SLACK: f64 = 3.0;

/// How much of a problem is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Draws of every sampler, 0 for none.
    pub draws: usize,
    /// At most so many of samplers that go to the engine with every draw.
    pub draws_by_nodes: usize,
    /// Paths along which the conditional laws of algorithm 2 are followed.
    pub paths: usize,
    /// Whether the most probable set is looked for.
    pub solvers: bool,
}

/// A problem, the truth about it, and what was found so far.
pub struct Examined<'a> {
    pub problem: &'a Problem,
    pub minors: &'a Minors,
    /// `None` where every set that is allowed has determinant zero.
    pub law: Option<&'a Law>,
    /// How far a dense kernel is from any law.
    pub vague: f64,
    pub engine: &'a Engine,
    pub effort: Effort,
    pub seed: u64,
    pub report: Report,
}

impl Examined<'_> {
    pub fn allows(&self, set: Set) -> bool {
        self.problem.allows(set)
    }

    /// What an answer may be off by.
    pub fn tolerance(&self, stated: f64) -> f64 {
        SLACK * stated + FLOOR + 10.0 * self.vague
    }

    /// Takes an answer, or notes the refusal; an answer about nothing is a fault.
    pub fn answered<T>(&mut self, by: &str, result: Result<T, Error>) -> Option<T> {
        match result {
            Err(error) => {
                if self.law.is_some() {
                    self.report.refuse(by, &error);
                }
                None
            }
            Ok(_) if self.law.is_none() => {
                self.report.fault(Kind::Impossible, by, "no set that is allowed has a positive determinant");
                None
            }
            Ok(answer) => Some(answer),
        }
    }

    /// Compares a number with the exact one.
    pub fn compare(&mut self, kind: Kind, by: &str, what: &str, numbers: Numbers) {
        let Numbers { got, exact, stated, floor } = numbers;
        let off = (got - exact).abs();
        self.report.compared(kind);
        // NaN is wrong.
        if !(off <= self.tolerance(stated) + floor) && got != exact {
            let text = format!("{what}: got {got:?}, exact {exact:?}, off by {off:.2e}, stated {stated:.2e}");
            self.report.fault(kind, by, &text);
        }
    }
}

/// An answer, the truth, the error that is stated, and what the truth itself may be off by.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    pub got: f64,
    pub exact: f64,
    pub stated: f64,
    pub floor: f64,
}

/// Rounding of an exact logarithm.
pub fn log_floor(exact: f64) -> f64 {
    4.0 * f64::EPSILON * exact.abs()
}

/// Everything that the library answers about a problem.
pub fn examine(problem: &Problem, engine: &Engine, effort: Effort, seed: u64) -> Report {
    examine_against(&problem.minors(), problem, engine, effort, seed)
}

/// The same, against determinants that may be those of another problem.
pub fn examine_against(
    minors: &Minors,
    problem: &Problem,
    engine: &Engine,
    effort: Effort,
    seed: u64,
) -> Report {
    // A kernel whose minors are rounding has no law to be compared with: only panics count.
    let vague = minors.indefinite(|set| problem.allows(set));
    let law = minors.law(|set| problem.allows(set)).filter(|_| vague <= 1e-3);
    let law = law.as_ref();
    let report = Report { well_conditioned: problem.is_well_conditioned(minors), ..Report::default() };
    let mut examined = Examined { problem, minors, law, vague, engine, effort, seed, report };
    model::look(&mut examined);
    let mut report = examined.report;
    if vague > 1e-3 {
        report.faults.clear();
    }
    report
}

/// What one check finds.
pub fn probe(problem: &Problem, engine: &Engine, check: impl FnOnce(&mut Examined<'_>)) -> Report {
    let minors = problem.minors();
    let law = minors.law(|set| problem.allows(set));
    let effort = Effort { draws: 0, draws_by_nodes: 0, paths: 0, solvers: false };
    let (law, report) = (law.as_ref(), Report::default());
    let mut examined =
        Examined { problem, minors: &minors, law, vague: 0.0, engine, effort, seed: 0, report };
    check(&mut examined);
    examined.report
}

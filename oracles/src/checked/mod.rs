//! Compares the library's answers with exact laws.
//!
//! A number is right if its error is at most three times the stated error plus a floor. The floor allows for errors
//! that are not stated: the rounding of the exact number, and of a few operations on numbers up to 1. A typed error
//! about conditioning, rank or budgets is a refusal, not a fault. Any other error is a fault, and so is an answer if
//! no
//! set is possible.
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

/// An allowance for errors that are not stated: the rounding of a few operations on numbers up to 1.
pub const FLOOR: f64 = 1e-12;
/// The factor by which errors may exceed the stated error.
pub const SLACK: f64 = 3.0;

/// How thoroughly a problem is examined.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The number of draws per sampler, 0 for none.
    pub draws: usize,
    /// The most draws from a sampler that uses the engine for every draw.
    pub draws_by_nodes: usize,
    /// The number of paths along which the conditional laws of algorithm 2 are followed.
    pub paths: usize,
    /// Whether to look for the most probable set.
    pub solvers: bool,
}

/// A problem, its exact answers, and the findings so far.
pub struct Examined<'a> {
    pub problem: &'a Problem,
    pub minors: &'a Minors,
    /// `None` if every allowed set has determinant zero.
    pub law: Option<&'a Law>,
    /// How far a dense kernel is from any law, as measured by [`Minors::indefinite`].
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

    /// Returns the largest error that an answer may have.
    pub fn tolerance(&self, stated: f64) -> f64 {
        SLACK * stated + FLOOR + 10.0 * self.vague
    }

    /// Returns the answer, or notes the refusal. An answer is a fault if no set is possible.
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
        // The comparison is negated so that NaN is a fault.
        if !(off <= self.tolerance(stated) + floor) && got != exact {
            let text = format!("{what}: got {got:?}, exact {exact:?}, off by {off:.2e}, stated {stated:.2e}");
            self.report.fault(kind, by, &text);
        }
    }
}

/// An answer, the exact value, the stated error, and the possible error of the exact value.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    pub got: f64,
    pub exact: f64,
    pub stated: f64,
    pub floor: f64,
}

/// Returns a bound on the rounding error of an exact logarithm.
pub fn log_floor(exact: f64) -> f64 {
    4.0 * f64::EPSILON * exact.abs()
}

/// Checks everything that the library answers about a problem.
pub fn examine(problem: &Problem, engine: &Engine, effort: Effort, seed: u64) -> Report {
    examine_against(&problem.minors(), problem, engine, effort, seed)
}

/// Checks the same answers against determinants that may belong to another problem.
pub fn examine_against(
    minors: &Minors,
    problem: &Problem,
    engine: &Engine,
    effort: Effort,
    seed: u64,
) -> Report {
    // If rounding dominates the minors of a kernel, there is no law to compare with, and only panics are faults.
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

/// Runs one check and returns its report.
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

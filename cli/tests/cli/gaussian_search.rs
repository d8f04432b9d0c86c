//! Random Gaussian kernels against exact determinants; with landmarks, against the law of their features.
//!
//! `PDPP_SEARCH_CASES=10000` makes the search longer. `PDPP_SEARCH_SEED` sets its first seed.

use std::{env, fmt::Write, time::Instant};

use oracles::{
    Constraint, Data, Problem, Storage,
    exact::{Minors, Set, items_of, set_of},
    generator,
};
use partition_dpp::{
    Engine, Features,
    similarity::{Bandwidth, Rbf},
};
use rayon::prelude::*;
use serde_json::Value;

use super::support::{DEAD_LINE, Folder, is_one_failure};

/// An allowance for errors that are not stated: the rounding of a few operations on numbers up to 1.
const FLOOR: f64 = 1e-12;

fn variable(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}

fn list<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn indices(set: &Value) -> impl Iterator<Item = usize> {
    set.as_array().unwrap().iter().map(|item| usize::try_from(item.as_u64().unwrap()).unwrap())
}

/// Whether a number is exact within this error, or both are infinite.
fn is_within(got: f64, exact: f64, error: f64) -> bool {
    (got - exact).abs() <= error || got.total_cmp(&exact).is_eq()
}

/// Returns the law and its conditions as arguments.
fn law(problem: &Problem) -> String {
    let range = |range: &std::ops::RangeInclusive<usize>| format!("{}..{}", range.start(), range.end());
    let mut arguments = match &problem.constraint {
        Constraint::Any => String::new(),
        Constraint::Size(k) => format!(" --k {k}"),
        Constraint::Quota(counts) => format!(" --labels parts.csv --quota {}", list(counts)),
        Constraint::Independent(counts) => {
            format!(" --labels parts.csv --independent --quota {}", list(counts))
        }
        Constraint::Ranges(ranges, total) => {
            let total = total.map_or_else(String::new, |k| format!(" --k {k}"));
            format!(" --labels parts.csv --quota {}{total}", list(ranges.iter().map(range)))
        }
    };
    for (name, items) in [("include", &problem.include), ("exclude", &problem.exclude)] {
        if !items.is_empty() {
            write!(arguments, " --{name} {}", list(items)).unwrap();
        }
    }
    arguments
}

/// Returns the problem whose rows are the features from landmarks.
fn approximate(points: Problem, landmarks: usize) -> Problem {
    let rows = Features::from_rows(points.items(), points.rows[0].len(), points.rows.concat()).unwrap();
    let rbf =
        Rbf::new(Bandwidth::Exactly(1.0)).with_landmarks(landmarks).features(&rows, &Engine::cpu()).unwrap();
    let rows = (0..points.items()).map(|item| rbf.features().row(item)).collect();
    Problem { data: Data::Features, storage: Storage::F32, rows, ..points }
}

/// A problem written to files, and its exact answers.
struct Case {
    problem: Problem,
    folder: Folder,
    /// Similarity, law and conditions, as arguments.
    arguments: String,
    minors: Minors,
    is_well_conditioned: bool,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut problem = generator::gaussian(seed);
        let folder = Folder::new();
        let lines = problem.rows.iter().map(|row| list(row) + "\n");
        folder.write("points.csv", lines.collect::<String>());
        let lines = problem.labels.iter().map(|label| format!("p{label:02}\n"));
        folder.write("parts.csv", format!("part\n{}", lines.collect::<String>()));
        let sets: Vec<Vec<usize>> = (0..1 << problem.items()).map(items_of).collect();
        folder.write("sets.json", serde_json::to_vec(&sets).unwrap());
        let mut arguments = format!("--features points.csv --similarity rbf --bandwidth 1{}", law(&problem));
        if seed.is_multiple_of(3) {
            let landmarks = 1 + usize::try_from(seed / 3).unwrap() % problem.items();
            write!(arguments, " --landmarks {landmarks}").unwrap();
            if landmarks < problem.items() {
                problem = approximate(problem, landmarks);
            }
        }
        let minors = problem.minors();
        let is_well_conditioned = problem.is_well_conditioned(&minors);
        Self { problem, folder, arguments, minors, is_well_conditioned }
    }

    /// Returns the answer of a command, or `None` if it is refused.
    fn answer(&self, command: &str) -> Result<Option<Value>, String> {
        let command = format!("{command} {} --json", self.arguments);
        let output = self.folder.pdpp(&command).timeout(DEAD_LINE).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        if output.status.success() {
            let answer = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
            return Ok(Some(answer));
        }
        let is_refusal = output.status.code() == Some(2) && is_one_failure(&stderr);
        if !is_refusal
            || self.is_well_conditioned && self.minors.law(|set| self.problem.allows(set)).is_some()
        {
            return Err(format!("{command}: {:?}, {stderr}", output.status));
        }
        Ok(None)
    }

    /// Returns everything that is wrong.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for look in [Self::inferred, Self::best, Self::drawn] {
            look(self, &mut faults).unwrap_or_else(|fault| faults.push(fault));
        }
        faults
    }

    /// Checks ln Z, marginals, and the log-probability of every set.
    fn inferred(&self, faults: &mut Vec<String>) -> Result<(), String> {
        if matches!(self.problem.constraint, Constraint::Independent(_)) {
            return Ok(());
        }
        let Some(answer) = self.answer("infer --sets sets.json")? else { return Ok(()) };
        let law = self.minors.law(|set| self.problem.allows(set)).ok_or("an answer about nothing")?;
        let mut compare = |what: String, got: f64, exact: f64, stated: f64| {
            let floor = FLOOR + 8.0 * f64::EPSILON * exact.abs();
            if !is_within(got, exact, 3.0 * stated + floor) {
                faults.push(format!("{what}: got {got:?}, exact {exact:?}, stated {stated:e}"));
            }
        };
        compare("ln Z".into(), number(&answer["log_z"]), law.log_z(), number(&answer["log_z_error"]));
        let (stated, of_sets) = (number(&answer["marginals_error"]), answer["log_probs_error"].as_f64());
        for (item, exact) in law.marginals(self.problem.items()).into_iter().enumerate() {
            compare(format!("marginal of {item}"), number(&answer["marginals"][item]), exact, stated);
        }
        for set in self.minors.sets() {
            let (at, exact) = (set as usize, law.log_probability(set));
            // null means probability 0.
            let got = answer["log_probs"][at].as_f64().unwrap_or(f64::NEG_INFINITY);
            // If the determinant of a set is only rounding error, the largest error is not stated.
            let of_set = of_sets.unwrap_or_else(|| self.rounding_of_det(set));
            if got.is_finite() && exact.is_finite() {
                compare(format!("ln Pr of {set:b}"), got, exact, of_set);
            } else {
                compare(format!("Pr of {set:b}"), got.exp(), exact.exp(), of_set);
            }
        }
        Ok(())
    }

    /// Checks the best set with a certificate, and the set that is proven to be the best.
    fn best(&self, faults: &mut Vec<String>) -> Result<(), String> {
        if matches!(self.problem.constraint, Constraint::Independent(_)) {
            return Ok(());
        }
        let optimum = self.minors.optimum(|set| self.problem.allows(set));
        for command in ["map --certify", "map --solver exact"] {
            let Some(answer) = self.answer(command)? else { continue };
            let set = set_of(indices(&answer["set"]));
            if !self.problem.allows(set) {
                faults.push(format!("{command}: {set:b} is not allowed"));
            }
            let Some(log_det) = answer["log_det"].as_f64() else { continue };
            let (exact, floor) = (self.minors.log_det(set), FLOOR + 8.0 * f64::EPSILON * optimum.abs());
            if log_det > 0.0 {
                faults.push(format!("{command}: ln det {log_det:e} is above 0"));
            }
            if !is_within(log_det, exact, floor + self.rounding_of_det(set)) {
                faults.push(format!("{command}: ln det of {set:b} is {exact:?}, not {log_det:?}"));
            }
            if let Some(bound) = answer["upper_bound"].as_f64()
                && bound < optimum - floor
            {
                faults.push(format!("{command}: bound {bound:?} below the optimum {optimum:?}"));
            }
        }
        Ok(())
    }

    /// Estimates how much rounding of the entries changes ln det(K_S), to first order.
    fn rounding_of_det(&self, set: Set) -> f64 {
        let beyond = |item: usize| self.minors.log_det(set & !(1 << item)) - self.minors.log_det(set);
        let lost: f64 = items_of(set).into_iter().map(|item| beyond(item).exp()).sum();
        let rounding = 24.0 * f64::EPSILON * self.problem.items() as f64 * lost;
        // Beyond first order, the change may be anything.
        if rounding < 0.5 { rounding } else { f64::INFINITY }
    }

    /// Checks that the draws are sets of the law.
    fn drawn(&self, faults: &mut Vec<String>) -> Result<(), String> {
        let Some(answer) = self.answer("sample --samples 20")? else { return Ok(()) };
        let samples = answer["samples"].as_array().ok_or("no samples")?;
        if samples.len() != 20 {
            faults.push(format!("{} samples of 20", samples.len()));
        }
        for drawn in samples {
            let set = set_of(indices(drawn));
            if !self.problem.allows(set) || !self.minors.det(set).is_positive() {
                faults.push(format!("{set:b} was drawn, and the law does not have it"));
            }
        }
        Ok(())
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "a search reports how it went")]
fn random_gaussian_kernels_are_answered_rightly_or_refused() {
    let (first, cases) = (variable("PDPP_SEARCH_SEED", 0), variable("PDPP_SEARCH_CASES", 60));
    let look = |seed| {
        let start = Instant::now();
        let case = Case::new(seed);
        let faults = case.faults();
        let (arguments, problem, text) = (&case.arguments, &case.problem, faults.join("\n  "));
        let wrong =
            (!faults.is_empty()).then(|| format!("seed {seed}: pdpp … {arguments}\n{problem}\n  {text}"));
        (start.elapsed(), wrong)
    };
    let (times, wrong): (Vec<_>, Vec<_>) = (first..first + cases).into_par_iter().map(look).unzip();
    let (slowest, wrong) =
        (times.into_iter().max().unwrap_or_default(), wrong.into_iter().flatten().collect::<Vec<_>>());
    println!("{cases} cases, the slowest took {slowest:?}");
    assert!(wrong.is_empty(), "{} of {cases} seeds are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

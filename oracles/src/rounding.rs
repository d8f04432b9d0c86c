//! Random problems whose rows are prone to rounding errors, and checks of solvers and bounds on them.

use std::fmt;

use partition_dpp::{
    Dpp, Engine, Features, KDpp, Partition, PartitionDpp, Quota,
    map::{BranchAndBound, Certificate, Greedy, Objective, Solution, Solver, Termination, UpperBound},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::StandardNormal;

use crate::exact::{Minors, Set, counts, set_of};

/// The tolerance of the solver.
const TOLERANCE: f64 = 1e-6;

/// The difficulty of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Ordinary,
    /// Rows are scaled by factors between 1e-20 and 1e20.
    GradedRows,
    /// Columns are scaled by factors between 1e-20 and 1e20.
    GradedColumns,
    /// Some rows agree to 6 to 14 digits.
    NearRows,
    /// The columns add up to almost zero.
    NearSingular,
    /// Some rows are sums of others, multiples of others, or zero.
    Dependent,
    /// All rows are tiny or huge.
    Scaled,
    /// All rows are offset by one vector that is far longer.
    FarOff,
}

const KINDS: [Kind; 8] = [
    Kind::Ordinary,
    Kind::GradedRows,
    Kind::GradedColumns,
    Kind::NearRows,
    Kind::NearSingular,
    Kind::Dependent,
    Kind::Scaled,
    Kind::FarOff,
];

struct Numbers(StdRng);

impl Numbers {
    fn normal(&mut self) -> f64 {
        self.0.sample(StandardNormal)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    /// Returns 10^x for a random x between two numbers.
    fn power(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(low + (high - low) * self.0.random::<f64>())
    }
}

/// Rows, parts, and the allowed counts of items per part.
#[derive(Clone, Debug)]
pub struct Problem {
    seed: u64,
    pub kind: Kind,
    rows: Vec<Vec<f64>>,
    labels: Vec<usize>,
    low: Vec<usize>,
    high: Vec<usize>,
    total: Option<usize>,
    included: Vec<usize>,
    excluded: Vec<usize>,
}

impl Problem {
    pub fn new(seed: u64) -> Self {
        let mut numbers = Numbers(StdRng::seed_from_u64(seed));
        let kind = KINDS[usize::try_from(seed).unwrap() % KINDS.len()];
        let items = 2 + numbers.below(7);
        let dims = 1 + numbers.below(7);
        let rows = rows(kind, items, dims, &mut numbers);
        let parts = if numbers.below(3) == 0 { 1 } else { 1 + numbers.below(3.min(items)) };
        let labels: Vec<usize> = (0..items).map(|item| item % parts).collect();
        let (mut low, mut high) = (Vec::new(), Vec::new());
        let shape = numbers.below(4);
        for part in 0..parts {
            let size = labels.iter().filter(|&&label| label == part).count();
            let first = numbers.below(size + 1).min(3);
            low.push(if shape == 0 { 0 } else { first });
            high.push(match shape {
                0 => size,
                1 => first,
                _ => first + numbers.below(size + 1 - first),
            });
        }
        let (least, most) = (low.iter().sum::<usize>(), high.iter().sum::<usize>());
        let total = (shape == 3 || shape == 0 && numbers.below(2) == 0)
            .then(|| least + numbers.below(most.min(dims).max(least) + 1 - least));
        let mut drawn = |share: usize| -> Vec<usize> {
            if numbers.below(share) > 0 { Vec::new() } else { vec![numbers.below(items)] }
        };
        let (included, mut excluded) = (drawn(3), drawn(5));
        excluded.retain(|item| !included.contains(item));
        Self { seed, kind, rows, labels, low, high, total, included, excluded }
    }

    fn allows(&self, set: Set) -> bool {
        let own = counts(set, &self.labels, self.low.len());
        let within =
            own.iter().zip(self.low.iter().zip(&self.high)).all(|(c, (low, high))| (low..=high).contains(&c));
        within
            && self.total.is_none_or(|total| set.count_ones() as usize == total)
            && self.included.iter().all(|item| set >> item & 1 == 1)
            && self.excluded.iter().all(|item| set >> item & 1 == 0)
    }

    /// Returns the answers of solvers and bounds, or `None` if the model is refused.
    pub fn answers(&self) -> Option<Answers> {
        let features = Features::from_rows(self.rows.len(), self.rows[0].len(), self.rows.concat()).ok()?;
        let partition = Partition::from_labels(&self.labels).unwrap();
        let (included, excluded) = (&self.included[..], &self.excluded[..]);
        let (one, open) = (self.low.len() == 1, self.total.is_none());
        if one && let Some(k) = self.total {
            let model = KDpp::new(&features, k).ok()?.including(included).ok()?.excluding(excluded).ok()?;
            return Some(self.answers_of(&model));
        }
        let whole = self.low[0] == 0 && self.high[0] == self.labels.len();
        if one && open && whole {
            let model = Dpp::new(&features).ok()?.including(included).ok()?.excluding(excluded).ok()?;
            return Some(self.answers_of(&model));
        }
        if open && self.low == self.high {
            let quota = Quota::new(&partition, &self.low).ok()?;
            let model = PartitionDpp::new(&features, &partition, &quota).ok()?;
            return Some(self.answers_of(&model.including(included).ok()?.excluding(excluded).ok()?));
        }
        let ranges: Vec<_> = self.low.iter().zip(&self.high).map(|(&low, &high)| low..=high).collect();
        let quota = Quota::new(&partition, &ranges).ok()?;
        let quota = self.total.map_or(Ok(quota.clone()), |total| quota.with_total(total)).ok()?;
        let model = PartitionDpp::new(&features, &partition, &quota).ok()?;
        Some(self.answers_of(&model.including(included).ok()?.excluding(excluded).ok()?))
    }

    fn answers_of(&self, model: &impl Objective) -> Answers {
        let minors = Minors::of_features(&self.rows);
        let certificate = UpperBound::default().certify(model, &Engine::cpu()).unwrap();
        Answers {
            problem: self.clone(),
            optimum: minors.optimum(|set| self.allows(set)),
            greedy: Greedy::default().solve(model, &Engine::cpu()).unwrap().certified(&certificate),
            exact: BranchAndBound::default().solve(model, &Engine::cpu()).unwrap(),
            certificate,
            minors,
        }
    }
}

fn rows(kind: Kind, items: usize, dims: usize, numbers: &mut Numbers) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = (0..items).map(|_| (0..dims).map(|_| numbers.normal()).collect()).collect();
    let scale = |row: &mut Vec<f64>, factor: f64| row.iter_mut().for_each(|x| *x *= factor);
    match kind {
        Kind::Ordinary => {}
        Kind::GradedRows => rows.iter_mut().for_each(|row| scale(row, numbers.power(-20.0, 20.0))),
        Kind::GradedColumns => {
            let factors: Vec<f64> = (0..dims).map(|_| numbers.power(-20.0, 20.0)).collect();
            rows.iter_mut().for_each(|row| row.iter_mut().zip(&factors).for_each(|(x, factor)| *x *= factor));
        }
        Kind::NearRows => {
            for item in 1..items {
                if numbers.below(2) == 0 {
                    let (off, other) = (numbers.power(-14.0, -6.0), rows[numbers.below(item)].clone());
                    rows[item] = other.iter().map(|x| x + off * numbers.normal()).collect();
                }
            }
        }
        Kind::NearSingular => {
            let off = numbers.power(-16.0, -4.0);
            for row in &mut rows {
                let others: f64 = row[..dims - 1].iter().sum();
                row[dims - 1] = off * numbers.normal() - others;
            }
        }
        Kind::Dependent => {
            // Few digits, so that sums are exact.
            rows.iter_mut().flatten().for_each(|x| *x = (4.0 * *x).round());
            for item in 1..items {
                let (one, other) = (rows[numbers.below(item)].clone(), rows[numbers.below(item)].clone());
                match numbers.below(6) {
                    0 => rows[item].fill(0.0),
                    1 => rows[item] = one.iter().map(|x| -4.0 * x).collect(),
                    2 => rows[item] = one.iter().zip(&other).map(|(x, y)| x + 3.0 * y).collect(),
                    _ => {}
                }
            }
            let factor = numbers.power(-20.0, 20.0);
            rows.iter_mut().for_each(|row| scale(row, factor));
        }
        Kind::Scaled => {
            let factor = numbers.power(-280.0, 280.0);
            rows.iter_mut().for_each(|row| scale(row, factor));
        }
        Kind::FarOff => {
            let far: Vec<f64> = (0..dims).map(|_| numbers.normal()).collect();
            let factor = numbers.power(2.0, 15.0);
            rows.iter_mut().for_each(|row| row.iter_mut().zip(&far).for_each(|(x, far)| *x += factor * far));
        }
    }
    rows
}

/// The answers about a problem.
#[derive(Clone, Debug)]
pub struct Answers {
    problem: Problem,
    minors: Minors,
    pub optimum: f64,
    pub certificate: Certificate,
    pub greedy: Solution,
    pub exact: Solution,
}

impl Answers {
    /// Returns what is wrong with the answers.
    pub fn faults(&self) -> Vec<String> {
        let Self { optimum, certificate, greedy, exact, .. } = self;
        let mut faults = Vec::new();
        let mut expect = |right: bool, what: String| {
            if !right {
                faults.push(format!("{} {:?}: {what}", self.problem.seed, self.problem.kind));
            }
        };
        for (bound, value) in &certificate.bounds {
            expect(value >= optimum, format!("{bound}: {value} < {optimum}"));
        }
        let upper_bound = certificate.upper_bound;
        expect(upper_bound >= *optimum, format!("certificate {upper_bound} < {optimum}"));
        expect(optimum.is_infinite() || upper_bound.is_finite(), format!("certificate {upper_bound}"));
        for (solver, solution) in [("greedy", greedy), ("exact", exact)] {
            let Some(bound) = solution.upper_bound else { continue };
            let own = self.minors.log_det(set_of(solution.subset.iter()));
            expect(bound >= *optimum, format!("{solver}: {bound} < {optimum}"));
            expect(bound >= own && bound >= solution.log_det, format!("{solver}: {bound} < its own {own}"));
            if let Some(gap) = solution.gap() {
                expect(gap >= 0.0, format!("{solver}: gap {gap}"));
                let proven = solution.termination == Termination::Optimal;
                expect(
                    !proven || gap <= TOLERANCE && optimum - own <= TOLERANCE,
                    format!("{solver}: gap {gap}"),
                );
            }
        }
        if !faults.is_empty() {
            faults.push(format!("{:?}", self.problem));
        }
        faults
    }
}

/// The findings about problems of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    problems: usize,
    refused: usize,
    /// The number of problems for which the solver found no set, or did not prove it optimal.
    pub unproven: usize,
    /// The largest excess of the solver's bound over the optimum that it proves, relative to 1 + |ln det|.
    pub loosest: f64,
    nodes: u64,
}

/// The findings about all problems.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    kinds: [Seen; KINDS.len()],
    pub faults: Vec<String>,
}

impl Tally {
    pub fn of(&self, kind: Kind) -> Seen {
        self.kinds[KINDS.iter().position(|&other| other == kind).unwrap()]
    }

    pub fn add(&mut self, problem: &Problem) {
        let seen = &mut self.kinds[KINDS.iter().position(|&kind| kind == problem.kind).unwrap()];
        seen.problems += 1;
        let Some(answers) = problem.answers() else {
            seen.refused += 1;
            return;
        };
        self.faults.extend(answers.faults());
        let Answers { exact, optimum, .. } = &answers;
        seen.nodes += exact.stats.nodes;
        if exact.termination == Termination::Optimal {
            let above = (exact.upper_bound.unwrap() - optimum) / (1.0 + optimum.abs());
            seen.loosest = seen.loosest.max(above);
        } else {
            seen.unproven += 1;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, seen) in KINDS.iter().zip(&self.kinds) {
            let Seen { problems, refused, unproven, loosest, nodes } = seen;
            writeln!(
                f,
                "{:14} {problems:6} problems, {refused:5} refused, {unproven:5} unproven, {nodes:6} nodes, {loosest:.1e} above",
                format!("{kind:?}")
            )?;
        }
        write!(f, "{} faults", self.faults.len())
    }
}

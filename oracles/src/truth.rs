//! The most probable set under ranges by enumeration, and what solvers and bounds have to do with it.

use partition_dpp::{
    Engine, PartitionDpp, Quota,
    map::{
        Bound, BranchAndBound, Certificate, LocalSearch, Objective, Restarts, Solution, Solver, Termination,
        UpperBound,
    },
};

use crate::{
    oracle::{Determinants, counts},
    solvers,
};

/// All sets of at most 20 items.
pub fn subsets(items: usize) -> impl Iterator<Item = Vec<usize>> {
    (0_u32..1 << items).map(move |mask| (0..items).filter(|i| mask >> i & 1 == 1).collect())
}

/// Enumeration of what the solvers look for.
pub struct Truth {
    pub oracle: Determinants,
    pub labels: Vec<usize>,
    pub quota: Quota,
    pub best: f64,
}

impl Truth {
    pub fn new(oracle: Determinants, labels: &[usize], quota: &Quota) -> Self {
        let mut truth = Self { oracle, labels: labels.to_vec(), quota: quota.clone(), best: 0.0 };
        let allowed = subsets(labels.len()).filter(|set| truth.allows(set));
        truth.best = allowed.map(|set| truth.log_det(&set)).fold(f64::NEG_INFINITY, f64::max);
        truth
    }

    pub fn allows(&self, set: &[usize]) -> bool {
        self.quota.allows(&counts(set, &self.labels, self.quota.low().len()))
    }

    pub fn log_det(&self, set: &[usize]) -> f64 {
        self.oracle.det(set).ln()
    }

    pub fn slack(&self) -> f64 {
        1e-9 * (1.0 + self.best.abs())
    }

    /// What is wrong with a solution; nothing if it is allowed, worth what it says and not above the optimum.
    pub fn fault(&self, solution: &Solution) -> String {
        let (set, slack) = (solution.subset.as_slice(), self.slack());
        let worth = self.log_det(set);
        if solution.missing > 0 || !self.allows(set) {
            return format!("{set:?} is not allowed, {} missing", solution.missing);
        }
        if (worth - solution.log_det).abs() > slack || worth > self.best + slack {
            return format!("{set:?} is worth {worth}, not {}; at most {}", solution.log_det, self.best);
        }
        String::new()
    }

    /// The same for a proven optimum.
    pub fn fault_of_proof(&self, solution: &Solution) -> String {
        let bound = solution.upper_bound.unwrap();
        if solution.termination != Termination::Optimal || solution.log_det < self.best - self.slack() {
            return format!("{} at {}, the optimum is {}", solution.termination, solution.log_det, self.best);
        }
        if bound < self.best - self.slack() || bound > solution.log_det + 1e-6 {
            return format!("the bound is {bound}, the optimum {}", self.best);
        }
        self.fault(solution)
    }

    /// By how much the best set with at most one item out and one in is better than a set.
    pub fn gain_of_a_move(&self, set: &[usize]) -> f64 {
        let now = self.log_det(set);
        let mut best = f64::NEG_INFINITY;
        for leaving in set.iter().map(Some).chain([None]) {
            for entering in (0..self.labels.len()).filter(|item| !set.contains(item)).map(Some).chain([None])
            {
                let kept = set.iter().filter(|&item| Some(item) != leaving);
                let mut other: Vec<usize> = kept.copied().chain(entering).collect();
                other.sort_unstable();
                if other != set && self.allows(&other) {
                    best = best.max(self.log_det(&other) - now);
                }
            }
        }
        best
    }

    /// The bounds below the optimum.
    pub fn violations(&self, certificate: &Certificate) -> Vec<(Bound, f64)> {
        let below = |bound: f64| bound < self.best - 1e-10 * (1.0 + self.best.abs());
        certificate.bounds.iter().copied().filter(|&(_, bound)| below(bound)).collect()
    }

    /// The greedy set by the definition: of all items that leave an allowed set within reach the one that gains most,
    /// if it gains anything or something is missing; those that are missing, or gain, before others.
    pub fn greedy(&self, dims: usize) -> Vec<usize> {
        let parts = self.quota.low().len();
        let reachable: Vec<Vec<usize>> = subsets(self.labels.len())
            .map(|set| counts(&set, &self.labels, parts))
            .filter(|counts| counts.iter().sum::<usize>() <= dims && self.quota.allows(counts))
            .collect();
        let missing = |set: &[usize]| {
            let own = counts(set, &self.labels, parts);
            let above = reachable.iter().filter(|counts| counts.iter().zip(&own).all(|(c, own)| c >= own));
            above.map(|counts| counts.iter().sum::<usize>() - set.len()).min()
        };
        // Parts that have to be in as a whole are in before anything is picked.
        let whole = |part: usize| {
            let size = self.labels.iter().filter(|&&label| label == part).count();
            reachable.iter().all(|counts| counts[part] == size)
        };
        let mut set: Vec<usize> = (0..self.labels.len()).filter(|&item| whole(self.labels[item])).collect();
        loop {
            let mut best: Option<((bool, f64), usize)> = None;
            for item in (0..self.labels.len()).filter(|item| !set.contains(item)) {
                let with = [&set[..], &[item]].concat();
                let gain = self.log_det(&with) - self.log_det(&set);
                let Some(left) = missing(&with) else { continue };
                let worth = (gain > 0.0 || left < missing(&set).unwrap(), gain);
                if best.is_none_or(|(known, _)| worth > known) {
                    best = Some((worth, item));
                }
            }
            match best {
                Some(((true, _), item)) => set.push(item),
                _ => break,
            }
        }
        set.sort_unstable();
        set
    }
}

pub fn exact(model: &impl Objective) -> Solution {
    BranchAndBound::default().solve(model, &Engine::cpu()).unwrap()
}

pub fn restarted(model: &impl Objective) -> Solution {
    LocalSearch::default().with_restarts(Restarts::Count(20)).solve(model, &Engine::cpu()).unwrap()
}

/// All solvers and bounds of a model; whether local search found the optimum at once, and with restarts.
pub fn check(what: &str, model: &PartitionDpp, truth: &Truth) -> (bool, bool) {
    let greedy = solvers::solve(model, what);
    let local = LocalSearch::default().solve(model, &Engine::cpu()).unwrap();
    let restarted = restarted(model);
    for (solver, solution) in [("greedy", &greedy), ("local search", &local), ("restarts", &restarted)] {
        assert_eq!(truth.fault(solution), "", "{what}: {solver}");
    }
    let slack = truth.slack();
    assert!(local.log_det >= greedy.log_det - slack && restarted.log_det >= local.log_det - slack, "{what}");
    let gain = truth.gain_of_a_move(local.subset.as_slice());
    assert!(gain < 1e-8, "{what}: a move of {} gains {gain}", local.subset);
    let mut proven = exact(model);
    if proven.termination == Termination::Rounding {
        // Rows that agree to several digits leave a larger gap.
        let coarse = BranchAndBound::default().with_tolerance(1e-6).unwrap();
        proven = coarse.solve(model, &Engine::cpu()).unwrap();
    }
    assert_eq!(truth.fault_of_proof(&proven), "", "{what}");
    let certificate = UpperBound::default().certify(model, &Engine::cpu()).unwrap();
    assert_eq!(truth.violations(&certificate), [], "{what}");
    let found = |solution: &Solution| solution.log_det > truth.best - slack;
    (found(&local), found(&restarted))
}

//! The most probable set under ranges by enumeration, and comparisons of solvers and bounds with it.

use partition_dpp::{
    Engine, PartitionDpp, Quota,
    map::{
        Bound, BranchAndBound, Certificate, LocalSearch, Objective, Restarts, Solution, Solver, Termination,
        UpperBound,
    },
};

use crate::{
    exact::{Minors, Set, counts, items_of, set_of},
    solvers,
};

/// The enumerated sets, with the optimum that the solvers look for.
pub struct Truth {
    pub minors: Minors,
    pub labels: Vec<usize>,
    pub quota: Quota,
    pub best: f64,
}

impl Truth {
    pub fn new(minors: Minors, labels: &[usize], quota: &Quota) -> Self {
        let mut truth = Self { minors, labels: labels.to_vec(), quota: quota.clone(), best: 0.0 };
        truth.best = truth.minors.optimum(|set| truth.allows(set));
        truth
    }

    fn counts(&self, set: Set) -> Vec<usize> {
        counts(set, &self.labels, self.quota.low().len())
    }

    pub fn allows(&self, set: Set) -> bool {
        self.quota.allows(&self.counts(set))
    }

    pub fn slack(&self) -> f64 {
        1e-9 * (1.0 + self.best.abs())
    }

    /// Describes what is wrong with a solution.
    ///
    /// Empty if the set is allowed, has the determinant that the solution states, and is not above the optimum.
    pub fn fault(&self, solution: &Solution) -> String {
        let Solution { subset, log_det, missing, .. } = solution;
        let (set, slack) = (set_of(subset.iter()), self.slack());
        let worth = self.minors.log_det(set);
        if *missing > 0 || !self.allows(set) {
            return format!("{subset} is not allowed, {missing} missing");
        }
        if (worth - log_det).abs() > slack || worth > self.best + slack {
            return format!("{subset} is worth {worth}, not {log_det}; at most {}", self.best);
        }
        String::new()
    }

    /// Describes what is wrong with a solution that claims to be a proven optimum.
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

    /// Returns how much a set gains by the best move, in which at most one item leaves and at most one enters.
    pub fn gain_of_a_move(&self, set: Set) -> f64 {
        let others = self.minors.sets().filter(|&other| {
            let (leaving, entering) = (set & !other, other & !set);
            other != set && leaving.count_ones() <= 1 && entering.count_ones() <= 1 && self.allows(other)
        });
        let now = self.minors.log_det(set);
        others.map(|other| self.minors.log_det(other) - now).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the bounds below the optimum.
    pub fn violations(&self, certificate: &Certificate) -> Vec<(Bound, f64)> {
        let below = |bound: f64| bound < self.best - 1e-10 * (1.0 + self.best.abs());
        certificate.bounds.iter().copied().filter(|&(_, bound)| below(bound)).collect()
    }

    /// Returns the greedy set, computed by its definition.
    ///
    /// Each step considers the items that leave an allowed set within reach. Items that gain or fill a missing place
    /// come
    /// before others, and among them the one that gains most is picked. The loop ends if no item gains and none is
    /// missing.
    pub fn greedy(&self, dims: usize) -> Vec<usize> {
        let reachable: Vec<Vec<usize>> = (self.minors.sets())
            .filter(|&set| set.count_ones() as usize <= dims && self.allows(set))
            .map(|set| self.counts(set))
            .collect();
        let missing = |set: Set| {
            let own = self.counts(set);
            let above = reachable.iter().filter(|counts| counts.iter().zip(&own).all(|(c, own)| c >= own));
            above.map(|counts| counts.iter().sum::<usize>() - set.count_ones() as usize).min()
        };
        // Parts that must be included as a whole are included before the first pick.
        let sizes = self.counts(set_of(0..self.labels.len()));
        let whole = |part: usize| reachable.iter().all(|counts| counts[part] == sizes[part]);
        let mut set = set_of((0..self.labels.len()).filter(|&item| whole(self.labels[item])));
        loop {
            let mut best: Option<((bool, f64), usize)> = None;
            for item in (0..self.labels.len()).filter(|item| set >> item & 1 == 0) {
                let with = set | 1 << item;
                let gain = self.minors.log_det(with) - self.minors.log_det(set);
                let Some(left) = missing(with) else { continue };
                let worth = (gain > 0.0 || left < missing(set).unwrap(), gain);
                if best.is_none_or(|(known, _)| worth > known) {
                    best = Some((worth, item));
                }
            }
            match best {
                Some(((true, _), item)) => set |= 1 << item,
                _ => return items_of(set),
            }
        }
    }
}

pub fn exact(model: &impl Objective) -> Solution {
    BranchAndBound::default().solve(model, &Engine::cpu()).unwrap()
}

pub fn restarted(model: &impl Objective) -> Solution {
    LocalSearch::default().with_restarts(Restarts::Count(20)).solve(model, &Engine::cpu()).unwrap()
}

/// Checks all solvers and bounds of a model. Returns whether local search found the optimum at once, and with
/// restarts.
pub fn check(what: &str, model: &PartitionDpp, truth: &Truth) -> (bool, bool) {
    let greedy = solvers::greedy(model);
    let local = LocalSearch::default().solve(model, &Engine::cpu()).unwrap();
    let restarted = restarted(model);
    for (solver, solution) in [("greedy", &greedy), ("local search", &local), ("restarts", &restarted)] {
        assert_eq!(truth.fault(solution), "", "{what}: {solver}");
    }
    let slack = truth.slack();
    assert!(local.log_det >= greedy.log_det - slack && restarted.log_det >= local.log_det - slack, "{what}");
    let gain = truth.gain_of_a_move(set_of(local.subset.iter()));
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

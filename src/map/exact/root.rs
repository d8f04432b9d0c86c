//! The work before the tree: a first set, the items that can matter, and the best bounding method.

use super::{
    improve::improve,
    incumbent::Incumbent,
    saved::{Search, Tree, question},
    search::{OpenNodes, search},
    state::{Left, Node, State},
};
use crate::{
    Result,
    engine::Engine,
    map::{
        Candidates, Place, Solution, Termination,
        bounds::{
            Effort, MOST_DENSE, Method, Relaxed, Subproblem, balance, one_pass_over_whole, places, relax,
            relax_whole, usable,
        },
        greedy,
        plain_gains::PlainGains,
        watch::Clock,
    },
    parallel::map_ordered,
};

/// Sets are improved by swaps among at most this many items.
const MOST_SWAPPED: usize = 5_000;

/// A run of the solver, before the tree.
pub(super) struct Run<'c> {
    /// The candidates for a first set.
    given: &'c Candidates<'c>,
    /// The candidates that are bounded: the same, or the ones of a ground set above.
    pub(super) candidates: &'c Candidates<'c>,
    pub(super) engine: &'c Engine,
    /// The tolerances of the search, and of the answer with its rounding.
    tolerances: [f64; 2],
    pub(super) clock: &'c Clock,
    incumbent: Incumbent,
    /// An upper bound of all sets.
    bound: f64,
    /// An upper bound of the sets with an item that was left out.
    left_out: f64,
    survivors: Option<usize>,
    nodes: u64,
    steps: u64,
}

impl<'c> Run<'c> {
    pub(super) fn new(
        given: &'c Candidates<'c>,
        candidates: &'c Candidates<'c>,
        engine: &'c Engine,
        tolerances: [f64; 2],
        clock: &'c Clock,
    ) -> Self {
        Self {
            given,
            candidates,
            engine,
            tolerances,
            clock,
            incumbent: Incumbent::none(),
            bound: f64::INFINITY,
            left_out: f64::NEG_INFINITY,
            survivors: None,
            nodes: 0,
            steps: 0,
        }
    }

    pub(super) fn solve(mut self, search: &mut Search) -> Result<Solution> {
        let candidates = self.candidates;
        if candidates.has_one_set() {
            let set = candidates.only_set();
            self.incumbent.offer(candidates, set.clone());
            self.bound = candidates.log_volume(&set).at_most;
            return Ok(self.solution(&set, Termination::Optimal));
        }
        let places = search.tree.as_ref().map(|tree| tree.places_of(candidates)).transpose()?;
        let known = search.best(candidates);
        if let Some(set) = &known {
            self.incumbent.offer(candidates, set.clone());
        }
        if let (Some(tree), Some(places)) = (search.tree.take(), places) {
            let termination = self.resume(&tree, places, search)?;
            return Ok(self.finished(search, termination, &known.unwrap_or_default()));
        }
        let greedy = match known {
            Some(set) if self.incumbent.log_det.is_finite() => set,
            _ => self.greedy()?,
        };
        self.incumbent.offer(candidates, greedy.clone());
        let bounds = one_pass_over_whole(candidates, self.engine)?;
        self.bound = bounds.spectral.min(bounds.hadamard);
        self.report();
        let survivors = self.survivors()?;
        let termination = match self.clock.ended() {
            // With many items, not even the rows are copied.
            Some(termination) if survivors.len() > MOST_DENSE => termination,
            _ => self.search(survivors, search)?,
        };
        Ok(self.finished(search, termination, &greedy))
    }

    /// Returns the best set and keeps it for another search. If no set has a finite log-determinant, returns `other`.
    fn finished(mut self, search: &mut Search, termination: Termination, other: &[Place]) -> Solution {
        let candidates = self.candidates;
        if self.incumbent.log_det == f64::NEG_INFINITY {
            // No set that was found has independent rows; if the search is complete, none has.
            let termination = match termination {
                Termination::Optimal => Termination::RankExhausted,
                ended => ended,
            };
            return Solution::new(candidates, other, termination, self.engine);
        }
        let set = std::mem::take(&mut self.incumbent.set);
        let solution = self.solution(&set, termination);
        search.keep(&solution.subset);
        solution
    }

    fn search(&mut self, survivors: Vec<Place>, search: &mut Search) -> Result<Termination> {
        let root = self.root(survivors)?;
        self.offer_improved(&root, self.incumbent.set.clone());
        let method = self.best_method(&root)?;
        self.report();
        let open = OpenNodes::of(Node::root(root.places.clone(), method.clone(), self.bound));
        self.search_open(&root, open, method, search)
    }

    /// Continues where another run has ended.
    fn resume(&mut self, tree: &Tree, places: Vec<Place>, search: &mut Search) -> Result<Termination> {
        let root = self.root(places)?;
        self.left_out = tree.left_out;
        let open = OpenNodes::restored(tree, &root.places);
        self.search_open(&root, open, tree.method.clone(), search)
    }

    fn root(&self, places: Vec<Place>) -> Result<Subproblem> {
        let root = Subproblem::new(self.candidates, places);
        Ok(root.reweighted(&balance(&root, &|_, _| self.clock.ended().is_some())?))
    }

    fn search_open(
        &mut self,
        root: &Subproblem,
        mut open: OpenNodes,
        method: Method,
        kept: &mut Search,
    ) -> Result<Termination> {
        let (candidates, clock) = (self.candidates, self.clock);
        let ended = search(candidates, root, &mut open, &mut self.incumbent, self.tolerances[0], clock)?;
        self.bound = open.upper_bound();
        self.nodes = open.nodes;
        self.steps += open.steps;
        self.survivors = Some(root.len());
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let number = |place: &Place| (place.group as u32, place.position as u32);
        kept.tree = Some(Tree {
            fingerprint: question(candidates),
            places: root.places.iter().map(number).collect(),
            left_out: self.left_out,
            method,
            open: open.saved(&root.places),
            fathomed: open.fathomed,
            done: open.done,
            nodes: open.nodes,
            steps: self.steps,
        });
        Ok(ended)
    }

    fn greedy(&self) -> Result<Vec<Place>> {
        let given = self.given;
        let chosen = if given.has_one_set() {
            given.only_set()
        } else {
            let rows = given.rows();
            greedy::places(given, self.engine, &rows, PlainGains::new(self.engine, &rows), self.clock)?
        };
        let place = |&place: &Place| self.candidates.place(given.item(place));
        Ok(chosen.iter().filter_map(place).collect())
    }

    fn solution(&self, set: &[Place], termination: Termination) -> Solution {
        let mut solution = Solution::new(self.candidates, set, termination, self.engine);
        let bound = self.bound.max(self.left_out).max(solution.log_det);
        solution.upper_bound = Some(bound);
        if termination == Termination::Optimal && bound - self.incumbent.at_least > self.tolerances[1] {
            solution.termination = Termination::Rounding;
        }
        solution.stats.nodes = self.nodes;
        solution.stats.survivors = self.survivors;
        solution.stats.iterations = self.steps;
        solution
    }

    fn target(&self) -> f64 {
        self.incumbent.target(self.tolerances[0])
    }

    fn report(&self) {
        let bound = self.bound.is_finite().then_some(self.bound.max(self.incumbent.log_det));
        self.clock.report(self.incumbent.log_det, bound, 0);
    }

    fn offer_improved(&mut self, root: &Subproblem, set: Vec<Place>) {
        self.incumbent.offer(self.candidates, set.clone());
        if root.len() <= MOST_SWAPPED {
            let better = improve(root, set, self.clock);
            self.incumbent.offer(self.candidates, better);
        }
    }

    /// The items that a better set can contain: all of a small ground set, and those that the bound of a large one
    /// leaves.
    fn survivors(&mut self) -> Result<Vec<Place>> {
        let mut kept = places(self.candidates);
        if kept.len() <= MOST_DENSE || self.clock.ended().is_some() {
            return Ok(kept);
        }
        let (target, clock) = (self.target(), self.clock);
        let enough = |bound: f64, value: f64| {
            bound < target || bound - value < 1e-3 * (bound - target) || clock.ended().is_some()
        };
        let relaxed = relax_whole(self.candidates, &clock.over(self.engine), &self.incumbent.set, &enough);
        let Some(relaxed) = usable(relaxed)? else { return Ok(kept) };
        self.bound = self.bound.min(relaxed.upper_bound);
        self.steps += relaxed.steps;
        self.report();
        let (possible, left_out) = relaxed.possible(target);
        self.left_out = self.left_out.max(left_out);
        kept = possible.into_iter().map(|item| kept[item]).collect();
        kept.extend(&self.incumbent.set);
        kept.sort_unstable();
        kept.dedup();
        Ok(kept)
    }

    /// The method with the lowest bound, with its parameters.
    fn best_method(&mut self, root: &Subproblem) -> Result<Method> {
        /// The steps on the parameters of every method, and then of the finalists.
        const STEPS: [usize; 2] = [5, 60];
        const FINALISTS: usize = 2;
        let mut state = State::whole(root.clone());
        if state.reduce() != Left::Choices {
            return Ok(Method::Gamma);
        }
        let problem = &state.problem;
        let all: Vec<_> = Method::all_for(problem).into_iter().map(|method| (method, None)).collect();
        let mut found = self.relaxed(root, problem, &all, STEPS[0])?;
        found.truncate(FINALISTS);
        let tuned = found.iter().filter(|relaxed| relaxed.method != Method::Gamma);
        let tuned: Vec<_> = tuned.map(|relaxed| (relaxed.method.clone(), Some(relaxed.x.clone()))).collect();
        found.extend(self.relaxed(root, problem, &tuned, STEPS[1])?);
        let lower = |a: Relaxed, b: Relaxed| if b.upper_bound < a.upper_bound { b } else { a };
        let Some(best) = found.into_iter().reduce(lower) else { return Ok(Method::Gamma) };
        self.bound = self.bound.min(best.upper_bound);
        // Items forced without a bound have no parameters, but the tree also forces them first.
        Ok(best.method.of_whole(problem, root))
    }

    /// Bounds by these methods from the given points after `tuning` steps on their parameters, the lowest first.
    fn relaxed(
        &mut self,
        root: &Subproblem,
        problem: &Subproblem,
        methods: &[(Method, Option<Vec<f64>>)],
        tuning: usize,
    ) -> Result<Vec<Relaxed>> {
        let (target, clock) = (self.target(), self.clock);
        let ended = || clock.ended().is_some();
        let effort = Effort { target, share: 0.2, tuning, tuning_share: 0.05 };
        let bounded = map_ordered(methods.len(), |at| {
            let (method, start) = &methods[at];
            if ended() { Ok(None) } else { relax(problem, method, start.clone(), effort, &ended) }
        });
        let mut found = Vec::new();
        for relaxed in bounded {
            let Some(relaxed) = relaxed? else { continue };
            self.steps += relaxed.steps;
            self.offer_improved(root, problem.with_largest(&relaxed.x));
            found.push(relaxed);
        }
        found.sort_by(|a, b| a.upper_bound.total_cmp(&b.upper_bound));
        Ok(found)
    }
}

//! The solvers of designs.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{
    super::{BranchAndBound, LocalSearch, Place, Restarts, Solution, Solver, Termination},
    Design, constant,
    exchange::{exchange, shaken},
    scale,
};
use crate::{
    Result,
    engine::{Engine, Rows},
    linalg::columns,
    map::{
        bounds::{DesignRows, MOST_DENSE, Method, Relaxed, WholeDesign, places_of, usable, with_largest},
        exact::{Incumbent, Judge, Node, OpenNodes, Problem, search},
        watch::Clock,
    },
};

/// The most entries of the rows that a better design can contain, for the start to exchange rows among all of them.
const MOST_ENTRIES: usize = 1 << 24;
/// Values of x below this count as zero.
const ZERO: f64 = 1e-6;

impl Solver<Design> for LocalSearch {
    /// Finds a design that no exchange of two rows improves by a factor of more than 1 + ε/k, with an upper bound.
    ///
    /// It starts from the rows of the largest weights in the relaxation. Three of four restarts change the best set,
    /// the others are random. If the rows that the bound leaves have more than 2²⁴ entries, the start exchanges only
    /// rows with positive weights.
    ///
    /// # Errors
    /// Errors of the engine.
    fn solve(&self, design: &Design, engine: &Engine) -> Result<Solution> {
        let (engine, watch) = engine.apart();
        let clock = watch.start();
        let mut run = Run::new(design, engine, &clock);
        if run.is_settled() {
            return Ok(run.solution(Termination::LocallyOptimal));
        }
        let least = self.epsilon / design.size() as f64;
        let relaxed = run.relax()?;
        let rows = run.start(relaxed.as_ref(), least);
        let limit = match self.restarts {
            Restarts::Count(count) => count,
            Restarts::UntilTimeLimit if clock.has_deadline() => u64::MAX,
            _ => 0,
        };
        run.restart(&rows, (limit, self.seed), least);
        let termination = clock.ended().unwrap_or(Termination::LocallyOptimal);
        Ok(run.solution(termination))
    }
}

impl Solver<Design> for BranchAndBound {
    /// Finds the best design, with a proof.
    ///
    /// If the watch of the engine ends the run, returns the best so far, with a bound.
    ///
    /// If exchanges find no design that estimates all coefficients, the run ends with [`Termination::RankExhausted`].
    ///
    /// # Errors
    /// Errors of the engine.
    fn solve(&self, design: &Design, engine: &Engine) -> Result<Solution> {
        let (engine, watch) = engine.apart();
        let clock = watch.start();
        let mut run = Run::new(design, engine, &clock);
        if run.is_settled() {
            let is_estimable = run.incumbent.log_det.is_finite();
            let ended = if is_estimable { Termination::Optimal } else { Termination::RankExhausted };
            return Ok(run.solution(ended));
        }
        let relaxed = run.relax()?;
        let rows = run.start(relaxed.as_ref(), 0.0);
        if run.incumbent.log_det == f64::NEG_INFINITY {
            // Without a finite determinant, no node could be left out.
            return Ok(run.solution(clock.ended().unwrap_or(Termination::RankExhausted)));
        }
        let [tolerance, with_rounding] = self.tolerances(design.size());
        let mut open = OpenNodes::of(Node::root(rows.places.clone(), Method::Gamma, run.bound));
        let ended = search(design, &rows, &mut open, &mut run.incumbent, tolerance, &clock)?;
        (run.bound, run.nodes, run.steps) = (open.upper_bound(), open.nodes, run.steps + open.steps);
        let mut solution = run.solution(ended);
        solution.stats.survivors = Some(rows.len());
        let gap = solution.upper_bound.map_or(f64::INFINITY, |bound| bound - run.incumbent.at_least);
        if ended == Termination::Optimal && gap > with_rounding {
            solution.termination = Termination::Rounding;
        }
        Ok(solution)
    }
}

/// A run of a solver.
struct Run<'d> {
    design: &'d Design,
    engine: &'d Engine,
    rows: Rows<'d>,
    clock: &'d Clock,
    incumbent: Incumbent,
    /// An upper bound of all designs.
    bound: f64,
    /// An upper bound of the designs with a row that was left out.
    left_out: f64,
    exchanges: u64,
    restarts: u64,
    nodes: u64,
    steps: u64,
}

impl<'d> Run<'d> {
    fn new(design: &'d Design, engine: &'d Engine, clock: &'d Clock) -> Self {
        Self {
            design,
            engine,
            rows: design.rows(),
            clock,
            incumbent: Incumbent::none(),
            bound: f64::INFINITY,
            left_out: f64::NEG_INFINITY,
            exchanges: 0,
            restarts: 0,
            nodes: 0,
            steps: 0,
        }
    }

    /// Takes the only design, if there is only one.
    fn is_settled(&mut self) -> bool {
        let (counts, places) = (&self.design.counts, self.places());
        let members = self.design.groups.iter().map(crate::model::FreeItems::len);
        let is_full = |((low, high), members): ((&usize, &usize), usize)| {
            low == high && (*high == 0 || *low == members)
        };
        if !counts.low.iter().zip(&counts.high).zip(members).all(is_full) {
            return false;
        }
        let only = places.into_iter().filter(|place| counts.high[place.group] > 0).collect();
        self.incumbent.offer(self.design, only);
        self.bound = self.design.log_volume(&self.incumbent.set).at_most;
        true
    }

    /// Relaxes the whole problem; `None` if the time was up before there was a bound.
    fn relax(&mut self) -> Result<Option<Relaxed>> {
        let (engine, clock) = (self.clock.over(self.engine), self.clock);
        let base = self.design.base(&self.rows);
        let whole = WholeDesign::new(&engine, &self.rows, &self.design.counts, base, constant(&self.rows));
        let Some(whole) = usable(whole)? else { return Ok(None) };
        let enough = |bound: f64, value: f64| bound - value < 1e-6 || clock.ended().is_some();
        let relaxed = usable(whole.relax(&enough))?;
        if let Some(relaxed) = &relaxed {
            self.bound = relaxed.upper_bound;
            self.steps += relaxed.steps;
        }
        self.report();
        Ok(relaxed)
    }

    /// Improves the rows of the largest weights by exchanges. Returns the rows that a better design can contain.
    fn start(&mut self, relaxed: Option<&Relaxed>, least: f64) -> DesignRows {
        let places = self.places();
        let Some(relaxed) = relaxed else {
            // There was no time to find better rows than the first that the counts allow.
            let rows = self.problem(Vec::new());
            let first = with_largest(&places, &self.design.counts, &vec![0.0; places.len()]);
            self.incumbent.offer(self.design, first);
            return rows;
        };
        let largest = with_largest(&places, &self.design.counts, &relaxed.x);
        let in_use = |item: &usize| relaxed.x[*item] > ZERO || relaxed.taken[*item];
        let mut used: Vec<Place> = (0..places.len()).filter(in_use).map(|item| places[item]).collect();
        if places.len() <= MOST_DENSE {
            used.clone_from(&places);
        }
        used.extend(&largest);
        self.improve(&self.problem(used), largest, least);
        let (possible, left_out) = relaxed.possible(self.incumbent.log_det);
        self.left_out = left_out;
        let mut kept = self.incumbent.set.clone();
        kept.extend(possible.into_iter().map(|item| places[item]));
        let rows = self.problem(kept);
        if rows.len() * rows.dims <= MOST_ENTRIES {
            self.improve(&rows, self.incumbent.set.clone(), least);
        }
        self.report();
        rows
    }

    fn improve(&mut self, rows: &DesignRows, set: Vec<Place>, least: f64) {
        let items = set.iter().filter_map(|&place| rows.position(place)).collect();
        let (items, made) = exchange(rows, items, least, self.clock);
        self.exchanges += made;
        self.incumbent.offer(self.design, set);
        self.incumbent.offer(self.design, items.into_iter().map(|item| rows.place(item)).collect());
    }

    /// Starts again from up to `limit` other sets, with this seed.
    fn restart(&mut self, rows: &DesignRows, (limit, seed): (u64, u64), least: f64) {
        /// The number of restarts without a better design after which the search ends.
        const PATIENCE: u64 = 1000;
        let mut since_better = 0;
        while self.restarts < limit && since_better < PATIENCE && self.clock.ended().is_none() {
            self.restarts += 1;
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(self.restarts);
            let before = self.incumbent.log_det;
            let is_best: Vec<bool> =
                rows.places.iter().map(|place| self.incumbent.set.binary_search(place).is_ok()).collect();
            let start = rows.with_largest(&shaken(&is_best, self.restarts, &mut random));
            self.improve(rows, start, least);
            since_better = if self.incumbent.log_det > before { 0 } else { since_better + 1 };
            self.report();
        }
    }

    fn report(&self) {
        let bound = self.bound.is_finite().then_some(self.bound.max(self.incumbent.log_det));
        self.clock.report(self.incumbent.log_det, bound, self.steps + self.exchanges);
    }

    fn places(&self) -> Vec<Place> {
        places_of(&self.design.groups)
    }

    /// Reads some rows into memory.
    fn problem(&self, mut places: Vec<Place>) -> DesignRows {
        places.sort_unstable();
        places.dedup();
        let dims = self.design.features.dims();
        let mut values = vec![0.0; places.len() * dims];
        for (row, &place) in values.chunks_exact_mut(dims).zip(&places) {
            self.design.features.read_row(self.design.item(place), scale(&self.rows), row);
        }
        let base = columns(self.design.base(&self.rows).as_ref());
        let counts = self.design.counts.clone();
        DesignRows::new((places, values), counts, base, (dims, constant(&self.rows)))
    }

    fn solution(&self, termination: Termination) -> Solution {
        let mut set = self.incumbent.set.clone();
        if self.incumbent.log_det == f64::NEG_INFINITY {
            // None of the designs tried estimates all coefficients, so any design will do.
            let places = self.places();
            set = with_largest(&places, &self.design.counts, &vec![0.0; places.len()]);
        }
        let subset = self.design.subset(&set);
        let mut solution = Solution::of(subset, self.incumbent.log_det, termination, self.engine);
        let bound = self.bound.max(self.left_out).max(solution.log_det);
        solution.upper_bound = Some(bound);
        solution.stats.swaps = self.exchanges;
        solution.stats.restarts = self.restarts;
        solution.stats.nodes = self.nodes;
        solution.stats.iterations = self.steps;
        solution
    }
}

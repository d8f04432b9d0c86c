//! What will be computed.

use super::{
    CardRates, HostRates, Prediction, Standing,
    steps::{INVERSE, Place, RowCount, Step, on_card, on_cpu},
};
use crate::Features;

/// What to compute.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Task {
    /// So many passes that multiply every row by a vector.
    Passes(usize),
    /// The set-up of a sampler by rejection, of a k-DPP or of a DPP.
    SetUp,
    /// So many tilted proposals, after the set-up: a card makes them in batches.
    Proposals(usize),
    /// So many draws by rejection, of a k-DPP or of a DPP, after the set-up. Under a quota their proposals are those of
    /// equal counts by [`expected_proposals`](crate::sample::expected_proposals).
    Draws(usize),
    /// So many draws of an [`ImportanceSampler`](crate::sample::ImportanceSampler), after its set-up.
    EstimatedDraws(usize),
    /// ln Z under a quota.
    Normaliser,
    /// ln Z and inclusion probabilities.
    Inference,
    /// The set-up of a sampler by interpolation, and so many draws.
    Interpolation(usize),
    /// [`Greedy`](crate::map::Greedy), on either engine.
    Greedy,
    /// [`LazyGreedy`](crate::map::LazyGreedy) on the CPU, [`Greedy`](crate::map::Greedy) on a card.
    LazyGreedy,
    /// So many climbs of [`LocalSearch`](crate::map::LocalSearch), each from a greedy set.
    LocalSearch(usize),
    /// [`Slates`](crate::slates::Slates) of so many requests for so many candidates each.
    Slates {
        /// Number of requests.
        requests: usize,
        /// Candidates of each.
        candidates: usize,
    },
}

/// A task and its sizes.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, engine::{self, cost::{Job, Task}}};
/// let features = Features::from_rows(1000, 4, vec![1.0_f32; 4000])?;
/// let job = Job::new(&features, Task::Greedy).with_parts(3).with_picks(12);
/// let chosen = engine::auto_for(&job);
/// println!("{:?}, since {}", chosen.engine.info(), chosen.reason);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    task: Task,
    pub(super) rows: RowCount,
    /// k.
    pub(super) picks: f64,
}

/// Floating-point numbers of a determinant's complex entry, in bytes.
const COMPLEX: f64 = 16.0;
/// The most bytes of whitened rows that a sampler stores.
pub(super) const STORED: f64 = 67_108_864.0;
/// Steps of the tables from which bounds are chosen, for every dimension and item of a set: a dozen candidates each.
const BOUND_STEPS: f64 = 5000.0;
/// Steps of an item's entry in a table of random choices.
const TABLE_STEPS: f64 = 30.0;
/// Steps of a pick of lazy greedy, and of skipping an item.
const LAZY_STEPS: [f64; 2] = [1500.0, 0.125];
/// The share of the nodes that sizes alone tell which is used in the end.
const NODES_USED: f64 = 0.65;
/// Times that a draw by interpolation reads or writes the inverse of every node at a pick.
const CONDITIONING: f64 = 4.0;
/// Grids that are laid out anew for each part, since late picks lose digits on the first.
const RENEWED: f64 = 0.5;
/// Nodes that the CPU inverts together.
const BATCH: f64 = 256.0;
/// Fresh starts of a climb from its rows.
const REFRESHES: f64 = 3.0;
/// Swaps of a climb for every item of the set.
const SWAPS: f64 = 0.25;
/// Waits for a card at a swap of a climb, several of which are made at a time, and at a start from its rows.
const CLIMB_WAITS: [f64; 2] = [0.25, 2.0];
/// The most numbers of 8 bytes that name the items of an exchange, unless very many can take part.
const NAMED: f64 = 512.0;

impl Job {
    /// A task on these features, for one item and one part.
    #[must_use]
    pub fn new(features: &Features, task: Task) -> Self {
        let (items, dims) = (features.items(), features.dims());
        Self::of_size(items, dims, features.row_bytes() / dims, task)
    }

    /// A task on m×n values of so many bytes each, for one item and one part.
    #[must_use]
    pub fn of_size(items: usize, dims: usize, value_bytes: usize, task: Task) -> Self {
        let rows = RowCount { items: items as f64, dims: dims as f64, width: value_bytes as f64, parts: 1.0 };
        Self { task, rows, picks: 1.0 }
    }

    /// For so many parts.
    #[must_use]
    pub fn with_parts(self, parts: usize) -> Self {
        Self { rows: RowCount { parts: parts.max(1) as f64, ..self.rows }, ..self }
    }

    /// For sets of so many items.
    #[must_use]
    pub fn with_picks(self, picks: usize) -> Self {
        Self { picks: picks.max(1) as f64, ..self }
    }

    /// The predicted time on the CPU.
    #[must_use]
    pub fn on_cpu(&self, host: &HostRates) -> Prediction {
        on_cpu(&self.steps(host.threads, Machine::Cpu), host)
    }

    /// The predicted time on a card, and on the host for what stays there.
    #[must_use]
    pub fn on_card(&self, host: &HostRates, card: &CardRates, standing: Standing) -> Prediction {
        on_card(&self.steps(host.threads, Machine::Card), self.rows, host, card, standing)
    }

    /// n, or m if that is less.
    pub(super) fn rank(&self) -> f64 {
        self.rows.dims.min(self.rows.items)
    }

    /// The nodes on the torus of the last so many parts.
    fn nodes(&self, parts: f64) -> f64 {
        let count = (self.picks / self.rows.parts).max(1.0);
        let of_total = (9.0 * (count * parts).sqrt()).ceil() + 16.0;
        let others = (count + 1.0).powf(parts - 1.0);
        (0.5 * NODES_USED * others * of_total.min(self.rank() + 1.0)).ceil()
    }

    fn steps(&self, threads: f64, machine: Machine) -> Vec<(Place, Step)> {
        let mut steps = Steps { job: *self, machine, threads, list: Vec::new() };
        match self.task {
            Task::Passes(count) => steps.passes(count as f64),
            Task::SetUp => steps.set_up(),
            Task::Proposals(count) => {
                steps.set_up();
                steps.proposals(count as f64);
            }
            Task::Draws(count) => steps.draws(count as f64),
            Task::EstimatedDraws(count) => steps.estimated(count as f64),
            Task::Normaliser => steps.normaliser(),
            Task::Inference => steps.inference(),
            Task::Interpolation(draws) => steps.interpolation(draws as f64),
            Task::Greedy => steps.passes(self.picks),
            Task::LazyGreedy => steps.lazy_greedy(),
            Task::LocalSearch(climbs) => steps.local_search(climbs as f64),
            Task::Slates { requests, candidates } => steps.slates(requests as f64, candidates as f64),
        }
        steps.list
    }
}

/// The machine whose steps are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    Cpu,
    Card,
}

pub(super) struct Steps {
    pub(super) job: Job,
    pub(super) machine: Machine,
    /// Of the host.
    pub(super) threads: f64,
    list: Vec<(Place, Step)>,
}

impl Steps {
    pub(super) fn push(&mut self, place: Place, step: Step) {
        self.list.push((place, step));
    }

    /// Waits: for threads at every verb on the CPU, for a card where the host needs an answer.
    pub(super) fn waits(&mut self, on_cpu: f64, on_card: f64) {
        let count = if self.machine == Machine::Cpu { on_cpu } else { on_card };
        self.push(Place::Card, Step::Waits { count });
    }

    /// Gram matrices of all parts, in the precision of the law.
    fn grams(&mut self) {
        let rows = self.job.rows;
        self.push(Place::CardInDouble, Step::Products { rows, columns: rows.dims, count: 1.0 });
        self.waits(1.0, 1.0);
    }

    /// Loops of passes run on a card without the host, which reads the answers at the end.
    fn passes(&mut self, count: f64) {
        self.push(Place::Card, Step::Dots { rows: self.job.rows, count });
        self.waits(count, 3.0);
    }

    /// Gram matrices, a tilt, bounds, and what draws need of every row.
    pub(super) fn set_up(&mut self) {
        let Job { rows, picks, .. } = self.job;
        let RowCount { items, dims, parts, .. } = rows;
        self.grams();
        let several = parts > 1.0;
        let count = if several { 2.0 + 2.0 * parts } else { 3.0 };
        self.push(Place::Host, Step::Eigen { size: dims, count });
        if several {
            self.push(Place::Host, Step::Choices { steps: BOUND_STEPS * picks * dims });
        }
        if several && 8.0 * rows.values() <= STORED {
            self.push(Place::CardInDouble, Step::Products { rows, columns: dims, count: 1.0 });
            self.push(Place::CardInDouble, Step::Answers { count: rows.values() });
            // They are read and copied once more.
            self.push(Place::Host, Step::Answers { count: 0.5 * rows.values() });
        } else if several {
            // Norms in weighted coordinates, some of which need a product.
            self.push(Place::CardInDouble, Step::Products { rows, columns: 0.5 * dims, count: 1.0 });
            self.push(Place::CardInDouble, Step::Answers { count: items });
        } else {
            self.push(Place::Card, Step::Products { rows, columns: dims, count: 1.0 });
            self.push(Place::Card, Step::Answers { count: items });
        }
        self.push(Place::Host, Step::Choices { steps: TABLE_STEPS * items });
        self.waits(1.0, 1.0);
    }

    /// Gram matrices, a tilt, and the matrices of parts in its coordinates.
    fn function(&mut self) {
        self.grams();
        let RowCount { dims, parts, .. } = self.job.rows;
        self.push(Place::Host, Step::Eigen { size: dims, count: 3.0 + 0.5 * parts });
    }

    fn normaliser(&mut self) {
        self.function();
        let (rank, count) = (self.job.rank(), self.job.nodes(self.job.rows.parts));
        self.push(Place::Card, Step::Nodes { rank, count });
        self.waits(1.0, 1.0);
    }

    fn inference(&mut self) {
        self.normaliser();
        let (rank, rows) = (self.job.rank(), self.job.rows);
        let nodes = self.job.nodes(rows.parts);
        self.push(Place::Card, Step::Nodes { rank, count: INVERSE * nodes });
        let entries = COMPLEX * rank * rank * nodes;
        if self.machine == Machine::Card {
            // Every four parts read each inverse; a sum for every part comes home.
            let bytes = entries * (1.0 + (rows.parts / 4.0).ceil());
            self.push(Place::Card, Step::Updates { bytes });
            self.push(Place::Card, Step::Answers { count: rows.parts * rank * rank });
        } else {
            // Every part takes its share of each inverse.
            self.push(Place::Host, Step::Updates { bytes: entries * (1.0 + rows.parts) });
        }
        self.push(Place::Host, Step::Eigen { size: rank, count: rows.parts });
        self.push(Place::Card, Step::Products { rows, columns: rank, count: 1.0 });
        self.push(Place::Card, Step::Answers { count: rows.items });
        self.waits((nodes / BATCH).ceil() + 1.0, 2.0);
    }

    /// Draws on all threads share the work of each.
    fn interpolation(&mut self, draws: f64) {
        self.function();
        let (rank, rows) = (self.job.rank(), self.job.rows);
        let count = INVERSE * self.job.nodes(rows.parts);
        self.push(Place::Card, Step::Nodes { rank, count });
        self.push(Place::Host, Step::Eigen { size: rank, count: 1.0 });
        self.weights(1.0, 1.0);
        self.waits(2.0, 2.0);
        let at_once = draws.min(self.threads).max(1.0);
        let mut left = rows.parts;
        while left >= 1.0 {
            self.stage(left, draws, at_once);
            left -= 1.0;
        }
    }

    /// The weights of the items of a part, so many times; on a card only their sums are read.
    fn weights(&mut self, times: f64, at_once: f64) {
        let rows = self.job.rows.of_one();
        self.push(Place::Card, Step::Products { rows, columns: self.job.rank(), count: times });
        if self.machine == Machine::Cpu {
            let items = times * rows.items;
            self.push(Place::Host, Step::Answers { count: items });
            self.push(Place::Host, Step::Choices { steps: 2.0 * items / at_once });
        }
    }

    /// The picks from one part, with so many parts left.
    fn stage(&mut self, left: f64, draws: f64, at_once: f64) {
        let (rank, parts) = (self.job.rank(), self.job.rows.parts);
        let nodes = self.job.nodes(left);
        let picks = draws * (self.job.picks / parts).max(1.0);
        if parts > 1.0 {
            let count = draws * RENEWED * INVERSE * nodes;
            self.push(Place::Card, Step::Nodes { rank, count });
        }
        if left < parts {
            self.push(Place::Card, Step::Nodes { rank, count: draws * INVERSE * nodes });
            self.push(Place::Host, Step::Eigen { size: rank, count: draws * (1.0 + 0.3 * left) / at_once });
            self.waits(draws / at_once, draws);
        }
        let bytes = picks * CONDITIONING * COMPLEX * nodes * rank * rank;
        // A card's memory serves one draw after the other at its full rate.
        let shared = if self.machine == Machine::Cpu { at_once } else { 1.0 };
        self.push(Place::Card, Step::Updates { bytes: bytes / shared });
        self.push(Place::Host, Step::Eigen { size: rank, count: picks / at_once });
        self.weights(picks, at_once);
        self.waits(picks / at_once, picks);
    }

    /// On the CPU only rows are read whose last known gain still reaches the best.
    fn lazy_greedy(&mut self) {
        let Job { rows, picks, .. } = self.job;
        if self.machine == Machine::Card {
            return self.passes(picks);
        }
        let all = 1.0 + picks * share_of_visits(&rows, picks);
        self.push(Place::Card, Step::Dots { rows, count: all });
        // Bounds, and half as many bytes for the number of directions in each; half of that is memory used before.
        self.push(Place::Host, Step::Answers { count: 0.75 * rows.items });
        let [each, skipped] = LAZY_STEPS;
        self.push(Place::Host, Step::Choices { steps: picks * (each + skipped * rows.items) });
        self.waits(4.0 * picks, 0.0);
    }

    fn local_search(&mut self, climbs: f64) {
        let Job { rows, picks, .. } = self.job;
        let own = picks / rows.parts;
        self.passes(climbs * picks);
        // Every swap is two passes, and a climb makes some.
        self.passes(climbs * 2.0 * (1.0 + SWAPS * picks));
        let [of_a_swap, of_a_start] = CLIMB_WAITS;
        self.waits(0.0, climbs * (of_a_swap * SWAPS * picks + of_a_start * (1.0 + REFRESHES)));
        let count = climbs * REFRESHES;
        self.push(Place::Card, Step::Products { rows, columns: rows.dims, count });
        self.push(Place::Card, Step::Products { rows, columns: own, count });
        if rows.parts > 1.0 {
            // Swaps in two parts at once.
            self.push(Place::Card, Step::Products { rows, columns: picks, count });
            // A card names the items that matter.
            let home = if self.machine == Machine::Cpu { rows.items } else { rows.items.min(NAMED) };
            self.push(Place::Card, Step::Answers { count: count * home });
        }
    }
}

/// The share of all rows and directions that lazy greedy multiplies, for Gaussian rows.
///
/// Gains are n ± √(2n), of which the largest is about n + z√(2n) with z = √(2 ln m). After t picks it is about
/// (n − t) + z√(2(n − t)): most items are visited once that is below n, which is at t = z√(2(n − t)). Before that the share
/// grows about with the cube of the picks; groups have fewer rivals each.
fn share_of_visits(rows: &RowCount, picks: f64) -> f64 {
    /// The share once most items are visited.
    const MOST: f64 = 0.3;
    let spread = 2.0 * 2.0 * rows.items.max(2.0).ln();
    // t² + 2z²t − 2z²n = 0.
    let first = -0.5 * spread + (0.25 * spread * spread + spread * rows.dims).sqrt();
    let share = MOST * (picks / first).powi(3).min(1.0);
    if rows.parts > 1.0 { 0.5 * share } else { share }
}

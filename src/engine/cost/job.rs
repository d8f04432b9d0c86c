//! What will be computed, and what it asks of an engine.

use crate::{Features, engine::GridRequest};

/// What to compute.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Task {
    /// So many passes that multiply every row by a vector.
    Passes(usize),
    /// The set-up of a sampler by rejection, of a k-DPP or of a DPP.
    SetUp,
    /// ln Z under a quota.
    Normaliser,
    /// ln Z and inclusion probabilities.
    Inference,
    /// The set-up of a sampler by interpolation, and so many draws.
    Interpolation(usize),
    /// [`LazyGreedy`](crate::map::LazyGreedy) on the CPU, [`Greedy`](crate::map::Greedy) on a GPU.
    Greedy,
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

/// A task and its sizes, from which [`Engine::auto`](crate::Engine::auto) predicts its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    task: Task,
    items: f64,
    dims: f64,
    /// Of all rows, as they are stored.
    pub(super) bytes: f64,
    parts: f64,
    /// k.
    picks: f64,
}

/// The sizes of a slate.
#[cfg(feature = "gpu")]
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct SlateShape {
    pub(in crate::engine) dims: usize,
    /// Bytes of a value of a row, as stored.
    pub(in crate::engine) value_bytes: usize,
    pub(in crate::engine) picks: usize,
    pub(in crate::engine) parts: usize,
    pub(in crate::engine) candidates: usize,
}

/// What a job asks of an engine. What stays on the host with either engine does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Work {
    /// Bytes read and written.
    pub(super) bytes: f64,
    /// Floating-point operations of products.
    pub(super) operations: f64,
    /// Floating-point operations of determinants and inverses of complex matrices.
    pub(super) eliminations: f64,
    /// Rows of the largest of those matrices.
    pub(super) order: f64,
    /// Times that the host waits for a GPU.
    pub(super) waits: f64,
}

/// Which algorithm runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Cpu,
    Gpu,
}

/// The share of the rows that lazy greedy reads per pick once it has visited most of them.
const LAZY: f64 = 0.3;
/// Operations of a determinant and of an inverse, over r³.
const DETERMINANT: f64 = 8.0 / 3.0;
const INVERSE: f64 = 8.0;
/// A line of nodes on the CPU, in operations of determinants by LU that take as long: r³ times the first for the line, r² times the
/// second for each of its nodes.
const LINE: [f64; 2] = [32.0, 7.0];
/// The same of inverses, r³ times both.
const LINE_OF_INVERSES: [f64; 2] = [60.0, 2.4];
/// Bytes of a complex number.
const COMPLEX: f64 = 16.0;
/// The share of the nodes that sizes alone tell which is used in the end.
const NODES_USED: f64 = 0.65;
/// Times that a draw by interpolation reads or writes the inverse of every node at a pick.
const CONDITIONING: f64 = 4.0;
/// Swaps of a climb for every item of the set, and fresh starts of a climb from its rows.
const SWAPS: f64 = 0.25;
const REFRESHES: f64 = 3.0;
/// Waits for a GPU at a swap of a climb, several of which are made at a time, and at a start from its rows.
const CLIMB_WAITS: [f64; 2] = [0.25, 2.0];
/// Operations to read and compare a candidate's gain at a pick of a slate, besides those of its row.
const COMPARED: f64 = 130.0;
/// Requests, and candidates, that go to a GPU together.
const SLATES: [f64; 2] = [8192.0, 2_097_152.0];

impl Job {
    /// A task on these features, for one item and one part.
    #[must_use]
    pub fn new(features: &Features, task: Task) -> Self {
        Self::of_size(features.items(), features.dims(), features.row_bytes() / features.dims(), task)
    }

    /// A task on m×n values of so many bytes each, for one item and one part.
    #[must_use]
    pub fn of_size(items: usize, dims: usize, value_bytes: usize, task: Task) -> Self {
        let (items, dims) = (items as f64, dims as f64);
        Self { task, items, dims, bytes: items * dims * value_bytes as f64, parts: 1.0, picks: 1.0 }
    }

    /// For so many parts.
    #[must_use]
    pub fn with_parts(self, parts: usize) -> Self {
        Self { parts: parts.max(1) as f64, ..self }
    }

    /// For sets of so many items.
    #[must_use]
    pub fn with_picks(self, picks: usize) -> Self {
        Self { picks: picks.max(1) as f64, ..self }
    }

    /// Bytes of the matrix of a node of the torus, 0 without nodes.
    #[cfg(feature = "gpu")]
    pub(in crate::engine) fn bytes_of_a_node(&self) -> f64 {
        match self.task {
            Task::Normaliser | Task::Inference | Task::Interpolation(_) => self.inverses(1.0),
            _ => 0.0,
        }
    }

    /// The slates of the task, if it is one.
    #[cfg(feature = "gpu")]
    pub(in crate::engine) fn slate_shape(&self) -> Option<SlateShape> {
        let Task::Slates { candidates, .. } = self.task else { return None };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers")]
        let whole = |x: f64| x as usize;
        let [dims, picks, parts] = [self.dims, self.picks, self.parts].map(whole);
        let value_bytes = whole(self.bytes / self.items.max(1.0) / self.dims.max(1.0));
        Some(SlateShape { dims, value_bytes, picks, parts, candidates })
    }

    pub(super) fn work(&self, on: On) -> Work {
        match self.task {
            Task::Passes(count) => self.passes(count as f64),
            Task::SetUp => self.products(2.0 * self.dims),
            Task::Normaliser => self.normaliser(on),
            Task::Inference => self.inference(on),
            Task::Interpolation(draws) => self.interpolation(draws as f64),
            Task::Greedy if on == On::Gpu => self.passes(self.picks),
            Task::Greedy => self.passes(1.0 + LAZY * self.picks),
            Task::LocalSearch(climbs) => self.local_search(climbs as f64),
            Task::Slates { requests, candidates } => self.slates(requests as f64, candidates as f64),
        }
    }

    /// n, or m if that is less.
    fn rank(&self) -> f64 {
        self.dims.min(self.items)
    }

    /// Loops of passes run on a GPU without the host, which reads the answers at the end. A number per row is read and
    /// written.
    fn passes(&self, count: f64) -> Work {
        let (bytes, operations) = (self.bytes + 16.0 * self.items, 2.0 * self.items * self.dims);
        Work { bytes: count * bytes, operations: count * operations, waits: 3.0, ..Work::default() }
    }

    /// Every row times a matrix of so many columns.
    fn products(&self, columns: f64) -> Work {
        let operations = 2.0 * self.items * self.dims * columns;
        Work { bytes: self.bytes + 8.0 * self.items, operations, waits: 2.0, ..Work::default() }
    }

    /// The nodes on the torus of the last so many parts.
    fn nodes(&self, parts: f64) -> f64 {
        let [of_total, others] = self.phases(parts);
        (0.5 * NODES_USED * others * of_total).ceil()
    }

    /// The phases of the total, and of all those parts but one.
    fn phases(&self, parts: f64) -> [f64; 2] {
        let count = (self.picks / self.parts).max(1.0);
        let of_total = (9.0 * (count * parts).sqrt()).ceil() + 16.0;
        [of_total.min(self.rank() + 1.0), (count + 1.0).powf(parts - 1.0)]
    }

    /// Determinants, or inverses, of so many nodes, at so many operations over r³ each.
    fn eliminations(&self, each: f64, nodes: f64) -> Work {
        let order = self.rank();
        Work { eliminations: each * order.powi(3) * nodes, order, ..Work::default() }
    }

    /// Whether nodes are computed along lines.
    fn has_lines(&self, on: On, request: GridRequest) -> bool {
        let [of_total, _] = self.phases(self.parts);
        on == On::Cpu && NODES_USED * of_total >= request.fewest_on_a_line() as f64
    }

    /// Bytes of an inverse of every node.
    fn inverses(&self, nodes: f64) -> f64 {
        COMPLEX * self.rank().powi(2) * nodes
    }

    fn normaliser(&self, on: On) -> Work {
        let (nodes, [_, others]) = (self.nodes(self.parts), self.phases(self.parts));
        let mut determinants = self.eliminations(DETERMINANT, nodes);
        if self.has_lines(on, GridRequest::Determinants) {
            let [form, each] = LINE;
            determinants = self.eliminations(form * 0.5 * others + each / self.rank() * nodes, 1.0);
        }
        self.products(self.dims).and(Work { waits: 1.0, ..determinants })
    }

    fn inference(&self, on: On) -> Work {
        let (rank, nodes) = (self.rank(), self.nodes(self.parts));
        // Every part takes its share of each inverse, or of the sum along a line.
        let bytes = (1.0 + self.parts) * self.inverses(nodes);
        let mut inverses = Work { bytes, waits: 2.0, ..self.eliminations(INVERSE, nodes) };
        if self.has_lines(on, GridRequest::Inverses) {
            let [form, each] = LINE_OF_INVERSES;
            let [_, others] = self.phases(self.parts);
            inverses = self.eliminations(form * 0.5 * others + each * nodes, 1.0);
        }
        self.normaliser(on).and(inverses).and(self.products(rank))
    }

    fn interpolation(&self, draws: f64) -> Work {
        let rank = self.rank();
        let set_up = self.products(self.dims).and(self.products(rank));
        let nodes = self.eliminations(INVERSE, self.nodes(self.parts));
        let own = (self.picks / self.parts).max(1.0);
        let mut work = set_up.and(nodes);
        let mut left = self.parts;
        while left >= 1.0 {
            let nodes = self.nodes(left);
            // Half of the grids are laid out anew, and all but the first are of their own.
            let laid_out =
                if self.parts > 1.0 { 0.5 } else { 0.0 } + if left < self.parts { 1.0 } else { 0.0 };
            let inverses = self.eliminations(laid_out * INVERSE, nodes);
            let bytes = own * CONDITIONING * self.inverses(nodes);
            let weights = own * 2.0 * self.items / self.parts * self.dims * rank;
            let stage = Work { bytes, operations: weights, waits: 1.0 + own, ..inverses };
            work = work.and(stage.times(draws));
            left -= 1.0;
        }
        work
    }

    fn local_search(&self, climbs: f64) -> Work {
        let own = self.picks / self.parts;
        // Every swap is two passes, and a climb makes some.
        let passes = self.passes(self.picks).and(self.passes(2.0 * (1.0 + SWAPS * self.picks)));
        let columns = self.dims + own + if self.parts > 1.0 { self.picks } else { 0.0 };
        let [of_a_swap, of_a_start] = CLIMB_WAITS;
        let waits = of_a_swap * SWAPS * self.picks + of_a_start * (1.0 + REFRESHES);
        let starts = Work { waits, ..self.products(columns).times(REFRESHES) };
        Work { waits: 6.0, ..Work::default() }.and(Work { waits: 0.0, ..passes }.and(starts).times(climbs))
    }

    /// Lengths, then a direction for every pick; rows stay in a cache, or in a workgroup's memory.
    fn slates(&self, requests: f64, candidates: f64) -> Work {
        let all = requests * candidates;
        let operations = all * self.picks * (2.0 * self.dims + COMPARED);
        let [most, at_once] = SLATES;
        let waits = (requests / most).max(all / at_once).ceil();
        Work { bytes: 16.0 * all, operations, waits, ..Work::default() }
    }
}

impl Work {
    fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            operations: self.operations + other.operations,
            eliminations: self.eliminations + other.eliminations,
            order: self.order.max(other.order),
            waits: self.waits + other.waits,
        }
    }

    fn times(self, count: f64) -> Self {
        Self {
            bytes: count * self.bytes,
            operations: count * self.operations,
            eliminations: count * self.eliminations,
            order: self.order,
            waits: count * self.waits,
        }
    }
}

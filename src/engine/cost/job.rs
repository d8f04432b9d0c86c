//! Jobs, and the work that they demand of an engine.

use crate::{Features, engine::GridRequest};

/// The kind of computation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Task {
    /// This number of passes. Each multiplies every row by a vector.
    Passes(usize),
    /// The set-up of a rejection sampler, or of a sampler for a k-DPP or a DPP.
    SetUp,
    /// ln Z under a quota.
    Normaliser,
    /// ln Z and inclusion probabilities.
    Inference,
    /// The set-up of an interpolation sampler, and this number of draws.
    Interpolation(usize),
    /// [`Greedy`](crate::map::Greedy) picks.
    Greedy,
    /// This number of climbs of [`LocalSearch`](crate::map::LocalSearch), each from a greedy set.
    LocalSearch(usize),
    /// [`Slates`](crate::slates::Slates) of many requests.
    Slates {
        /// Number of requests.
        requests: usize,
        /// Number of candidates per request.
        candidates: usize,
    },
}

/// A task and its sizes, from which [`Engine::auto`](crate::Engine::auto) predicts its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    task: Task,
    items: f64,
    dims: f64,
    /// Size of all rows as stored.
    pub(super) bytes: f64,
    parts: f64,
    /// Number of items per set, k.
    picks: f64,
}

/// The sizes of a slate.
#[cfg(feature = "gpu")]
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct SlateShape {
    pub(in crate::engine) dims: usize,
    /// Bytes per stored value.
    pub(in crate::engine) value_bytes: usize,
    pub(in crate::engine) picks: usize,
    pub(in crate::engine) parts: usize,
    pub(in crate::engine) candidates: usize,
}

/// The work of a job on an engine. Work that stays on the host with either engine is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Work {
    /// Bytes read and written.
    pub(super) bytes: f64,
    /// Floating-point operations of products.
    pub(super) operations: f64,
    /// Floating-point operations of determinants and inverses of complex matrices.
    pub(super) eliminations: f64,
    /// Number of rows of the largest of these matrices.
    pub(super) order: f64,
    /// Number of times that the host waits for a GPU.
    pub(super) waits: f64,
    /// Bytes of inverses and weights that the host reads from a GPU.
    pub(super) downloaded: f64,
}

/// The kind of engine, which decides the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Cpu,
    Gpu,
}

/// The fraction of the rows that lazy greedy reads per pick once it has visited most of them.
const LAZY: f64 = 0.3;
/// Operations of a determinant and of an inverse, over r³.
const DETERMINANT: f64 = 8.0 / 3.0;
const INVERSE: f64 = 8.0;
/// The cost of a line of nodes on the CPU, in operations of LU determinants that take as long: r³ times the first
/// number for the line, and r² times the second for each of its nodes.
const LINE: [f64; 2] = [32.0, 7.0];
/// The same for inverses, with r³ for both numbers.
const LINE_OF_INVERSES: [f64; 2] = [60.0, 2.4];
/// Bytes of a complex number.
const COMPLEX: f64 = 16.0;
/// The fraction of the nodes predicted from sizes alone that is used in the end.
const NODES_USED: f64 = 0.65;
/// Swaps per climb and item of the set, and fresh starts per climb from its rows.
const SWAPS: f64 = 0.25;
const REFRESHES: f64 = 3.0;
/// GPU waits per swap of a climb (several swaps are made at a time), and per start from its rows.
const CLIMB_WAITS: [f64; 2] = [0.25, 2.0];
/// Operations per pick of a slate to read and compare a candidate's gain, in addition to those on its row.
const COMPARED: f64 = 130.0;
/// Maximum number of requests, and of candidates, uploaded to a GPU together.
const SLATES: [f64; 2] = [8192.0, 2_097_152.0];

impl Job {
    /// Creates a job on these features, for sets of one item and for one part.
    #[must_use]
    pub fn new(features: &Features, task: Task) -> Self {
        Self::of_size(features.items(), features.dims(), features.row_bytes() / features.dims(), task)
    }

    /// Creates a job on m×n values of `value_bytes` bytes each, for sets of one item and for one part.
    #[must_use]
    pub fn of_size(items: usize, dims: usize, value_bytes: usize, task: Task) -> Self {
        let (items, dims) = (items as f64, dims as f64);
        Self { task, items, dims, bytes: items * dims * value_bytes as f64, parts: 1.0, picks: 1.0 }
    }

    /// Sets the number of parts.
    #[must_use]
    pub fn with_parts(self, parts: usize) -> Self {
        Self { parts: parts.max(1) as f64, ..self }
    }

    /// Sets the number of items per set.
    #[must_use]
    pub fn with_picks(self, picks: usize) -> Self {
        Self { picks: picks.max(1) as f64, ..self }
    }

    /// Rows of the matrix of a node of the torus, and the parts that it is a sum over; `None` for tasks without nodes.
    #[cfg(feature = "gpu")]
    pub(in crate::engine) fn matrix_of_a_node(&self) -> Option<[usize; 2]> {
        let has_nodes = matches!(self.task, Task::Normaliser | Task::Inference | Task::Interpolation(_));
        has_nodes.then(|| [self.rank(), self.parts].map(whole))
    }

    /// Returns the sizes of the task's slates; `None` for other tasks.
    #[cfg(feature = "gpu")]
    pub(in crate::engine) fn slate_shape(&self) -> Option<SlateShape> {
        let Task::Slates { candidates, .. } = self.task else { return None };
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

    /// n, or m if that is smaller.
    fn rank(&self) -> f64 {
        self.dims.min(self.items)
    }

    /// Passes on a GPU run in a loop without the host, which reads the results at the end. One number per row is read
    /// and written.
    fn passes(&self, count: f64) -> Work {
        let (bytes, operations) = (self.bytes + 16.0 * self.items, 2.0 * self.items * self.dims);
        Work { bytes: count * bytes, operations: count * operations, waits: 3.0, ..Work::default() }
    }

    /// Multiplies every row by a matrix of `columns` columns.
    fn products(&self, columns: f64) -> Work {
        let operations = 2.0 * self.items * self.dims * columns;
        Work { bytes: self.bytes + 8.0 * self.items, operations, waits: 2.0, ..Work::default() }
    }

    /// The number of nodes on the torus of the last `parts` parts.
    fn nodes(&self, parts: f64) -> f64 {
        let [of_total, others] = self.phases(parts);
        (0.5 * NODES_USED * others * of_total).ceil()
    }

    /// The number of phases of the total, and of all these parts except one.
    fn phases(&self, parts: f64) -> [f64; 2] {
        let count = (self.picks / self.parts).max(1.0);
        let of_total = (9.0 * (count * parts).sqrt()).ceil() + 16.0;
        [of_total.min(self.rank() + 1.0), (count + 1.0).powf(parts - 1.0)]
    }

    /// Determinants or inverses at `nodes` nodes, at `each` times r³ operations each.
    fn eliminations(&self, each: f64, nodes: f64) -> Work {
        let order = self.rank();
        Work { eliminations: each * order.powi(3) * nodes, order, ..Work::default() }
    }

    /// Whether nodes are computed along lines.
    fn has_lines(&self, on: On, request: GridRequest) -> bool {
        let [of_total, _] = self.phases(self.parts);
        on == On::Cpu && NODES_USED * of_total >= request.fewest_on_a_line() as f64
    }

    /// Bytes of the inverses of `nodes` nodes.
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
        let nodes = self.nodes(self.parts);
        let inverses = Work { downloaded: self.inverses(nodes), ..self.eliminations(INVERSE, nodes) };
        let own = (self.picks / self.parts).max(1.0);
        let mut work = set_up.and(inverses);
        let mut left = self.parts;
        while left >= 1.0 {
            let nodes = self.nodes(left);
            // Half of the grids are laid out twice, and every stage except the first has a separate grid.
            let laid_out =
                if self.parts > 1.0 { 0.5 } else { 0.0 } + if left < self.parts { 1.0 } else { 0.0 };
            let inverses = self.eliminations(laid_out * INVERSE, nodes);
            // The host conditions the nodes on either engine, which is left out.
            let weights = own * self.items / self.parts;
            let operations = 2.0 * weights * self.dims * rank;
            let downloaded = laid_out * self.inverses(nodes) + 8.0 * weights;
            let stage = Work { operations, waits: 1.0 + own, downloaded, ..inverses };
            work = work.and(stage.times(draws));
            left -= 1.0;
        }
        work
    }

    fn local_search(&self, climbs: f64) -> Work {
        let own = self.picks / self.parts;
        // Every swap takes two passes, and a climb makes several swaps.
        let passes = self.passes(self.picks).and(self.passes(2.0 * (1.0 + SWAPS * self.picks)));
        let columns = self.dims + own + if self.parts > 1.0 { self.picks } else { 0.0 };
        let [of_a_swap, of_a_start] = CLIMB_WAITS;
        let waits = of_a_swap * SWAPS * self.picks + of_a_start * (1.0 + REFRESHES);
        let starts = Work { waits, ..self.products(columns).times(REFRESHES) };
        Work { waits: 6.0, ..Work::default() }.and(Work { waits: 0.0, ..passes }.and(starts).times(climbs))
    }

    /// Computes lengths, then a direction per pick. Rows stay in a cache, or in a workgroup's memory.
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
            downloaded: self.downloaded + other.downloaded,
        }
    }

    fn times(self, count: f64) -> Self {
        Self {
            bytes: count * self.bytes,
            operations: count * self.operations,
            eliminations: count * self.eliminations,
            order: self.order,
            waits: count * self.waits,
            downloaded: count * self.downloaded,
        }
    }
}

#[cfg(feature = "gpu")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers")]
fn whole(x: f64) -> usize {
    x as usize
}

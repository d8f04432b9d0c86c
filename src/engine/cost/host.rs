//! The rates of the CPU.

use super::steps::{RowCount, Step};

/// What the CPU does in a second, on all threads of the current rayon pool unless a field says otherwise.
///
/// [`measured`](HostRates::measured) measures them with the library's own kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HostRates {
    /// Number of threads.
    pub threads: f64,
    /// Bytes read from memory in order.
    pub memory: f64,
    /// Bytes of rows read again from a cache that all cores share, where there is one.
    pub near: f64,
    /// Bytes of rows read from memory part by part, where the rows of a part are scattered.
    pub scattered: f64,
    /// Bytes written to memory that is new to the process.
    pub fresh: f64,
    /// Bytes that one thread reads in order.
    pub serial: f64,
    /// Rows begun.
    pub rows: f64,
    /// Values multiplied by those of a vector, from the cache.
    pub dots: f64,
    /// Values converted to f64 for a product with a matrix.
    pub converted: f64,
    /// Floating-point operations of such products.
    pub products: f64,
    /// Entries of symmetric matrices that one thread decomposes; fewer for matrices of hundreds of columns.
    pub eigen: f64,
    /// Entries of complex matrices whose determinants are computed; fewer for matrices of hundreds of columns.
    pub nodes: f64,
    /// Steps of a random choice by one thread: a few dependent instructions each.
    pub steps: f64,
    /// Seconds to hand work to all threads and to wait for them.
    pub latency: f64,
}

/// Bytes of rows that stay in the cache of a core from pass to pass.
pub(super) const CACHED: f64 = 1_048_576.0;
/// Bytes of rows that a cache shared by all cores may still hold at the next pass, and of rows that none holds. In between
/// it holds some of them.
const NEAR: f64 = 16_777_216.0;
const FAR: f64 = 33_554_432.0;
/// Bytes of a row within which reading from a scattered place is late.
const SCATTERED: f64 = 512.0;
/// Steps in the time of a row that is read alone, and not from the cache of a core: at most, from memory.
const ALONE: f64 = 400.0;
/// The sizes at which cubic work is as much as quadratic overhead: of eigen-decompositions, and of complex factorisations.
pub(super) const CUBIC_EIGEN: f64 = 200.0;
pub(super) const CUBIC_NODES: f64 = 200.0;

/// n² (1 + n/c): factorisations of matrices of up to some hundred columns take time between n² and n³.
pub(super) fn entries(size: f64, cubic: f64) -> f64 {
    size * size * (1.0 + size / cubic)
}

impl HostRates {
    /// One thread of the slowest computer considered: what is done there sooner than a GPU is open needs no measurement.
    #[must_use]
    pub fn slowest() -> Self {
        Self {
            threads: 1.0,
            memory: 4e9,
            near: 4e9,
            scattered: 2e9,
            fresh: 1e9,
            serial: 2e9,
            rows: 2e7,
            dots: 5e8,
            converted: 3e8,
            products: 4e9,
            eigen: 1e6,
            nodes: 2e7,
            steps: 2e8,
            latency: 1e-4,
        }
    }

    /// Seconds of a step.
    pub(super) fn seconds(&self, step: Step) -> f64 {
        match step {
            Step::Dots { rows, count } => {
                let each = rows.values() / self.dots + rows.items / self.rows;
                // A number per row is read and written. Reading and computing overlap in part.
                count * each.hypot(self.reading(&rows, 16.0))
            }
            Step::Products { rows, columns, count } => {
                let each = rows.values() / self.converted + rows.items / self.rows;
                let computing = each + 2.0 * rows.values() * columns / self.products;
                count * computing.max(self.reading(&rows, 0.0))
            }
            Step::Values { count } => count / self.dots,
            Step::Alone { items, bytes, count } => count * self.alone(items, bytes) / self.threads,
            Step::Answers { count } => 8.0 * count / self.fresh,
            Step::Eigen { size, count } => count * entries(size, CUBIC_EIGEN) / self.eigen,
            Step::Nodes { rank, count } => count * entries(rank, CUBIC_NODES) / self.nodes,
            Step::Updates { bytes } => bytes / self.serial,
            Step::Choices { steps } => steps / self.steps,
            // A host has no tables to send, and no workgroups.
            Step::Tables { .. } => 0.0,
            Step::Workgroups { operations, .. } => 0.5 * operations / self.dots,
            Step::Waits { count } => count * self.latency,
        }
    }

    /// Seconds that a thread waits for one of so many rows of so many bytes, wherever it is.
    fn alone(&self, items: f64, bytes: f64) -> f64 {
        let beyond = ((items * bytes / CACHED).ln() / (FAR / CACHED).ln()).clamp(0.0, 1.0);
        beyond * ALONE / self.steps
    }

    /// Seconds to read rows, and so many bytes more of each, from memory or from a shared cache; none for rows that stay
    /// in the cache of a core.
    fn reading(&self, rows: &RowCount, more: f64) -> f64 {
        if rows.bytes() <= CACHED {
            return 0.0;
        }
        let bytes = rows.bytes() + more * rows.items;
        let far = ((bytes / NEAR).ln() / (FAR / NEAR).ln()).clamp(0.0, 1.0);
        // The rows of a group are scattered: each begins late, however long it is.
        let late =
            if rows.parts > 1.0 { rows.items * (rows.bytes() / rows.items).min(SCATTERED) } else { 0.0 };
        let lateness = (self.scattered.recip() - self.memory.recip()).max(0.0);
        far * (bytes / self.memory + late * lateness) + (1.0 - far) * bytes / self.near
    }
}

//! Exact samples, core-sets and inclusion probabilities of rows that lie elsewhere: pure functions on batches, for engines
//! that map and reduce, and a driver that never sees the data.
//!
//! | step | where | what | most bytes that travel |
//! |---|---|---|---|
//! | [`Grams::of_batch`], [`Grams::merge`] | a map, a tree | sums over the rows of every part | 4pn(n + 1) + 10 a batch |
//! | [`Representation`], [`Representation::batch`] | driver, a map | rows that stand for the rest, for all steps below and sums of them | 8pn² to every batch |
//! | [`Plan`] | driver | tilt, eigenvectors, trials per sample, error of the law | 8nr to every batch |
//! | [`Plan::total_leverage`], [`Plan::split`] | a map, driver | how many trials every batch contributes | 8 from every batch |
//! | [`Plan::trials`] | a map | independent draws of rows | 8r + 20 a trial |
//! | [`StreamSampler`] | driver | exact samples; asks for more | 16 an item chosen |
//! | [`Marginals`], [`Marginals::of_batch`] | driver, a map | ln Z; inclusion probabilities of all rows | 8pnr to every batch |
//! | [`CoreSet::of_batch`](crate::map::CoreSet::of_batch) | a map | a few rows whose union has a good set | 8n + 40 an item |
//!
//! What travels has `to_bytes` and `from_bytes`: the same on every machine, versioned, and checked. [`Batches`] runs all
//! steps in one process. On the driver there are p·n² numbers, and the trials of one request: nothing of the size of the
//! data.

mod batch;
mod core_set;
mod frame;
mod grams;
mod leverages;
mod marginals;
mod open_rows;
mod plan;
mod representation;
mod sampler;
#[cfg(feature = "serde")]
mod serialized;
mod setup;
mod source;
mod surrogate;
mod trials;

pub use batch::Batch;
pub use frame::Frame;
pub use grams::Grams;
pub use leverages::Leverages;
pub use marginals::Marginals;
pub use plan::Plan;
pub use representation::Representation;
pub use sampler::{Draw, Request, Step, StreamSampler};
pub use source::{BatchTrials, Batches, Planned, TrialSource};
pub use trials::{Place, Trials};

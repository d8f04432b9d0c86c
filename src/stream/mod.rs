//! Exact samples, core-sets and inclusion probabilities of rows that are stored elsewhere.
//!
//! The module has pure functions on batches, for engines that map and reduce, and a driver that never sees the data.
//!
//! | step | where | what | most bytes sent |
//! |---|---|---|---|
//! | [`Grams::of_batch`], [`Grams::merge`] | map, tree | sums over rows, by part | 4pn(n + 1) + 10 per batch |
//! | [`Representation::batch`] | driver, map | rows that represent others, for new sums | 8pn² to every batch |
//! | [`Plan`] | driver | tilt, eigenvectors, trials per sample, error of the law | 8nr to every batch |
//! | [`Plan::total_leverage`], [`Plan::split`] | map, driver | the number of trials per batch | 8 from every batch |
//! | [`Plan::trials`] | map | independent draws of rows | 8r + 20 per trial |
//! | [`StreamSampler`] | driver | exact samples; requests more trials if needed | 16 per item chosen |
//! | [`Marginals`], [`Marginals::of_batch`] | driver, map | ln Z; inclusion probabilities | 8pnr to every batch |
//! | [`CoreSet::of_batch`] | map | a few rows whose union contains a good set | 8n + 40 per item |
//!
//! All later steps can take the mapped rows of a [`Representation`] and the sums over them. All data that is sent has
//! `to_bytes` and `from_bytes`. The bytes are the same on every machine, versioned, and checked. [`Batches`] runs all
//! steps in one process. The driver holds p·n² numbers and the trials of one request: nothing grows with the data.
//!
//! [`CoreSet::of_batch`]: crate::map::CoreSet::of_batch

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
pub use source::{Batches, Planned, TrialSource};
pub use trials::{Place, Trials};

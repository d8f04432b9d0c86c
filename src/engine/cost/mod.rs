//! Predicted times of the CPU and of GPUs, and the choice between them.
//!
//! A [`Job`] is what will be computed. Its time follows from the [`HostRates`] of the CPU and the [`CardRates`] of a GPU:
//! passes over the rows, in bytes and operations; numbers that go to the host; small dense work, which stays there;
//! and waits. A GPU also has to be opened, and the rows have to be brought there, once.

mod batches;
mod card;
mod choice;
mod host;
mod job;
mod measured;
mod steps;

pub use card::{CardKind, CardRates, Standing};
pub use choice::{Comparison, EngineReason};
pub use host::HostRates;
pub use job::{Job, Task};
pub use steps::Prediction;

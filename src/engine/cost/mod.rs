//! What a job costs on the CPU and on a GPU, and which of them to take.

mod job;
mod measured;
mod rates;
#[cfg(test)]
mod tests;

use std::fmt;

#[cfg(feature = "gpu")]
pub(super) use job::SlateShape;
pub use job::{Job, Task};
#[cfg(feature = "gpu")]
pub(super) use measured::{DIMS, determinants, features, operations};
#[cfg(feature = "gpu")]
pub(super) use rates::{Bytes, Compared, OPENING, ORDERS, Seconds, Time};
pub use rates::{GpuRates, Rates};

use super::Engine;

/// An engine, and why it was taken.
#[derive(Debug)]
#[non_exhaustive]
pub struct Chosen {
    /// The engine.
    pub engine: Engine,
    /// Why, in a sentence.
    pub reason: String,
}

impl Chosen {
    pub(super) fn cpu(reason: impl fmt::Display) -> Self {
        Self { engine: Engine::cpu(), reason: reason.to_string() }
    }
}

impl Engine {
    /// The engine that is predicted to be faster for a job: a GPU that computes in f64, or the CPU.
    ///
    /// Nothing is measured for a job that any CPU finishes before a GPU is open. For others the rates of the CPU are
    /// measured (some 50 ms, once per process); a GPU is opened if a good one of its kind would be faster, its rates are
    /// measured (once per process and adapter), and it is used if it is faster by these. Software adapters and GPUs
    /// without f64 are never taken; [`Engine::gpu`] takes them.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, engine::{Job, Task}};
    /// let features = Features::from_rows(1000, 4, vec![1.0_f32; 4000])?;
    /// let job = Job::new(&features, Task::Greedy).with_parts(3).with_picks(12);
    /// let chosen = Engine::auto(&job);
    /// println!("{:?}, since {}", chosen.engine.info(), chosen.reason);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn auto(job: &Job) -> Chosen {
        #[cfg(feature = "gpu")]
        return super::gpu::worthwhile(job);
        #[cfg(not(feature = "gpu"))]
        {
            let _ = job;
            Chosen::cpu("this build has no GPU engine")
        }
    }
}

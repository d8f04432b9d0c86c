//! The cost of a job on the CPU and on a GPU, and the choice between them.

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

/// An engine, and why it was chosen.
#[derive(Debug)]
#[non_exhaustive]
pub struct Chosen {
    /// The engine.
    pub engine: Engine,
    /// The reason, in one sentence.
    pub reason: String,
}

impl Chosen {
    pub(super) fn cpu(reason: impl fmt::Display) -> Self {
        Self { engine: Engine::cpu(), reason: reason.to_string() }
    }
}

impl Engine {
    /// Chooses the engine that is predicted to be faster for a job: a GPU that computes in f64, or the CPU.
    ///
    /// Nothing is measured for a job that any CPU finishes before a GPU is open. For other jobs, the rates of the CPU
    /// are measured (about 100 ms, once per process). If a good GPU of its kind would be faster, the GPU is opened and
    /// its rates are measured (once per process and adapter). It is used if these rates make it faster. Software
    /// adapters and GPUs without f64 are never chosen; [`Engine::gpu`] opens them.
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

//! Engines: a few coarse operations (verbs) over the rows of A, on the CPU or a GPU.
//!
//! Algorithms are written once over [`Engine`], a handle. An engine only computes; it does not know what groups of
//! rows mean.

#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only a GPU is compared with"))]
mod cost;
mod cpu;
mod double;
mod gains;
#[cfg(feature = "gpu")]
pub mod gpu;
mod grid;
mod known;
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only devices read tables"))]
pub(crate) mod proposals;
pub(crate) mod row_kernels;
mod rows;
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only devices read batches"))]
pub(crate) mod slates;
mod swaps;
mod verbs;
mod watched;

use std::{
    borrow::Cow,
    fmt,
    ops::Deref,
    sync::{Arc, LazyLock},
};

use faer::{Mat, MatRef};

pub use cost::{Chosen, Job, Task};
pub(crate) use cpu::pass_bytes as cpu_pass_bytes;
pub(crate) use double::{bounded_forms, forms_above, in_double};
/// Complex numbers.
pub use faer::c64;
pub(crate) use gains::Demand;
pub(crate) use grid::inverses_at_a_time;
use known::Known;
pub(crate) use low_level::*;
use watched::Watched;
pub(crate) use watched::at_a_time;

use crate::{Result, Watch, watch::UNWATCHED};

/// The verbs, their arguments and their results. Not part of the stable interface.
#[doc(hidden)]
pub mod low_level {
    pub use super::{
        cost::{GpuRates, Rates},
        cpu::Cpu,
        gains::{Ahead, AheadEnd, GainTable, PickAhead, RemainingCounts, Top},
        grid::{
            CandidateGrid, CandidateSums, Determinant, FormGrid, GridForms, GridPoint, GridRequest, PhaseGrid,
        },
        rows::{Group, Items, Rows},
        swaps::{
            AheadSwap, BestSwap, Beyond, LeavingPairs, SwapAhead, SwapNumbers, SwapTable, SwapUpdate,
            SwapsAhead, SwapsEnd,
        },
        verbs::{RowMap, Verbs},
    };
}

/// A handle to the CPU or a GPU, which does the computing.
///
/// Cloning is cheap: clones share the device and any watch. Results of the CPU do not depend on the number of
/// threads.
///
/// ```
/// use partition_dpp::Engine;
/// let engine = Engine::cpu();
/// assert_eq!(engine.info().name, "cpu");
/// ```
#[derive(Clone, Debug)]
pub struct Engine {
    verbs: Arc<dyn Verbs>,
    /// Gram matrices and leverages from [`Engine::prepared`], if any.
    known: Option<Arc<Known>>,
}

impl Engine {
    fn of(verbs: impl Verbs + 'static) -> Self {
        Self { verbs: Arc::new(verbs), known: None }
    }

    /// The CPU, in f64.
    #[must_use]
    pub fn cpu() -> Self {
        Self::host().clone()
    }

    /// The CPU engine by reference, for code that needs no owned handle.
    pub(crate) fn host() -> &'static Self {
        static HOST: LazyLock<Engine> = LazyLock::new(|| Engine::of(Cpu));
        &HOST
    }

    /// Opens a GPU.
    ///
    /// # Errors
    /// Errors of [`Gpu::new`](gpu::Gpu::new).
    #[cfg(feature = "gpu")]
    pub fn gpu(options: &gpu::GpuOptions) -> Result<Self> {
        Ok(gpu::Gpu::new(options)?.into())
    }

    /// Name, adapter and precision of the engine.
    #[must_use]
    pub fn info(&self) -> EngineInfo {
        self.verbs.info()
    }

    /// Returns this engine under a watch.
    ///
    /// Set-up, inference and part counts with the returned handle report progress, and end with
    /// [`Error::Ended`](crate::Error::Ended) soon after the watch says so. Once ended, the handle and its clones stay
    /// ended. Progress counts all work done with the handle.
    ///
    /// A watch does not change results, not even in the last bit. The CPU checks the watch after every 256 rows of a
    /// pass, and every engine checks it between nodes of a torus. A single factorisation, about 10n³ operations, is
    /// not interrupted. Solvers and certificates return what they have when the watch ends them. Objects that outlive
    /// their set-up, such as samplers, take a separate watch with every call.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use std::time::{Duration, Instant};
    /// use partition_dpp::{Engine, Features, KDpp, Method, Watch};
    /// let features = Features::from_rows(1000, 4, (0..4000).map(|i| f64::from(i * i % 97)).collect::<Vec<_>>())?;
    /// let watch = Watch::default().until(Instant::now() + Duration::from_secs(60));
    /// let engine = Engine::cpu().watched(&watch);
    /// let sampler = KDpp::new(&features, 3)?.sampler(Method::Auto, &engine)?;
    /// let samples = sampler.sample_watched(0..100, 7, &watch)?;
    /// assert_eq!((samples.subsets().len(), samples.ended()), (100, None));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn watched(&self, watch: &Watch) -> Self {
        Self::of(Watched::new(self.clone(), watch.clone()))
    }

    /// The engine without its watch, and the watch. For work that returns partial results when the watch ends it.
    pub(crate) fn apart(&self) -> (&Self, &Watch) {
        self.verbs.apart().unwrap_or((self, &UNWATCHED))
    }

    /// Returns the Gram matrices from what is known, or else calls the verb.
    #[doc(hidden)]
    pub fn part_grams(&self, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>> {
        let (engine, _) = self.apart();
        let known = engine.known.as_ref().and_then(|known| known.grams(rows, map));
        known.map_or_else(|| self.verbs.part_grams(rows, map), Ok)
    }

    /// Whether the engine knows any rows, perhaps of another problem.
    pub(crate) fn knows_rows(&self) -> bool {
        self.apart().0.known.is_some()
    }

    /// Upper bounds on the results of the verb `row_forms`, if they are known without a pass over the rows.
    pub(crate) fn known_bounds(&self, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Option<Vec<f64>> {
        let (engine, _) = self.apart();
        engine.known.as_ref()?.bounds(rows, factors)
    }
}

#[cfg(feature = "gpu")]
impl From<gpu::Gpu> for Engine {
    fn from(gpu: gpu::Gpu) -> Self {
        Self::of(gpu)
    }
}

#[doc(hidden)]
impl Deref for Engine {
    type Target = dyn Verbs;

    fn deref(&self) -> &Self::Target {
        &*self.verbs
    }
}

/// The engine that produced a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct EngineInfo {
    /// `cpu`, or the name of the GPU's backend.
    pub name: Cow<'static, str>,
    /// The name of the GPU adapter, if any.
    pub adapter: Option<String>,
    /// Precision of the engine's arithmetic.
    pub precision: Precision,
}

impl fmt::Display for EngineInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.adapter {
            Some(adapter) => write!(f, "{adapter} ({}) in {}", self.name, self.precision),
            None => write!(f, "{} in {}", self.name, self.precision),
        }
    }
}

/// Precision of an engine's arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Precision {
    /// 32-bit: errors are about 1e-7 times the largest operands.
    F32,
    /// 64-bit.
    F64,
}

impl Precision {
    /// The machine epsilon: twice the relative rounding error of one operation.
    #[must_use]
    pub fn epsilon(self) -> f64 {
        match self {
            Precision::F32 => f32::EPSILON.into(),
            Precision::F64 => f64::EPSILON,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Precision::F32 => f.write_str("f32"),
            Precision::F64 => f.write_str("f64"),
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Cpu {}
    impl Sealed for super::Watched {}
    #[cfg(feature = "gpu")]
    impl Sealed for super::gpu::Gpu {}
}

/// Computes det P(θ) and P(θ)⁻¹, node by node.
pub(crate) fn grid_inverses(engine: &Engine, grid: &PhaseGrid<'_>) -> Result<Vec<(c64, Mat<c64>)>> {
    let pair = |point: GridPoint| match point.inverse {
        Some(inverse) => (point.determinant.value(), inverse),
        None => unreachable!("inverses were requested"),
    };
    Ok(engine.grid_determinants(grid, GridRequest::Inverses)?.into_iter().map(pair).collect())
}

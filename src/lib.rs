//! Small, diverse, representative subsets under quotas: determinantal point processes with partition constraints,
//! their exact samples, probabilities, and most probable sets.
//!
//! ```
//! use partition_dpp::{Engine, Features, Method, Partition, PartitionDpp, Quota};
//!
//! # fn main() -> Result<(), partition_dpp::Error> {
//! // Six items with three features each, in two parts: one cat and two dogs, as different as possible.
//! let values = vec![1., 0., 0., 0., 1., 0., 1., 1., 0., 0., 0., 1., 1., 0., 1., 0., 1., 1.];
//! let features = Features::from_rows(6, 3, values)?;
//! let partition = Partition::from_labels(&["cat", "cat", "cat", "dog", "dog", "dog"])?;
//! let quota = Quota::new(&partition, [1, 2])?;
//! let dpp = PartitionDpp::new(&features, &partition, &quota)?;
//! let sampler = dpp.sampler(Method::Auto, &Engine::cpu())?;
//! println!("{}", sampler.sample_many(1, 42).subsets()[0]);
//! # Ok(()) }
//! ```
//!
//! # Notation
//!
//! | symbol | meaning | here |
//! |---|---|---|
//! | m, n | items, features per item | [`Features::items`], [`Features::dims`] |
//! | A (m×n), a_i | feature matrix, its rows | [`Features`] |
//! | q_i | weight of row a_i, 1 unless set: K_ij = q_i ⟨a_i, a_j⟩ q_j | [`Features::with_scores`] |
//! | K = A Aᵀ | likelihood kernel (called L in much of the literature) | [`Kernel`] |
//! | P_1 … P_p | disjoint parts | [`Partition`] |
//! | κ = (κ_1 … κ_p), k = Σκ_l | quota: how many items of each part | [`Quota`] |
//! | G_l = Σ_{i∈P_l} a_i a_iᵀ | Gram matrix of a part | [`stream::Grams`] |
//! | y_l | weight of a part, the tilt | [`Sampler::tilt`] |
//! | Z_κ = Σ det(K_S) | normaliser under a quota | [`Inference::log_partition_function`] |
//! | S, A_S | chosen subset, its rows | [`Subset`] |
//!
//! Logarithms are natural, indices 0-based, times in seconds, sizes in bytes.
//!
//! # Modules
//!
//! Features, a partition and a quota make a model ([`Dpp`], [`KDpp`], [`PartitionDpp`], [`IndependentKDpps`]). From a
//! model and an [`engine`], make:
//!
//! - a [`Sampler`], which draws [`Subset`]s; an [`ImportanceSampler`], which draws them with weights; or
//!   [`mcmc::Chains`], which draw them approximately;
//! - an [`Inference`], which computes their probabilities;
//! - with the solvers of [`map`], the most probable subset.
//!
//! [`slates`] serves many small problems over one matrix, and [`stream`] samples rows that are stored elsewhere.
//! [`polynomial`] holds code that the models share, and [`similarity`] has kernels beyond the dot product.
//!
//! # Laws
//!
//! Pr(S) ∝ det K_S over the sets that the model allows:
//!
//! | sets | model | with a ridge, det (K + δI)_S |
//! |---|---|---|
//! | counts, or ranges of counts, per part | [`PartitionDpp`] | [`RidgeDpp`] |
//! | k items | [`KDpp`] | [`RidgeDpp`] |
//! | any size | [`Dpp`] | [`RidgeDpp`] |
//! | counts per part, parts independent of each other | [`IndependentKDpps`] | |
//!
//! Scores ([`Features::with_scores`]) and representation ([`similarity::Representation`]) change the rows of K, and
//! work with every law. Models can require and exclude items. [`Law`] holds any of them, chosen at run time.
//!
//! Services keep samplers and reload them: [`Sampler`] is cheap to clone and needs no lock to draw. A
//! [page of the guide](https://github.com/partition-dpp/partition-dpp/blob/main/docs/guide/serving.md) covers state,
//! deadlines and errors.
//!
//! # Features
//!
//! | feature | what it adds | crates | seconds |
//! |---|---|---|---|
//! | none | everything but what follows, on one thread, also on wasm32 | 65 | 180 |
//! | `parallel` (default) | all threads of the current rayon pool | 71 | 8 |
//! | `npy` | rows read or memory-mapped from .npy files | 88 | 35 |
//! | `gpu` | compute shaders on graphics processors, through wgpu | 106 | 160 |
//! | `arrow` | rows and labels from Arrow arrays, without a copy where possible | 79 | 57 |
//! | `serde` | options, results and certificates as serde sees them | 66 | 0 |
//! | `nalgebra`, `ndarray` | rows and kernels from their matrices | 75, 69 | 28, 11 |
//! | `web` | deadlines on wasm32-unknown-unknown, by JavaScript's clock | 65 | 0 |
//!
//! Seconds are those of one core of a cloud machine for a release: of the crates without features, and what a feature
//! adds. The library itself takes 140 with all of them. On two cores a build from nothing takes 160 s without features
//! and 370 s with all.
//!
//! JSON has no infinities: numbers that are not finite are null there, and are read as NaN. An [`Estimate`] of such a
//! number is not read.
//!
//! Crates whose types stand in signatures are exported again: [`faer`], [`rand`] and, with their features, `wgpu`,
//! `arrow_array`, `nalgebra` and `ndarray`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod bytes;
mod clock;
pub mod data;
pub mod engine;
pub mod error;
mod estimate;
mod inference;
mod law;
mod linalg;
pub mod map;
mod model;
mod names;
mod parallel;
pub mod polynomial;
pub mod sample;
pub mod similarity;
pub mod slates;
pub mod stream;
pub mod watch;

#[cfg(feature = "arrow")]
pub use arrow_array;
pub use data::{CountRange, Features, Kernel, Partition, Quota, Subset};
pub use engine::Engine;
pub use error::Error;
pub use estimate::{Estimate, MonteCarlo};
pub use inference::{EstimatedProbability, Inference, PartCounts};
pub use law::Law;
pub use model::{Dpp, IndependentKDpps, KDpp, PartitionDpp, RidgeDpp, Sets};
#[cfg(feature = "nalgebra")]
pub use nalgebra;
#[cfg(feature = "ndarray")]
pub use ndarray;
pub use sample::{ImportanceSampler, Method, Projection, Sampler, SamplerOptions, Samples, mcmc};
pub use watch::Watch;
#[cfg(feature = "gpu")]
pub use wgpu;
pub use {faer, rand};

/// A `Result` with the library's [`Error`] by default.
pub type Result<T, E = Error> = std::result::Result<T, E>;

mod sealed {
    pub trait Sealed {}
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../docs/guide/first-selection.md")]
struct FirstSelection;

#[cfg(doctest)]
#[doc = include_str!("../docs/guide/serving.md")]
struct Serving;

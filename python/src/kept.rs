//! What outlives the call that set it up: samplers and inferences with the engine, under a flag, that they read rows with.

use std::sync::{Arc, atomic::AtomicBool};

use partition_dpp::{
    Inference, Result, RidgeInference, Sampler, Watch,
    engine::{Engine, Watched},
};
use self_cell::self_cell;

/// An engine and the flag that ends its work.
struct Guard {
    stop: Arc<AtomicBool>,
    engine: &'static dyn Engine,
}

self_cell! {
    /// An engine under a watch.
    struct Attended {
        owner: Guard,
        #[covariant]
        dependent: Watched,
    }
}

/// Either kind of inference.
#[derive(Debug)]
pub(crate) enum AnyInference<'a> {
    Features(Box<Inference<'a>>),
    Ridge(Box<RidgeInference<'a>>),
}

self_cell! {
    /// A sampler and its engine.
    pub(crate) struct KeptSampler {
        owner: Attended,
        #[covariant]
        dependent: Sampler,
    }
}

self_cell! {
    /// An inference and its engine.
    pub(crate) struct KeptInference {
        owner: Attended,
        #[covariant]
        dependent: AnyInference,
    }
}

fn attended(engine: &'static dyn Engine, stop: Arc<AtomicBool>) -> Attended {
    Attended::new(Guard { stop, engine }, |guard| {
        Watched::new(guard.engine, Watch::default().stopped_by(&guard.stop))
    })
}

/// Makes a sampler that is kept.
pub(crate) fn keep_sampler(
    engine: &'static dyn Engine,
    stop: Arc<AtomicBool>,
    make: impl for<'a> FnOnce(&'a dyn Engine) -> Result<Sampler<'a>>,
) -> Result<KeptSampler> {
    KeptSampler::try_new(attended(engine, stop), |attended| make(attended.borrow_dependent()))
}

/// Makes an inference that is kept.
pub(crate) fn keep_inference(
    engine: &'static dyn Engine,
    stop: Arc<AtomicBool>,
    make: impl for<'a> FnOnce(&'a dyn Engine) -> Result<AnyInference<'a>>,
) -> Result<KeptInference> {
    KeptInference::try_new(attended(engine, stop), |attended| make(attended.borrow_dependent()))
}

//! Draws.

use std::sync::{Arc, atomic::AtomicBool};

use numpy::PyArray1;
use partition_dpp::{
    Error, Method, SamplerOptions, Samples, Watch,
    engine::{Engine, Watched, cost::Task},
    sample::Algorithm,
};
use pyo3::{Borrowed, prelude::*};

use crate::{
    arrays::indices,
    engines::{EngineChoice, words},
    errors::{OrRaise, exception, refused},
    interruptible::{flagged, interruptible},
    kept::{KeptSampler, keep_sampler},
    models::{Law, Model},
    numbers,
};

/// How subsets are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// Exactly.
    Exact(Method),
    /// With an estimated error of the law.
    Estimated { law_error: f64 },
}

/// The error of the law that estimated draws may have unless it is given.
const LAW_ERROR: f64 = 0.01;

impl Way {
    fn of(method: MethodChoice, law_error: Option<f64>) -> PyResult<Self> {
        match (method, law_error) {
            (MethodChoice(None), law_error) => {
                Ok(Self::Estimated { law_error: law_error.unwrap_or(LAW_ERROR) })
            }
            (MethodChoice(Some(_)), Some(_)) => Err(refused("law_error is for the method \"estimated\"")),
            (MethodChoice(Some(method)), None) => Ok(Self::Exact(method)),
        }
    }

    fn task(self) -> Task {
        match self {
            Self::Exact(Method::Interpolation | Method::PerCandidate) => Task::Interpolation(1),
            _ => Task::SetUp,
        }
    }
}

/// A method by name; `None` for the one that is estimated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MethodChoice(Option<Method>);

impl<'py> FromPyObject<'_, 'py> for MethodChoice {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let method = match &*numbers::word(&name) {
            "auto" => Some(Method::Auto),
            "rejection" => Some(Method::Rejection),
            "interpolation" => Some(Method::Interpolation),
            "per-candidate" => Some(Method::PerCandidate),
            "estimated" => None,
            other => {
                let known = "\"auto\", \"rejection\", \"interpolation\", \"per-candidate\" and \"estimated\"";
                return Err(refused(format!("the method \"{other}\" is none of {known}")));
            }
        };
        Ok(Self(method))
    }
}

impl Law {
    fn sampler<'a>(
        &'a self,
        way: Way,
        engine: &'a dyn Engine,
    ) -> partition_dpp::Result<partition_dpp::Sampler<'a>> {
        let options = match way {
            Way::Exact(method) => SamplerOptions::from(method),
            Way::Estimated { law_error } => {
                return match self {
                    Law::Parts(dpp) => dpp.importance_sampler(engine)?.sampler(law_error),
                    // Draws without parts are exact at any size.
                    _ => self.sampler(Way::Exact(Method::Auto), engine),
                };
            }
        };
        match self {
            Law::Parts(dpp) => dpp.sampler(options, engine),
            Law::Size(dpp) => dpp.sampler(options, engine),
            Law::AnySize(dpp) => dpp.sampler(options, engine),
            Law::Ridge(dpp, _) => dpp.sampler(options, engine),
        }
    }

    fn kept_sampler(
        &self,
        way: Way,
        engine: &'static dyn Engine,
        stop: Arc<AtomicBool>,
    ) -> partition_dpp::Result<KeptSampler> {
        // The cell's engine lives shorter than the model, which is cheap to clone.
        match self {
            Law::Parts(dpp) => {
                let dpp = dpp.clone();
                keep_sampler(engine, stop, move |engine| match way {
                    Way::Exact(method) => dpp.clone().sampler(method, engine),
                    Way::Estimated { law_error } => dpp.importance_sampler(engine)?.sampler(law_error),
                })
            }
            Law::Size(dpp) => {
                let dpp = dpp.clone();
                keep_sampler(engine, stop, move |engine| dpp.sampler(SamplerOptions::default(), engine))
            }
            Law::AnySize(dpp) => {
                let dpp = dpp.clone();
                keep_sampler(engine, stop, move |engine| dpp.sampler(SamplerOptions::default(), engine))
            }
            Law::Ridge(dpp, _) => {
                let dpp = dpp.clone();
                keep_sampler(engine, stop, move |engine| dpp.sampler(SamplerOptions::default(), engine))
            }
        }
    }
}

/// Names estimated draws where exact ones would exceed a budget.
fn advise(error: &Error) -> PyErr {
    match error {
        Error::ProposalBudget { .. } | Error::RangeProposalBudget { .. } | Error::NodeBudget { .. } => {
            refused(format!("{error}; the method \"estimated\" draws from a law with an estimated error"))
        }
        other => exception(other),
    }
}

/// Samples, the error of their law, whether it is exact, and the engine.
type Drawn<'py> = (Vec<Bound<'py, PyArray1<i64>>>, f64, String, String);

/// A sampler of one law.
#[pyclass(frozen, module = "partition_dpp")]
pub(crate) struct Sampler {
    kept: KeptSampler,
}

#[pymethods]
impl Model {
    /// Sets up a sampler.
    #[pyo3(signature = (method = MethodChoice(Some(Method::Auto)), *, law_error = None, engine = EngineChoice::Auto))]
    #[pyo3(text_signature = "($self, method='auto', *, law_error=None, engine='auto')")]
    fn sampler(
        &self,
        py: Python<'_>,
        method: MethodChoice,
        #[pyo3(from_py_with = numbers::law_error)] law_error: Option<f64>,
        engine: EngineChoice,
    ) -> PyResult<Sampler> {
        let way = Way::of(method, law_error)?;
        let engine = self.engine(engine, way.task())?;
        let stop = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&stop);
        let kept = flagged(py, None, &stop, |_| self.law.kept_sampler(way, engine, shared))?;
        Ok(Sampler { kept: kept.map_err(|error| advise(&error))? })
    }

    /// Sets up and draws in one call, under one progress bar.
    #[pyo3(signature = (count, seed, method, law_error, engine, progress))]
    #[expect(clippy::too_many_arguments, reason = "keywords")]
    fn _draw<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::whole)] count: u64,
        #[pyo3(from_py_with = numbers::whole)] seed: u64,
        method: MethodChoice,
        #[pyo3(from_py_with = numbers::law_error)] law_error: Option<f64>,
        engine: EngineChoice,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Drawn<'py>> {
        let way = Way::of(method, law_error)?;
        let engine = self.engine(engine, way.task())?;
        let drawn = interruptible(py, progress, |watch| {
            let watched = Watched::new(engine, watch);
            let sampler = self.law.sampler(way, &watched)?;
            let samples = whole(sampler.sample_watched(0..count, seed, &watch)?)?;
            Ok((samples, sampler.law_error(), exactness(&sampler), words(sampler.engine())))
        })?;
        let (samples, law_error, exactness, engine) = drawn.map_err(|error: Error| advise(&error))?;
        Ok((arrays(py, &samples), law_error, exactness.to_owned(), engine))
    }
}

fn exactness(sampler: &partition_dpp::Sampler<'_>) -> &'static str {
    if sampler.algorithm() == Algorithm::Estimated { "estimated" } else { "exact" }
}

/// Draws that a signal has not cut short.
fn whole(samples: Samples) -> partition_dpp::Result<Samples> {
    match samples.ended() {
        Some(ended) => Err(ended.into()),
        None => Ok(samples),
    }
}

fn arrays<'py>(py: Python<'py>, samples: &Samples) -> Vec<Bound<'py, PyArray1<i64>>> {
    samples.subsets().iter().map(|subset| indices(py, subset.as_slice())).collect()
}

#[pymethods]
impl Sampler {
    /// Draws `count` subsets, from number `first` on.
    #[pyo3(signature = (count = 1, *, seed = 0, first = 0, progress = None))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::whole)] count: u64,
        #[pyo3(from_py_with = numbers::whole)] seed: u64,
        #[pyo3(from_py_with = numbers::whole)] first: u64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyArray1<i64>>>> {
        let sampler = self.kept.borrow_dependent();
        let end = first.checked_add(count).ok_or_else(|| refused("there are not that many draws"))?;
        let drawn = interruptible(py, progress, |watch: Watch<'_>| {
            whole(sampler.sample_watched(first..end, seed, &watch)?)
        })?;
        Ok(arrays(py, &drawn.or_raise()?))
    }

    /// Estimated total variation error of the law.
    #[getter]
    fn law_error(&self) -> f64 {
        self.kept.borrow_dependent().law_error()
    }

    /// `exact` or `estimated`.
    #[getter]
    fn exactness(&self) -> &'static str {
        exactness(self.kept.borrow_dependent())
    }

    /// The algorithm that draws.
    #[getter]
    fn algorithm(&self) -> String {
        self.kept.borrow_dependent().algorithm().to_string()
    }

    /// A lower bound of the draws per proposal.
    #[getter]
    fn acceptance_bound(&self) -> f64 {
        self.kept.borrow_dependent().acceptance_bound()
    }

    /// The engine that did the set-up.
    #[getter]
    fn engine(&self) -> String {
        words(self.kept.borrow_dependent().engine())
    }

    fn __repr__(&self) -> String {
        format!("<Sampler by {}, law error {:.1e}>", self.algorithm(), self.law_error())
    }
}

//! Draws.

use numpy::PyArray1;
use partition_dpp::{
    Engine, Error, Law, Method, Samples, Watch, engine::Task, error::ErrorKind, sample::Algorithm,
};
use pyo3::{Borrowed, IntoPyObjectExt, prelude::*, types::IntoPyDict};
use rayon::prelude::*;

use crate::{
    arrays::indices,
    engines::{EngineChoice, words},
    errors::{OrRaise, exception, refused},
    interruptible::interruptible,
    models::Model,
    numbers,
    recipe::{Pickled, Recipe},
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

impl Way {
    fn sampler(self, law: &Law, engine: &Engine) -> partition_dpp::Result<partition_dpp::Sampler> {
        match (self, law) {
            (Way::Exact(method), _) => law.sampler(method, engine),
            (Way::Estimated { law_error }, Law::Quota(dpp)) => {
                dpp.importance_sampler(engine)?.sampler(law_error)
            }
            // Draws without parts are exact at any size.
            (Way::Estimated { .. }, _) => law.sampler(Method::Auto, engine),
        }
    }
}

/// Names estimated draws where exact ones would exceed a budget.
fn advise(error: &Error) -> PyErr {
    match (error.kind(), error) {
        (ErrorKind::Budget, Error::Estimate(_)) => exception(error),
        (ErrorKind::Budget, _) => {
            refused(format!("{error}; the method \"estimated\" draws from a law with an estimated error"))
        }
        _ => exception(error),
    }
}

/// Samples with their ln det, the error of their law, whether it is exact, and the engine.
type Drawn<'py> = (Vec<Bound<'py, PyArray1<i64>>>, Bound<'py, PyArray1<f64>>, f64, String, String);

/// A sampler of one law.
#[pyclass(frozen, module = "partition_dpp")]
pub(crate) struct Sampler {
    of: partition_dpp::Sampler,
    recipe: Recipe,
}

#[pymethods]
impl Model {
    /// Sets up a sampler.
    #[pyo3(signature = (method = MethodChoice(Some(Method::Auto)), *, law_error = None, engine = EngineChoice::Auto))]
    #[pyo3(text_signature = "($self, method='auto', *, law_error=None, engine='auto')")]
    fn sampler(
        slf: &Bound<'_, Self>,
        method: MethodChoice,
        #[pyo3(from_py_with = numbers::law_error)] law_error: Option<f64>,
        engine: EngineChoice,
    ) -> PyResult<Sampler> {
        let (own, py, way) = (slf.get(), slf.py(), Way::of(method, law_error)?);
        let keywords = [
            ("law_error", law_error.into_bound_py_any(py)?),
            ("engine", engine.name().into_bound_py_any(py)?),
        ];
        let name = method.0.map_or_else(|| "estimated".to_owned(), |method| method.to_string());
        let arguments = (name,).into_pyobject(py)?;
        let recipe = Recipe::new(&slf.getattr("sampler")?, arguments, keywords.into_py_dict(py)?);
        let engine = own.engine(engine, way.task())?;
        let sampler = interruptible(py, None, |watch| way.sampler(&own.law, &engine.watched(&watch)))?;
        Ok(Sampler { of: sampler.map_err(|error| advise(&error))?, recipe })
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
            let watched = engine.watched(&watch);
            let sampler = way.sampler(&self.law, &watched)?;
            let samples = whole(sampler.sample_watched(0..count, seed, &watch)?)?;
            let log_det = |subset| watch.check().and_then(|()| self.log_det_of(subset));
            let log_dets: Vec<f64> =
                samples.subsets().par_iter().map(log_det).collect::<partition_dpp::Result<_>>()?;
            Ok((samples, log_dets, sampler.law_error(), exactness(&sampler), words(sampler.engine())))
        })?;
        let (samples, log_dets, law_error, exactness, engine) =
            drawn.map_err(|error: Error| advise(&error))?;
        let log_dets = PyArray1::from_vec(py, log_dets);
        Ok((arrays(py, &samples), log_dets, law_error, exactness.to_owned(), engine))
    }
}

fn exactness(sampler: &partition_dpp::Sampler) -> &'static str {
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
        let end = first.checked_add(count).ok_or_else(|| refused("there are not that many draws"))?;
        let drawn = interruptible(py, progress, |watch: Watch| {
            whole(self.of.sample_watched(first..end, seed, &watch)?)
        })?;
        Ok(arrays(py, &drawn.or_raise()?))
    }

    /// Estimated total variation error of the law.
    #[getter]
    fn law_error(&self) -> f64 {
        self.of.law_error()
    }

    /// `exact` or `estimated`.
    #[getter]
    fn exactness(&self) -> &'static str {
        exactness(&self.of)
    }

    /// The algorithm that draws.
    #[getter]
    fn algorithm(&self) -> String {
        self.of.algorithm().to_string()
    }

    /// A lower bound of the draws per proposal.
    #[getter]
    fn acceptance_bound(&self) -> f64 {
        self.of.acceptance_bound()
    }

    /// The engine that did the set-up.
    #[getter]
    fn engine(&self) -> String {
        words(self.of.engine())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        self.recipe.pickled(py)
    }

    fn __repr__(&self) -> String {
        format!("<Sampler by {}, law error {:.1e}>", self.algorithm(), self.law_error())
    }
}

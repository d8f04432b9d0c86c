//! Plans.

use partition_dpp::{Engine, stream};
use pyo3::{prelude::*, types::PyBytes};

use super::{Batch, Grams, Makers, Trials, made};
use crate::{
    errors::OrRaise,
    interruptible::interruptible,
    numbers,
    recipe::{self, Pickled},
    rows,
};

/// The message of the driver to the batches of a law.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Plan(pub(super) stream::Plan);

#[pymethods]
impl Plan {
    /// The plan of a quota by part, of k items, or of sets of any size.
    #[new]
    #[pyo3(signature = (grams, quota = None, k = None))]
    fn new(
        py: Python<'_>,
        grams: &Grams,
        quota: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::optional)] k: Option<usize>,
    ) -> PyResult<Self> {
        let makers = Makers {
            quota: stream::Plan::partition_dpp,
            size: stream::Plan::k_dpp,
            any_size: stream::Plan::dpp,
        };
        made(py, &grams.0, (quota, k), &makers).map(Self)
    }

    /// The sum of the leverages of a batch.
    fn total_leverage(&self, py: Python<'_>, batch: &Batch) -> PyResult<f64> {
        interruptible(py, None, |watch| self.0.total_leverage(&batch.0, &Engine::cpu().watched(&watch)))?
            .or_raise()
    }

    /// How many of `count` trials every batch draws, given the totals of all.
    fn split(
        &self,
        py: Python<'_>,
        totals: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::whole)] count: u64,
        #[pyo3(from_py_with = numbers::whole)] seed: u64,
    ) -> PyResult<Vec<u64>> {
        let totals = rows::numbers(totals, "totals")?;
        interruptible(py, None, |_| self.0.split(&totals, count, seed))?.or_raise()
    }

    /// Independent draws of rows of a batch.
    fn trials(
        &self,
        py: Python<'_>,
        batch: &Batch,
        #[pyo3(from_py_with = numbers::whole)] count: u64,
        #[pyo3(from_py_with = numbers::whole)] seed: u64,
    ) -> PyResult<Trials> {
        let made = interruptible(py, None, |watch| {
            self.0.trials(&batch.0, count, seed, &Engine::cpu().watched(&watch))
        })?;
        made.or_raise().map(Trials)
    }

    /// The parts, in the order of their numbers in draws.
    #[getter]
    fn parts(&self) -> Vec<String> {
        self.0.parts().map(ToOwned::to_owned).collect()
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    #[getter]
    fn rank(&self) -> usize {
        self.0.rank()
    }

    #[getter]
    fn law_error(&self) -> f64 {
        self.0.law_error()
    }

    /// Whether sums in a frame would make the law more accurate.
    #[getter]
    fn wants_frame(&self) -> bool {
        self.0.wants_frame()
    }

    #[getter]
    fn expected_proposals(&self) -> f64 {
        self.0.expected_proposals()
    }

    /// Trials per sample on average, known before drawing.
    #[getter]
    fn expected_trials(&self) -> f64 {
        self.0.expected_trials()
    }

    /// The bytes of one trial.
    #[getter]
    fn trial_bytes(&self) -> usize {
        self.0.trial_bytes()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        stream::Plan::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        recipe::of_bytes(slf.get_type().getattr("from_bytes")?, slf.get().to_bytes(slf.py()))
    }
}

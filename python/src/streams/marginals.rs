//! Inclusion probabilities of the rows of batches.

use numpy::PyArray1;
use partition_dpp::{Engine, stream};
use pyo3::{prelude::*, types::PyBytes};

use super::{Batch, Grams, Makers, made};
use crate::{
    errors::OrRaise,
    interruptible::interruptible,
    numbers,
    recipe::{self, Pickled},
};

/// ln Z, and what inclusion probabilities are of rows.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Marginals(pub(super) stream::Marginals);

#[pymethods]
impl Marginals {
    /// The marginals of a quota by part, of k items, or of sets of any size.
    #[new]
    #[pyo3(signature = (grams, quota = None, k = None))]
    fn new(
        py: Python<'_>,
        grams: &Grams,
        quota: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::optional)] k: Option<usize>,
    ) -> PyResult<Self> {
        let makers = Makers {
            quota: stream::Marginals::partition_dpp,
            size: stream::Marginals::k_dpp,
            any_size: stream::Marginals::dpp,
        };
        made(py, &grams.0, (quota, k), &makers).map(Self)
    }

    /// Pr(i ∈ S) for every row of a batch.
    fn of_batch<'py>(&self, py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let found =
            interruptible(py, None, |watch| self.0.of_batch(&batch.0, &Engine::cpu().watched(&watch)))?
                .or_raise()?;
        Ok(PyArray1::from_vec(py, found.value))
    }

    /// ln Z.
    #[getter]
    fn log_z(&self) -> f64 {
        self.0.log_partition_function().value
    }

    /// The estimated error of ln Z.
    #[getter]
    fn log_z_error(&self) -> f64 {
        self.0.log_partition_function().error
    }

    /// The estimated error of every inclusion probability.
    #[getter]
    fn error(&self) -> f64 {
        self.0.error()
    }

    /// Whether sums in a frame would make it more accurate.
    #[getter]
    fn wants_frame(&self) -> bool {
        self.0.wants_frame()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        stream::Marginals::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        recipe::of_bytes(slf.get_type().getattr("from_bytes")?, slf.get().to_bytes(slf.py()))
    }
}

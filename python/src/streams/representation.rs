//! Rows of batches that stand for the rest.

use partition_dpp::{Engine, stream};
use pyo3::{prelude::*, types::PyBytes};

use super::{Batch, Grams};
use crate::{
    errors::OrRaise,
    interruptible::interruptible,
    numbers,
    recipe::{self, Pickled, Recipe},
};

/// Maps of rows, so that sets stand for the rest.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Representation(stream::Representation);

#[pymethods]
impl Representation {
    /// Rows stand for the rest of their part.
    #[staticmethod]
    #[pyo3(signature = (grams, rho = Some(1.0)), text_signature = "(grams, rho=1.0)")]
    fn of_parts(
        grams: &Grams,
        #[pyo3(from_py_with = numbers::representation)] rho: Option<f64>,
    ) -> PyResult<Self> {
        stream::Representation::of_parts(&grams.0, rho.unwrap_or(1.0)).or_raise().map(Self)
    }

    /// Rows stand for all others.
    #[staticmethod]
    #[pyo3(signature = (grams, rho = Some(1.0)), text_signature = "(grams, rho=1.0)")]
    fn of_all(
        grams: &Grams,
        #[pyo3(from_py_with = numbers::representation)] rho: Option<f64>,
    ) -> PyResult<Self> {
        stream::Representation::of_all(&grams.0, rho.unwrap_or(1.0)).or_raise().map(Self)
    }

    /// The batch with its rows mapped.
    fn batch(slf: &Bound<'_, Self>, batch: &Bound<'_, Batch>) -> PyResult<Batch> {
        let (own, rows, py) = (slf.get(), &batch.get().0, slf.py());
        let mapped = interruptible(py, None, |watch| own.0.batch(rows, &Engine::cpu().watched(&watch)))?;
        let recipe = Recipe::plain(&slf.getattr("batch")?, (batch,).into_pyobject(py)?);
        Ok(Batch(mapped.or_raise()?, recipe))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        stream::Representation::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        recipe::of_bytes(slf.get_type().getattr("from_bytes")?, slf.get().to_bytes(slf.py()))
    }
}

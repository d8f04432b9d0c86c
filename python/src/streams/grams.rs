//! Sums over the rows of batches.

use partition_dpp::{Engine, stream};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};

use super::{Batch, resolve};
use crate::{
    errors::OrRaise,
    interruptible::interruptible,
    numbers,
    recipe::{self, Pickled},
};

/// Sums over the rows of every part.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Grams(pub(super) stream::Grams);

#[pymethods]
impl Grams {
    /// Sums over no rows.
    #[new]
    fn new() -> Self {
        Self(stream::Grams::default())
    }

    /// The sums of one batch; in a frame, more accurate.
    #[staticmethod]
    #[pyo3(signature = (batch, frame = None))]
    fn of_batch(py: Python<'_>, batch: &Batch, frame: Option<&Frame>) -> PyResult<Self> {
        let made = interruptible(py, None, |watch| {
            let engine = Engine::cpu().watched(&watch);
            match frame {
                Some(frame) => stream::Grams::in_frame(&batch.0, &frame.0, &engine),
                None => stream::Grams::of_batch(&batch.0, &engine),
            }
        })?;
        made.or_raise().map(Self)
    }

    /// The sums of both.
    fn merge(&self, other: &Self) -> PyResult<Self> {
        self.0.clone().merge(other.0.clone()).or_raise().map(Self)
    }

    /// A frame in which sums are more accurate.
    fn frame(&self) -> PyResult<Frame> {
        self.0.frame().or_raise().map(Frame)
    }

    /// The most items of a set that the quota allows, and that rows with this many features span.
    #[pyo3(signature = (quota, k = None))]
    fn _most(
        &self,
        quota: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::optional)] k: Option<usize>,
    ) -> PyResult<usize> {
        let quota = resolve(&self.0, quota, k)?;
        let most = quota.total().unwrap_or_else(|| quota.high().iter().sum());
        Ok(most.min(self.0.dims()))
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    #[getter]
    fn dims(&self) -> usize {
        self.0.dims()
    }

    /// How many rows every part has.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = PyDict::new(py);
        self.0.parts().try_for_each(|(name, rows)| parts.set_item(name, rows))?;
        Ok(parts)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        stream::Grams::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        recipe::of_bytes(slf.get_type().getattr("from_bytes")?, slf.get().to_bytes(slf.py()))
    }
}

/// Coordinates in which sums are more accurate.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Frame(pub(super) stream::Frame);

#[pymethods]
impl Frame {
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        stream::Frame::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        recipe::of_bytes(slf.get_type().getattr("from_bytes")?, slf.get().to_bytes(slf.py()))
    }
}

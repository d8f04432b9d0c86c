//! Trials.

use partition_dpp::stream;
use pyo3::{prelude::*, types::PyBytes};

use crate::{
    errors::OrRaise,
    recipe::{self, Pickled},
};

/// Draws of rows.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Trials(pub(super) stream::Trials);

#[pymethods]
impl Trials {
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "Python hands it over")]
    fn concatenate(lists: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        stream::Trials::concatenate(lists.iter().map(|list| list.0.clone())).or_raise().map(Self)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        stream::Trials::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        recipe::of_bytes(slf.get_type().getattr("from_bytes")?, slf.get().to_bytes(slf.py()))
    }
}

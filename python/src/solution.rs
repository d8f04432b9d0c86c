//! The results of solvers.

use numpy::PyArray1;
use partition_dpp::map;
use pyo3::{prelude::*, types::PyBytes};

use crate::{
    arrays::indices,
    engines::words,
    errors::refused,
    recipe::{self, Pickled},
};

/// The best set that a solver found.
#[pyclass(frozen, module = "partition_dpp")]
pub(crate) struct Solution(pub(crate) map::Solution);

#[pymethods]
impl Solution {
    /// The chosen items.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        indices(py, self.0.subset.as_slice())
    }

    /// ln det K of the set.
    #[getter]
    fn log_det(&self) -> f64 {
        self.0.log_det
    }

    /// The coverage of the set, if it was asked for.
    #[getter]
    fn coverage(&self) -> Option<f64> {
        self.0.covered.map(|covered| covered.total)
    }

    /// The fraction of the most that any set covers that this one is proven to reach.
    #[getter]
    fn guarantee(&self) -> Option<f64> {
        self.0.covered.and_then(|covered| covered.guarantee)
    }

    /// A bound that no other set's ln det exceeds, if one is known.
    #[getter]
    fn upper_bound(&self) -> Option<f64> {
        self.0.upper_bound
    }

    /// By how much another set could be better, if a bound is known.
    #[getter]
    fn gap(&self) -> Option<f64> {
        self.0.gap()
    }

    /// How many items the set lacks.
    #[getter]
    fn missing(&self) -> usize {
        self.0.missing
    }

    /// Why the search ended.
    #[getter]
    fn termination(&self) -> String {
        self.0.termination.to_string()
    }

    /// The engine that searched.
    #[getter]
    fn engine(&self) -> String {
        words(&self.0.engine)
    }

    #[staticmethod]
    fn _from_bytes(bytes: &[u8]) -> PyResult<Self> {
        postcard::from_bytes(bytes)
            .map(Self)
            .map_err(|error| refused(format!("these bytes hold no solution: {error}")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let bytes = postcard::to_stdvec(&slf.get().0).map_err(|error| refused(error.to_string()))?;
        recipe::of_bytes(slf.get_type().getattr("_from_bytes")?, PyBytes::new(slf.py(), &bytes))
    }

    fn __repr__(&self) -> String {
        format!("<Solution {} with ln det {:.6}>", self.0.subset, self.0.log_det)
    }
}

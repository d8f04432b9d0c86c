//! Probabilities.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use numpy::PyArray1;
use partition_dpp::{Estimate, Subset, engine::Task};
use pyo3::{
    exceptions::PyRuntimeError,
    prelude::*,
    types::{IntoPyDict, PyTuple},
};

use crate::{
    engines::EngineChoice,
    errors::OrRaise,
    interruptible::flagged,
    models::Model,
    recipe::{Pickled, Recipe},
    rows,
};

/// The probabilities of one law.
#[pyclass(frozen, module = "partition_dpp")]
pub(crate) struct Inference {
    of: partition_dpp::Inference,
    /// Ends the work of its engine, for good.
    stop: Arc<AtomicBool>,
    items: usize,
    recipe: Recipe,
}

#[pymethods]
impl Model {
    /// Computes the normaliser, and prepares the rest.
    #[pyo3(signature = (*, engine = EngineChoice::Auto), text_signature = "($self, *, engine='auto')")]
    fn inference(slf: &Bound<'_, Self>, engine: EngineChoice) -> PyResult<Inference> {
        let (own, py) = (slf.get(), slf.py());
        let keywords = [("engine", engine.name())].into_py_dict(py)?;
        let recipe = Recipe::new(&slf.getattr("inference")?, PyTuple::empty(py), keywords);
        let engine = own.engine(engine, Task::Inference)?;
        let stop = Arc::new(AtomicBool::new(false));
        let of = flagged(py, None, &stop, |watch| own.law.inference(&engine.watched(&watch)))?;
        Ok(Inference { of: of.or_raise()?, stop, items: own.features.items(), recipe })
    }
}

impl Inference {
    fn estimate_of(&self, items: &Bound<'_, PyAny>) -> PyResult<Estimate<f64>> {
        let subset = Subset::new(rows::items(items, "items", self.items)?, self.items).or_raise()?;
        self.of.log_probability(&subset).or_raise()
    }
}

#[pymethods]
impl Inference {
    /// ln Z.
    #[getter]
    fn log_z(&self) -> f64 {
        self.of.log_partition_function().value
    }

    /// The estimated error of ln Z.
    #[getter]
    fn log_z_error(&self) -> f64 {
        self.of.log_partition_function().error
    }

    /// ln Pr(S); −inf for sets that the law excludes.
    fn log_probability(&self, items: &Bound<'_, PyAny>) -> PyResult<f64> {
        Ok(self.estimate_of(items)?.value)
    }

    /// The estimated error of ln Pr(S).
    fn log_probability_error(&self, items: &Bound<'_, PyAny>) -> PyResult<f64> {
        Ok(self.estimate_of(items)?.error)
    }

    /// Pr(i ∈ S) for every item, and the largest estimated error of any.
    fn inclusion_probabilities<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray1<f64>>, f64)> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(PyRuntimeError::new_err("this inference was interrupted: set it up again"));
        }
        let found = flagged(py, None, &self.stop, |_| self.of.inclusion_probabilities())?;
        let Estimate { value, error } = found.or_raise()?;
        Ok((PyArray1::from_vec(py, value), error))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        self.recipe.pickled(py)
    }

    fn __repr__(&self) -> String {
        format!("<Inference with ln Z = {}>", self.log_z())
    }
}

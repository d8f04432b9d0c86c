//! A few rows of every batch, among which there is a good set.

use numpy::PyArray1;
use partition_dpp::{Engine, map};
use pyo3::{prelude::*, types::PyBytes};

use super::Batch;
use crate::{
    errors::OrRaise,
    features::Features,
    interruptible::interruptible,
    labels::Partition,
    numbers,
    recipe::{self, Pickled},
};

/// A few rows of one batch.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct CoreSet(map::CoreSet);

#[pymethods]
impl CoreSet {
    /// At most `total` rows per part, found with local search.
    #[staticmethod]
    fn of_batch(
        py: Python<'_>,
        batch: &Batch,
        #[pyo3(from_py_with = numbers::whole)] total: usize,
    ) -> PyResult<Self> {
        let made = interruptible(py, None, |watch| {
            map::CoreSet::of_batch(&batch.0, total, &Engine::cpu().watched(&watch))
        })?;
        made.or_raise().map(Self)
    }

    /// The rows of several, as features.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "Python hands it over")]
    fn union(core_sets: Vec<PyRef<'_, Self>>) -> PyResult<CoreSetUnion> {
        let (batches, sets) = core_sets.iter().map(|set| (set.0.batch(), set.0.clone())).unzip();
        let (batches, sets): (Vec<u64>, Vec<map::CoreSet>) = (batches, sets);
        Ok(CoreSetUnion { union: map::CoreSet::union(&sets).or_raise()?, batches })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        map::CoreSet::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        recipe::of_bytes(slf.get_type().getattr("from_bytes")?, slf.get().to_bytes(slf.py()))
    }
}

/// The rows of several core-sets.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct CoreSetUnion {
    union: map::CoreSetUnion,
    /// The number of every core-set's batch.
    batches: Vec<u64>,
}

#[pymethods]
impl CoreSetUnion {
    /// The rows, with their weights.
    #[getter]
    fn features(&self) -> Features {
        Features { has_scores: true, ..self.union.features().clone().into() }
    }

    /// Their parts.
    #[getter]
    fn partition(&self) -> Partition {
        Partition { parts: self.union.partition().clone(), texts: None, order: None, recipe: None }
    }

    /// The batch and the row there of every item.
    #[getter]
    fn origins<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<u64>>; 2] {
        let origins = || (0..self.union.features().items()).map(|item| self.union.origin(item));
        [
            PyArray1::from_iter(py, origins().map(|at| self.batches[at.shard])),
            PyArray1::from_iter(py, origins().map(|at| at.item as u64)),
        ]
    }
}

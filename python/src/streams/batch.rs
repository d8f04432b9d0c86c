//! Batches.

use partition_dpp::stream;
use pyo3::{prelude::*, types::PyType};

use crate::{
    errors::OrRaise,
    features, labels, numbers,
    recipe::{Pickled, Recipe},
};

/// A batch of rows with their labels, and its number.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Batch(pub(super) stream::Batch, pub(super) Recipe);

#[pymethods]
impl Batch {
    #[new]
    #[classmethod]
    #[pyo3(signature = (number, features, labels = None))]
    fn new(
        class: &Bound<'_, PyType>,
        #[pyo3(from_py_with = numbers::whole)] number: u64,
        features: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let recipe = Recipe::plain(class, (number, features, labels).into_pyobject(class.py())?);
        let rows = features::of(features)?;
        let (partition, texts) = match labels {
            Some(labels) => labels::with_kinds(labels)?,
            None => (partition_dpp::Partition::of(std::iter::repeat_n(ALL, rows.items())).or_raise()?, None),
        };
        let batch = stream::Batch::new(number, &rows, &partition).or_raise()?;
        let batch = match texts {
            Some(texts) => batch.with_text_labels(&texts).or_raise()?,
            None => batch,
        };
        Ok(Self(batch, recipe))
    }

    /// A batch without rows.
    #[classmethod]
    fn empty(
        class: &Bound<'_, PyType>,
        #[pyo3(from_py_with = numbers::whole)] number: u64,
    ) -> PyResult<Self> {
        let recipe = Recipe::plain(&class.getattr("empty")?, (number,).into_pyobject(class.py())?);
        Ok(Self(stream::Batch::empty(number), recipe))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        self.1.pickled(py)
    }

    #[getter]
    fn number(&self) -> u64 {
        self.0.number()
    }

    fn __len__(&self) -> usize {
        self.0.rows()
    }
}

/// The name of the part of rows without labels.
const ALL: &str = "all items";

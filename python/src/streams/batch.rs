//! Batches.

use partition_dpp::stream;
use pyo3::prelude::*;

use crate::{errors::OrRaise, features, labels, numbers};

/// A batch of rows with their labels, and its number.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Batch(pub(super) stream::Batch);

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (number, features, labels = None))]
    fn new(
        #[pyo3(from_py_with = numbers::whole)] number: u64,
        features: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let rows = features::of(features)?;
        let (partition, texts) = match labels {
            Some(labels) => labels::with_kinds(labels)?,
            None => (partition_dpp::Partition::of(std::iter::repeat_n(ALL, rows.items())).or_raise()?, None),
        };
        let batch = stream::Batch::new(number, &rows, &partition).or_raise()?;
        match texts {
            Some(texts) => batch.with_text_labels(&texts).or_raise().map(Self),
            None => Ok(Self(batch)),
        }
    }

    /// A batch without rows.
    #[staticmethod]
    fn empty(#[pyo3(from_py_with = numbers::whole)] number: u64) -> Self {
        Self(stream::Batch::empty(number))
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

//! The rows of the items.

use std::collections::BTreeMap;

use partition_dpp::{
    Engine, Partition, Subset,
    similarity::{Bandwidth, Rbf, Representation},
};
use pyo3::prelude::*;

use crate::{
    errors::{OrRaise, refused},
    interruptible::interruptible,
    labels, numbers, rows,
};

/// The feature matrix, one row per item.
#[pyclass(frozen, module = "partition_dpp")]
pub(crate) struct Features {
    pub(crate) rows: partition_dpp::Features,
    /// The error of the features relative to the trace of the kernel that they approximate.
    #[pyo3(get)]
    pub(crate) kernel_error: Option<f64>,
    /// Whether rows are weighted by scores or log qualities, or may be.
    #[pyo3(get)]
    pub(crate) has_scores: bool,
}

#[pymethods]
impl Features {
    #[new]
    fn new(rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(known) = rows.cast::<Self>() {
            let known = known.get();
            return Ok(Self { rows: known.rows.clone(), ..*known });
        }
        rows::features(rows).map(Self::from)
    }

    /// Opens a .npy file, whose values stay in it.
    #[staticmethod]
    fn open_npy(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        interruptible(py, None, |_| partition_dpp::Features::open_npy(path))?.or_raise().map(Self::from)
    }

    /// Number of items.
    #[getter]
    fn items(&self) -> usize {
        self.rows.items()
    }

    /// Number of features per item.
    #[getter]
    fn dims(&self) -> usize {
        self.rows.dims()
    }

    /// With rows divided by their lengths: dot products are cosines.
    fn with_unit_rows(&self, py: Python<'_>) -> PyResult<Self> {
        self.check_no_scores()?;
        let made = interruptible(py, None, |_| self.rows.with_unit_rows())?;
        Ok(Self { rows: made.or_raise()?, ..*self })
    }

    /// With scores and a weight of diversity.
    #[pyo3(signature = (scores, diversity = Some(0.5)), text_signature = "($self, scores, diversity=0.5)")]
    fn with_scores(
        &self,
        scores: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::diversity)] diversity: Option<f64>,
    ) -> PyResult<Self> {
        let (scores, diversity) = (rows::numbers(scores, "scores")?, diversity.unwrap_or(0.5));
        Ok(Self { rows: self.rows.with_scores(&scores, diversity).or_raise()?, has_scores: true, ..*self })
    }

    /// With rows multiplied by e^(log quality).
    fn with_log_quality(&self, log_quality: &Bound<'_, PyAny>) -> PyResult<Self> {
        let log_quality = rows::numbers(log_quality, "log qualities")?;
        Ok(Self { rows: self.rows.with_log_quality(&log_quality).or_raise()?, has_scores: true, ..*self })
    }

    /// Features whose dot products approximate the Gaussian kernel.
    #[pyo3(signature = (bandwidth = None, landmarks = None, *, progress = None))]
    fn rbf(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = numbers::bandwidth)] bandwidth: Option<f64>,
        #[pyo3(from_py_with = numbers::optional)] landmarks: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        self.check_no_scores()?;
        let rbf = Rbf::new(bandwidth.map_or(Bandwidth::Median, Bandwidth::Exactly));
        let rbf = landmarks.map_or(rbf, |landmarks| rbf.with_landmarks(landmarks));
        let made = interruptible(py, progress, |watch| {
            let found = rbf.features(&self.rows, &Engine::cpu().watched(&watch))?;
            Ok((found.features().clone(), found.kernel_error()))
        })?;
        let (rows, error) = made.or_raise()?;
        Ok(Self { rows, kernel_error: Some(error), has_scores: false })
    }

    /// The median distance of pairs of rows.
    fn median_distance(&self, py: Python<'_>) -> PyResult<f64> {
        self.check_no_scores()?;
        interruptible(py, None, |_| Bandwidth::Median.of(&self.rows))?.or_raise()
    }

    /// A small ridge: a power of ten, at most a hundredth of the mean squared length of the first thousand rows.
    fn suggested_ridge(&self) -> f64 {
        self.rows.suggested_ridge()
    }

    /// With rows that stand for the rest of their part, or of all items without labels.
    #[pyo3(signature = (labels = None, rho = Some(1.0), *, exclude = None, progress = None),
        text_signature = "($self, labels=None, rho=1.0, *, exclude=None, progress=None)")]
    fn represent(
        &self,
        py: Python<'_>,
        labels: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::representation)] rho: Option<f64>,
        exclude: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        self.check_no_scores()?;
        let partition = self.parts(labels)?;
        let excluded = exclude.map_or_else(
            || Ok(Vec::new()),
            |items| rows::items(items, "items to exclude", self.rows.items()),
        )?;
        let made = interruptible(py, progress, |watch| {
            let engine = Engine::cpu().watched(&watch);
            let representation = Representation::without(&self.rows, &partition, &excluded, &engine)?;
            representation.features(rho.unwrap_or(1.0), &engine)
        })?;
        Ok(Self { rows: made.or_raise()?, ..*self })
    }

    /// The share of the squared length of all rows, and of every part, that some items explain.
    #[pyo3(signature = (items, labels = None))]
    fn explained(
        &self,
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(f64, BTreeMap<String, f64>)> {
        let partition = self.parts(labels)?;
        let subset =
            Subset::new(rows::items(items, "items", self.rows.items())?, self.rows.items()).or_raise()?;
        let found = interruptible(py, None, |watch| {
            self.rows.explained(&subset, &partition, &Engine::cpu().watched(&watch))
        })?;
        let found = found.or_raise()?;
        Ok((found.total, partition.names().iter().cloned().zip(found.by_part).collect()))
    }

    /// ln det of the similarity of some items.
    fn log_det(&self, items: &Bound<'_, PyAny>) -> PyResult<f64> {
        let items = rows::items(items, "items", self.rows.items())?;
        let subset = Subset::new(items, self.rows.items()).or_raise()?;
        Ok(self.rows.log_det(&subset).or_raise()?.value)
    }

    fn __len__(&self) -> usize {
        self.rows.items()
    }

    fn __repr__(&self) -> String {
        format!("<{:?}>", self.rows)
    }
}

impl Features {
    /// The parts of labels; one part of all items without.
    fn parts(&self, labels: Option<&Bound<'_, PyAny>>) -> PyResult<Partition> {
        match labels {
            Some(labels) => labels::partition(labels),
            None => Partition::of((0..self.rows.items()).map(|_| "all")).or_raise(),
        }
    }

    /// Refuses rows whose lengths hold scores, for similarities that take no account of lengths or mistake them for distances.
    pub(crate) fn check_no_scores(&self) -> PyResult<()> {
        if self.has_scores {
            return Err(refused(
                "these rows have scores, or are of core-sets: only dot products keep their lengths; compare by \"dot\", or give scores to `select`",
            ));
        }
        Ok(())
    }
}

impl From<partition_dpp::Features> for Features {
    fn from(rows: partition_dpp::Features) -> Self {
        Self { rows, kernel_error: None, has_scores: false }
    }
}

/// The library's features of a `Features`, or of anything that makes them.
pub(crate) fn of(rows: &Bound<'_, PyAny>) -> PyResult<partition_dpp::Features> {
    match rows.cast::<Features>() {
        Ok(known) => Ok(known.get().rows.clone()),
        Err(_) => rows::features(rows),
    }
}

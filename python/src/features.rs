//! The rows of the items.

use std::collections::BTreeMap;

use partition_dpp::{
    Engine, Partition, Subset,
    similarity::{Bandwidth, Rbf, Representation},
};
use pyo3::{
    prelude::*,
    types::{IntoPyDict, PyTuple, PyType},
};

use crate::{
    errors::{OrRaise, refused},
    interruptible::interruptible,
    labels, numbers,
    recipe::{self, Pickled, Recipe},
    rows,
};

/// The feature matrix, one row per item.
#[pyclass(frozen, module = "partition_dpp")]
pub(crate) struct Features {
    pub(crate) rows: partition_dpp::Features,
    pub(crate) source: Source,
    /// Whether rows are weighted by scores or log qualities, or may be.
    #[pyo3(get)]
    pub(crate) has_scores: bool,
    pub(crate) recipe: Option<Recipe>,
}

/// What features were made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// The rows themselves.
    Rows,
    /// A Gaussian kernel of rows, with the error of the features relative to its trace.
    Rbf(f64),
    /// A dense kernel, with the error of its factor.
    Kernel(f64),
}

#[pymethods]
impl Features {
    #[new]
    #[classmethod]
    fn new(class: &Bound<'_, PyType>, rows: &Bound<'_, PyAny>) -> PyResult<Self> {
        let recipe = Some(Recipe::plain(class, (rows,).into_pyobject(rows.py())?));
        if let Ok(known) = rows.cast::<Self>() {
            let known = known.get();
            return Ok(Self { rows: known.rows.clone(), recipe, ..*known });
        }
        Ok(Self { recipe, ..rows::features(rows)?.into() })
    }

    /// Opens a .npy file, whose values stay in it.
    #[classmethod]
    fn open_npy(class: &Bound<'_, PyType>, path: std::path::PathBuf) -> PyResult<Self> {
        let recipe = Some(Recipe::plain(&class.getattr("open_npy")?, (&path,).into_pyobject(class.py())?));
        let opened = interruptible(class.py(), None, |_| partition_dpp::Features::open_npy(path))?;
        Ok(Self { recipe, ..opened.or_raise()?.into() })
    }

    /// Takes a dense kernel: a symmetric, positive semidefinite matrix of similarities.
    #[classmethod]
    fn of_kernel(class: &Bound<'_, PyType>, kernel: &Bound<'_, PyAny>) -> PyResult<Self> {
        if kernel.is_instance_of::<Self>() {
            return Err(refused(
                "a kernel is the matrix of the similarities of all pairs of items, not Features",
            ));
        }
        let recipe = Recipe::plain(&class.getattr("of_kernel")?, (kernel,).into_pyobject(class.py())?);
        let factored = rows::kernel(kernel)?;
        let source = Source::Kernel(factored.error());
        Ok(Self { source, recipe: Some(recipe), ..factored.features().clone().into() })
    }

    /// The error of the features relative to the trace of the kernel that they stand for.
    #[getter]
    fn kernel_error(&self) -> Option<f64> {
        match self.source {
            Source::Rows => None,
            Source::Rbf(error) | Source::Kernel(error) => Some(error),
        }
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
    fn with_unit_rows(slf: &Bound<'_, Self>) -> PyResult<Self> {
        let (own, py) = (slf.get(), slf.py());
        own.check_no_scores()?;
        let made = interruptible(py, None, |_| own.rows.with_unit_rows())?;
        let recipe = Some(Recipe::plain(&slf.getattr("with_unit_rows")?, PyTuple::empty(py)));
        Ok(Self { rows: made.or_raise()?, recipe, ..*own })
    }

    /// With scores and a weight of diversity.
    #[pyo3(signature = (scores, diversity = Some(0.5)), text_signature = "($self, scores, diversity=0.5)")]
    fn with_scores(
        slf: &Bound<'_, Self>,
        scores: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::diversity)] diversity: Option<f64>,
    ) -> PyResult<Self> {
        let diversity = diversity.unwrap_or(0.5);
        let arguments = (scores, diversity).into_pyobject(slf.py())?;
        let recipe = Some(Recipe::plain(&slf.getattr("with_scores")?, arguments));
        let rows = slf.get().rows.with_scores(&rows::numbers(scores, "scores")?, diversity).or_raise()?;
        Ok(Self { rows, has_scores: true, recipe, ..*slf.get() })
    }

    /// With rows multiplied by e^(log quality).
    fn with_log_quality(slf: &Bound<'_, Self>, log_quality: &Bound<'_, PyAny>) -> PyResult<Self> {
        let arguments = (log_quality,).into_pyobject(slf.py())?;
        let recipe = Some(Recipe::plain(&slf.getattr("with_log_quality")?, arguments));
        let log_quality = rows::numbers(log_quality, "log qualities")?;
        let rows = slf.get().rows.with_log_quality(&log_quality).or_raise()?;
        Ok(Self { rows, has_scores: true, recipe, ..*slf.get() })
    }

    /// Features whose dot products approximate the Gaussian kernel.
    #[pyo3(signature = (bandwidth = None, landmarks = None, *, progress = None))]
    fn rbf(
        slf: &Bound<'_, Self>,
        #[pyo3(from_py_with = numbers::bandwidth)] bandwidth: Option<f64>,
        #[pyo3(from_py_with = numbers::optional)] landmarks: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (own, py) = (slf.get(), slf.py());
        own.check_no_scores()?;
        let arguments = (bandwidth, landmarks).into_pyobject(py)?;
        let recipe = Some(Recipe::plain(&slf.getattr("rbf")?, arguments));
        let rbf = Rbf::new(bandwidth.map_or(Bandwidth::Median, Bandwidth::Exactly));
        let rbf = landmarks.map_or(rbf, |landmarks| rbf.with_landmarks(landmarks));
        let made = interruptible(py, progress, |watch| {
            let found = rbf.features(&own.rows, &Engine::cpu().watched(&watch))?;
            Ok((found.features().clone(), found.kernel_error()))
        })?;
        let (rows, error) = made.or_raise()?;
        Ok(Self { rows, source: Source::Rbf(error), has_scores: false, recipe })
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
        slf: &Bound<'_, Self>,
        labels: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::representation)] rho: Option<f64>,
        exclude: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (own, py) = (slf.get(), slf.py());
        own.check_no_scores()?;
        let (arguments, keywords) =
            ((labels, rho).into_pyobject(py)?, [("exclude", exclude)].into_py_dict(py)?);
        let recipe = Some(Recipe::new(&slf.getattr("represent")?, arguments, keywords));
        let partition = own.parts(labels)?;
        let excluded = exclude.map_or_else(
            || Ok(Vec::new()),
            |items| rows::items(items, "items to exclude", own.rows.items()),
        )?;
        let made = interruptible(py, progress, |watch| {
            let engine = Engine::cpu().watched(&watch);
            let representation = Representation::without(&own.rows, &partition, &excluded, &engine)?;
            representation.features(rho.unwrap_or(1.0), &engine)
        })?;
        Ok(Self { rows: made.or_raise()?, recipe, ..*own })
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        recipe::pickled(self.recipe.as_ref(), py)
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
        Self { rows, source: Source::Rows, has_scores: false, recipe: None }
    }
}

/// The library's features of a `Features`, or of anything that makes them.
pub(crate) fn of(rows: &Bound<'_, PyAny>) -> PyResult<partition_dpp::Features> {
    match rows.cast::<Features>() {
        Ok(known) => Ok(known.get().rows.clone()),
        Err(_) => rows::features(rows),
    }
}

//! The laws over subsets.

use partition_dpp::{
    Engine, Features, Law, Sets, Subset,
    engine::{Job, Task},
    similarity::Rbf,
};
use pyo3::{
    prelude::*,
    types::{PyDict, PyType},
};

use crate::{
    engines::EngineChoice,
    errors::{OrRaise, exception, refused},
    features::{self, Source},
    interruptible::interruptible,
    labels, numbers, ordered,
    recipe::{Pickled, Recipe},
    rows,
};

/// A law with its data and conditions.
#[pyclass(frozen, subclass, module = "partition_dpp")]
pub(crate) struct Model {
    pub(crate) law: Law,
    /// The rows with their weights.
    pub(crate) features: Features,
    pub(crate) partition: Option<partition_dpp::Partition>,
    /// The least number of items of a set.
    picks: usize,
    recipe: Recipe,
}

/// Scores, and the weight of diversity against them.
pub(crate) struct Scored {
    pub(crate) scores: Vec<f64>,
    pub(crate) diversity: f64,
}

/// The arguments of all laws.
pub(crate) struct Given<'py> {
    pub(crate) rows: Bound<'py, PyAny>,
    pub(crate) ridge: Option<f64>,
    pub(crate) scores: Option<Bound<'py, PyAny>>,
    pub(crate) diversity: Option<f64>,
    pub(crate) include: Option<Bound<'py, PyAny>>,
    pub(crate) exclude: Option<Bound<'py, PyAny>>,
}

impl Given<'_> {
    /// The keywords of the call that they were given in.
    pub(crate) fn keywords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let keywords = PyDict::new(py);
        keywords.set_item("ridge", self.ridge)?;
        keywords.set_item("scores", &self.scores)?;
        keywords.set_item("diversity", self.diversity)?;
        keywords.set_item("include", &self.include)?;
        keywords.set_item("exclude", &self.exclude)?;
        Ok(keywords)
    }

    /// Items that are in every set, and those that are in none.
    pub(crate) fn conditions(&self, count: usize) -> PyResult<[Vec<usize>; 2]> {
        let of = |items: &Option<Bound<'_, PyAny>>, what| match items {
            Some(items) => rows::items(items, what, count),
            None => Ok(Vec::new()),
        };
        Ok([of(&self.include, "items to include")?, of(&self.exclude, "items to exclude")?])
    }

    /// Scores, with half a share for diversity unless it is given.
    pub(crate) fn scored(&self) -> PyResult<Option<Scored>> {
        match (&self.scores, self.diversity) {
            (Some(scores), diversity) => {
                let scores = rows::numbers(scores, "scores")?;
                Ok(Some(Scored { scores, diversity: diversity.unwrap_or(0.5) }))
            }
            (None, Some(_)) => Err(refused("diversity needs scores, one number per item")),
            (None, None) => Ok(None),
        }
    }
}

impl Model {
    fn new(given: &Given<'_>, sets: &Sets, recipe: Recipe) -> PyResult<Self> {
        let unscored = features::of(&given.rows)?;
        let [include, exclude] = given.conditions(unscored.items())?;
        let scored = given.scored()?;
        // The rows of a ridge have no scores: the whole kernel does.
        let features = match &scored {
            Some(Scored { scores, diversity }) if given.ridge.is_none() => {
                unscored.with_scores(scores, *diversity).or_raise()?
            }
            _ => unscored.clone(),
        };
        let ridge = given.ridge;
        let made = interruptible(given.rows.py(), None, |_| {
            let law = Law::new(&features, sets, ridge)?;
            let law = match (&scored, ridge) {
                (Some(Scored { scores, diversity }), Some(_)) => law.with_scores(scores, *diversity)?,
                _ => law,
            };
            law.including(&include)?.excluding(&exclude)
        })?;
        let advise = |error| match given.ridge {
            Some(_) => exception(&error),
            None => advise(&error, &given.rows, &unscored),
        };
        let partition = sets.quota().map(|(partition, _)| partition.clone());
        Ok(Self { law: made.map_err(advise)?, partition, features, picks: sets.least(), recipe })
    }

    /// ln det of the law's kernel over a set.
    pub(crate) fn log_det_of(&self, subset: &Subset) -> partition_dpp::Result<f64> {
        let log_det = match &self.law {
            Law::Ridge(dpp) => dpp.log_det(subset),
            _ => self.features.log_det(subset),
        };
        Ok(log_det?.value)
    }

    /// The engine for a task on these rows.
    pub(crate) fn engine(&self, choice: EngineChoice, task: Task) -> PyResult<Engine> {
        let parts = self.partition.as_ref().map_or(1, partition_dpp::Partition::parts);
        choice.open(&Job::new(&self.features, task).with_parts(parts).with_picks(self.picks))
    }
}

#[pymethods]
impl Model {
    /// ln det of the law's kernel over some items.
    fn log_det(&self, items: &Bound<'_, PyAny>) -> PyResult<f64> {
        let items = rows::items(items, "items", self.features.items())?;
        self.log_det_of(&Subset::new(items, self.features.items()).or_raise()?).or_raise()
    }

    /// The names of the parts of some items; `None` for a law without parts.
    fn parts_of(&self, items: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
        parts_of(self.partition.as_ref(), items)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        self.recipe.pickled(py)
    }

    fn __repr__(&self) -> String {
        let law = match &self.law {
            Law::Quota(_) => "PartitionDpp",
            Law::Size(_) => "KDpp",
            Law::AnySize(_) => "Dpp",
            _ => "Dpp with a ridge",
        };
        format!("<{law} of {} items of {} features>", self.features.items(), self.features.dims())
    }
}

/// The names of the parts of some items.
pub(crate) fn parts_of(
    partition: Option<&partition_dpp::Partition>,
    items: &Bound<'_, PyAny>,
) -> PyResult<Option<Vec<String>>> {
    let Some(partition) = partition else { return Ok(None) };
    let items = rows::items(items, "items", partition.items())?;
    // In their order, which a subset does not keep.
    Subset::new(items.clone(), partition.items()).or_raise()?;
    Ok(Some(items.into_iter().map(|item| partition.names()[partition.part_of(item)].clone()).collect()))
}

/// Adds the ways out if more items are wanted than the rank allows, one per line, with their predicted times. Leaves out a way
/// that is in use.
fn advise(error: &partition_dpp::Error, rows: &Bound<'_, PyAny>, features: &Features) -> PyErr {
    let &partition_dpp::Error::SizeAboveRank { k, .. } = error else { return exception(error) };
    let (items, dims) = (features.items(), features.dims());
    let given = rows.cast::<features::Features>().ok().map(Bound::get);
    let source = given.map_or(Source::Rows, |given| given.source);
    let delta = if matches!(source, Source::Rbf(_)) { 0.01 } else { features.suggested_ridge() };
    let ridge = format!("ridge={delta} allows larger sets ({})", seconds(of_draws(items, dims, k)));
    let ways = match source {
        // Of the whole kernel only rounding is missing.
        Source::Rbf(error) if error > 1e-12 => {
            let more = seconds(of_draws(items, items.min(2 * k), k));
            vec![ridge, format!("{} landmarks allow larger sets ({more})", items.min(2 * k))]
        }
        Source::Rbf(_) | Source::Kernel(_) => vec![ridge],
        Source::Rows => {
            let landmarks = Rbf::default().landmarks(items);
            let features = 3.0 * items as f64 * dims as f64 * landmarks as f64;
            let rbf = seconds(features + of_draws(items, landmarks, k));
            vec![ridge, format!("the similarity \"rbf\" allows larger sets ({rbf})")]
        }
    };
    // A greedy pass, and about as much again for swaps.
    let cover = seconds(8.0 * (items as f64).powi(2) * dims as f64);
    let cover =
        format!("select(..., method=\"map\", solver=\"coverage\") needs no rank ({cover}, less with labels)");
    let ways = ways.into_iter().chain([cover]).collect::<Vec<_>>().join("\n  ");
    refused(format!("{error}\n  {ways}"))
}

/// Operations until sets of `size` items are drawn.
fn of_draws(items: usize, dims: usize, size: usize) -> f64 {
    /// Weighted draws that predict the cost of exact ones.
    const PILOT: f64 = 64.0;
    let (items, dims, size) = (items as f64, dims as f64, size as f64);
    let steps = dims * size * (1.0 + size / dims) + 5.0 * dims * dims;
    2.0 * items * dims * dims + 25.0 * dims.powi(3) + PILOT * size * steps
}

/// Operations as the seconds that they are predicted to take.
fn seconds(operations: f64) -> String {
    /// Of a core, in a second.
    const SPEED: f64 = 1e10;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let seconds = operations / SPEED / threads as f64;
    if seconds < 1.0 { "under a second".into() } else { format!("about {seconds:.0} s") }
}

/// Exact counts or ranges per part.
#[pyclass(frozen, extends = Model, module = "partition_dpp")]
pub(crate) struct PartitionDpp;

#[pymethods]
impl PartitionDpp {
    #[new]
    #[classmethod]
    #[pyo3(signature = (features, labels, quota, k = None, *, ridge = None, scores = None, diversity = None,
        include = None, exclude = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords")]
    fn new(
        class: &Bound<'_, PyType>,
        features: Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        quota: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::optional)] k: Option<usize>,
        #[pyo3(from_py_with = numbers::ridge)] ridge: Option<f64>,
        scores: Option<Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::diversity)] diversity: Option<f64>,
        include: Option<Bound<'_, PyAny>>,
        exclude: Option<Bound<'_, PyAny>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let partition = labels::partition(labels)?;
        let asked = quota;
        let quota = ordered::quota(labels, &partition, asked, k)?;
        let given = Given { rows: features, ridge, scores, diversity, include, exclude };
        let arguments = (&given.rows, labels, asked, k).into_pyobject(class.py())?;
        let recipe = Recipe::new(class, arguments, given.keywords(class.py())?);
        let model = Model::new(&given, &Sets::Quota(partition, quota), recipe)?;
        Ok(PyClassInitializer::from(model).add_subclass(Self))
    }
}

/// Sets of k items.
#[pyclass(frozen, extends = Model, module = "partition_dpp")]
pub(crate) struct KDpp;

#[pymethods]
impl KDpp {
    #[new]
    #[classmethod]
    #[pyo3(signature = (features, k, *, ridge = None, scores = None, diversity = None, include = None,
        exclude = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords")]
    fn new(
        class: &Bound<'_, PyType>,
        features: Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::whole)] k: usize,
        #[pyo3(from_py_with = numbers::ridge)] ridge: Option<f64>,
        scores: Option<Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::diversity)] diversity: Option<f64>,
        include: Option<Bound<'_, PyAny>>,
        exclude: Option<Bound<'_, PyAny>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let given = Given { rows: features, ridge, scores, diversity, include, exclude };
        let arguments = (&given.rows, k).into_pyobject(class.py())?;
        let recipe = Recipe::new(class, arguments, given.keywords(class.py())?);
        Ok(PyClassInitializer::from(Model::new(&given, &Sets::OfSize(k), recipe)?).add_subclass(Self))
    }
}

/// Sets of any size.
#[pyclass(frozen, extends = Model, module = "partition_dpp")]
pub(crate) struct Dpp;

#[pymethods]
impl Dpp {
    #[new]
    #[classmethod]
    #[pyo3(signature = (features, *, ridge = None, scores = None, diversity = None, include = None,
        exclude = None))]
    fn new(
        class: &Bound<'_, PyType>,
        features: Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::ridge)] ridge: Option<f64>,
        scores: Option<Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::diversity)] diversity: Option<f64>,
        include: Option<Bound<'_, PyAny>>,
        exclude: Option<Bound<'_, PyAny>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let given = Given { rows: features, ridge, scores, diversity, include, exclude };
        let arguments = (&given.rows,).into_pyobject(class.py())?;
        let recipe = Recipe::new(class, arguments, given.keywords(class.py())?);
        Ok(PyClassInitializer::from(Model::new(&given, &Sets::OfAnySize, recipe)?).add_subclass(Self))
    }
}

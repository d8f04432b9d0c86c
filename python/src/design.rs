//! D-optimal designs.

use std::sync::OnceLock;

use partition_dpp::{
    Engine, Subset,
    engine::{Job, Task},
    map::{self, BranchAndBound, Certificate, Solver},
};
use pyo3::{
    prelude::*,
    types::{IntoPyDict, PyType},
};

use crate::{
    engines::EngineChoice,
    errors::{OrRaise, refused},
    features,
    interruptible::interruptible,
    models::{Given, parts_of},
    numbers, ordered,
    recipe::{Pickled, Recipe},
    rows,
    solution::Solution,
    solvers::{SolverChoice, limit, local_search, whole, within},
};

/// The question from which rows a linear model in their columns is estimated best.
#[pyclass(frozen, module = "partition_dpp")]
pub(crate) struct Design {
    question: map::Design,
    rows: partition_dpp::Features,
    partition: Option<partition_dpp::Partition>,
    certificate: OnceLock<Certificate>,
    recipe: Recipe,
}

#[pymethods]
impl Design {
    #[new]
    #[classmethod]
    #[pyo3(signature = (features, labels = None, quota = None, k = None, *, include = None, exclude = None))]
    fn new(
        class: &Bound<'_, PyType>,
        features: Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
        quota: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::optional)] k: Option<usize>,
        include: Option<Bound<'_, PyAny>>,
        exclude: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if labels.is_some() != quota.is_some() || quota.is_none() && k.is_none() {
            return Err(refused("a design takes either labels with a quota, or k alone"));
        }
        let (partition, sets) = ordered::sets(labels, quota, k)?;
        let rows = features::of(&features)?;
        let py = features.py();
        let given = Given { rows: features, ridge: None, scores: None, diversity: None, include, exclude };
        let arguments = (&given.rows, labels, quota, k).into_pyobject(py)?;
        let keywords = [("include", &given.include), ("exclude", &given.exclude)].into_py_dict(py)?;
        let recipe = Recipe::new(class, arguments, keywords);
        let [include, exclude] = given.conditions(rows.items())?;
        let question = interruptible(py, None, |_| {
            map::Design::over(&rows, &sets)?.including(&include)?.excluding(&exclude)
        })?;
        Ok(Self { question: question.or_raise()?, rows, partition, certificate: OnceLock::new(), recipe })
    }

    /// Searches for the best design.
    #[pyo3(signature = (solver = SolverChoice::Exact, *, time_limit = None, engine = EngineChoice::Auto, progress = None))]
    #[pyo3(text_signature = "($self, solver='exact', *, time_limit=None, engine='auto', progress=None)")]
    fn solve(
        &self,
        py: Python<'_>,
        solver: SolverChoice,
        #[pyo3(from_py_with = numbers::time_limit)] time_limit: Option<f64>,
        engine: EngineChoice,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Solution> {
        let limit = limit(time_limit)?;
        let solver: Box<dyn Solver<map::Design> + Send + Sync> = match solver {
            SolverChoice::Exact => Box::new(BranchAndBound::default()),
            SolverChoice::LocalSearch => Box::new(local_search(limit)),
            _ => return Err(refused("designs are found by the solvers \"exact\" and \"local-search\"")),
        };
        let engine = self.engine(engine)?;
        let found = interruptible(py, progress, |watch| {
            solver.solve(&self.question, &engine.watched(&within(&watch, limit)))
        })?;
        whole(found.or_raise()?)
    }

    /// The efficiencies of some rows that bounds prove.
    #[pyo3(signature = (items, *, engine = EngineChoice::Auto))]
    #[pyo3(text_signature = "($self, items, *, engine='auto')")]
    fn efficiency(&self, items: &Bound<'_, PyAny>, engine: EngineChoice) -> PyResult<(f64, f64)> {
        let log_det = self.log_det(items)?;
        let (count, size) = (items.len()?, self.question.size());
        if count != size {
            return Err(refused(format!(
                "an efficiency needs {size} rows, as many as the design has, not {count}"
            )));
        }
        let certificate = if let Some(known) = self.certificate.get() {
            known
        } else {
            let engine = self.engine(engine)?;
            let certified =
                interruptible(items.py(), None, |watch| self.question.certify(&engine.watched(&watch)))?;
            let certified = certified.or_raise()?;
            self.certificate.get_or_init(|| certified)
        };
        let [distinct, repeated] = self.question.efficiency(certificate, log_det);
        Ok((distinct, repeated))
    }

    /// ln det XᵀX of some rows.
    fn log_det(&self, items: &Bound<'_, PyAny>) -> PyResult<f64> {
        let subset =
            Subset::new(rows::items(items, "items", self.rows.items())?, self.rows.items()).or_raise()?;
        self.question.log_det(&subset).or_raise()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        self.recipe.pickled(py)
    }

    /// The names of the parts of some rows; `None` without parts.
    fn parts_of(&self, items: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
        parts_of(self.partition.as_ref(), items)
    }

    fn __repr__(&self) -> String {
        let (items, columns) = (self.rows.items(), self.rows.dims());
        format!("<Design: {} of {items} rows, {columns} columns>", self.question.size())
    }
}

impl Design {
    fn engine(&self, choice: EngineChoice) -> PyResult<Engine> {
        let parts = self.partition.as_ref().map_or(1, partition_dpp::Partition::parts);
        choice.open(
            &Job::new(&self.rows, Task::LocalSearch(1)).with_parts(parts).with_picks(self.question.size()),
        )
    }
}

//! Best sets of a kernel that is computed from pairs of items.

use std::collections::BTreeMap;

use numpy::PyArray1;
use partition_dpp::{
    Engine, Error, Features, Partition, Sets, Subset,
    map::{self, Coverage, Greedy, Solver},
    similarity::{Bandwidth, DotKernel, KernelFunction, RbfKernel},
};
use pyo3::{prelude::*, types::PyType};

use crate::{
    arrays::indices,
    errors::{OrRaise, exception, refused},
    features,
    interruptible::interruptible,
    models::{Given, Scored, parts_of},
    numbers, ordered,
    recipe::{Pickled, Recipe},
    rows,
    solution::Solution,
    solvers::{SolverChoice, limit, local_search, whole, within},
};

/// A kernel of pairs of items, with a quota, a number of items, or neither.
#[pyclass(frozen, module = "partition_dpp")]
pub(crate) struct KernelModel {
    features: Features,
    comparison: Comparison,
    ridge: Option<f64>,
    partition: Option<Partition>,
    sets: Sets,
    scored: Option<Scored>,
    include: Vec<usize>,
    exclude: Vec<usize>,
    recipe: Recipe,
}

/// How two rows are compared.
enum Comparison {
    Dot,
    Rbf(Bandwidth),
}

/// Items in order, and what each adds.
type Ranking<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

impl Comparison {
    /// The kernel of rows, with a ridge if there is one.
    fn kernel(
        &self,
        features: &Features,
        ridge: Option<f64>,
    ) -> partition_dpp::Result<Box<dyn KernelFunction>> {
        Ok(match (self, ridge) {
            (Self::Dot, None) => Box::new(DotKernel::new(features)),
            (Self::Dot, Some(delta)) => Box::new(DotKernel::new(features).with_ridge(delta)?),
            (&Self::Rbf(width), None) => Box::new(RbfKernel::new(features, width)?),
            (&Self::Rbf(width), Some(delta)) => Box::new(RbfKernel::new(features, width)?.with_ridge(delta)?),
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Dot => "dot",
            Self::Rbf(_) => "rbf",
        }
    }
}

#[pymethods]
impl KernelModel {
    #[new]
    #[classmethod]
    #[pyo3(signature = (features, labels = None, quota = None, k = None, *, similarity = None, bandwidth = None,
        ridge = None, scores = None, diversity = None, include = None, exclude = None))]
    #[pyo3(
        text_signature = "(features, labels=None, quota=None, k=None, *, similarity='rbf', bandwidth=None, \
        ridge=None, scores=None, diversity=None, include=None, exclude=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "keywords")]
    fn new(
        class: &Bound<'_, PyType>,
        features: Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
        quota: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::optional)] k: Option<usize>,
        similarity: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::bandwidth)] bandwidth: Option<f64>,
        #[pyo3(from_py_with = numbers::ridge)] ridge: Option<f64>,
        scores: Option<Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::diversity)] diversity: Option<f64>,
        include: Option<Bound<'_, PyAny>>,
        exclude: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (partition, sets) = ordered::sets(labels, quota, k)?;
        let comparison = match &*similarity.map_or_else(|| "rbf".into(), numbers::word) {
            "rbf" => Comparison::Rbf(bandwidth.map_or(Bandwidth::Median, Bandwidth::Exactly)),
            "dot" if bandwidth.is_none() => Comparison::Dot,
            "dot" => return Err(refused("a bandwidth is for the similarity \"rbf\"")),
            other => {
                return Err(refused(format!("the similarity \"{other}\" is neither \"rbf\" nor \"dot\"")));
            }
        };
        let given = Given { rows: features, ridge, scores, diversity, include, exclude };
        if let (Comparison::Rbf(_), Ok(known)) = (&comparison, given.rows.cast::<features::Features>()) {
            known.get().check_no_scores()?;
        }
        let py = class.py();
        let (arguments, keywords) = ((&given.rows, labels, quota, k).into_pyobject(py)?, given.keywords(py)?);
        keywords.set_item("similarity", comparison.name())?;
        keywords.set_item("bandwidth", bandwidth)?;
        let recipe = Recipe::new(class, arguments, keywords);
        let features = features::of(&given.rows)?;
        let ([include, exclude], scored) = (given.conditions(features.items())?, given.scored()?);
        if let Some(Scored { scores, .. }) = &scored
            && scores.len() != features.items()
        {
            let (expected, found) = (features.items(), scores.len());
            return Err(exception(&Error::Shape { what: "the list of scores", expected, found }));
        }
        Ok(Self { features, comparison, ridge, partition, sets, scored, include, exclude, recipe })
    }

    /// Searches for the best set, greedily or by local search, or for one that covers all items.
    #[pyo3(signature = (solver = SolverChoice::LocalSearch, *, coverage = None, time_limit = None, progress = None))]
    #[pyo3(
        text_signature = "($self, solver='local-search', *, coverage=None, time_limit=None, progress=None)"
    )]
    fn solve(
        &self,
        py: Python<'_>,
        solver: SolverChoice,
        coverage: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = numbers::time_limit)] time_limit: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Solution> {
        let limit = limit(time_limit)?;
        if !matches!(solver, SolverChoice::Greedy | SolverChoice::LocalSearch | SolverChoice::Coverage) {
            let sentence =
                "kernels of pairs of items take the solvers \"greedy\", \"local-search\" and \"coverage\"";
            return Err(refused(sentence));
        }
        if coverage.is_some() && solver != SolverChoice::Coverage {
            return Err(refused("coverage, what items cover, is for the solver \"coverage\""));
        }
        let coverage = self.coverage(coverage)?;
        let found = interruptible(py, progress, |watch| {
            let kernel = self.comparison.kernel(&self.features, self.ridge)?;
            let (model, engine) = (self.model(&*kernel)?, Engine::cpu());
            match solver {
                SolverChoice::Greedy => Greedy::default().solve(&model, &engine.watched(&watch)),
                SolverChoice::Coverage => coverage.solve(&model, &engine.watched(&within(&watch, limit))),
                _ => local_search(limit).solve(&model, &engine.watched(&within(&watch, limit))),
            }
        })?;
        whole(found.or_raise()?)
    }

    /// The share of the similarity of all items, and of every part, that some items explain, without ridge and scores.
    fn explained(
        &self,
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
    ) -> PyResult<(f64, Option<BTreeMap<String, f64>>)> {
        let count = self.features.items();
        let subset = Subset::new(rows::items(items, "items", count)?, count).or_raise()?;
        let of_all = || Partition::of(std::iter::repeat_n((), count).map(|()| 0));
        let found = interruptible(py, None, |watch| {
            let kernel = self.comparison.kernel(&self.features, None)?;
            let partition = self.partition.clone().map_or_else(of_all, Ok)?;
            let model = map::KernelModel::of_any_size(&*kernel)?;
            model.explained(&subset, &partition, &Engine::cpu().watched(&watch))
        })?;
        let found = found.or_raise()?;
        let names = self.partition.as_ref().map(|partition| partition.names().iter().cloned());
        Ok((found.total, names.map(|names| names.zip(found.by_part).collect())))
    }

    /// Some items, the best first, and what each adds to ln det of those before it, with ridge and scores.
    fn ranking<'py>(&self, py: Python<'py>, items: &Bound<'_, PyAny>) -> PyResult<Ranking<'py>> {
        let count = self.features.items();
        let subset = Subset::new(rows::items(items, "items", count)?, count).or_raise()?;
        let ranked = interruptible(py, None, |_| self.ranked(&subset))?.or_raise()?;
        let (items, gains): (Vec<usize>, Vec<f64>) = ranked.into_iter().unzip();
        Ok((indices(py, &items), PyArray1::from_vec(py, gains)))
    }

    /// The scores of some items, in their order; `None` without scores.
    fn scores_of<'py>(
        &self,
        py: Python<'py>,
        items: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let items = rows::items(items, "items", self.features.items())?;
        Subset::new(items.clone(), self.features.items()).or_raise()?;
        let of = |scored: &Scored| PyArray1::from_iter(py, items.iter().map(|&item| scored.scores[item]));
        Ok(self.scored.as_ref().map(of))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        self.recipe.pickled(py)
    }

    /// The names of the parts of some items; `None` without parts.
    fn parts_of(&self, items: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
        parts_of(self.partition.as_ref(), items)
    }
}

impl KernelModel {
    /// The items that a chosen item covers: the items of its part, or all items without parts.
    fn coverage(&self, what: Option<&Bound<'_, PyAny>>) -> PyResult<Coverage> {
        let coverage = match (what.map(numbers::word).as_deref(), &self.partition) {
            (None | Some("parts"), Some(partition)) => Coverage::within(partition),
            (None | Some("all"), _) => Coverage::of_all(),
            (Some("parts"), None) => {
                return Err(refused("coverage of parts needs labels, the part of each item"));
            }
            (Some(other), _) => {
                return Err(refused(format!("coverage is \"{other}\", neither \"parts\" nor \"all\"")));
            }
        };
        Ok(coverage.with_swaps())
    }

    /// The items of a set, the best first, with what each adds.
    fn ranked(&self, subset: &Subset) -> partition_dpp::Result<Vec<(usize, f64)>> {
        let items = subset.as_slice();
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let comparison = match self.comparison {
            Comparison::Dot => Comparison::Dot,
            Comparison::Rbf(width) => Comparison::Rbf(Bandwidth::Exactly(width.of(&self.features)?)),
        };
        let kernel = comparison.kernel(&self.features.restricted_to(items)?, self.ridge)?;
        let mut model = map::KernelModel::of_any_size(&*kernel)?;
        if let Some(Scored { scores, diversity }) = &self.scored {
            let scores: Vec<f64> = items.iter().map(|&item| scores[item]).collect();
            model = model.with_scores(&scores, *diversity)?;
        }
        let ranked = model.ranking(&Subset::new((0..items.len()).collect(), items.len())?)?;
        Ok(ranked.into_iter().map(|(place, gain)| (items[place], gain)).collect())
    }

    fn model<'k>(&self, kernel: &'k dyn KernelFunction) -> partition_dpp::Result<map::KernelModel<'k>> {
        let model = map::KernelModel::over(kernel, &self.sets)?;
        let model = model.including(&self.include)?.excluding(&self.exclude)?;
        match &self.scored {
            Some(Scored { scores, diversity }) => model.with_scores(scores, *diversity),
            None => Ok(model),
        }
    }
}

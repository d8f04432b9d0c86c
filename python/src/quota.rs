//! Quotas as Python writes them.

use partition_dpp::CountRange;
use pyo3::{
    prelude::*,
    types::{PyBool, PyList, PyRange, PyRangeMethods, PyString, PyTuple, PyType},
};

use crate::{
    errors::{OrRaise, refused},
    labels::{Partition, name_of},
    numbers, ordered,
    recipe::{Pickled, Recipe},
};

/// How many items of every part.
#[pyclass(frozen, module = "partition_dpp")]
pub(crate) struct Quota {
    pub(crate) quota: partition_dpp::Quota,
    recipe: Recipe,
}

#[pymethods]
impl Quota {
    #[new]
    #[classmethod]
    #[pyo3(signature = (partition, quota, k = None))]
    fn new(
        class: &Bound<'_, PyType>,
        partition: &Bound<'_, Partition>,
        quota: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::optional)] k: Option<usize>,
    ) -> PyResult<Self> {
        let recipe = Recipe::plain(class, (partition, quota, k).into_pyobject(class.py())?);
        let quota = ordered::quota(partition, &partition.get().parts, quota, k)?;
        Ok(Self { quota, recipe })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        self.recipe.pickled(py)
    }

    /// The least number of items of every part.
    #[getter]
    fn low(&self) -> Vec<usize> {
        self.quota.low().to_vec()
    }

    /// The largest number of items of every part.
    #[getter]
    fn high(&self) -> Vec<usize> {
        self.quota.high().to_vec()
    }

    /// The number of items in all, if it is fixed.
    #[getter]
    fn total(&self) -> Option<usize> {
        self.quota.total()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.quota)
    }
}

/// The quota of these parts: a dictionary by label, a list in the order of the labels, `"equal"` or `"proportional"`;
/// with a total, if given.
pub(crate) fn resolve(
    partition: &partition_dpp::Partition,
    quota: &Bound<'_, PyAny>,
    total: Option<usize>,
) -> PyResult<partition_dpp::Quota> {
    if let Ok(known) = quota.cast::<Quota>() {
        let known = known.get().quota.clone();
        return match total {
            Some(total) => known.with_total(total).or_raise(),
            None => Ok(known),
        };
    }
    if let Ok(word) = quota.cast::<PyString>() {
        let word = word.to_cow()?;
        let needed = || {
            total.ok_or_else(|| refused(format!("the quota \"{word}\" needs k, the number of items in all")))
        };
        return match &*word {
            "equal" => partition_dpp::Quota::equal(partition, needed()?).or_raise(),
            "proportional" => partition_dpp::Quota::proportional(partition, needed()?).or_raise(),
            _ => Err(refused(format!("the quota \"{word}\" is neither \"equal\" nor \"proportional\""))),
        };
    }
    let (mut has_ranges, mut entries) = (false, Vec::new());
    let made = if let Some(named) = named(quota)? {
        let mut names = Vec::new();
        for (label, entry) in named {
            let (range, is_range) = count_range(&entry)?;
            has_ranges |= is_range;
            names.push(name_of(&label)?);
            entries.push(range);
        }
        partition_dpp::Quota::named(partition, names.into_iter().zip(entries)).or_raise()?
    } else {
        let is_listed = quota.hasattr("__getitem__")? && quota.hasattr("__len__")?;
        let listed = quota.try_iter().ok().filter(|_| is_listed);
        let listed = listed.ok_or_else(|| {
            let kind = quota.get_type().to_string();
            refused(format!("a quota is a dictionary, a list, \"equal\" or \"proportional\", not {kind}"))
        })?;
        for entry in listed {
            let (range, is_range) = count_range(&entry?)?;
            has_ranges |= is_range;
            entries.push(range);
        }
        partition_dpp::Quota::new(partition, entries).or_raise()?
    };
    match (total, made.total()) {
        (Some(k), Some(sum)) if k != sum && !has_ranges => Err(refused(format!(
            "the quota asks for {sum} items in all, k for {k}: omit k, or make them equal"
        ))),
        (Some(k), _) => made.with_total(k).or_raise(),
        (None, _) => Ok(made),
    }
}

/// The labels and entries of a dictionary, another mapping, or a series of pandas; `None` for anything else.
pub(crate) fn named<'py>(quota: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Entry<'py>>>> {
    if !(quota.hasattr("keys")? && quota.hasattr("items")?) {
        return Ok(None);
    }
    let items = quota.call_method0("items")?;
    let wrong = || refused("a quota has pairs of a label and a number of items");
    let entry = |item: PyResult<Bound<'py, PyAny>>| item?.extract().map_err(|_| wrong());
    items.try_iter().map_err(|_| wrong())?.map(entry).collect::<PyResult<Vec<_>>>().map(Some)
}

/// A label, and how many items of it.
type Entry<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The entry of a part: a number, a pair (low, high) with both ends included, or a `range`; and whether it is no number.
pub(crate) fn count_range(entry: &Bound<'_, PyAny>) -> PyResult<(CountRange, bool)> {
    let wrong = || {
        let entry = numbers::shown(entry);
        refused(format!("quota entry {entry}: write a number of items, a pair (low, high) or a range"))
    };
    let count = |entry: &Bound<'_, PyAny>| {
        let is_bool = entry.is_instance_of::<PyBool>();
        if is_bool {
            Err(wrong())
        } else {
            entry.extract::<usize>().map_err(|error| numbers::of_mistake(entry, error, wrong))
        }
    };
    if let Ok(range) = entry.cast::<PyRange>() {
        let ends = range.start().and_then(|start| Ok((start, range.stop()?, range.step()?)));
        let (start, stop, step) = ends.map_err(|error| numbers::of_mistake(entry, error, wrong))?;
        if step != 1 || start >= stop {
            return Err(refused(format!("quota entry {range}: a range has the step 1 and is not empty")));
        }
        let low = usize::try_from(start).map_err(|_| wrong())?;
        let high = usize::try_from(stop - 1).map_err(|_| wrong())?;
        return Ok(((low..=high).into(), true));
    }
    if entry.is_instance_of::<PyTuple>() || entry.is_instance_of::<PyList>() {
        let end = |end: PyResult<Bound<'_, PyAny>>| {
            let end = end?;
            if end.is_none() { Ok(None) } else { count(&end).map(Some) }
        };
        let pair = entry.try_iter()?.map(end).collect::<PyResult<Vec<Option<usize>>>>()?;
        let [low, high] = pair[..] else { return Err(wrong()) };
        return Ok(((low.unwrap_or(0)..=high.unwrap_or(usize::MAX)).into(), true));
    }
    Ok((count(entry)?.into(), false))
}

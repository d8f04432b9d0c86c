//! Labels, and the parts that they make.

use std::{collections::HashMap, fmt};

use numpy::{PyArray1, PyArrayMethods};
use pyo3::{
    IntoPyObjectExt,
    prelude::*,
    types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple, PyType},
};

use crate::{
    arrays::ArrayValues,
    arrow,
    errors::{OrRaise, refused},
    interruptible::interruptible,
    numbers,
    ordered::order,
    recipe::{self, Pickled, Recipe},
    rows::{as_array, column, column_of_pandas, contiguous},
};

/// The parts of the items, one label per item.
#[pyclass(frozen, module = "partition_dpp")]
pub(crate) struct Partition {
    pub(crate) parts: partition_dpp::Partition,
    /// Whether the label of every part is text, if that is known.
    pub(crate) texts: Option<Vec<bool>>,
    /// The explicit order of the labels, if they have one.
    pub(crate) order: Option<Vec<String>>,
    pub(crate) recipe: Option<Recipe>,
}

#[pymethods]
impl Partition {
    #[new]
    #[classmethod]
    fn new(class: &Bound<'_, PyType>, labels: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (parts, texts) = with_kinds(labels)?;
        let recipe = Some(Recipe::plain(class, (labels,).into_pyobject(labels.py())?));
        Ok(Self { parts, texts, order: order(labels)?, recipe })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        recipe::pickled(self.recipe.as_ref(), py)
    }

    /// The labels in their order, as text.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.parts.names().to_vec()
    }

    /// How many items every part has.
    #[getter]
    fn sizes(&self) -> Vec<usize> {
        (0..self.parts.parts()).map(|part| self.parts.size(part)).collect()
    }

    /// The labels in their order: text, integers or booleans, as they were given.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        (0..self.parts.parts()).map(|part| self.label(py, part)).collect()
    }

    /// The label of an item.
    fn part_of<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::whole)] item: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        if item >= self.parts.items() {
            let items = self.parts.items();
            return partition_dpp::Result::Err(partition_dpp::Error::ItemOutOfRange { item, items })
                .or_raise();
        }
        self.label(py, self.parts.part_of(item))
    }

    fn __len__(&self) -> usize {
        self.parts.items()
    }

    fn __repr__(&self) -> String {
        format!("<Partition of {} items in {} parts>", self.parts.items(), self.parts.parts())
    }
}

impl Partition {
    /// The label of a part in its own type.
    fn label<'py>(&self, py: Python<'py>, part: usize) -> PyResult<Bound<'py, PyAny>> {
        let name = &self.parts.names()[part];
        let is_text = self.texts.as_ref().is_none_or(|texts| texts[part]);
        match &**name {
            "false" | "true" if !is_text => Ok(PyBool::new(py, name == "true").to_owned().into_any()),
            _ => match name.parse::<i128>() {
                Ok(number) if !is_text => number.into_bound_py_any(py),
                _ => name.into_bound_py_any(py),
            },
        }
    }
}

/// The parts of labels: text, integers, booleans; of Arrow, of NumPy, or in a list.
pub(crate) fn partition(labels: &Bound<'_, PyAny>) -> PyResult<partition_dpp::Partition> {
    with_kinds(labels).map(|(parts, _)| parts)
}

/// Parts, and whether the label of each is text, if that is known.
type Kinds = (partition_dpp::Partition, Option<Vec<bool>>);

/// The parts of labels, and which of them are text.
pub(crate) fn with_kinds(labels: &Bound<'_, PyAny>) -> PyResult<Kinds> {
    if let Ok(known) = labels.cast::<Partition>() {
        let known = known.get();
        return Ok((known.parts.clone(), known.texts.clone()));
    }
    let of_kind = |made: partition_dpp::Result<partition_dpp::Partition>, is_text| {
        let parts = made.or_raise()?;
        let texts = vec![is_text; parts.parts()];
        Ok((parts, Some(texts)))
    };
    let py = labels.py();
    let column_of_pandas = column_of_pandas(labels)?;
    let labels = column_of_pandas.as_ref().unwrap_or(labels);
    if let Some(chunks) = arrow::chunks(labels)? {
        let whole = arrow::only_column(arrow::whole(&chunks)?);
        // Whole numbers in floating point are integers, as NumPy's are.
        if !whole.data_type().is_floating() {
            let made = interruptible(py, None, |_| partition_dpp::Partition::from_arrow(whole.as_ref()))?;
            return of_kind(made, arrow::is_text(&whole));
        }
    }
    // An array would turn NaN, numbers and booleans in a list with text into text.
    let array = if labels.is_instance_of::<PyList>() || labels.is_instance_of::<PyTuple>() {
        listed(labels)?
    } else {
        as_array(labels, "labels")?
    };
    let array = column(array)?;
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        return Err(refused(format!(
            "labels have {dimensions} dimensions; there must be one label per item"
        )));
    }
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let made = match kind {
        'b' => {
            let values = contiguous::<bool>(&array, "bool")?.to_vec()?;
            parts(py, values.iter())?
        }
        'i' => {
            let values: Bound<'_, PyArray1<i64>> = array.call_method1("astype", ("int64",))?.cast_into()?;
            let values = values.to_vec()?;
            parts(py, values.iter())?
        }
        'u' => {
            let values: Bound<'_, PyArray1<u64>> = array.call_method1("astype", ("uint64",))?.cast_into()?;
            let values = values.to_vec()?;
            parts(py, values.iter())?
        }
        'f' => of_whole_numbers(&array)?,
        'U' => of_text(&array)?,
        'O' => return of_objects(&array),
        _ => {
            let dtype = array.getattr("dtype")?;
            return Err(refused(format!(
                "labels have the dtype {dtype}; they must be text, integers or booleans"
            )));
        }
    };
    of_kind(made, kind == 'U')
}

/// A list as an array of objects, unless all of it is text, or numbers in floating point.
fn listed<'py>(labels: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (mut texts, mut numbers) = (true, true);
    for label in labels.try_iter()? {
        let label = label?;
        texts &= label.is_exact_instance_of::<PyString>();
        numbers &= label.is_instance_of::<PyFloat>();
        if !texts && !numbers {
            let array = labels.py().import("numpy")?.call_method1("empty", (labels.len()?, "object"))?;
            labels.try_iter()?.enumerate().try_for_each(|(row, label)| array.set_item(row, label?))?;
            return Ok(array);
        }
    }
    as_array(labels, "labels")
}

/// A text of NumPy: code points, with zeros behind.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Text<'a>(&'a [u32]);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters =
            self.0.iter().map(|&point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
        letters.into_iter().try_for_each(|letter| fmt::Write::write_char(f, letter))
    }
}

fn of_text(array: &Bound<'_, PyAny>) -> PyResult<partition_dpp::Result<partition_dpp::Partition>> {
    let py = array.py();
    let (items, bytes): (usize, usize) =
        (array.len()?, array.getattr("dtype")?.getattr("itemsize")?.extract()?);
    let width = bytes / 4;
    if width == 0 || items == 0 {
        return Ok(partition_dpp::Partition::from_labels(&vec![""; items]));
    }
    let native = array.getattr("dtype")?.call_method1("newbyteorder", ("=",))?;
    let array = py.import("numpy")?.call_method1("require", (array, native, "C"))?;
    let points: Bound<'_, numpy::PyArrayDyn<u32>> = array.call_method1("view", ("uint32",))?.cast_into()?;
    let points = ArrayValues::of(&points)?;
    let of_row = |row: &'_ [u32]| row.iter().rposition(|&point| point != 0).map_or(0, |last| last + 1);
    parts(py, points.as_ref().chunks_exact(width).map(|row| Text(&row[..of_row(row)])))
}

/// The parts of labels, unless a signal ends the work; then unfinished results are dropped.
fn parts<L: Ord + fmt::Display>(
    py: Python<'_>,
    labels: impl Iterator<Item = L> + Send,
) -> PyResult<partition_dpp::Result<partition_dpp::Partition>> {
    interruptible(py, None, |watch| {
        partition_dpp::Partition::of(labels.take_while(|_| watch.ended().is_none()))
    })
}

/// Whole numbers up to here are exact in f64.
const LARGEST: f64 = 9_007_199_254_740_992.0;

fn of_whole_numbers(array: &Bound<'_, PyAny>) -> PyResult<partition_dpp::Result<partition_dpp::Partition>> {
    let values: Bound<'_, PyArray1<f64>> = array.call_method1("astype", ("float64",))?.cast_into()?;
    let values = values.to_vec()?;
    let whole = |(row, value): (usize, f64)| {
        if value.fract() == 0.0 && value.abs() <= LARGEST {
            #[expect(clippy::cast_possible_truncation, reason = "it is a whole number of 53 bits")]
            Ok(value as i64)
        } else {
            Err(refused(format!("the label of item {row} is {value}; labels are text, integers or booleans")))
        }
    };
    let values = values.into_iter().enumerate().map(whole).collect::<PyResult<Vec<i64>>>()?;
    Ok(partition_dpp::Partition::from_labels(&values))
}

/// Labels of a list with several types: by text unless all are integers.
fn of_objects(array: &Bound<'_, PyAny>) -> PyResult<Kinds> {
    let (mut texts, mut integers) = (Vec::new(), Some(Vec::<i128>::new()));
    // Whether each name is a text's: 1 and "1" are different labels.
    let mut kinds = HashMap::new();
    for (row, label) in array.try_iter()?.enumerate() {
        let label = label?;
        if !is_label(&label) {
            let (kind, label) = (label.get_type().name()?, label.repr()?);
            return Err(refused(format!(
                "the label of item {row} is {label} ({kind}); labels are text, integers or booleans"
            )));
        }
        if let Some(known) = &mut integers {
            match label.extract::<i128>().ok().filter(|_| is_integer(&label)) {
                Some(integer) => known.push(integer),
                None => integers = None,
            }
        }
        let name = name_of(&label)?;
        let is_text = label.is_instance_of::<PyString>() || kind_of(&label) == Some('U');
        if *kinds.entry(name.clone()).or_insert(is_text) != is_text {
            return Err(refused(format!("the labels \"{name}\" are text in some rows and not in others")));
        }
        texts.push(name);
    }
    // Python's dictionaries would make one key of them.
    for (truth, number) in [("true", "1"), ("false", "0")] {
        if kinds.get(truth) == Some(&false) && kinds.get(number) == Some(&false) {
            return Err(refused(format!("the labels are {truth} in some rows and {number} in others")));
        }
    }
    let parts = match integers.filter(|integers| !integers.is_empty()) {
        Some(integers) => partition_dpp::Partition::from_labels(&integers),
        None => partition_dpp::Partition::from_labels(&texts),
    };
    let parts = parts.or_raise()?;
    let texts = parts.names().iter().map(|name| kinds.get(name).copied().unwrap_or_default()).collect();
    Ok((parts, Some(texts)))
}

fn is_label(label: &Bound<'_, PyAny>) -> bool {
    let is_scalar = || kind_of(label).is_some_and(|kind| matches!(kind, 'b' | 'i' | 'u' | 'U'));
    label.is_instance_of::<PyString>() || label.is_instance_of::<PyInt>() || is_scalar()
}

fn is_integer(label: &Bound<'_, PyAny>) -> bool {
    let is_scalar = || kind_of(label).is_some_and(|kind| matches!(kind, 'i' | 'u'));
    label.is_instance_of::<PyInt>() && !label.is_instance_of::<PyBool>() || is_scalar()
}

/// The kind of one of NumPy's numbers, which are none of Python's.
fn kind_of(label: &Bound<'_, PyAny>) -> Option<char> {
    label.getattr("dtype").and_then(|dtype| dtype.getattr("kind")?.extract()).ok()
}

/// The name of a label's part.
pub(crate) fn name_of(label: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = label.cast::<PyString>() {
        // Also of an enumeration of texts.
        return Ok(text.to_cow()?.into_owned());
    }
    if let Ok(number) = label.cast::<PyFloat>()
        && number.value().fract() == 0.0
    {
        return Ok(format!("{:.0}", number.value()));
    }
    let text = label.str()?.to_cow()?.into_owned();
    let is_truth = label.is_instance_of::<PyBool>() || kind_of(label) == Some('b');
    Ok(if is_truth { text.to_lowercase() } else { text })
}

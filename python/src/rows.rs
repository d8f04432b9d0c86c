//! Rows of numbers from whatever holds them.

use std::fmt;

use arrow_array::{Array, ArrayRef, cast::AsArray};
use half::f16;
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods};
use partition_dpp::{
    Error, Features, Kernel,
    data::{Scalar, Storage},
};
use pyo3::{
    prelude::*,
    types::{IntoPyDict, PyBool, PyFrozenSet, PyList, PySet, PySlice, PyTuple},
};

use crate::{
    arrays::ArrayValues,
    arrow,
    errors::{OrRaise, refused},
    interruptible::interruptible,
};

/// The type that values of a NumPy type are read as.
enum Kind {
    /// As they are.
    Half,
    Single,
    Double,
}

/// The features that a matrix holds: Arrow lists or columns, or anything that NumPy takes for an array.
///
/// Contiguous f16, f32 and f64 are not copied.
pub(crate) fn features(rows: &Bound<'_, PyAny>) -> PyResult<Features> {
    let py = rows.py();
    let is_table = is_pandas_table(rows)?;
    if let Some(column) = column_of_pandas(rows)? {
        let kind: Option<char> = column.getattr("dtype")?.getattr("kind")?.extract().ok();
        if kind == Some('O') {
            return features(&column);
        }
    }
    let offered = if is_table { None } else { arrow::chunks(rows)? };
    if let Some(chunks) = offered {
        let columns = single_column(chunks)?;
        return interruptible(py, None, |watch| {
            let mut first = 0;
            let of_chunk = |chunk: &ArrayRef| {
                watch.check()?;
                let before = first;
                first += chunk.len();
                Features::from_arrow(chunk.as_ref()).map_err(|error| in_whole(error, before))
            };
            let chunks = columns.iter().filter(|chunk| !chunk.is_empty()).map(of_chunk);
            let chunks = chunks.collect::<partition_dpp::Result<Vec<_>>>()?;
            if let [one] = &chunks[..] { Ok(one.clone()) } else { Features::concatenate(&chunks) }
        })?
        .or_raise();
    }
    let array = if is_table { of_table(rows)? } else { as_array(rows, "features")? };
    let [items, dims] = shape(&array, "features", "one row per item")?;
    match kind(&array, "features")? {
        Kind::Half => of_array::<f16>(&array, "float16", (items, dims)),
        Kind::Single => of_array::<f32>(&array, "float32", (items, dims)),
        Kind::Double => of_array::<f64>(&array, "float64", (items, dims)),
    }
}

/// A dense kernel, with the rounding of its type.
pub(crate) fn kernel(matrix: &Bound<'_, PyAny>) -> PyResult<Kernel> {
    const WHAT: &str = "similarities";
    let array = if is_pandas_table(matrix)? { of_table(matrix)? } else { as_array(matrix, WHAT)? };
    let [items, others] = shape(&array, WHAT, "one number per pair of items")?;
    if items != others {
        return Err(refused(format!(
            "similarities have the shape {items}×{others}; they must be a square matrix, one number per pair of items"
        )));
    }
    match kind(&array, WHAT)? {
        Kind::Half => of_pairs::<f16>(&array, "float16", items),
        Kind::Single => of_pairs::<f32>(&array, "float32", items),
        Kind::Double => of_pairs::<f64>(&array, "float64", items),
    }
}

/// The shape of a matrix.
fn shape(array: &Bound<'_, PyAny>, what: &str, of: &str) -> PyResult<[usize; 2]> {
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    <[usize; 2]>::try_from(shape).map_err(|shape| {
        let plural = if shape.len() == 1 { "" } else { "s" };
        refused(format!("{what} have {} dimension{plural}; they must be a matrix, {of}", shape.len()))
    })
}

fn is_pandas_table(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("iloc")? && object.hasattr("to_numpy")? && object.hasattr("columns")?)
}

/// The only column of a table of pandas, which as Arrow data has its index as another one.
pub(crate) fn column_of_pandas<'py>(table: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !is_pandas_table(table)? || table.getattr("columns")?.len()? != 1 {
        return Ok(None);
    }
    table.getattr("iloc")?.get_item((PySlice::full(table.py()), 0)).map(Some)
}

/// An error of a chunk, with the row of the whole column.
fn in_whole(error: Error, before: usize) -> Error {
    match error {
        Error::NotFinite { row, column, value } => Error::NotFinite { row: row + before, column, value },
        other => other,
    }
}

/// The numbers of a table of pandas, whose columns may be of several types; missing ones are NaN.
fn of_table<'py>(table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let array = as_array(table, "features")?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if kind != 'O' {
        return Ok(array);
    }
    let is_number = |kind: Bound<'_, PyAny>| {
        let kind: Option<char> = kind.getattr("kind").ok().and_then(|kind| kind.extract().ok());
        kind.is_some_and(|kind| matches!(kind, 'b' | 'i' | 'u' | 'f'))
    };
    let mut columns = table.getattr("dtypes")?.try_iter()?;
    if columns.try_fold(true, |all, column| Ok::<_, PyErr>(all && is_number(column?)))? {
        return table.call_method1("to_numpy", ("float64", false, f64::NAN));
    }
    // It is refused as what it is.
    Ok(array)
}

/// A table of one column of lists is that column.
fn single_column(chunks: Vec<ArrayRef>) -> PyResult<Vec<ArrayRef>> {
    let unwrapped = |chunk: ArrayRef| match chunk.as_struct_opt() {
        Some(table) if table.num_columns() == 1 && table.column(0).data_type().is_nested() => {
            match table.nulls().and_then(|nulls| (0..table.len()).find(|&row| nulls.is_null(row))) {
                Some(row) => Err(refused(format!("row {row} has no value"))),
                None => Ok(table.column(0).clone()),
            }
        }
        _ => Ok(chunk),
    };
    chunks.into_iter().map(unwrapped).collect()
}

fn of_array<T: Element + Scalar>(
    array: &Bound<'_, PyAny>,
    name: &str,
    (items, dims): (usize, usize),
) -> PyResult<Features> {
    let values = ArrayValues::<T>::of(&contiguous(array, name)?)?;
    interruptible(array.py(), None, |_| Features::from_rows(items, dims, Storage::shared(values)))?.or_raise()
}

fn of_pairs<T: Element + Scalar>(array: &Bound<'_, PyAny>, name: &str, items: usize) -> PyResult<Kernel> {
    let values = ArrayValues::<T>::of(&contiguous(array, name)?)?;
    interruptible(array.py(), None, |_| Kernel::from_dense(items, values.as_ref()))?.or_raise()
}

/// The array in C order, of the machine's own numbers: itself, unless that takes a copy.
pub(crate) fn contiguous<'py, T: Element>(
    array: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let numpy = array.py().import("numpy")?;
    let array = numpy.call_method1("require", (array, name, ("C", "A")))?;
    Ok(array.cast_into()?)
}

/// An object as an array of numbers; `what` it is in messages.
pub(crate) fn as_array<'py>(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let numpy = py.import("numpy")?;
    if object.hasattr("collect_schema")? && object.hasattr("collect")? {
        return Err(refused(format!(
            "{what} are a LazyFrame, which has no rows before it is collected: pass .collect()"
        )));
    }
    if object.hasattr("tocsr")? && object.hasattr("toarray")? {
        let ways = if what == "features" {
            "reduce it first (scikit-learn's TruncatedSVD(256).fit_transform), pass .toarray(), or for some thousand \
             items (rows @ rows.T).toarray() as similarity=\"precomputed\""
        } else {
            "pass .toarray()"
        };
        return Err(refused(format!("{what} are a sparse matrix, and must be dense: {ways}")));
    }
    // Their data has values in these places, too.
    if numpy.getattr("ma")?.call_method1("is_masked", (object,))?.extract()? {
        return Err(refused(format!("{what} are masked in places; fill them first")));
    }
    numpy.call_method1("asarray", (object,)).map_err(|error| {
        if error.is_instance_of::<pyo3::exceptions::PyValueError>(py)
            || error.is_instance_of::<pyo3::exceptions::PyTypeError>(py)
        {
            refused(format!("{what} are not an array of numbers: {}", error.value(py)))
        } else {
            error
        }
    })
}

fn kind(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Kind> {
    let dtype = array.getattr("dtype")?;
    let (kind, bytes): (char, usize) =
        (dtype.getattr("kind")?.extract()?, dtype.getattr("itemsize")?.extract()?);
    match (kind, bytes) {
        ('f', 2) => Ok(Kind::Half),
        // Integers of 16 bits are exact in f32, integers of 32 bits in f64.
        ('f', 4) | ('b', _) | ('i' | 'u', 1 | 2) => Ok(Kind::Single),
        ('f' | 'i' | 'u', _) => Ok(Kind::Double),
        ('O', _) => Err(refused(format!(
            "{what} are Python objects (dtype object), perhaps rows of different lengths; they must be numbers"
        ))),
        _ => Err(refused(format!("{what} have the dtype {dtype}; they must be real numbers"))),
    }
}

/// The only column of a table, or the array itself.
pub(crate) fn column(array: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    if let [_, 1] = shape[..] { array.call_method1("reshape", (-1,)) } else { Ok(array) }
}

/// One number per item, as scores are; also in a table of one column.
pub(crate) fn numbers(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<f64>> {
    let py = object.py();
    let object = match arrow::chunks(object)? {
        // A missing score becomes NaN, which is refused with its item.
        Some(_) if object.hasattr("to_numpy")? => object.call_method0("to_numpy").or_else(|_| {
            // What arrays of pyarrow take if they have missing values or truth values.
            object.call_method("to_numpy", (), Some(&[("zero_copy_only", false)].into_py_dict(py)?))
        })?,
        Some(chunks)
            if chunks
                .iter()
                .all(|chunk| chunk.as_struct_opt().is_some_and(|table| table.num_columns() == 1)) =>
        {
            return of_only_column(&chunks);
        }
        _ => as_array(object, what)?,
    };
    let array = column(as_array(&object, what)?)?;
    kind(&array, what)?;
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        return Err(refused(format!(
            "{what} have {dimensions} dimensions; there must be one number per item"
        )));
    }
    let array: Bound<'_, PyArrayDyn<f64>> = contiguous(&array, "float64")?;
    Ok(array.to_vec()?)
}

/// The numbers of Arrow tables of one column.
fn of_only_column(chunks: &[ArrayRef]) -> PyResult<Vec<f64>> {
    let rows = Features::from_arrow(arrow::whole(chunks)?.as_ref()).or_raise()?;
    Ok((0..rows.items()).map(|item| rows.row(item)[0]).collect())
}

/// Item numbers, integers of any type, negative ones refused; or the items of a mask, one truth value for each of `count`.
/// Truth values among numbers, and a mask of zeros and ones, are refused.
pub(crate) fn items(object: &Bound<'_, PyAny>, what: &str, count: usize) -> PyResult<Vec<usize>> {
    let py = object.py();
    let object = if object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>() {
        &PyList::new(py, object.try_iter()?.collect::<PyResult<Vec<_>>>()?)?.into_any()
    } else {
        object
    };
    let array = as_array(object, what)?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let size: usize = array.getattr("size")?.extract()?;
    if size == 0 && kind != 'b' {
        return Ok(Vec::new());
    }
    if kind == 'b' {
        let mask = contiguous::<bool>(&array, "bool")?.to_vec()?;
        if mask.len() != count {
            let values = mask.len();
            return Err(refused(format!(
                "{what} are a mask of {values} truth values; there are {count} items"
            )));
        }
        return Ok((0..count).filter(|&item| mask[item]).collect());
    }
    if !matches!(kind, 'i' | 'u') {
        let dtype = array.getattr("dtype")?;
        return Err(refused(format!(
            "{what} have the dtype {dtype}; they must be item numbers, integers from 0, or a mask"
        )));
    }
    if has_truth_values(object)? {
        return Err(refused(format!(
            "{what} have truth values among numbers; they must be item numbers, integers from 0, or a mask"
        )));
    }
    let array = array.call_method1("reshape", (-1,))?;
    let no_item =
        |item: &dyn fmt::Display| refused(format!("{what}: {item} is not an item; items count from 0"));
    let numbers = if kind == 'u' {
        let array: Bound<'_, PyArray1<u64>> = array.call_method1("astype", ("uint64",))?.cast_into()?;
        let number = |item: u64| usize::try_from(item).map_err(|_| no_item(&item));
        array.to_vec()?.into_iter().map(number).collect::<PyResult<Vec<_>>>()?
    } else {
        let array: Bound<'_, PyArray1<i64>> = array.call_method1("astype", ("int64",))?.cast_into()?;
        let number = |item: i64| usize::try_from(item).map_err(|_| no_item(&item));
        array.to_vec()?.into_iter().map(number).collect::<PyResult<Vec<_>>>()?
    };
    if count > 2 && numbers.len() == count && numbers.iter().all(|&item| item < 2) {
        return Err(refused(format!(
            "{what} are {count} zeros and ones, as many as items; for a mask, convert them to truth values: .astype(bool)"
        )));
    }
    Ok(numbers)
}

/// Whether a list or tuple has truth values. Among numbers, NumPy converts them to numbers.
fn has_truth_values(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !object.is_instance_of::<PyList>() && !object.is_instance_of::<PyTuple>() {
        return Ok(false);
    }
    object.try_iter()?.try_fold(false, |found, value| Ok(found || value?.is_instance_of::<PyBool>()))
}

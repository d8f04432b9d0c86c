//! Arrow data of other libraries, through the C data interface: the second of two modules with unsafe code.

use std::ffi::CStr;

use arrow_array::{
    Array, ArrayRef,
    cast::AsArray,
    ffi::{self, FFI_ArrowArray, FFI_ArrowSchema},
    ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream},
    make_array,
};
use pyo3::{
    exceptions::PyException,
    prelude::*,
    types::{PyCapsule, PyList, PySlice},
};

use crate::errors::refused;

/// The chunks of what a Python object offers as Arrow data, without a copy; `None` if it offers none.
///
/// Arrays have one chunk, chunked arrays and tables any number. Tables are structures, one field per column.
pub(crate) fn chunks(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<ArrayRef>>> {
    let of_dataset = of_dataset(object)?;
    let object = of_dataset.as_ref().unwrap_or(object);
    if let Some(pair) = offered(object, "__arrow_c_array__")? {
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = pair.extract()?;
        let schema = taken(&schema, c"arrow_schema", FFI_ArrowSchema::empty())?;
        let array = taken(&array, c"arrow_array", FFI_ArrowArray::empty())?;
        if array.is_released() {
            return Err(refused("the Arrow array has been taken already"));
        }
        return Ok(Some(vec![imported(array, &schema)?]));
    }
    if let Some(stream) = offered(object, "__arrow_c_stream__")? {
        let capsule: Bound<'_, PyCapsule> = stream.extract()?;
        let stream = taken(&capsule, c"arrow_array_stream", FFI_ArrowArrayStream::empty())?;
        if stream.release().is_none() {
            return Err(refused("the Arrow stream has been read already"));
        }
        let chunks = ArrayStreamReader::try_new(stream).and_then(Iterator::collect);
        return chunks
            .map(Some)
            .map_err(|error| refused(format!("the Arrow stream cannot be read: {error}")));
    }
    Ok(None)
}

/// The rows that a `Dataset` of Hugging Face shows, or a column of one, as a table of Arrow; `None` for anything else.
fn of_dataset<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_dataset = |object: &Bound<'py, PyAny>| -> PyResult<bool> {
        Ok(object.hasattr("with_format")? && object.hasattr("column_names")?)
    };
    let shown = if is_dataset(object)? {
        object.clone()
    } else if object.hasattr("column_name")?
        && object.hasattr("source")?
        && is_dataset(&object.getattr("source")?)?
    {
        let names = PyList::new(object.py(), [object.getattr("column_name")?])?;
        object.getattr("source")?.call_method1("select_columns", (names,))?
    } else {
        return Ok(None);
    };
    // A transform makes values that no file holds: they are read one by one.
    let format = shown.getattr("format")?.get_item("type")?;
    if format.extract::<&str>().is_ok_and(|format| format == "custom") {
        return Ok(None);
    }
    // Columns of a `Dataset` lie in the file as they were; filters are numbers of rows, which indexing applies.
    shown.call_method1("with_format", ("arrow",))?.get_item(PySlice::full(object.py())).map(Some)
}

/// The result of a method of the protocol; `None` without the method, or if it fails: a value without Arrow data may still be an
/// array.
fn offered<'py>(object: &Bound<'py, PyAny>, method: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    // Classes have the methods, too, but nothing to offer.
    if object.is_instance_of::<pyo3::types::PyType>() || !object.hasattr(method)? {
        return Ok(None);
    }
    match object.call_method0(method) {
        Ok(offered) => Ok(Some(offered)),
        Err(error) if error.is_instance_of::<PyException>(object.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Moves a structure out of its capsule.
#[expect(unsafe_code, reason = "the C data interface")]
fn taken<T>(capsule: &Bound<'_, PyCapsule>, name: &CStr, empty: T) -> PyResult<T> {
    let pointer = capsule.pointer_checked(Some(name))?.cast::<T>();
    // SAFETY: a capsule of this name holds a valid structure of the C data interface, whose consumer moves it out and
    // leaves a released one, which the capsule's destructor does not release again. `T` has its layout.
    Ok(unsafe { pointer.replace(empty) })
}

#[expect(unsafe_code, reason = "the C data interface")]
fn imported(array: FFI_ArrowArray, schema: &FFI_ArrowSchema) -> PyResult<ArrayRef> {
    // SAFETY: both structures were moved out of the capsules of one producer, which vouches that they belong together.
    let data = unsafe { ffi::from_ffi(array, schema) };
    Ok(make_array(data.map_err(|error| refused(error.to_string()))?))
}

/// Whether labels are text.
pub(crate) fn is_text(labels: &ArrayRef) -> bool {
    let values = labels.as_any_dictionary_opt().map(arrow_array::AnyDictionaryArray::values);
    values.unwrap_or(labels).data_type().is_string()
}

/// The only column of a table, or the array itself.
pub(crate) fn only_column(array: ArrayRef) -> ArrayRef {
    match array.as_struct_opt() {
        Some(table) if table.num_columns() == 1 && table.null_count() == 0 => table.column(0).clone(),
        _ => array,
    }
}

/// The chunks of one column as one array: copied if there are several.
pub(crate) fn whole(chunks: &[ArrayRef]) -> PyResult<ArrayRef> {
    match chunks {
        [one] => Ok(one.clone()),
        [] => Err(refused("the Arrow column has no rows")),
        several => {
            let arrays: Vec<&dyn Array> = several.iter().map(AsRef::as_ref).collect();
            arrow_select::concat::concat(&arrays).map_err(|error| refused(error.to_string()))
        }
    }
}

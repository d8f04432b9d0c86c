//! Features from Arrow arrays.

use std::ops::Range;

use arrow_array::{
    Array, ArrowPrimitiveType, FixedSizeListArray, GenericListArray, OffsetSizeTrait, RecordBatch,
    StructArray, cast::AsArray, types,
};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;

use super::{Features, Scalar, Storage};
use crate::{Error, Result, error::ArrowProblem};

impl Features {
    /// The rows of an array of lists or of a structure of numbers.
    ///
    /// Lists may be fixed-size lists, lists or large lists of f16, f32 or f64, all of one length. Their values are
    /// not copied: the features keep the buffer alive. Only the rows inside a slice become items. In a structure each
    /// field is a feature. Structures are copied, to f32 if all fields are f16 or f32, and to f64 otherwise. Without
    /// the crate feature `npy`, f16 is copied to f32. Each chunk of a column gives its own features, which
    /// [`concatenate`](Self::concatenate) joins.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use arrow_array::{FixedSizeListArray, types::Float32Type};
    /// use partition_dpp::Features;
    /// let rows = [[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]].map(|row| Some(row.map(Some)));
    /// let array = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(rows, 2);
    /// let features = Features::from_arrow(&array)?;
    /// assert_eq!((features.items(), features.row(2)), (3, vec![2.0, 3.0]));
    ///
    /// let chunks = [array.slice(0, 1), array.slice(1, 2)];
    /// let chunks = chunks.iter().map(|chunk| Features::from_arrow(chunk)).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(Features::concatenate(&chunks)?.row(2), [2.0, 3.0]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// - [`Error::Arrow`] if the type is unsupported, a value is missing, or the lists differ in length;
    /// - the errors of [`Features::from_rows`].
    pub fn from_arrow(array: &dyn Array) -> Result<Self> {
        match array.data_type() {
            DataType::FixedSizeList(..) => of_fixed_lists(array.as_fixed_size_list()),
            DataType::List(_) => of_lists(array.as_list::<i32>()),
            DataType::LargeList(_) => of_lists(array.as_list::<i64>()),
            DataType::Struct(_) => of_columns(array.as_struct()),
            other => Err(ArrowProblem::NotFeatures(other.to_string()).into()),
        }
    }
}

impl TryFrom<&RecordBatch> for Features {
    type Error = Error;

    /// One feature per column, as [`Features::from_arrow`] reads structures.
    fn try_from(batch: &RecordBatch) -> Result<Self> {
        of_columns(&StructArray::from(batch.clone()))
    }
}

fn of_fixed_lists(array: &FixedSizeListArray) -> Result<Features> {
    check_rows(array)?;
    let dims = usize::try_from(array.value_length()).unwrap_or(0);
    of_values(array, array.values().as_ref(), 0..array.len() * dims, dims)
}

fn of_lists<O: OffsetSizeTrait>(array: &GenericListArray<O>) -> Result<Features> {
    check_rows(array)?;
    let offsets = array.value_offsets();
    let dims = offsets.get(1).map_or(0, |end| (*end - offsets[0]).as_usize());
    for (row, ends) in offsets.windows(2).enumerate() {
        let found = (ends[1] - ends[0]).as_usize();
        if found != dims {
            return Err(ArrowProblem::ListLength { row, found, expected: dims }.into());
        }
    }
    // Lists have no gaps: each starts where the previous one ends.
    let start = offsets[0].as_usize();
    of_values(array, array.values().as_ref(), start..start + array.len() * dims, dims)
}

/// Features from a range of the values that lists hold.
fn of_values(lists: &dyn Array, values: &dyn Array, range: Range<usize>, dims: usize) -> Result<Features> {
    let values = values.slice(range.start, range.len());
    let is_missing = |nulls: &arrow_buffer::NullBuffer| (0..range.len()).find(|&at| nulls.is_null(at));
    if let Some(at) = values.logical_nulls().as_ref().and_then(is_missing) {
        return Err(ArrowProblem::NoFeature { row: at / dims, column: at % dims }.into());
    }
    let rows = lists.len();
    match values.data_type() {
        DataType::Float32 => shared(rows, dims, values.as_primitive::<types::Float32Type>().values()),
        DataType::Float64 => shared(rows, dims, values.as_primitive::<types::Float64Type>().values()),
        DataType::Float16 => of_halves(rows, dims, values.as_primitive::<types::Float16Type>().values()),
        _ => Err(ArrowProblem::NotFeatures(lists.data_type().to_string()).into()),
    }
}

type Half = <types::Float16Type as ArrowPrimitiveType>::Native;

#[cfg(feature = "npy")]
fn of_halves(rows: usize, dims: usize, values: &ScalarBuffer<Half>) -> Result<Features> {
    shared(rows, dims, values)
}

#[cfg(not(feature = "npy"))]
fn of_halves(rows: usize, dims: usize, values: &ScalarBuffer<Half>) -> Result<Features> {
    Features::from_rows(rows, dims, values.iter().map(|value| value.to_f32()).collect::<Vec<_>>())
}

fn shared<T: Scalar + arrow_buffer::ArrowNativeType>(
    rows: usize,
    dims: usize,
    values: &ScalarBuffer<T>,
) -> Result<Features> {
    Features::from_rows(rows, dims, Storage::shared(values.clone()))
}

/// Rejects rows without a value.
fn check_rows(array: &dyn Array) -> Result<()> {
    match array.logical_nulls().and_then(|nulls| (0..array.len()).find(|&row| nulls.is_null(row))) {
        Some(row) => Err(ArrowProblem::NoValue { row }.into()),
        None => Ok(()),
    }
}

fn of_columns(table: &StructArray) -> Result<Features> {
    check_rows(table)?;
    let is_single = |column: &DataType| matches!(column, DataType::Float16 | DataType::Float32);
    if table.fields().iter().all(|field| is_single(field.data_type())) {
        #[expect(clippy::cast_possible_truncation, reason = "values were f32, or f16")]
        side_by_side(table, |value| value as f32)
    } else {
        side_by_side(table, |value| value)
    }
}

fn side_by_side<T: Scalar>(table: &StructArray, of: impl Fn(f64) -> T) -> Result<Features> {
    let (rows, dims) = (table.len(), table.num_columns());
    let mut values = vec![T::zeroed(); rows * dims];
    for (at, (field, column)) in table.fields().iter().zip(table.columns()).enumerate() {
        let mut row = 0;
        let known = for_each_number(column.as_ref(), |number| {
            let number = number.ok_or(ArrowProblem::NoFeature { row, column: at })?;
            values[row * dims + at] = of(number);
            row += 1;
            Ok(())
        });
        known.unwrap_or_else(|| {
            let (column, kind) = (field.name().clone(), column.data_type().to_string());
            Err(ArrowProblem::NotNumbers { column, kind }.into())
        })?;
    }
    Features::from_rows(rows, dims, values)
}

/// Passes the numbers of a column to `sink`; `None` if the column does not hold numbers.
fn for_each_number(
    column: &dyn Array,
    mut sink: impl FnMut(Option<f64>) -> Result<()>,
) -> Option<Result<()>> {
    macro_rules! numbers {
        ($type:ident, $wide:expr) => {
            column.as_primitive::<types::$type>().iter().try_for_each(|number| sink(number.map($wide)))
        };
    }
    Some(match column.data_type() {
        DataType::Boolean => column.as_boolean().iter().try_for_each(|value| sink(value.map(f64::from))),
        DataType::Int8 => numbers!(Int8Type, f64::from),
        DataType::Int16 => numbers!(Int16Type, f64::from),
        DataType::Int32 => numbers!(Int32Type, f64::from),
        DataType::Int64 => numbers!(Int64Type, |number| number as f64),
        DataType::UInt8 => numbers!(UInt8Type, f64::from),
        DataType::UInt16 => numbers!(UInt16Type, f64::from),
        DataType::UInt32 => numbers!(UInt32Type, f64::from),
        DataType::UInt64 => numbers!(UInt64Type, |number| number as f64),
        DataType::Float16 => numbers!(Float16Type, f64::from),
        DataType::Float32 => numbers!(Float32Type, f64::from),
        DataType::Float64 => numbers!(Float64Type, |number| number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BooleanArray, Float16Array, Float32Array, Float64Array, Int64Array, LargeListArray,
        ListArray, StringArray,
        types::{Float32Type, Float64Type},
    };
    use arrow_schema::Field;

    use super::*;

    fn problem(array: &dyn Array) -> ArrowProblem {
        match Features::from_arrow(array) {
            Err(Error::Arrow(problem)) => problem,
            other => panic!("{other:?}"),
        }
    }

    fn rows() -> Vec<Option<Vec<Option<f32>>>> {
        vec![
            Some(vec![Some(1.0), Some(2.0)]),
            Some(vec![Some(3.0), Some(4.0)]),
            Some(vec![Some(5.0), Some(6.0)]),
        ]
    }

    #[test]
    fn lists_are_not_copied_and_slices_are_respected() {
        let list = ListArray::from_iter_primitive::<Float32Type, _, _>(rows());
        let large = LargeListArray::from_iter_primitive::<Float32Type, _, _>(rows());
        let fixed = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(rows(), 2);
        for array in [&list as &dyn Array, &large, &fixed] {
            let features = Features::from_arrow(array).unwrap();
            assert_eq!((features.items(), features.dims(), features.row(2)), (3, 2, vec![5.0, 6.0]));
            let slice = Features::from_arrow(&array.slice(1, 2)).unwrap();
            assert_eq!((slice.items(), slice.row(0), slice.row(1)), (2, vec![3.0, 4.0], vec![5.0, 6.0]));
        }
        let buffer = list.values().as_primitive::<Float32Type>().values().clone();
        let before = buffer.inner().strong_count();
        let features = Features::from_arrow(&list).unwrap();
        assert_eq!(buffer.inner().strong_count(), before + 1, "it is shared");
        drop((list, buffer));
        assert_eq!(features.row(0), [1.0, 2.0]);
        let item = Arc::new(Field::new("item", DataType::Float16, true));
        let halves = Float16Array::from_iter_values([1.5_f32, 2.0, 3.0, 4.0].map(Half::from_f32));
        let halves = FixedSizeListArray::new(item, 2, Arc::new(halves), None);
        assert_eq!(Features::from_arrow(&halves).unwrap().row(0), [1.5, 2.0]);
    }

    #[test]
    fn columns_are_features() {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("a", Arc::new(Int64Array::from(vec![1, 2]))),
            ("b", Arc::new(BooleanArray::from(vec![true, false]))),
            ("c", Arc::new(Float64Array::from(vec![0.5, 0.1]))),
        ];
        let batch = RecordBatch::try_from_iter(columns.clone()).unwrap();
        let features = Features::try_from(&batch).unwrap();
        assert_eq!((features.row(0), features.row(1)), (vec![1.0, 1.0, 0.5], vec![2.0, 0.0, 0.1]));
        assert_eq!(Features::from_arrow(&StructArray::from(batch)).unwrap().row(1), [2.0, 0.0, 0.1]);
        let single = RecordBatch::try_from_iter([("a", Arc::new(Float32Array::from(vec![0.5])) as ArrayRef)]);
        assert_eq!(format!("{:?}", Features::try_from(&single.unwrap()).unwrap()), "Features(1×1 f32)");
        let mut wrong = columns.clone();
        wrong.push(("word", Arc::new(StringArray::from(vec!["x", "y"]))));
        let wrong = StructArray::from(RecordBatch::try_from_iter(wrong).unwrap());
        let expected = ArrowProblem::NotNumbers { column: "word".into(), kind: "Utf8".into() };
        assert_eq!(problem(&wrong), expected);
        let mut wrong = columns;
        wrong.push(("gap", Arc::new(Int64Array::from(vec![Some(1), None]))));
        let wrong = StructArray::from(RecordBatch::try_from_iter(wrong).unwrap());
        assert_eq!(problem(&wrong), ArrowProblem::NoFeature { row: 1, column: 3 });
    }

    #[test]
    fn what_is_missing_or_uneven_is_named() {
        let list = |rows| ListArray::from_iter_primitive::<Float64Type, _, _>(rows);
        let whole = || Some(vec![Some(1.0), Some(2.0)]);
        assert_eq!(problem(&list(vec![whole(), None])), ArrowProblem::NoValue { row: 1 });
        let hole = list(vec![whole(), whole(), Some(vec![Some(1.0), None])]);
        assert_eq!(problem(&hole), ArrowProblem::NoFeature { row: 2, column: 1 });
        assert_eq!(problem(&hole.slice(1, 2)), ArrowProblem::NoFeature { row: 1, column: 1 });
        assert_eq!(
            Features::from_arrow(&hole.slice(0, 2)).unwrap().items(),
            2,
            "what is missing is not in the slice"
        );
        let uneven = list(vec![whole(), whole(), Some(vec![Some(1.0)])]);
        assert_eq!(problem(&uneven), ArrowProblem::ListLength { row: 2, found: 1, expected: 2 });
        let words = StringArray::from(vec!["a"]);
        assert!(problem(&words).to_string().contains("these are Utf8"));
        let empty = list(vec![]);
        assert!(matches!(Features::from_arrow(&empty), Err(Error::Empty { .. })));
        let nan = list(vec![whole(), Some(vec![Some(f64::NAN), Some(1.0)])]);
        assert!(matches!(Features::from_arrow(&nan), Err(Error::NotFinite { row: 1, column: 0, .. })));
    }
}

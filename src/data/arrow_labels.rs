//! Partitions from Arrow arrays.

use arrow_array::{Array, cast::AsArray, types};
use arrow_schema::DataType;

use super::Partition;
use crate::{Error, Result, error::ArrowProblem};

impl Partition {
    /// Groups items by label: text, booleans, integers, or dictionaries of these.
    ///
    /// Parts are ordered as in [`from_labels`](Self::from_labels): integers by value, text by code points, `false`
    /// before `true`.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use arrow_array::{DictionaryArray, types::Int8Type};
    /// use partition_dpp::Partition;
    /// let labels: DictionaryArray<Int8Type> = ["light", "dark", "light"].into_iter().collect();
    /// let partition = Partition::from_arrow(&labels)?;
    /// assert_eq!(partition.names(), ["dark", "light"]);
    /// assert_eq!(partition.members(1), [0, 2]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Cost
    /// O(m log p).
    ///
    /// # Errors
    /// - [`Error::Arrow`] if the type is unsupported or a row has no label;
    /// - the errors of [`from_labels`](Self::from_labels).
    pub fn from_arrow(labels: &dyn Array) -> Result<Self> {
        if labels.is_empty() {
            return Err(Error::Empty { what: "the list of labels" });
        }
        if let Some(nulls) = labels.logical_nulls()
            && let Some(row) = (0..labels.len()).find(|&row| nulls.is_null(row))
        {
            return Err(ArrowProblem::NoValue { row }.into());
        }
        let parts = match labels.as_any_dictionary_opt() {
            Some(words) => of_values(words.values().as_ref(), &mut words.normalized_keys().into_iter()),
            None => of_values(labels, &mut (0..labels.len())),
        };
        parts.unwrap_or_else(|| Err(ArrowProblem::NotLabels(labels.data_type().to_string()).into()))
    }
}

/// The partition by the labels at these positions of an array; `None` if the array's type is not a label type.
///
/// Iterators are `dyn`, so that grouping is compiled once for text and once for integers.
fn of_values(values: &dyn Array, places: &mut dyn Iterator<Item = usize>) -> Option<Result<Partition>> {
    macro_rules! text {
        ($values:expr) => {{
            let values = $values;
            Partition::of(&mut places.map(|place| values.value(place)) as &mut dyn Iterator<Item = &str>)
        }};
    }
    macro_rules! integers {
        ($type:ident) => {{
            let values = values.as_primitive::<types::$type>();
            let integers = &mut places.map(|place| i128::from(values.value(place)));
            Partition::of(integers as &mut dyn Iterator<Item = i128>)
        }};
    }
    Some(match values.data_type() {
        DataType::Utf8 => text!(values.as_string::<i32>()),
        DataType::LargeUtf8 => text!(values.as_string::<i64>()),
        DataType::Utf8View => text!(values.as_string_view()),
        DataType::Boolean => {
            let values = values.as_boolean();
            Partition::of(places.map(|place| values.value(place)))
        }
        DataType::Int8 => integers!(Int8Type),
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => integers!(Int64Type),
        DataType::UInt8 => integers!(UInt8Type),
        DataType::UInt16 => integers!(UInt16Type),
        DataType::UInt32 => integers!(UInt32Type),
        DataType::UInt64 => integers!(UInt64Type),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        BooleanArray, DictionaryArray, Float64Array, Int16Array, LargeStringArray, StringArray,
        StringViewArray, types::Int32Type,
    };

    use super::*;

    #[test]
    fn parts_are_those_of_labels() {
        let words = ["b", "a", "c", "a", "b"];
        let expected = Partition::from_labels(&words).unwrap();
        let dictionary: DictionaryArray<Int32Type> = words.into_iter().collect();
        let arrays: [&dyn Array; 4] = [
            &StringArray::from(words.to_vec()),
            &LargeStringArray::from(words.to_vec()),
            &StringViewArray::from(words.to_vec()),
            &dictionary,
        ];
        for array in arrays {
            assert_eq!(Partition::from_arrow(array).unwrap(), expected);
            let slice = Partition::from_arrow(&array.slice(1, 3)).unwrap();
            assert_eq!(slice, Partition::from_labels(&words[1..4]).unwrap());
        }
        let numbers = Partition::from_arrow(&Int16Array::from(vec![10, 9, -1, 10])).unwrap();
        assert_eq!(numbers.names(), ["-1", "9", "10"]);
        let truths = Partition::from_arrow(&BooleanArray::from(vec![true, false])).unwrap();
        assert_eq!(truths.names(), ["false", "true"]);
    }

    #[test]
    fn what_is_no_label_is_named() {
        let problem = |array: &dyn Array| match Partition::from_arrow(array) {
            Err(Error::Arrow(problem)) => problem,
            other => panic!("{other:?}"),
        };
        let gaps = StringArray::from(vec![Some("a"), None]);
        assert_eq!(problem(&gaps), ArrowProblem::NoValue { row: 1 });
        let gaps: DictionaryArray<Int32Type> = [Some("a"), Some("b"), None].into_iter().collect();
        assert_eq!(problem(&gaps), ArrowProblem::NoValue { row: 2 });
        let all: DictionaryArray<Int32Type> = [None::<&str>, None].into_iter().collect();
        assert_eq!(problem(&all), ArrowProblem::NoValue { row: 0 });
        let fractions = Float64Array::from(vec![1.0]);
        assert_eq!(problem(&fractions), ArrowProblem::NotLabels("Float64".into()));
        let none: DictionaryArray<Int32Type> = [None::<&str>; 0].into_iter().collect();
        assert!(matches!(Partition::from_arrow(&none), Err(Error::Empty { .. })));
    }
}

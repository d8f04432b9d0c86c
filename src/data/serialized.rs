//! Partitions, quotas and subsets through serde. Deserialised values pass the same checks as in the constructors.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{
    CountRange, Partition, Quota, Subset,
    partition::{check_item_count, check_names},
    quota::check_range,
};
use crate::Error;

/// The largest number of items.
const MOST: usize = u32::MAX as usize;

#[derive(Serialize, Deserialize)]
struct RangeForm {
    low: usize,
    /// `None` for no limit.
    high: Option<usize>,
}

#[derive(Serialize, Deserialize)]
struct PartitionForm<'a> {
    names: Cow<'a, [String]>,
    /// The part of every item.
    part_of: Cow<'a, [u32]>,
}

#[derive(Serialize, Deserialize)]
struct QuotaForm<'a> {
    parts: Cow<'a, [String]>,
    low: Cow<'a, [usize]>,
    high: Cow<'a, [usize]>,
    total: Option<usize>,
}

/// Serialised as `{"low": 1, "high": 3}`; `"high"` is null if there is no limit.
impl Serialize for CountRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { low, high } = *self;
        RangeForm { low, high: (high < usize::MAX).then_some(high) }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CountRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let RangeForm { low, high } = RangeForm::deserialize(deserializer)?;
        let range = Self { low, high: high.unwrap_or(usize::MAX) };
        check_range(range, || "(unnamed)".into()).map_err(D::Error::custom)?;
        Ok(range)
    }
}

/// Serialised as `{"names": ["dark", "light"], "part_of": [1, 0, 1]}`.
impl Serialize for Partition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        PartitionForm { names: self.names().into(), part_of: self.part_of_items().into() }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Partition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let PartitionForm { names, part_of } = PartitionForm::deserialize(deserializer)?;
        partition(&names, part_of.into_owned()).map_err(D::Error::custom)
    }
}

fn partition(names: &[String], part_of: Vec<u32>) -> Result<Partition, Error> {
    if part_of.is_empty() {
        return Err(Error::Empty { what: "the partition" });
    }
    check_item_count(part_of.len())?;
    check_names(names)?;
    if let Some(item) = part_of.iter().position(|&part| part as usize >= names.len()) {
        return Err(Error::ItemWithoutPart { item });
    }
    Ok(Partition::group(names.into(), part_of))
}

/// Serialised as `{"parts": ["dark", "light"], "low": [1, 0], "high": [1, 2], "total": null}`.
impl Serialize for Quota {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { low, high, total, parts } = self;
        QuotaForm { parts: (&parts[..]).into(), low: low.into(), high: high.into(), total: *total }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Quota {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        quota(QuotaForm::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn quota(QuotaForm { parts, low, high, total }: QuotaForm<'_>) -> Result<Quota, Error> {
    for entries in [low.len(), high.len()] {
        if entries != parts.len() {
            return Err(Error::QuotaLength { parts: parts.into_owned(), entries });
        }
    }
    check_names(&parts)?;
    for (name, (&low, &high)) in parts.iter().zip(low.iter().zip(high.iter())) {
        check_range(CountRange { low, high }, || name.clone())?;
        check_item_count(high)?;
    }
    let quota = Quota::of_ranges(low.into_owned(), high.into_owned(), parts.into())?;
    match total {
        Some(total) => quota.with_total(total),
        None => Ok(quota),
    }
}

/// Serialised as a list of items.
impl Serialize for Subset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Subset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Vec::deserialize(deserializer)?, MOST).map_err(D::Error::custom)
    }
}

/// Reads a number that human-readable formats write as null if it is not finite.
pub(crate) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    if deserializer.is_human_readable() {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
    } else {
        f64::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::de::DeserializeOwned;
    use serde_json::{from_str, to_string};

    use super::*;

    fn returns<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, text: &str) {
        assert_eq!(to_string(value).unwrap(), text);
        assert_eq!(from_str::<T>(text).unwrap(), *value);
    }

    fn refused<T: DeserializeOwned + Debug>(text: &str, sentence: &str) {
        let error = from_str::<T>(text).unwrap_err().to_string();
        assert!(error.contains(sentence), "{error}");
    }

    #[test]
    fn what_is_written_is_read() {
        let partition = Partition::from_labels(&["light", "dark", "light"]).unwrap();
        returns(&partition, r#"{"names":["dark","light"],"part_of":[1,0,1]}"#);
        let unsorted = Partition::from_sets(2, [("b", vec![1]), ("a", vec![0]), ("none", vec![])]).unwrap();
        returns(&unsorted, r#"{"names":["b","a","none"],"part_of":[1,0]}"#);
        let exact = Quota::new(&partition, [1, 2]).unwrap();
        returns(&exact, r#"{"parts":["dark","light"],"low":[1,2],"high":[1,2],"total":3}"#);
        let ranges = Quota::new(&partition, [CountRange::from(..=1), (1..).into()]).unwrap();
        returns(&ranges, r#"{"parts":["dark","light"],"low":[0,1],"high":[1,2],"total":null}"#);
        let sized = ranges.with_total(2).unwrap();
        returns(&sized, r#"{"parts":["dark","light"],"low":[0,1],"high":[1,2],"total":2}"#);
        returns(&CountRange::from(1..=3), r#"{"low":1,"high":3}"#);
        returns(&CountRange::from(1..), r#"{"low":1,"high":null}"#);
        returns(&Subset::new(vec![7, 2], 10).unwrap(), "[2,7]");
        assert_eq!(from_str::<Subset>("[7,2]").unwrap().as_slice(), [2, 7]);
    }

    #[test]
    fn results_are_written() {
        use crate::{
            Features, KDpp, Method,
            engine::Engine,
            map::{Greedy, Solver},
        };
        let features = Features::from_rows(3, 2, vec![2.0, 0.0, 0.0, 1.0, 0.0, 0.5]).unwrap();
        let model = KDpp::new(&features, 2).unwrap();
        let solution =
            serde_json::to_value(Greedy::default().solve(&model, Engine::host()).unwrap()).unwrap();
        assert_eq!(solution["subset"], serde_json::json!([0, 1]));
        assert_eq!(solution["termination"], "quota-met");
        assert_eq!(solution["upper_bound"], serde_json::Value::Null);
        let engine = serde_json::json!({"name": "cpu", "adapter": null, "precision": "f64"});
        assert_eq!(solution["engine"], engine);
        let samples = model.sampler(Method::Auto, Engine::host()).unwrap().sample_many(3, 1);
        let written = serde_json::to_value(&samples).unwrap();
        assert_eq!(from_str::<Vec<Subset>>(&written["subsets"].to_string()).unwrap(), samples.subsets());
        let log_z = model.inference(Engine::host()).unwrap().log_partition_function();
        assert_eq!(serde_json::to_value(log_z).unwrap()["value"], log_z.value);
    }

    #[test]
    fn what_breaks_a_rule_is_refused() {
        refused::<Subset>("[2,7,2]", "item 2 is named twice");
        refused::<Subset>("[5000000000]", "item 5000000000 does not exist");
        refused::<CountRange>(r#"{"low":3,"high":1}"#, "3");
        refused::<Partition>(r#"{"names":["a"],"part_of":[]}"#, "the partition is empty");
        refused::<Partition>(r#"{"names":["a","a"],"part_of":[0]}"#, "a");
        refused::<Partition>(r#"{"names":["a"],"part_of":[0,1]}"#, "item 1 is in no part");
        let quota = |low: &str, high: &str, total: &str| {
            format!(r#"{{"parts":["a","b"],"low":{low},"high":{high},"total":{total}}}"#)
        };
        for (low, high, total, sentence) in [
            ("[1]", "[1,2]", "null", "1"),
            ("[1,1]", "[1]", "null", "1"),
            ("[2,1]", "[1,1]", "null", "a"),
            ("[0,0]", "[0,0]", "null", "the whole quota"),
            ("[1,1]", "[1,1]", "3", "3"),
            ("[0,0]", "[1,5000000000]", "null", "5000000000 items are more than"),
        ] {
            refused::<Quota>(&quota(low, high, total), sentence);
        }
        let exact: Quota = from_str(&quota("[1,1]", "[1,1]", "null")).unwrap();
        assert_eq!(exact.total(), Some(2), "exact counts fix the total");
    }
}

//! `--quota` of the parts at hand.

use std::{fmt, str::FromStr};

use partition_dpp::{Error, Partition, Quota, data::QuotaRequest, error::ParseError};
use serde::{Serialize, Serializer};

use crate::{failure::Failure, input::columns, output};

/// A quota as it is typed.
#[derive(Clone, Debug)]
pub(crate) struct TypedQuota {
    request: QuotaRequest,
    /// Whether any entry is written as a range, even if it allows only one count.
    pub(crate) has_ranges: bool,
}

impl FromStr for TypedQuota {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let is_range = |entry: &str| entry.rsplit('=').next().is_some_and(|count| count.contains(".."));
        Ok(Self { request: text.parse()?, has_ranges: text.split(',').any(is_range) })
    }
}

impl TypedQuota {
    /// The quota of these parts, with the total if it is given.
    pub(crate) fn resolve(&self, partition: &Partition, total: Option<usize>) -> Result<Quota, Failure> {
        self.request.resolve(partition, total).map_err(|error| match error {
            Error::OpenTotal { .. } => Failure::Arguments(format!(
                "--quota {} needs --k K, the number of items in all",
                self.request
            )),
            Error::TotalOutsideRanges { total, low, .. } if !self.has_ranges => Failure::Arguments(format!(
                "--quota asks for {low} items in all, --k for {total}: omit --k, or make them equal"
            )),
            other => other.into(),
        })
    }

    /// Says which parts get no items, if the counts are computed and not typed.
    pub(crate) fn note_parts_without_items(&self, partition: &Partition, quota: &Quota) {
        if !matches!(self.request, QuotaRequest::Equal | QuotaRequest::Proportional) {
            return;
        }
        let gets_none = |part: &usize| quota.high()[*part] == 0 && partition.size(*part) > 0;
        let parts = (0..partition.parts()).filter(gets_none);
        let without: Vec<&str> = parts.map(|part| partition.names()[part].as_str()).collect();
        if without.is_empty() {
            return;
        }
        output::note(&format!(
            "--quota {} gives no items to {} of {} parts: {}",
            self.request,
            without.len(),
            partition.parts(),
            columns::list(without)
        ));
    }
}

/// The part counts asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) quota: Option<&'a Quota>,
    /// Whether the quota is written with ranges, even if each allows only one count.
    pub(crate) has_ranges: bool,
}

impl Asked<'_> {
    /// The entry of one part: `2` or `2..4`.
    pub(crate) fn of(self, part: usize) -> Option<String> {
        let (low, high) = (self.quota?.low().get(part)?, self.quota?.high().get(part)?);
        Some(if low == high { low.to_string() } else { format!("{low}..{high}") })
    }

    /// Whether no item of a part is asked for.
    pub(crate) fn is_nothing(self, part: usize) -> bool {
        self.of(part).is_some_and(|asked| asked == "0")
    }
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = (0..).map_while(|part| self.of(part)).collect();
        f.write_str(&entries.join(","))
    }
}

/// A list of numbers, or of pairs if any entry is a range.
impl Serialize for Asked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.quota {
            None => serializer.collect_seq::<[usize; 0]>([]),
            Some(quota) if self.has_ranges => serializer.collect_seq(quota.low().iter().zip(quota.high())),
            Some(quota) => serializer.collect_seq(quota.low()),
        }
    }
}

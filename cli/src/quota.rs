//! `--quota`: by position or by name, numbers or ranges.

use std::{fmt, str::FromStr};

use partition_dpp::{CountRange, Partition, Quota};
use serde::{Serialize, Serializer};

use crate::{failure::Failure, parse::is_number};

/// A quota as written, before the parts are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QuotaRequest {
    /// `2,1..3,2`: one entry per part, in the order of the parts.
    Positional(Vec<Entry>),
    /// `dark=2,light=..3`: parts that are not named get zero.
    Named(Vec<(String, Entry)>),
    /// `equal`: the same number of each part.
    Equal,
    /// `proportional`: in proportion to the sizes of the parts.
    Proportional,
}

/// The entry of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// `2`.
    Exactly(usize),
    /// `2..4`, `..4`, `2..` or `..`, both ends included.
    Range { low: usize, high: Option<usize> },
}

impl FromStr for QuotaRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "equal" => return Ok(QuotaRequest::Equal),
            "proportional" => return Ok(QuotaRequest::Proportional),
            _ => {}
        }
        let entries: Vec<&str> = text.split(',').map(str::trim).collect();
        if let Some(entry) = entries.iter().find(|entry| entry.contains("..=")) {
            return Err(format!(
                "entry '{entry}': ranges include both ends; write {}",
                entry.replace("..=", "..")
            ));
        }
        if !text.contains('=') {
            return entries
                .into_iter()
                .map(|entry| Entry::read(entry, ""))
                .collect::<Result<_, _>>()
                .map(QuotaRequest::Positional);
        }
        if let Some(entry) = entries.iter().find(|entry| !entry.contains('=')) {
            return Err(format!(
                "entry '{entry}' names no part, but others do: name all parts or none, as in cat=1,dog=2"
            ));
        }
        // A part's name may contain `=`, so the last one separates.
        let named = entries.into_iter().filter_map(|entry| entry.rsplit_once('='));
        let named = named.map(|(name, entry)| {
            let name = name.trim();
            Ok((name.to_owned(), Entry::read(entry.trim(), &format!("{name}="))?))
        });
        named.collect::<Result<_, _>>().map(QuotaRequest::Named)
    }
}

impl Entry {
    /// Reads the number or the range of one part; `prefix` is the text before it, `cat=` or nothing.
    fn read(text: &str, prefix: &str) -> Result<Self, String> {
        let Some((low, high)) = text.split_once("..") else {
            let count = text
                .parse()
                .map_err(|_| format!("entry '{text}' is not a number of items; {}", instead(text, prefix)))?;
            return Ok(Entry::Exactly(count));
        };
        let end = |end: &str| match end.trim() {
            "" => Ok(None),
            end => end.parse().map(Some).map_err(|_| {
                format!("entry '{text}': '{end}' is not a number of items; write a range as {prefix}2..4")
            }),
        };
        Ok(Entry::Range { low: end(low)?.unwrap_or_default(), high: end(high)? })
    }
}

/// The text to write instead of an entry that is neither a number nor a range.
fn instead(text: &str, prefix: &str) -> String {
    if let Some((low, high)) = text.split_once(['-', '–'])
        && is_number(low.trim())
        && is_number(high.trim())
    {
        return format!("write {prefix}{}..{}", low.trim(), high.trim());
    }
    match text.rsplit_once(':') {
        Some((name, count)) if is_number(count.trim()) => format!("write {}={}", name.trim(), count.trim()),
        _ => "write a number, a range such as 1..3, or a name and a number such as cat=1".into(),
    }
}

impl From<Entry> for CountRange {
    fn from(entry: Entry) -> Self {
        match entry {
            Entry::Exactly(count) => count.into(),
            Entry::Range { low, high } => (low..=high.unwrap_or(usize::MAX)).into(),
        }
    }
}

impl QuotaRequest {
    /// Whether any entry is a range.
    pub(crate) fn has_ranges(&self) -> bool {
        let is_range = |entry: &Entry| matches!(entry, Entry::Range { .. });
        match self {
            QuotaRequest::Positional(entries) => entries.iter().any(is_range),
            QuotaRequest::Named(entries) => entries.iter().any(|(_, entry)| is_range(entry)),
            QuotaRequest::Equal | QuotaRequest::Proportional => false,
        }
    }

    /// The quota of these parts, with the total if it is given.
    pub(crate) fn resolve(&self, partition: &Partition, total: Option<usize>) -> Result<Quota, Failure> {
        let quota = match self {
            QuotaRequest::Positional(entries) => Quota::new(partition, entries.iter().copied())?,
            QuotaRequest::Named(entries) => {
                Quota::named(partition, entries.iter().map(|(name, entry)| (name, *entry)))?
            }
            QuotaRequest::Equal => Quota::equal(partition, needed(total, "equal")?)?,
            QuotaRequest::Proportional => Quota::proportional(partition, needed(total, "proportional")?)?,
        };
        match (total, quota.total()) {
            (Some(k), Some(sum)) if k != sum && !self.has_ranges() => {
                let sentence =
                    format!("--quota asks for {sum} items in all, --k for {k}: omit --k, or make them equal");
                Err(Failure::Arguments(sentence))
            }
            (Some(k), _) => Ok(quota.with_total(k)?),
            (None, _) => Ok(quota),
        }
    }
}

/// The number of items to distribute over the parts.
fn needed(total: Option<usize>, shared: &str) -> Result<usize, Failure> {
    let sentence = || format!("--quota {shared} needs --k K, the number of items in all");
    total.ok_or_else(|| Failure::Arguments(sentence()))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: usize, high: Option<usize>) -> Entry {
        Entry::Range { low, high }
    }

    #[test]
    fn names_may_contain_an_equals_sign() {
        let request: QuotaRequest = "a=b=2, c = 1".parse().unwrap();
        let named = [("a=b".into(), Entry::Exactly(2)), ("c".into(), Entry::Exactly(1))];
        assert_eq!(request, QuotaRequest::Named(named.into()));
        assert!(!request.has_ranges());
    }

    #[test]
    fn ranges_and_numbers_mix() {
        let request: QuotaRequest = "2..4, ..3,1..,..,5".parse().unwrap();
        let entries = [range(2, Some(4)), range(0, Some(3)), range(1, None), range(0, None)];
        assert_eq!(request, QuotaRequest::Positional([&entries[..], &[Entry::Exactly(5)]].concat()));
        let request: QuotaRequest = "dark=1 .. 2,light=3".parse().unwrap();
        let named = [("dark".into(), range(1, Some(2))), ("light".into(), Entry::Exactly(3))];
        assert!(request.has_ranges());
        assert_eq!(request, QuotaRequest::Named(named.into()));
    }

    #[test]
    fn nonsense_is_named() {
        for (text, culprit) in [
            ("2,x", "'x'"),
            ("2,-1", "'-1'"),
            ("1..x", "'x'"),
            ("1...3", "'.3'"),
            ("1..2..3", "'2..3'"),
            ("1..=3", "write 1..3"),
            ("a=1,2", "'2'"),
            ("", "''"),
            ("cat:1", "write cat=1"),
            ("cat=1-3", "write cat=1..3"),
            ("1-3,2", "write 1..3"),
            ("cat=1..x", "write a range as cat=2..4"),
        ] {
            let error = text.parse::<QuotaRequest>().unwrap_err();
            assert!(error.contains(culprit), "{error}");
        }
    }
}

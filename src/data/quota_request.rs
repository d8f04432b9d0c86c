//! Quotas as text: `2,1`, `cat=2,dog=1..3`, `equal`, `proportional`.

use std::{fmt, str::FromStr};

use super::{CountRange, Quota};
use crate::{Error, Partition, Result, error::ParseError};

/// A quota as it is written, before the parts are known.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use partition_dpp::{Partition, Quota, data::QuotaRequest};
/// let partition = Partition::from_labels(&["cat", "cat", "dog", "dog", "dog"])?;
/// let request: QuotaRequest = "cat=2, dog=1..3".parse()?;
/// let quota = request.resolve(&partition, Some(4))?;
/// assert_eq!(quota, Quota::named(&partition, [("cat", 2..=2), ("dog", 1..=3)])?.with_total(4)?);
/// // The text of a quota can be parsed again. A total is not part of it.
/// assert_eq!(quota.to_string(), "cat=2,dog=1..3");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuotaRequest {
    /// `2,1..3,2`: one entry per part, in the order of the parts.
    Positional(Vec<CountRange>),
    /// `dark=2,light=..3`: parts that are not named get no items.
    Named(Vec<(String, CountRange)>),
    /// `equal`: the same number of each part ([`Quota::equal`]).
    Equal,
    /// `proportional`: in proportion to the sizes of the parts ([`Quota::proportional`]).
    Proportional,
}

impl QuotaRequest {
    /// The quota of these parts, with the total if it is given.
    ///
    /// # Errors
    /// - [`Error::OpenTotal`] for `equal` and `proportional` without a total;
    /// - [`Error::TotalOutsideRanges`] if the entries do not allow the total;
    /// - the errors of [`Quota::new`], [`Quota::named`], [`Quota::equal`] and [`Quota::proportional`].
    pub fn resolve(&self, partition: &Partition, total: Option<usize>) -> Result<Quota> {
        let needed = || total.ok_or(Error::OpenTotal { low: 0, high: partition.items() });
        let quota = match self {
            Self::Positional(entries) => Quota::new(partition, entries.iter().copied())?,
            Self::Named(entries) => {
                Quota::named(partition, entries.iter().map(|(name, entry)| (name, *entry)))?
            }
            Self::Equal => Quota::equal(partition, needed()?)?,
            Self::Proportional => Quota::proportional(partition, needed()?)?,
        };
        match total {
            Some(total) => quota.with_total(total),
            None => Ok(quota),
        }
    }
}

impl FromStr for QuotaRequest {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "equal" => return Ok(Self::Equal),
            "proportional" => return Ok(Self::Proportional),
            _ => {}
        }
        let entries: Vec<&str> = text.split(',').map(str::trim).collect();
        if let Some(entry) = entries.iter().find(|entry| entry.contains("..=")) {
            let problem =
                format!("entry '{entry}': ranges include both ends; write {}", entry.replace("..=", ".."));
            return Err(ParseError::new(problem));
        }
        if !text.contains('=') {
            let entries = entries.into_iter().map(|entry| read(entry, ""));
            return entries.collect::<Result<_, _>>().map(Self::Positional);
        }
        if let Some(entry) = entries.iter().find(|entry| !entry.contains('=')) {
            let problem = format!(
                "entry '{entry}' names no part, but others do: name all parts or none, as in cat=1,dog=2"
            );
            return Err(ParseError::new(problem));
        }
        // A part's name may contain `=`, so the last one separates.
        let named = entries.into_iter().filter_map(|entry| entry.rsplit_once('='));
        let named = named.map(|(name, entry)| {
            let name = name.trim();
            Ok((name.to_owned(), read(entry.trim(), &format!("{name}="))?))
        });
        named.collect::<Result<_, _>>().map(Self::Named)
    }
}

/// Reads `2`, `2..4`, `..4`, `2..` or `..`.
impl FromStr for CountRange {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        read(text.trim(), "")
    }
}

/// Reads the number or the range of one part; `prefix` is the text before it, `cat=` or nothing.
fn read(text: &str, prefix: &str) -> Result<CountRange, ParseError> {
    let Some((low, high)) = text.split_once("..") else {
        let problem = || format!("entry '{text}' is not a number of items; {}", instead(text, prefix));
        return text.parse::<usize>().map(CountRange::from).map_err(|_| ParseError::new(problem()));
    };
    let end = |end: &str| match end.trim() {
        "" => Ok(None),
        end => end.parse().map(Some).map_err(|_| {
            ParseError::new(format!(
                "entry '{text}': '{end}' is not a number of items; write a range as {prefix}2..4"
            ))
        }),
    };
    Ok(CountRange { low: end(low)?.unwrap_or_default(), high: end(high)?.unwrap_or(usize::MAX) })
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

/// Whether a text consists of digits.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `2`, `2..4`, or `2..` without an upper end.
impl fmt::Display for CountRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { low, high } if low == high => write!(f, "{low}"),
            Self { low, high: usize::MAX } => write!(f, "{low}.."),
            Self { low, high } => write!(f, "{low}..{high}"),
        }
    }
}

impl fmt::Display for QuotaRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => f.write_str("equal"),
            Self::Proportional => f.write_str("proportional"),
            Self::Positional(entries) => joined(f, entries),
            Self::Named(entries) => joined(f, entries.iter().map(|(name, entry)| format!("{name}={entry}"))),
        }
    }
}

/// `cat=2,dog=1..3`, or `2,1..3` if the grammar has no way to write one of the names: with a comma, with a space at
/// either end, or with `..` before an equals sign.
impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |(&low, &high)| CountRange { low, high };
        let entries = self.low.iter().zip(&self.high).map(range);
        let unwritable =
            |name: &String| name.contains(',') || name.trim() != name || format!("{name}=").contains("..=");
        if self.parts.iter().any(unwritable) {
            return joined(f, entries);
        }
        joined(f, self.parts.iter().zip(entries).map(|(name, entry)| format!("{name}={entry}")))
    }
}

fn joined<T: fmt::Display>(f: &mut fmt::Formatter<'_>, entries: impl IntoIterator<Item = T>) -> fmt::Result {
    let entries: Vec<String> = entries.into_iter().map(|entry| entry.to_string()).collect();
    f.write_str(&entries.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: usize, high: Option<usize>) -> CountRange {
        CountRange { low, high: high.unwrap_or(usize::MAX) }
    }

    #[test]
    fn names_may_contain_an_equals_sign() {
        let request: QuotaRequest = "a=b=2, c = 1".parse().unwrap();
        let named = [("a=b".into(), 2.into()), ("c".into(), 1.into())];
        assert_eq!(request, QuotaRequest::Named(named.into()));
    }

    #[test]
    fn ranges_and_numbers_mix() {
        let request: QuotaRequest = "2..4, ..3,1..,..,5".parse().unwrap();
        let entries = [range(2, Some(4)), range(0, Some(3)), range(1, None), range(0, None), 5.into()];
        assert_eq!(request, QuotaRequest::Positional(entries.into()));
        let request: QuotaRequest = "dark=1 .. 2,light=3".parse().unwrap();
        let named = [("dark".into(), range(1, Some(2))), ("light".into(), 3.into())];
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
            let error = text.parse::<QuotaRequest>().unwrap_err().to_string();
            assert!(error.contains(culprit), "{error}");
        }
    }
}

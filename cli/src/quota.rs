//! `--quota`: by position or by name.

use std::str::FromStr;

use partition_dpp::{Partition, Quota};

use crate::failure::Failure;

/// A quota as written, before the parts are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QuotaRequest {
    /// `2,1,2`: one entry per part, in the order of the parts.
    Positional(Vec<usize>),
    /// `dark=2,light=1`: parts not named get zero.
    Named(Vec<(String, usize)>),
}

impl FromStr for QuotaRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let entries: Vec<&str> = text.split(',').map(str::trim).collect();
        if !text.contains('=') {
            return entries.into_iter().map(number).collect::<Result<_, _>>().map(QuotaRequest::Positional);
        }
        if let Some(entry) = entries.iter().find(|entry| !entry.contains('=')) {
            return Err(format!("entry '{entry}' names no part, others do; name all of them or none"));
        }
        // A part's name may itself contain `=`: the last one separates.
        let named = entries.into_iter().filter_map(|entry| entry.rsplit_once('='));
        let named = named.map(|(name, count)| Ok((name.trim().to_owned(), number(count.trim())?)));
        named.collect::<Result<_, _>>().map(QuotaRequest::Named)
    }
}

fn number(entry: &str) -> Result<usize, String> {
    if entry.contains("..") {
        return Err(format!(
            "entry '{entry}' is a range; ranges are not supported yet, give one number per part"
        ));
    }
    entry.parse().map_err(|_| format!("entry '{entry}' is not a number of items"))
}

impl QuotaRequest {
    /// Checks the quota against the parts there are.
    pub(crate) fn resolve(&self, partition: &Partition) -> Result<Quota, Failure> {
        let quota = match self {
            QuotaRequest::Positional(counts) => Quota::new(partition, counts),
            QuotaRequest::Named(counts) => {
                Quota::named(partition, counts.iter().map(|(name, count)| (name, *count)))
            }
        };
        quota.map_err(Failure::Library)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_contain_an_equals_sign() {
        let request: QuotaRequest = "a=b=2, c = 1".parse().unwrap();
        assert_eq!(request, QuotaRequest::Named(vec![("a=b".into(), 2), ("c".into(), 1)]));
    }

    #[test]
    fn nonsense_is_named() {
        for (text, culprit) in
            [("2,x", "'x'"), ("2,-1", "'-1'"), ("1..3", "range"), ("a=1,2", "'2'"), ("", "''")]
        {
            let error = text.parse::<QuotaRequest>().unwrap_err();
            assert!(error.contains(culprit), "{error}");
        }
    }
}

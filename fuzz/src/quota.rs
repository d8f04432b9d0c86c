//! Reads any text as `--quota`, for parts with plain and with odd names.

use arbitrary::{Arbitrary, Result, Unstructured};
use partition_dpp::Partition;

use crate::common::check_sentence;

/// The labels of the items.
const LABELS: [&[&str]; 5] = [
    &["a"],
    &["dark", "light", "dark", "medium", "light", "light"],
    &["a=b", "a", "=", "a", "..", "1..2"],
    &["0", "-1", "7", "0", "0", "7"],
    &["é", " ", "x y", "é", "é", ""],
];

/// A quota as a user might write it.
#[derive(Debug)]
pub struct Case {
    labels: &'static [&'static str],
    total: Option<usize>,
    text: String,
}

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let labels = *bytes.choose(&LABELS)?;
        let total = match bytes.arbitrary::<u8>()? {
            few @ 0..10 => Some(few.into()),
            10..16 => Some(bytes.arbitrary()?),
            _ => None,
        };
        let text = String::from_utf8_lossy(bytes.take_rest_of(500)?).into_owned();
        Ok(Self { labels, total, text })
    }
}

/// Takes up to a given number of the remaining bytes.
trait Rest<'a> {
    fn take_rest_of(&mut self, most: usize) -> Result<&'a [u8]>;
}

impl<'a> Rest<'a> for Unstructured<'a> {
    fn take_rest_of(&mut self, most: usize) -> Result<&'a [u8]> {
        self.bytes(self.len().min(most))
    }
}

pub fn run(case: &Case) {
    let Case { labels, total, text } = case;
    let partition = Partition::from_labels(labels).expect("a partition");
    match pdpp::fuzzing::quota(text, &partition, *total) {
        // The printed text must parse as the same quota.
        Ok(printed) => {
            assert_eq!(pdpp::fuzzing::quota(&printed, &partition, *total).as_ref(), Ok(&printed));
            assert_eq!(printed.split(',').count(), partition.parts(), "{printed}");
        }
        Err(sentence) => check_sentence(&sentence),
    }
}

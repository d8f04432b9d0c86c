//! Ranges of part counts around the quotas of the oracle.

use std::ops::RangeInclusive;

use partition_dpp::{Partition, Quota};

use crate::Case;

/// A quota of ranges, and the name of its shape.
pub struct Shape {
    pub name: &'static str,
    pub quota: Quota,
}

/// Returns ranges around the quota of a case: exact, wide, open, one-sided, with a total, with a part that may be
/// empty.
pub fn shapes(case: &Case, partition: &Partition) -> Vec<Shape> {
    let (counts, last) = (&case.quota, case.quota.len() - 1);
    let around = |down: usize, up: usize| -> Vec<RangeInclusive<usize>> {
        counts.iter().map(|&count| count.saturating_sub(down)..=count + up).collect()
    };
    let with = |mut ranges: Vec<RangeInclusive<usize>>, part: usize, range: RangeInclusive<usize>| {
        ranges[part] = range;
        ranges
    };
    let many = case.items();
    let k: usize = counts.iter().sum();
    let plain = [
        ("exact", around(0, 0)),
        ("one more or less", around(1, 1)),
        ("at most", around(many, 0)),
        ("at least", around(0, many)),
        ("anything", around(many, many)),
        ("one part free", with(around(0, 0), 0, 0..=counts[0] + 1)),
        ("one part open", with(around(0, 0), last, 0..=many)),
        ("one part empty", with(around(0, 0), last, 0..=0)),
    ];
    let totals = [
        ("one more or less, k in all", around(1, 1), k),
        ("anything, k in all", around(many, many), k),
        ("at most, one less in all", around(many, 0), k - 1),
        ("one part open, k in all", with(around(1, 0), last, 0..=many), k),
    ];
    let shape = |name, ranges: &[RangeInclusive<usize>], total: Option<usize>| {
        let quota = Quota::new(partition, ranges).unwrap();
        let quota = total.map_or(quota.clone(), |total| quota.with_total(total).unwrap());
        Shape { name, quota }
    };
    let some = plain.iter().filter(|(_, ranges)| ranges.iter().any(|range| *range.end() > 0));
    let plain = some.map(|(name, ranges)| shape(name, ranges, None));
    plain.chain(totals.iter().map(|(name, ranges, total)| shape(name, ranges, Some(*total)))).collect()
}

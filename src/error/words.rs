//! Lists and numbers in error messages.

/// The largest number of names that a message lists.
const MOST: usize = 10;

pub(super) fn join(names: &[String]) -> String {
    list(names.iter().collect())
}

/// The names, the most similar to `wanted` first.
fn nearest(names: &[String], wanted: &str) -> String {
    let mut names: Vec<&String> = names.iter().collect();
    if names.len() > MOST {
        names.sort_by_cached_key(|name| strsim::damerau_levenshtein(name, wanted));
    }
    list(names)
}

/// The name, quoted if it is empty.
pub(super) fn shown(name: &str) -> &str {
    if name.is_empty() { "''" } else { name }
}

fn list(names: Vec<&String>) -> String {
    let more = names.len().saturating_sub(MOST);
    let shown: Vec<&str> = names.into_iter().take(MOST).map(|name| shown(name)).collect();
    let shown = shown.join(", ");
    if more > 0 { format!("{shown}, … and {} more", thousands(more as u64)) } else { shown }
}

/// A number with a space between groups of thousands.
fn thousands(number: u64) -> String {
    match (number / 1000, number % 1000) {
        (0, units) => units.to_string(),
        (thousand, units) => format!("{} {units:03}", thousands(thousand)),
    }
}

/// A subject and verb: "part a has", "parts {a, b} together have".
fn have(parts: &[String]) -> String {
    match parts {
        [one] => format!("part {one} has"),
        many => format!("parts {{{}}} together have", join(many)),
    }
}

/// The message for a size above the rank, or above the number of features.
pub(super) fn above_rank(k: usize, rank: usize) -> String {
    format!(
        "k = {k} is above the rank of the kernel, {rank} or less (never more than the number of features): the determinants of all sets of {k} items are zero in f64"
    )
}

/// The message for an item in two parts.
pub(super) fn overlapping(item: usize, first: &str, second: &str) -> String {
    format!(
        "item {item} is in part {first} and in part {second}: parts must not overlap (counting under overlapping parts includes counting perfect matchings, which is #P-hard); give the item one copy per part instead"
    )
}

/// The message for predicted costs above the budgets of exact sampling.
pub(super) fn over_budgets([expected, budget]: [f64; 2], [nodes, node_budget]: [f64; 2]) -> String {
    let (expected, nodes) = (large(expected, 3), large(nodes, 3));
    format!(
        "exact sampling of this quota may need {expected} proposals per sample, more than the budget of {budget:.3e}, or interpolation on {nodes} nodes, more than the budget of {node_budget:.3e}"
    )
}

/// A predicted cost with this many decimals. It may exceed the range of f64.
pub(crate) fn large(number: f64, decimals: usize) -> String {
    if number.is_finite() { format!("{number:.decimals$e}") } else { "more than 1e300".into() }
}

/// The message for parts that cannot meet their quota.
pub(super) fn infeasible(parts: &[String], rank: usize, quota: usize) -> String {
    let have = have(parts);
    format!(
        "no set can meet the quota: {have} rank {rank} in f64, but the quota asks for {quota} items there"
    )
}

/// The message for parts that cannot meet their quota beyond the included items.
pub(super) fn infeasible_beyond(parts: &[String], rank: usize, quota: usize) -> String {
    let have = have(parts);
    format!(
        "no set can meet the quota: beyond the included items {have} rank {rank} in f64, but the quota asks for {quota} more items there"
    )
}

/// The message for a part in the quota that does not exist.
pub(super) fn unknown_part(name: &str, known: &[String]) -> String {
    let (name, known) = (shown(name), nearest(known, name));
    format!("the quota names part {name}, which no label has; the parts are {known}")
}

/// The message for features whose law would be too inaccurate.
pub(super) fn ill_conditioned(deviation: f64, tolerance: f64) -> String {
    let off = amount(deviation);
    format!(
        "the features are too badly conditioned: the law would be off by {off} in total variation, where {tolerance:.0e} is tolerated; rescale or drop columns or rows of very different size"
    )
}

/// A total variation distance, or words if the number is not one.
fn amount(deviation: f64) -> String {
    if (0.0..1.0).contains(&deviation) {
        format!("{deviation:.1e}")
    } else {
        "an amount that cannot be bounded".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_beyond_f64_are_words() {
        assert_eq!((large(12345.0, 2), large(f64::INFINITY, 2)), ("1.23e4".into(), "more than 1e300".into()));
        let text = over_budgets([f64::INFINITY, 1e7], [f64::INFINITY, 1e6]);
        assert!(
            text.contains("may need more than 1e300 proposals") && text.contains("on more than 1e300 nodes")
        );
    }

    #[test]
    fn lists_are_short() {
        let names: Vec<String> = (0..2011).map(|part| format!("part {part}")).collect();
        assert_eq!(join(&names[..3]), "part 0, part 1, part 2");
        assert!(join(&names).ends_with(", part 9, … and 2 001 more"), "{}", join(&names));
        assert!(
            nearest(&names, "part 1998").starts_with("part 1998, part 1"),
            "{}",
            nearest(&names, "part 1998")
        );
        assert_eq!(nearest(&names[..2], "part 1"), "part 0, part 1");
    }

    #[test]
    fn amounts_that_say_nothing_are_not_numbers() {
        assert_eq!(amount(2.5e-4), "2.5e-4");
        for nothing in [-32.0, 1.0, 7.0, f64::INFINITY, f64::NAN] {
            assert_eq!(amount(nothing), "an amount that cannot be bounded");
        }
    }
}

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

/// "1 item", "2 items".
pub(super) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The same for a noun with another plural.
pub(super) fn counted_as(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// "1 is", "2 are".
pub(super) fn are(count: usize) -> String {
    counted_as(count, "is", "are")
}

/// "is 1 item", "are 2 items".
pub(super) fn are_counted(count: usize, noun: &str) -> String {
    format!("{} {}", if count == 1 { "is" } else { "are" }, counted(count, noun))
}

/// A number without an exponent, unless it is very large or very small.
pub(super) fn plain(number: f64) -> String {
    if (1e-3..1e6).contains(&number.abs()) {
        let text = format!("{number:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{number:e}")
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
        "k = {k} is above the rank of the kernel, which is at most {rank}: every set of {k} items has determinant zero in f64"
    )
}

/// A design with fewer independent rows than coefficients.
pub(super) fn design_rank(rank: usize, columns: usize) -> String {
    let coefficients = counted(columns, "coefficient");
    format!("rows of rank {rank} cannot estimate {coefficients}: a design needs rows of rank {columns}")
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
        "no set can meet the quota: {have} rank {rank} in f64, but the quota asks for {} there",
        counted(quota, "item")
    )
}

/// The message for parts that cannot meet their quota beyond the included items.
pub(super) fn infeasible_beyond(parts: &[String], rank: usize, quota: usize) -> String {
    let have = have(parts);
    format!(
        "no set can meet the quota: beyond the included items {have} rank {rank} in f64, but the quota asks for {} there",
        counted(quota, "more item")
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
        "the features are too badly conditioned: the distribution would be off by {off} in total variation; at most {tolerance:.0e} is tolerated. Rescale or drop columns or rows of very different size"
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
    fn counts_and_numbers_read_well() {
        let found = [counted(1, "item"), counted(2, "item"), are(1), are_counted(3, "item")];
        assert_eq!(found, ["1 item", "2 items", "1 is", "are 3 items"]);
        assert_eq!([0.5, -1.0, 1e-9, 2e9].map(plain), ["0.5", "-1", "1e-9", "2e9"]);
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

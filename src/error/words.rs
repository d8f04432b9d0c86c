//! Lists in words.

pub(super) fn join(names: &[String]) -> String {
    names.join(", ")
}

/// "part a has", "parts {a, b} together have".
pub(super) fn have(parts: &[String]) -> String {
    match parts {
        [one] => format!("part {one} has"),
        many => format!("parts {{{}}} together have", join(many)),
    }
}

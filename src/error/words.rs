//! Lists in words.

pub(super) fn join(names: &[String]) -> String {
    names.join(", ")
}

pub(super) fn name_parts(parts: &[String]) -> String {
    match parts {
        [one] => format!("part {one}"),
        many => format!("parts {{{}}}", join(many)),
    }
}

//! The parameters of dispatches, by the names that the shaders declare.

use super::words;

/// A name and the word of its value.
pub(super) type Parameter = (&'static str, u32);

/// The parameters of a dispatch after `start`, in the shader's order, written like the fields of a struct:
/// `parameters! { rows, quads: pitch / QUAD }`.
macro_rules! parameters {
    (@ $name:ident) => { $name };
    (@ $name:ident $value:expr) => { $value };
    ($($name:ident $(: $value:expr)?),* $(,)?) => {
        [$((
            stringify!($name),
            $crate::engine::gpu::parameters::Word::word(parameters!(@ $name $($value)?)),
        ),)*]
    };
}
pub(super) use parameters;

/// A value that takes one word of the parameters.
pub(super) trait Word {
    fn word(self) -> u32;
}

impl Word for u32 {
    fn word(self) -> u32 {
        self
    }
}

impl Word for usize {
    fn word(self) -> u32 {
        words(self)
    }
}

impl Word for bool {
    fn word(self) -> u32 {
        self.into()
    }
}

impl Word for f32 {
    fn word(self) -> u32 {
        self.to_bits()
    }
}

/// The names in the `Parameters` of a source, without `start`.
pub(super) fn declared(source: &str) -> Vec<String> {
    let fields = source.split_once("struct Parameters {").and_then(|(_, rest)| rest.split_once('}'));
    let names =
        fields.map_or("", |(fields, _)| fields).split(':').filter_map(|text| text.split_whitespace().last());
    let mut names: Vec<_> = names.skip(1).map(str::to_owned).collect();
    // The type of the last field.
    names.pop();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_the_source() {
        let source = "struct Parameters {\n  start: u32, rows: u32,\n  // The widths, padded.\n  quads: u32, unit: f32,\n}";
        assert_eq!(declared(source), ["rows", "quads", "unit"]);
        assert_eq!(declared("struct Parameters { start: u32 }"), [""; 0]);
    }
}

//! Options by name.

/// Implements `Display` and `FromStr` of an enum without fields, from the names of its variants.
macro_rules! by_name {
    ($type:ty, $what:literal, { $($variant:ident => $name:literal,)* }) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $name,)* })
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::error::ParseError;

            fn from_str(text: &str) -> Result<Self, $crate::error::ParseError> {
                match text {
                    $($name => Ok(Self::$variant),)*
                    _ => Err($crate::error::ParseError::unknown($what, text, &[$($name),*])),
                }
            }
        }
    };
}

pub(crate) use by_name;

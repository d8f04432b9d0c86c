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
            type Err = $crate::Error;

            fn from_str(text: &str) -> $crate::Result<Self> {
                match text {
                    $($name => Ok(Self::$variant),)*
                    _ => Err($crate::Error::UnknownName {
                        what: $what,
                        name: text.to_owned(),
                        known: &[$($name),*],
                    }),
                }
            }
        }
    };
}

pub(crate) use by_name;

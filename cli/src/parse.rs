//! Numbers in arguments.

use std::{fmt::Display, str::FromStr, time::Duration};

/// A number of things from 1 to a limit. A number too large for the type is refused as too many.
pub(crate) fn within<T: FromStr + Copy + PartialOrd + Display + From<u8>>(
    text: &str,
    most: T,
    things: &str,
) -> Result<T, String> {
    match text.parse::<T>() {
        Ok(number) if number < T::from(1) => {
            Err(format!("{number} {things} are too few; at least 1 is needed"))
        }
        Ok(number) if number <= most => Ok(number),
        Err(_) if !is_number(text) => Err(format!("'{text}' is not a number of {things}, such as 5")),
        _ => Err(format!("{text} {things} are too many; at most {most} are allowed")),
    }
}

/// Whether a text consists of digits.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let usable = |seconds: &f64| *seconds >= 0.0;
    let seconds: Option<f64> = text.trim().parse().ok().filter(usable);
    let seconds = seconds.ok_or_else(|| format!("'{text}' is not a number of seconds, such as 30 or 0.5"))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("'{text}' seconds are too many"))
}

/// A number above 0 and below 1.
pub(crate) fn probability(text: &str) -> Result<f64, String> {
    let usable = |number: &f64| *number > 0.0 && *number < 1.0;
    text.trim().parse().ok().filter(usable).ok_or_else(|| format!("'{text}' is not between 0 and 1"))
}

pub(crate) fn positive(text: &str) -> Result<f64, String> {
    let usable = |number: &f64| number.is_finite() && *number > 0.0;
    text.trim().parse().ok().filter(usable).ok_or_else(|| format!("'{text}' is not a positive number"))
}

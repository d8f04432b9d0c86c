//! Numbers in text.

use std::f64::consts::LN_10;

/// A number of proposals or nodes, to about three digits.
pub(crate) fn short(number: f64) -> String {
    if number.is_infinite() {
        large(number, 2)
    } else if number < 100.0 {
        format!("{number:.2}")
    } else if number < 1e6 {
        format!("{number:.0}")
    } else {
        format!("{number:.2e}")
    }
}

/// A number of any magnitude, with at least four digits.
pub(crate) fn significant(number: f64) -> String {
    if (0.1..1e5).contains(&number) { format!("{number:.4}") } else { format!("{number:.3e}") }
}

/// A predicted cost with this many decimals, which may be beyond f64.
pub(crate) fn large(number: f64, decimals: usize) -> String {
    if number.is_finite() { format!("{number:.decimals$e}") } else { "more than 1e300".into() }
}

/// A number to six decimals; zero has no sign.
pub(crate) fn decimals(number: f64) -> String {
    let text = format!("{number:.6}");
    if text == "-0.000000" { "0.000000".into() } else { text }
}

/// A factor given by its logarithm, however large.
pub(crate) fn factor_of_log(log: f64) -> String {
    const LARGEST: f64 = 700.0;
    if log < LARGEST || log.is_infinite() {
        return short(log.exp());
    }
    let exponent = (log / LN_10).floor();
    format!("{:.2}e{exponent}", 10_f64.powf(log / LN_10 - exponent))
}

/// A probability, to about four digits.
pub(crate) fn probability(p: f64) -> String {
    if p <= 0.0 {
        "0".into()
    } else if p < 1e-3 {
        format!("{p:.3e}")
    } else {
        format!("{p:.4}")
    }
}

/// A bound on an error, rounded up to one digit.
pub(crate) fn error(error: f64) -> String {
    if error <= 0.0 {
        return "0".into();
    }
    if error.is_infinite() {
        return "∞".into();
    }
    let text = format!("{error:.0e}");
    let down = text.parse::<f64>().is_ok_and(|rounded| rounded < error);
    match text.split_once('e') {
        Some((digit, exponent)) if down => match digit.parse::<u8>() {
            Ok(digit) if digit < 9 => format!("{}e{exponent}", digit + 1),
            _ => format!("1e{}", exponent.parse::<i32>().unwrap_or_default() + 1),
        },
        _ => text,
    }
}

/// A probability given by its logarithm, however small.
pub(crate) fn probability_of_log(log: f64) -> String {
    const SMALLEST: f64 = -700.0;
    if log > SMALLEST || log.is_infinite() {
        return probability(log.exp());
    }
    let exponent = (log / LN_10).floor();
    format!("{:.3}e{exponent}", 10_f64.powf(log / LN_10 - exponent))
}

/// Seconds, to about three digits.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{seconds:.1e} s")
    } else if seconds < 10.0 {
        format!("{seconds:.3} s")
    } else if seconds < 1e5 {
        format!("{seconds:.0} s")
    } else {
        format!("{} s", large(seconds, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities() {
        let pairs = [(0.0, "0"), (1.0, "1.0000"), (0.12345, "0.1235"), (1.25e-7, "1.250e-7")];
        for (p, text) in pairs {
            assert_eq!(probability(p), text);
            assert_eq!(probability_of_log(p.ln()), text);
        }
        let pairs = [(0.0, "0"), (1e-16, "1e-16"), (1.01e-16, "2e-16"), (9.4e-9, "1e-8"), (0.5, "5e-1")];
        for (bound, text) in pairs {
            assert_eq!(error(bound), text);
        }
        assert_eq!(factor_of_log(1000.0 * LN_10 + 2_f64.ln()), "2.00e1000");
        assert_eq!(factor_of_log(2_f64.ln()), "2.00");
        assert_eq!((short(f64::INFINITY), large(1234.5, 1)), ("more than 1e300".into(), "1.2e3".into()));
        assert_eq!(probability_of_log(-1000.0 * LN_10 + 2_f64.ln()), "2.000e-1000");
    }
}

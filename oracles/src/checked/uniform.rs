//! A test of whether numbers are uniform on [0, 1].

/// Returns the p-value of the Kolmogorov–Smirnov test (its asymptotic law, with Stephens' correction for small
/// samples).
pub fn p_value(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 1.0;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let gap = |(at, x): (usize, &f64)| (x - at as f64 / count).max((at + 1) as f64 / count - x);
    let statistic = sorted.iter().enumerate().map(gap).fold(0.0, f64::max);
    let scaled = (count.sqrt() + 0.12 + 0.11 / count.sqrt()) * statistic;
    let term = |j: i32| f64::from(1 - 2 * ((j + 1) % 2)) * (-2.0 * f64::from(j * j) * scaled * scaled).exp();
    (2.0 * (1..=100).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

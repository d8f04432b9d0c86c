//! The distribution of a sum of logarithms of gamma variables.

use std::f64::consts::PI;

use faer::c64;

/// X = Σ ln G_i with independent G_i ~ Gamma(k_i, 1), by its characteristic function Π Γ(k_i + iu) / Γ(k_i).
///
/// # Source
/// Gil-Pelaez, *Note on the inversion theorem* (1951).
#[derive(Debug)]
pub(super) struct LogGammas {
    /// The approximate mean and standard deviation of X: x = centre + scale · y.
    centre: f64,
    scale: f64,
    /// The characteristic function of y at (j + ½) [`STEP`].
    transform: Vec<c64>,
}

/// The step between frequencies. Sums of this step give a distribution with period 2π / 0.1, about sixty standard
/// deviations.
const STEP: f64 = 0.1;
/// The size at which the transform is negligible.
const NEGLIGIBLE: f64 = 1e-17;
/// The most frequencies, needed for a few variables with small k, whose tails are long.
const MOST: usize = 100_000;
/// The real part above which Stirling's series is accurate to all digits.
const LARGE: f64 = 15.0;

impl LogGammas {
    /// The distribution for shapes of at least 1.
    pub(super) fn new(shapes: &[u64]) -> Self {
        let shapes: Vec<f64> = shapes.iter().map(|&shape| shape as f64).collect();
        let centre: f64 = shapes.iter().map(|shape| shape.ln()).sum();
        let scale = shapes.iter().map(|shape| shape.recip()).sum::<f64>().sqrt();
        let at = |j: usize| {
            let u = (j as f64 + 0.5) * STEP / scale;
            shapes.iter().map(|&k| log_ratio(k, u)).sum::<c64>().exp()
        };
        let transform = (0..MOST).map(at).take_while(|value| value.norm() > NEGLIGIBLE).collect();
        Self { centre, scale, transform }
    }

    /// Pr(X ≤ x).
    fn below(&self, x: f64) -> f64 {
        let y = (x - self.centre) / self.scale;
        let term = |(j, value): (usize, &c64)| {
            let u = (j as f64 + 0.5) * STEP;
            (c64::new(0.0, -u * y).exp() * value).im / (j as f64 + 0.5)
        };
        0.5 - self.transform.iter().enumerate().map(term).sum::<f64>() / PI
    }

    /// The x with Pr(X ≤ x) = p.
    pub(super) fn quantile(&self, p: f64) -> f64 {
        let (mut low, mut high) = (self.centre - 30.0 * self.scale, self.centre + 30.0 * self.scale);
        while high - low > 1e-12 * self.scale {
            let middle = low.midpoint(high);
            if middle <= low || middle >= high {
                break;
            }
            if self.below(middle) < p { low = middle } else { high = middle }
        }
        low.midpoint(high)
    }
}

/// ln Γ(k + iu) / Γ(k) − iu ln k for k ≥ 1, by Γ(z + 1) = z Γ(z) and the difference of Stirling's series, without
/// terms that cancel.
fn log_ratio(mut k: f64, u: f64) -> c64 {
    let (mut below, given) = (c64::new(0.0, 0.0), k);
    while k < LARGE {
        below += turn(u / k);
        k += 1.0;
    }
    let series = |z: c64| {
        let inverse = c64::new(1.0, 0.0) / z;
        let square = inverse * inverse;
        // B_2n / (2n (2n − 1)), from the last one to the first.
        let coefficients = [1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0];
        coefficients.iter().fold(c64::new(0.0, 0.0), |sum, &c| sum * square + c) * inverse
    };
    let z = c64::new(k, u);
    let whole = (z - 0.5) * turn(u / k) - c64::new(0.0, u) + series(z) - series(c64::new(k, 0.0));
    whole - below + c64::new(0.0, u * (k / given).ln())
}

/// ln(1 + ix), accurate for small x too.
fn turn(x: f64) -> c64 {
    c64::new(0.5 * (x * x).ln_1p(), x.atan())
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution, Gamma};
    use statrs::distribution::{ContinuousCDF, Gamma as GammaLaw};

    use super::*;
    use crate::sample::stream;

    #[test]
    fn one_variable_has_the_quantiles_of_its_law() {
        for shape in [2, 10, 384, 38_416] {
            let law = LogGammas::new(&[shape]);
            let known = GammaLaw::new(shape as f64, 1.0).unwrap();
            for p in [0.005, 0.025, 0.5, 0.9, 0.975] {
                let (found, expected) = (law.quantile(p), known.inverse_cdf(p).ln());
                assert!((found - expected).abs() < 1e-6 * law.scale, "{shape}, {p}: {found} {expected}");
            }
        }
    }

    #[test]
    fn sums_have_the_quantiles_of_many_draws() {
        let shapes = [3, 20, 7];
        let law = LogGammas::new(&shapes);
        let mut rng = stream(5, 0);
        let laws = shapes.map(|shape| Gamma::new(shape as f64, 1.0).unwrap());
        let draws: Vec<f64> =
            (0..200_000).map(|_| laws.iter().map(|law| law.sample(&mut rng).ln()).sum()).collect();
        for p in [0.025, 0.3, 0.975] {
            let end = law.quantile(p);
            let below = draws.iter().filter(|&&x| x <= end).count() as f64 / draws.len() as f64;
            let off = (below - p).abs() / (p * (1.0 - p) / draws.len() as f64).sqrt();
            assert!(off < 5.0, "{p}: {below}");
        }
    }
}

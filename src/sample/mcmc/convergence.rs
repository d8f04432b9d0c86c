//! Convergence diagnostics of a quantity: split-R̂, effective draws, autocorrelation time.

use crate::{Error, Result, error::EstimateProblem};

/// The fewest draws per chain that can be diagnosed.
const FEWEST: usize = 8;
/// Lags computed one by one; all others are computed together.
const DIRECT_LAGS: usize = 64;
/// Relative variations below this count as rounding of a constant.
const CONSTANT: f64 = 1e-10;

/// The mean of a quantity over the draws of several chains, and how well the chains agree on it.
///
/// ```text
/// R̂ = √(var⁺ / W),   ρ_t = 1 − (W − mean of the chains' autocovariances at lag t) / var⁺
/// τ = 1 + 2 Σ ρ_t,   effective draws = draws / τ
/// ```
///
/// Every chain is split in halves; W is their mean variance, var⁺ = W·(n−1)/n + the variance of their means. The sum is
/// cut off and made monotone as in Geyer's initial sequences.
///
/// # Cost
/// O(N) for each lag up to 64, O(N log N) for all beyond.
///
/// # Numerics
/// A quantity that varies by less than 1e-10 of its size counts as constant: R̂ = 1 and every draw is effective. If
/// chains disagree on the constant, R̂ is infinite.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::mcmc::Convergence;
/// let up: Vec<f64> = (0..100).map(f64::from).collect();
/// let shuffled: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 100)).collect();
/// assert!(Convergence::of(&[&shuffled, &shuffled[1..]])?.r_hat < 1.05);
/// assert!(Convergence::of(&[&up])?.r_hat > 1.5);
/// # Ok(()) }
/// ```
///
/// # Source
/// Gelman and Rubin (1992); Geyer, *Practical Markov chain Monte Carlo* (1992); Vehtari, Gelman, Simpson, Carpenter
/// and Bürkner, *Rank-normalization, folding, and localization: an improved R̂* (2021), equations 1 to 12.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Convergence {
    /// Mean over all draws.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::data::serialized::number"))]
    pub mean: f64,
    /// Standard error of the mean, from the effective draws.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::data::serialized::number"))]
    pub standard_error: f64,
    /// Split-R̂: 1 if the chains agree; above 1.01 they do not agree yet.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::data::serialized::number"))]
    pub r_hat: f64,
    /// The number of independent draws that would estimate the mean as well.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::data::serialized::number"))]
    pub effective_draws: f64,
    /// τ, in draws.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::data::serialized::number"))]
    pub autocorrelation_time: f64,
}

impl Convergence {
    /// Diagnoses the values of each chain, in order; longer chains are cut to the shortest.
    ///
    /// # Errors
    /// [`EstimateProblem::TooFewDraws`] if a chain has fewer than eight draws; [`Error::Empty`] if there are no
    /// chains.
    pub fn of<S: AsRef<[f64]>>(chains: &[S]) -> Result<Self> {
        let Some(draws) = chains.iter().map(|chain| chain.as_ref().len()).min() else {
            return Err(Error::Empty { what: "the list of chains" });
        };
        if draws < FEWEST {
            return Err(EstimateProblem::TooFewDraws { draws, needed: FEWEST }.into());
        }
        let half = draws / 2;
        // If the number is odd, the middle draw is left out.
        let halves = |chain: &'_ S| {
            let chain = &chain.as_ref()[..draws];
            [Half::of(&chain[..half]), Half::of(&chain[draws - half..])]
        };
        Ok(Self::of_halves(&chains.iter().flat_map(halves).collect::<Vec<_>>()))
    }

    fn of_halves(halves: &[Half]) -> Self {
        let (count, len) = (halves.len() as f64, halves[0].centred.len() as f64);
        let draws = count * len;
        let mean = halves.iter().map(|half| half.mean).sum::<f64>() / count;
        let between = halves.iter().map(|half| (half.mean - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let within = halves.iter().map(Half::variance).sum::<f64>() / count;
        let variance = within * (len - 1.0) / len + between;
        let rounding = (CONSTANT * halves.iter().map(|half| half.largest).fold(0.0, f64::max)).powi(2);
        if variance <= rounding {
            let (standard_error, r_hat, autocorrelation_time) = (0.0, 1.0, 1.0);
            return Self { mean, standard_error, r_hat, effective_draws: draws, autocorrelation_time };
        }
        let r_hat = if within <= rounding { f64::INFINITY } else { (variance / within).sqrt() };
        let lagged = |covariance: f64| 1.0 - (within - covariance) / variance;
        // Alternating draws are better than independent ones, but only up to a limit.
        let autocorrelation_time = correlation_sum(halves, lagged).max(draws.log10().recip());
        let effective_draws = draws / autocorrelation_time;
        let standard_error = (variance / effective_draws).sqrt();
        Self { mean, standard_error, r_hat, effective_draws, autocorrelation_time }
    }
}

/// Half a chain, centred.
struct Half {
    mean: f64,
    largest: f64,
    centred: Vec<f64>,
}

impl Half {
    fn of(values: &[f64]) -> Self {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let largest = values.iter().fold(0.0, |max, x| f64::max(max, x.abs()));
        Self { mean, largest, centred: values.iter().map(|x| x - mean).collect() }
    }

    fn variance(&self) -> f64 {
        self.centred.iter().map(|x| x * x).sum::<f64>() / (self.centred.len() - 1) as f64
    }

    /// Autocovariance at a lag, with the factor 1/n.
    fn covariance(&self, lag: usize) -> f64 {
        let products = self.centred.iter().zip(&self.centred[lag..]).map(|(x, y)| x * y);
        products.sum::<f64>() / self.centred.len() as f64
    }
}

/// τ = −1 + 2 Σ (ρ_{2s} + ρ_{2s+1}), over the pairs up to the first that is not positive, each at most the one
/// before it.
fn correlation_sum(halves: &[Half], correlation: impl Fn(f64) -> f64) -> f64 {
    let len = halves[0].centred.len();
    let mut beyond: Option<Vec<f64>> = None;
    let mut at = |lag: usize| -> f64 {
        if lag < DIRECT_LAGS {
            return halves.iter().map(|half| half.covariance(lag)).sum::<f64>() / halves.len() as f64;
        }
        beyond.get_or_insert_with(|| mean_autocovariances(halves))[lag]
    };
    let (mut total, mut least) = (0.0, f64::INFINITY);
    for lag in (0..len - 1).step_by(2) {
        // ρ_0 is 1 by definition, so its estimate is not used.
        let even = if lag == 0 { 1.0 } else { correlation(at(lag)) };
        let pair = even + correlation(at(lag + 1));
        if pair <= 0.0 {
            break;
        }
        least = f64::min(least, pair);
        total += least;
    }
    2.0 * total - 1.0
}

/// Autocovariances at all lags, averaged over the halves, from the power spectrum (Wiener and Khinchin).
fn mean_autocovariances(halves: &[Half]) -> Vec<f64> {
    let len = halves[0].centred.len();
    let size = (2 * len).next_power_of_two();
    let mut power = vec![[0.0; 2]; size];
    for half in halves {
        let mut wave: Vec<[f64; 2]> = half.centred.iter().map(|&x| [x, 0.0]).collect();
        wave.resize(size, [0.0; 2]);
        fourier(&mut wave);
        power.iter_mut().zip(&wave).for_each(|(sum, [re, im])| sum[0] += re * re + im * im);
    }
    // The power spectrum is even, so the inverse transform is the transform.
    fourier(&mut power);
    let scale = (size as f64 * len as f64 * halves.len() as f64).recip();
    power[..len].iter().map(|[re, _]| re * scale).collect()
}

/// The discrete Fourier transform of 2^s complex numbers, in place (Cooley and Tukey).
fn fourier(wave: &mut [[f64; 2]]) {
    let size = wave.len();
    let bits = size.trailing_zeros();
    for i in 0..size {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            wave.swap(i, j);
        }
    }
    let mut span = 1;
    while span < size {
        for k in 0..span {
            let (sine, cosine) = (-std::f64::consts::PI * k as f64 / span as f64).sin_cos();
            for i in (k..size).step_by(2 * span) {
                let ([a, b], [c, d]) = (wave[i], wave[i + span]);
                let (re, im) = (c * cosine - d * sine, c * sine + d * cosine);
                wave[i] = [a + re, b + im];
                wave[i + span] = [a - re, b - im];
            }
        }
        span *= 2;
    }
}

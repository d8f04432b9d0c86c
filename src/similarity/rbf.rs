//! Features whose inner products approximate a Gaussian kernel.

use super::{
    Bandwidth, FeatureScalar, KernelFunction, RbfKernel, factor::Factor, landmarks::choose, nystrom::Nystrom,
};
use crate::{Error, Features, Result, engine::Engine};

/// Landmarks unless a number is given, or as many as there are items.
const LANDMARKS: usize = 512;
/// Residuals below this many roundings count as rounding.
const ROUNDINGS: f64 = 16.0;

/// Explicit features of the Gaussian kernel, with which every model and solver takes it (Nyström's method).
///
/// ```text
/// K_ij = exp(−‖a_i − a_j‖² / (2h²)) ≈ K̂ = K_XZ K_ZZ⁻¹ K_ZX = F Fᵀ,   F = K_XZ L⁻ᵀ,   L Lᵀ = K_ZZ
/// ```
///
/// Z are R landmarks, chosen among the items by randomly pivoted Cholesky: one after the other, with probability
/// proportional to the residual K_ii − K̂_ii given those before. On average, landmarks chosen so are nearly as good as
/// the best approximation of a somewhat smaller rank. Fewer are returned where fewer leave nothing but rounding.
///
/// # Cost
/// 2mnR + mR² operations in one pass, and mR numbers. Choosing the landmarks takes a few thousand entries of K each, and
/// further passes only once the residuals have fallen below some percent.
///
/// # Numerics
/// f64 until features are rounded, to f32 unless [`features_in`](Self::features_in) is asked for f64. The
/// [kernel error](RbfFeatures::kernel_error) is that of the rounded features: rounding to f32 changes every entry of K̂
/// by at most 1.2e-7.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, KDpp, Method, engine::Cpu, similarity::Rbf};
/// let features = Features::from_rows(50, 2, (0..100).map(|i| f64::from(i * i % 17)).collect::<Vec<_>>())?;
/// let rbf = Rbf::default().with_landmarks(20).features(&features, &Cpu)?;
/// assert!(rbf.kernel_error() < 0.1);
/// // More items than the two features allow.
/// let sampler = KDpp::new(rbf.features(), 8)?.sampler(Method::Auto, &Cpu)?;
/// assert_eq!(sampler.sample_many(1, 0).subsets()[0].len(), 8);
/// # Ok(()) }
/// ```
///
/// # Source
/// Chen, Epperly, Tropp and Webber, *Randomly pivoted Cholesky* (2025); Epperly, Tropp and Webber, *Embrace rejection:
/// kernel matrix approximation by accelerated randomly pivoted Cholesky* (2024), for proposals that are rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rbf {
    bandwidth: Bandwidth,
    landmarks: Option<usize>,
    seed: u64,
}

impl Rbf {
    /// The kernel with this bandwidth.
    #[must_use]
    pub fn new(bandwidth: Bandwidth) -> Self {
        Self { bandwidth, ..Self::default() }
    }

    /// Sets the number of landmarks R, at most m; min(m, 512) unless set.
    #[must_use]
    pub fn with_landmarks(self, landmarks: usize) -> Self {
        Self { landmarks: Some(landmarks), ..self }
    }

    /// The number of landmarks among so many items, at most: the number set, or min(m, 512).
    #[must_use]
    pub fn landmarks(&self, items: usize) -> usize {
        self.landmarks.unwrap_or_else(|| items.min(LANDMARKS))
    }

    /// Sets the seed that landmarks are drawn with; 0 unless set.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Features in f32.
    ///
    /// # Errors
    /// - those of the [`Bandwidth`];
    /// - [`Error::Nothing`] for no landmarks, [`Error::SizeAboveItems`] for more than there are items;
    /// - [`Error::Ended`] with an engine under a watch ([`engine::Watched`](crate::engine::Watched)) that ends it.
    pub fn features(&self, features: &Features<'_>, engine: &dyn Engine) -> Result<RbfFeatures> {
        self.features_in::<f32>(features, engine)
    }

    /// Features in f32 or f64.
    ///
    /// # Errors
    /// Those of [`features`](Self::features).
    pub fn features_in<T: FeatureScalar>(
        &self,
        features: &Features<'_>,
        engine: &dyn Engine,
    ) -> Result<RbfFeatures> {
        let kernel = RbfKernel::new(features, self.bandwidth)?;
        let factor = self.factor::<T>(&kernel, engine)?;
        let nystrom = Nystrom::new(&kernel, &factor);
        let (values, residual) = nystrom.all::<T>(engine)?;
        let features = Features::from_rows(kernel.items(), nystrom.dims(), values)?;
        Ok(RbfFeatures::new(features, &kernel, &factor, residual))
    }

    /// Features in f32, written to a .npy file and memory-mapped, so that they need not fit into memory. The file appears
    /// when it is whole, and replaces one of this name.
    ///
    /// # Cost
    /// mR·4 bytes of the file, written once in order; a few megabytes of memory besides 8 bytes an item.
    ///
    /// # Errors
    /// - [`Error::Io`] if the file cannot be written;
    /// - those of [`features`](Self::features).
    #[cfg(feature = "npy")]
    pub fn to_npy(
        &self,
        features: &Features<'_>,
        path: impl AsRef<std::path::Path>,
        engine: &dyn Engine,
    ) -> Result<RbfFeatures> {
        let kernel = RbfKernel::new(features, self.bandwidth)?;
        let factor = self.factor::<f32>(&kernel, engine)?;
        let nystrom = Nystrom::new(&kernel, &factor);
        let shape = (kernel.items(), nystrom.dims());
        let residual = crate::data::write_npy(path.as_ref(), shape, |write| nystrom.write(engine, write))?;
        Ok(RbfFeatures::new(Features::open_npy(path)?, &kernel, &factor, residual))
    }

    /// The Cholesky factor of the landmarks' kernel.
    fn factor<'k, T: FeatureScalar>(
        &self,
        kernel: &'k RbfKernel<'_>,
        engine: &dyn Engine,
    ) -> Result<Factor<'k>> {
        let items = kernel.items();
        let limit = self.landmarks(items);
        if limit == 0 {
            return Err(Error::Nothing { what: "the number of landmarks" });
        }
        if limit > items {
            return Err(Error::SizeAboveItems { k: limit, items });
        }
        choose(kernel, limit, self.seed, ROUNDINGS * T::EPSILON, engine)
    }
}

/// Features F with F Fᵀ ≈ K, made by [`Rbf`].
#[derive(Clone, Debug)]
pub struct RbfFeatures {
    features: Features<'static>,
    landmarks: Vec<usize>,
    bandwidth: f64,
    kernel_error: f64,
}

impl RbfFeatures {
    fn new(features: Features<'static>, kernel: &RbfKernel<'_>, factor: &Factor<'_>, residual: f64) -> Self {
        let landmarks = factor.items().iter().map(|&item| item as usize).collect();
        // Where nothing is left, rounding may leave less.
        let kernel_error = (residual / kernel.items() as f64).max(0.0);
        Self { features, landmarks, bandwidth: kernel.bandwidth(), kernel_error }
    }

    /// F, one row per item and one column per landmark.
    #[must_use]
    pub fn features(&self) -> &Features<'static> {
        &self.features
    }

    /// The items chosen as landmarks, in the order in which they were.
    #[must_use]
    pub fn landmarks(&self) -> &[usize] {
        &self.landmarks
    }

    /// h.
    #[must_use]
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// tr(K − F Fᵀ) / tr K, between 0 and 1: how much of the kernel the features miss, on average over the items.
    ///
    /// # Numerics
    /// Computed in f64 from the rounded features, with all items.
    #[must_use]
    pub fn kernel_error(&self) -> f64 {
        self.kernel_error
    }
}

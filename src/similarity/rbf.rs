//! Features whose inner products approximate a Gaussian kernel.

use super::{
    Bandwidth, FeatureScalar, KernelFunction, RbfKernel, factor::Factor, landmarks::choose, nystrom::Nystrom,
};
use crate::{Error, Features, Kernel, Result, engine::Engine, linalg::norm};

/// The default number of landmarks; all items if there are fewer.
const LANDMARKS: usize = 512;
/// The most items whose whole kernel is factored.
const WHOLE: usize = 1024;
/// Residuals below this many roundings count as rounding.
const ROUNDINGS: f64 = 16.0;

/// Explicit features of the Gaussian kernel, for every model and solver.
///
/// ```text
/// K_ij = exp(−‖a_i − a_j‖² / (2h²))
/// ```
///
/// For up to 512 items, and up to 1024 if all are to be landmarks, the features represent the whole
/// [`Kernel`](crate::Kernel), in f64. Results are for K itself, and their stated errors include what the features
/// lack of K.
///
/// For more items, the features approximate K (Nyström's method), and results are for the approximate kernel K̂:
///
/// ```text
/// K ≈ K̂ = K_XZ K_ZZ⁻¹ K_ZX = F Fᵀ,   F = K_XZ L⁻ᵀ,   L Lᵀ = K_ZZ
/// ```
///
/// Z are R landmarks, chosen among the items by randomly pivoted Cholesky: one after the other, with probability
/// proportional to the residual K_ii − K̂_ii given the previous ones. On average, such landmarks are nearly as good
/// as the best approximation of a somewhat smaller rank. Fewer are returned if only rounding would be left.
///
/// # Cost
/// With landmarks: 3mnR + mR² operations in one pass, and mR numbers. Choosing the landmarks takes a few thousand
/// entries of K per landmark, and further passes only after the residuals have fallen below a few percent. The whole
/// kernel: O(m³).
///
/// # Numerics
/// Distances are computed as in [`RbfKernel`]. Features from landmarks are computed in f64 and rounded to f32, unless
/// [`features_in`](Self::features_in) is asked for f64. No row is longer than 1, so no ln det is above 0. The [kernel
/// error](RbfFeatures::kernel_error) includes all rounding.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, KDpp, Method, similarity::Rbf};
/// let features = Features::from_rows(50, 2, (0..100).map(|i| f64::from(i * i % 17)).collect::<Vec<_>>())?;
/// let rbf = Rbf::default().with_landmarks(20).features(&features, &Engine::cpu())?;
/// assert!(rbf.kernel_error() < 0.1);
/// // More items than the two features allow.
/// let sampler = KDpp::new(rbf.features(), 8)?.sampler(Method::Auto, &Engine::cpu())?;
/// assert_eq!(sampler.sample_many(1, 0).subsets()[0].len(), 8);
/// # Ok(()) }
/// ```
///
/// # Source
/// Chen, Epperly, Tropp and Webber, *Randomly pivoted Cholesky* (2025). For proposals that are rejected: Epperly,
/// Tropp and Webber, *Embrace rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky*
/// (2024).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
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

    /// The largest number of landmarks for this many items: the number set, or min(m, 512).
    #[must_use]
    pub fn landmarks(&self, items: usize) -> usize {
        self.landmarks.unwrap_or_else(|| items.min(LANDMARKS))
    }

    /// Whether [`features`](Self::features) of this many items represent the whole kernel.
    ///
    /// They do for at most 1024 items, if all of them would be landmarks.
    #[must_use]
    pub fn is_whole(&self, items: usize) -> bool {
        items <= WHOLE && self.landmarks(items) == items
    }

    /// Sets the seed that landmarks are drawn with; 0 unless set.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Computes features of the whole kernel in f64, or from landmarks in f32.
    ///
    /// # Errors
    /// - the errors of the [`Bandwidth`];
    /// - [`Error::Nothing`] if the number of landmarks is 0, [`Error::SizeAboveItems`] if it exceeds the number of
    ///   items;
    /// - [`Error::Ended`] if the watch of the engine ([`Engine::watched`]) ends it.
    pub fn features(&self, features: &Features, engine: &Engine) -> Result<RbfFeatures> {
        let items = features.items();
        if !self.is_whole(items) {
            return self.features_in::<f32>(features, engine);
        }
        engine.proceed()?;
        let kernel = RbfKernel::new(features, self.bandwidth)?;
        let (entries, rank) = kernel.dense();
        let whole = Kernel::of_unit_diagonal(items, entries, (kernel.entry_error(), rank))?;
        let lengths = (0..items).map(|item| norm(whole.features().row(item).into_iter()).powi(2));
        let missing = lengths.map(|length| (1.0 - length).abs()).sum();
        let rounding = kernel.entry_error();
        Ok(RbfFeatures::new(whole.features().clone(), &kernel, Vec::new(), (missing, rounding)))
    }

    /// Computes features from landmarks in f32 or f64, however few items there are.
    ///
    /// # Errors
    /// The errors of [`features`](Self::features).
    pub fn features_in<T: FeatureScalar>(&self, features: &Features, engine: &Engine) -> Result<RbfFeatures> {
        let kernel = RbfKernel::new(features, self.bandwidth)?;
        let factor = self.factor::<T>(&kernel, engine)?;
        let nystrom = Nystrom::new(&kernel, &factor);
        let (values, residual) = nystrom.all::<T>(engine)?;
        let features = Features::from_rows(kernel.items(), nystrom.dims(), values)?;
        Ok(RbfFeatures::by_landmarks::<T>(features, &kernel, &factor, residual))
    }

    /// Writes features from landmarks in f32 to a .npy file and memory-maps it.
    ///
    /// The features need not fit into memory. The file appears once it is complete, and replaces any file of this
    /// name.
    ///
    /// # Cost
    /// 4mR bytes of the file, written once in order; a few megabytes of memory, and 8 bytes per item.
    ///
    /// # Errors
    /// - [`Error::Io`] if the file cannot be written;
    /// - the errors of [`features`](Self::features).
    #[cfg(feature = "npy")]
    pub fn to_npy(
        &self,
        features: &Features,
        path: impl AsRef<std::path::Path>,
        engine: &Engine,
    ) -> Result<RbfFeatures> {
        let kernel = RbfKernel::new(features, self.bandwidth)?;
        let factor = self.factor::<f32>(&kernel, engine)?;
        let nystrom = Nystrom::new(&kernel, &factor);
        let shape = (kernel.items(), nystrom.dims());
        let residual = crate::data::write_npy(path.as_ref(), shape, |write| nystrom.write(engine, write))?;
        Ok(RbfFeatures::by_landmarks::<f32>(Features::open_npy(path)?, &kernel, &factor, residual))
    }

    /// The Cholesky factor of the landmarks' kernel.
    fn factor<'k, T: FeatureScalar>(&self, kernel: &'k RbfKernel, engine: &Engine) -> Result<Factor<'k>> {
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
    features: Features,
    landmarks: Vec<usize>,
    bandwidth: f64,
    kernel_error: f64,
}

impl RbfFeatures {
    fn by_landmarks<T: FeatureScalar>(
        features: Features,
        kernel: &RbfKernel,
        factor: &Factor<'_>,
        residual: f64,
    ) -> Self {
        let landmarks = factor.items().iter().map(|&item| item as usize).collect();
        // An entry is a product of two rows, each rounded and perhaps shortened.
        Self::new(features, kernel, landmarks, (residual, kernel.entry_error() + 4.0 * T::EPSILON))
    }

    /// `missing` is the trace of K − F Fᵀ, and `rounding` bounds the error of an entry.
    fn new(
        features: Features,
        kernel: &RbfKernel,
        landmarks: Vec<usize>,
        (missing, rounding): (f64, f64),
    ) -> Self {
        let kernel_error = (missing / kernel.items() as f64).max(0.0) + rounding;
        Self { features, landmarks, bandwidth: kernel.bandwidth(), kernel_error }
    }

    /// F, one row per item.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The items chosen as landmarks, in the order of choice; empty for the whole kernel.
    #[must_use]
    pub fn landmarks(&self) -> &[usize] {
        &self.landmarks
    }

    /// h.
    #[must_use]
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// The share of the kernel that the features miss, on average over the items.
    ///
    /// It is tr(K − F Fᵀ) / tr K, between 0 and 1, plus the rounding of an entry. It is never 0.
    ///
    /// # Numerics
    /// Computed in f64 from the rounded features, over all items. For the whole kernel it is only rounding, below
    /// 1e-12 for rows of up to 3000 dimensions.
    #[must_use]
    pub fn kernel_error(&self) -> f64 {
        self.kernel_error
    }
}

//! K + δI as explicit features.

use super::{Features, Kernel};
use crate::{Error, Result, error::WeightProblem, linalg::kernels::dot};

impl Features {
    /// Features of K + δI: every row gets an additional coordinate √δ. The rank is then m, so sets may have any size.
    ///
    /// ```text
    /// A' = [q A, √δ I],   det (K + δI)_S = Σ_{T⊆S} δ^{|S∖T|} det K_T
    /// ```
    ///
    /// Existing weights are applied before δ is added, and weights set afterwards scale both: set unit rows first,
    /// then the ridge, then scores. For the factor of a [`Kernel`], the result is the factor of that kernel with δ
    /// added to its diagonal.
    ///
    /// For more than a few thousand items, use [`RidgeDpp`](crate::RidgeDpp), which needs no such features, or a
    /// [`KernelModel`](crate::map::KernelModel) with a [`Ridge`](crate::similarity::Ridge).
    ///
    /// # Cost
    /// Memory: 8m(m + n) bytes. Models built on the result take O(m³).
    ///
    /// # Errors
    /// [`Error::NotPositive`] if δ is not a positive number; [`WeightProblem::Spread`] if weighted rows are beyond
    /// the range of f64; for the factor of a kernel, also the errors of [`Kernel::from_dense`].
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Features, KDpp};
    /// let features = Features::from_rows(3, 1, vec![1.0, 2.0, 3.0])?;
    /// assert!(KDpp::new(&features, 2).is_err());
    /// assert!(KDpp::new(&features.with_ridge(0.1)?, 2).is_ok());
    /// # Ok(()) }
    /// ```
    pub fn with_ridge(&self, delta: f64) -> Result<Features> {
        check_ridge(delta)?;
        if !self.weights_fit() {
            return Err(WeightProblem::Spread.into());
        }
        let (items, dims) = (self.items(), self.dims());
        let mut rows = vec![0.0; items * (dims + items)];
        for (item, row) in rows.chunks_exact_mut(dims + items).enumerate() {
            self.read_row(item, 1.0, &mut row[..dims]);
            row[dims + item] = delta.sqrt();
        }
        let Some(residual) = self.residual() else { return Features::from_rows(items, dims + items, rows) };
        // The factor of a kernel is never wide.
        let row = |item: usize| &rows[item * (dims + items)..][..dims];
        let entries = (0..items).flat_map(|i| (0..items).map(move |j| (i, j)));
        let mut kernel: Vec<f64> = entries.map(|(i, j)| dot(row(i.min(j)), row(i.max(j)))).collect();
        kernel.iter_mut().step_by(items + 1).for_each(|variance| *variance += delta);
        let factor = Kernel::from_dense(items, &kernel)?.features().clone();
        let both = factor.residual().map_or(residual, |own| own.max(residual));
        Ok(factor.with_residual(Some(both)))
    }
}

impl Features {
    /// A small ridge: the largest power of ten that is at most a hundredth of the mean squared length of the first
    /// thousand rows.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::Features;
    /// let features = Features::from_rows(2, 2, vec![3.0, 4.0, 0.0, 30.0])?;
    /// assert_eq!((features.suggested_ridge(), features.with_unit_rows()?.suggested_ridge()), (1.0, 0.01));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn suggested_ridge(&self) -> f64 {
        const FIRST: usize = 1000;
        /// An allowance for unit rows that rounding has made slightly shorter.
        const ROUNDING: f64 = 1e-6;
        let (rows, mut row) = (self.items().min(FIRST), vec![0.0; self.dims()]);
        let square = |item| {
            self.read_row(item, 1.0, &mut row);
            dot(&row, &row)
        };
        let hundredth = 0.01 * (0..rows).map(square).sum::<f64>() / rows as f64;
        // False for NaN and after overflow.
        let is_usable = hundredth > 0.0 && hundredth.is_finite();
        if is_usable { 10_f64.powf((hundredth.log10() + ROUNDING).floor()) } else { 0.01 }
    }
}

/// Rejects a δ that is not a positive number.
pub(crate) fn check_ridge(delta: f64) -> Result<()> {
    // False for NaN.
    if delta > 0.0 && delta.is_finite() {
        return Ok(());
    }
    Err(Error::NotPositive { what: "the ridge", value: delta })
}

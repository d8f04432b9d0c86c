//! Coordinates in which small directions keep their digits.

use faer::{Mat, MatRef};

use crate::{Error, Result, bytes::Kind, linalg};

const KIND: Kind = Kind { tag: *b"PDPPFRAM", what: "a frame" };

/// An orthonormal basis for a second pass over the rows.
///
/// The condition number of a Gram matrix is the square of the condition number of the rows. Directions in which all
/// rows together are shorter than 10⁻⁸ of the longest are therefore lost in its rounding errors. In the basis of its
/// eigenvectors, each of these directions is a separate coordinate, and the Gram matrix of the coordinates has them
/// to the accuracy of f64.
///
/// ```text
/// G'_l = Σ_i (Uᵀ a_i)(Uᵀ a_i)ᵀ,   Σ_l G_l / tr G_l = U Λ Uᵀ
/// ```
///
/// # Shapes
/// n² numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    dims: usize,
    /// U, column by column.
    values: Vec<f64>,
}

impl Frame {
    /// Computes a frame from Gram matrices, which may be in the coordinates of another frame.
    pub(super) fn of(grams: impl Iterator<Item = Mat<f64>>, given: Option<&Frame>) -> Result<Self> {
        let mut sum = Mat::<f64>::new();
        for gram in grams {
            let trace: f64 = (0..gram.nrows()).map(|j| gram[(j, j)]).sum();
            if sum.nrows() == 0 {
                sum = Mat::zeros(gram.nrows(), gram.nrows());
            }
            if trace > 0.0 {
                sum += gram * faer::Scale(trace.recip());
            }
        }
        let own = linalg::eigen(sum.as_ref())?.vectors;
        let basis = match given {
            Some(frame) => frame.matrix() * own,
            None => own,
        };
        Ok(Self { dims: basis.nrows(), values: linalg::columns(basis.as_ref()) })
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn from_values(dims: usize, values: Vec<f64>) -> Result<Self> {
        KIND.check(dims.checked_mul(dims) == Some(values.len()) && values.iter().all(|x| x.is_finite()))?;
        Ok(Self { dims, values })
    }

    fn matrix(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.dims, self.dims)
    }

    /// U, for rows of this length.
    pub(super) fn basis(&self, dims: usize) -> Result<MatRef<'_, f64>> {
        if self.dims == dims {
            Ok(self.matrix())
        } else {
            Err(Error::Shape { what: "a row", expected: self.dims, found: dims })
        }
    }

    /// Serialises to bytes, to be sent to another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        KIND.write(&(self.dims, &self.values))
    }

    /// Deserialises the bytes of [`to_bytes`](Frame::to_bytes).
    ///
    /// # Errors
    /// [`Error::Stream`] if the bytes are truncated, of another version, or not a frame.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (dims, values) = KIND.read(bytes)?;
        Self::from_values(dims, values)
    }
}

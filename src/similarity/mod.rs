//! Similarities beyond the dot product.
//!
//! | to get | use |
//! |---|---|
//! | the Gaussian (RBF) kernel, for any model, sampler or solver | [`Rbf`]: explicit features, with a stated error |
//! | sets that represent the rest, not only diverse ones | [`Representation`]: a map of the rows of every part |
//! | the best set for a kernel K_ij = f(i, j) | a [`KernelFunction`]: [`RbfKernel`], [`DotKernel`] or [`KernelFn`] |
//!
//! A kernel function is exact. It has full rank if rows are distinct or it has a [`Ridge`], so more items can be
//! chosen than there are features. [`KernelModel`](crate::map::KernelModel) gives it a quota.

mod bandwidth;
mod exponential;
mod factor;
mod function;
mod landmarks;
mod nearest;
mod nystrom;
mod rbf;
mod ready;
mod representation;
mod rows;

pub use bandwidth::Bandwidth;
pub(crate) use factor::{Factor, NextRow};
pub(crate) use function::{Columns, check_finite, checked_diagonal};
pub use function::{KernelFn, KernelFunction};
pub use nystrom::FeatureScalar;
pub use rbf::{Rbf, RbfFeatures};
pub use ready::{DotKernel, RbfKernel, Ridge};
pub use representation::{Explained, Representation};
pub(crate) use representation::{Map, mapped, share};

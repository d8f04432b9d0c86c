//! Similarities beyond the dot product.
//!
//! | want | take |
//! |---|---|
//! | the Gaussian (RBF) kernel, for any model, sampler or solver | [`Rbf`]: explicit features, with a stated error |
//! | sets that stand for the rest, not only diverse ones | [`Representation`]: a map of the rows of every part |
//! | the best set for a kernel that is a function of two items | [`KernelFunction`]: [`RbfKernel`], [`DotKernel`], [`KernelFn`], with a [`Ridge`] or without |
//!
//! A kernel function is exact, and of full rank where rows are distinct or there is a ridge, so that more items can be
//! chosen than there are features; [`KernelModel`](crate::map::KernelModel) gives it a quota.

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

//! Problems with one kind of data or device.

mod arrow;
mod device;
mod estimate;
mod kernel;
mod npy;
mod parse;
mod stream;
mod weight;

pub use arrow::ArrowProblem;
pub use device::DeviceProblem;
pub use estimate::EstimateProblem;
pub use kernel::KernelProblem;
pub use npy::NpyProblem;
pub use parse::ParseError;
pub use stream::StreamProblem;
pub use weight::WeightProblem;

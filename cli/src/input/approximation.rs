//! The error of the kernel in use relative to the one asked for.

use std::fmt;

use serde::Serialize;

use super::Input;
use crate::output::numbers::error;

/// Errors of kernels up to here are rounding in f64.
const NEGLIGIBLE: f64 = 1e-12;

/// The kernel, in JSON.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct KernelAnswer {
    /// `exact` or `approximate`, if it may stand for another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'static str>,
    /// Relative to the trace, with rounding.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_error: Option<f64>,
    /// Of a Gaussian kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    bandwidth: Option<f64>,
    /// Added to its diagonal.
    #[serde(skip_serializing_if = "Option::is_none")]
    ridge: Option<f64>,
}

impl KernelAnswer {
    pub(crate) fn is_approximate(&self) -> bool {
        self.kernel_error.is_some_and(|error| error > NEGLIGIBLE)
    }
}

/// The line about the kernel in text answers.
impl fmt::Display for KernelAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "approximate (relative error {}); the answer is for the approximate kernel",
            error(self.kernel_error.unwrap_or_default())
        )
    }
}

impl Input {
    /// The kernel: its error if it approximates another one, and its parameters.
    pub(crate) fn kernel(&self) -> KernelAnswer {
        let name = |error: f64| if error > NEGLIGIBLE { "approximate" } else { "exact" };
        let (kernel_error, comparison) = (self.kernel_error, &self.comparison);
        let kernel = kernel_error.map(name);
        KernelAnswer { kernel, kernel_error, bandwidth: comparison.bandwidth, ridge: comparison.ridge }
    }
}

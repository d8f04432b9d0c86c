//! How well the kernel in use approximates the one asked for.

use std::fmt;

use serde::Serialize;

use super::Input;
use crate::output::numbers::error;

/// Errors of kernels up to here are rounding in f64.
const NEGLIGIBLE: f64 = 1e-12;

/// A kernel that may be approximate, in JSON.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct KernelAnswer {
    /// `exact` or `approximate`.
    kernel: &'static str,
    /// Relative to the trace, with rounding.
    kernel_error: f64,
}

impl KernelAnswer {
    fn new(kernel_error: f64) -> Self {
        Self { kernel: if kernel_error > NEGLIGIBLE { "approximate" } else { "exact" }, kernel_error }
    }

    pub(crate) fn is_approximate(&self) -> bool {
        self.kernel_error > NEGLIGIBLE
    }
}

/// The line about the kernel in text answers.
impl fmt::Display for KernelAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "approximate (relative error {}); the answer is for the approximate kernel",
            error(self.kernel_error)
        )
    }
}

impl Input {
    /// The kernel, if it stands for another one.
    pub(crate) fn kernel(&self) -> Option<KernelAnswer> {
        self.kernel_error.map(KernelAnswer::new)
    }
}

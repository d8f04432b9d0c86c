//! Shared code of the tests: data, oracles that use none of the library's numerics, and comparisons with them.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::needless_pass_by_value,
    clippy::range_plus_one,
    clippy::assigning_clones,
    clippy::missing_errors_doc,
    clippy::needless_range_loop,
    clippy::print_stdout,
    missing_debug_implementations,
    missing_docs,
    reason = "a crate of tests, with small numbers"
)]

mod cases;
pub mod checked;
pub mod conditions;
pub mod engines;
pub mod exact;
pub mod faces;
pub mod generator;
pub mod grid;
pub mod local_search;
pub mod models;
pub mod naive;
pub mod npy;
pub mod oracle;
mod problem;
pub mod random;
pub mod ranges;
pub mod rounding;
pub mod solvers;
pub mod stats;
pub mod synthetic;
pub mod table;
pub mod truth;
pub mod unconstrained;
pub mod watches;

use std::path::{Path, PathBuf};

pub use cases::{Case, enumerable_cases, known_answers};
pub use problem::{Constraint, Data, Problem, Storage};

/// Matches an error by variant and fields, and checks that its one-line message contains some texts.
#[macro_export]
macro_rules! assert_error {
    ($result:expr, $pattern:pat $(if $guard:expr)?, [$($text:expr),*]) => {{
        let error: partition_dpp::Error = $result.expect_err("an error was expected");
        let message = error.to_string();
        assert!(matches!(error, $pattern $(if $guard)?), "{error:?}");
        for text in [$($text),*] {
            assert!(message.contains(text), "{text:?} is not in {message:?}");
        }
        assert!(!message.contains('\n') && message.len() > 10, "{message:?}");
    }};
}

/// Returns the root folder of the workspace.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns a folder of real data, or prints a note and returns `None` if it is absent.
pub fn real_data(folder: &str) -> Option<PathBuf> {
    let root =
        std::env::var_os("PDPP_DATA").map_or_else(|| repository().join("../shared/data"), PathBuf::from);
    let path = root.join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("SKIPPED: no {} (set PDPP_DATA to the data folder)", path.display());
    None
}

/// Runs `body` with this many threads.
pub fn with_threads<T: Send>(threads: usize, body: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(body)
}

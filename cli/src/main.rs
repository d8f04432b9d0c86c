//! `pdpp`: diverse subsets under quotas, from files.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    pdpp::process()
}

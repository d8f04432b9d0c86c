//! `pdpp`: diverse subsets under quotas, from files.

#[cfg(unix)]
mod early;

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    #[cfg(unix)]
    if early::output_is_closed() {
        return pdpp::refuse_closed_output().into();
    }
    pdpp::process(env::args_os()).into()
}

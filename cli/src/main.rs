//! `pdpp`: diverse subsets under quotas, from files.

#![forbid(unsafe_code)]

mod arguments;
mod bench;
mod compute;
mod counts;
mod devices;
mod failure;
mod infer;
mod input;
mod interrupt;
mod law;
mod map;
mod memory;
mod output;
mod plot;
mod progress;
mod quota;
mod reproduce;
mod sample;
mod whole_file;

use std::process::ExitCode;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::Failure;

fn main() -> ExitCode {
    compute::quiet_resets();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::report_failure(&failure);
            ExitCode::from(failure.status())
        }
    }
}

fn run() -> Result<(), Failure> {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => return Err(Failure::from(error)),
        Err(help_or_version) => return output::print(&help_or_version.render().to_string()),
    };
    interrupt::catch()?;
    #[cfg(unix)]
    whole_file::survive_size_limits()?;
    match arguments.command {
        Command::Sample(arguments) => sample::run(&arguments),
        Command::Infer(arguments) => infer::run(&arguments),
        Command::Map(arguments) => map::run(&arguments),
        Command::Counts(arguments) => counts::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Devices(arguments) => devices::run(&arguments),
    }
}

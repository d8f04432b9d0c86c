//! `pdpp`, the command line of partition-dpp, as a library: [`run`] runs a command in the caller's process, [`process`]
//! is the program itself.

#![forbid(unsafe_code)]

mod arguments;
#[cfg(feature = "gpu")]
mod bench;
mod by;
mod catch_panic;
mod compute;
mod counts;
#[cfg(feature = "gpu")]
mod devices;
mod estimates;
mod examples;
mod failure;
#[doc(hidden)]
pub mod fuzzing;
mod generate;
mod infer;
mod input;
mod interrupt;
mod law;
mod map;
mod memory;
mod output;
mod parse;
mod plot;
mod progress;
mod quota;
mod replacing;
mod reproduce;
mod rows;
mod sample;
mod usage;
mod whole_file;

use std::{
    ffi::OsString,
    io::{self, Write},
};

use arguments::{Arguments, Command};
use clap::{Parser, error::ErrorKind};
use failure::Failure;

/// Runs a command; the first argument is the name of the program. Writes the answer to `out` and a failure to `messages`:
/// one line, then one indented line per way out. Returns the exit status, as listed by `pdpp --help`.
///
/// Does not end the process, catch its signals or replace its panic hook. `--threads` applies to the whole process and
/// can be given once; `--plot /dev/stdout` writes to the standard output of the process.
pub fn run(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    out: &mut dyn Write,
    messages: &mut dyn Write,
) -> u8 {
    status(obey(arguments, out), messages)
}

/// Runs a command with the streams of the process; Ctrl-C and time limits end the process. Returns the exit status.
#[must_use]
pub fn process(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    compute::quiet_resets();
    let prepared = interrupt::catch();
    #[cfg(unix)]
    let prepared = prepared.and_then(|()| whole_file::survive_size_limits());
    let outcome = prepared.and_then(|()| obey(arguments, &mut output::standard()));
    interrupt::conclude();
    status(outcome, &mut io::stderr())
}

/// Fails because standard output is closed. Only the program can notice that, before Rust's runtime opens another.
#[must_use]
pub fn refuse_closed_output() -> u8 {
    let closed = io::Error::other("it is closed; redirect it to /dev/null to discard the answer");
    status(Err(Failure::Output(closed)), &mut io::stderr())
}

fn status(outcome: Result<(), Failure>, messages: &mut dyn Write) -> u8 {
    let Err(failure) = outcome else { return 0 };
    output::report_failure(&failure, messages);
    failure.status()
}

fn obey(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let arguments = match Arguments::try_parse_from(&arguments) {
        Ok(arguments) => arguments,
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            return Err(Failure::NoCommand { help: error.render().to_string() });
        }
        Err(error) if error.use_stderr() => return Err(usage::explain(&error, &arguments)),
        Err(help_or_version) => return output::print(out, &help_or_version.render().to_string()),
    };
    match arguments.command {
        Command::Sample(arguments) => sample::run(&arguments, out),
        Command::Infer(arguments) => infer::run(&arguments, out),
        Command::Map(arguments) => map::run(&arguments, out),
        Command::Counts(arguments) => counts::run(&arguments, out),
        #[cfg(feature = "gpu")]
        Command::Bench(arguments) => bench::run(&arguments, out),
        Command::Reproduce(arguments) => reproduce::run(&arguments, out),
        #[cfg(feature = "gpu")]
        Command::Devices(arguments) => devices::run(&arguments, out),
        Command::Generate(arguments) => generate::run(&arguments, out),
    }
}

//! All that is written to standard output and standard error.

mod json;
mod table;

use std::io::{self, Write, stderr, stdout};

use crate::{
    arguments::OutputArguments,
    failure::Failure,
    input::Input,
    sample::{Drawn, Law},
};

/// All there is to say about a sampling.
#[derive(Debug)]
pub(crate) struct Summary<'a> {
    /// The items.
    pub(crate) input: &'a Input,
    /// What was drawn from.
    pub(crate) law: &'a Law<'a>,
    /// What was drawn.
    pub(crate) drawn: &'a Drawn,
    /// The seed.
    pub(crate) seed: u64,
}

/// Writes the answer in the format asked for.
pub(crate) fn write(summary: &Summary<'_>, arguments: &OutputArguments) -> Result<(), Failure> {
    if arguments.json {
        return print(&format!("{}\n", json::render(summary)?));
    }
    let mut text = table::render(summary);
    if !arguments.quiet {
        text.push_str(&table::describe(summary));
        if let Some(file) = &arguments.plot {
            text.extend(["plot      ", &file.path().display().to_string(), "\n"]);
        }
    }
    print(&text)
}

/// Writes to standard output. A reader who has seen enough (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Writes one line to standard error, whatever the message holds.
pub(crate) fn report_failure(failure: &Failure) {
    let message: String = failure.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // Nobody is left to tell if standard error is closed.
    let _ = writeln!(stderr().lock(), "error: {message}");
}

//! Everything written to standard output and standard error, or to the streams that replace them.

mod arguments;
mod engine;
pub(crate) mod numbers;
pub(crate) mod table;

use std::io::{self, BufWriter, Write};
#[cfg(unix)]
use std::{fs::File, os::fd::AsFd};

use serde::Serialize;

pub(crate) use self::{arguments::OutputArguments, engine::EngineAnswer};
use crate::failure::Failure;

/// Standard output that reports its errors: [`io::stdout`] ignores a closed stream.
pub(crate) fn standard() -> Box<dyn Write> {
    #[cfg(unix)]
    if let Ok(output) = io::stdout().as_fd().try_clone_to_owned() {
        return Box::new(File::from(output));
    }
    Box::new(io::stdout())
}

/// Writes one object on one line.
pub(crate) fn print_json(out: &mut dyn Write, answer: &impl Serialize) -> Result<(), Failure> {
    written(out, |out| {
        serde_json::to_writer(&mut *out, answer)?;
        out.write_all(b"\n")
    })
}

/// Writes text. A reader that closes the pipe early (`| head`) is no failure.
pub(crate) fn print(out: &mut dyn Write, text: &str) -> Result<(), Failure> {
    written(out, |out| out.write_all(text.as_bytes()))
}

fn written(out: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(out);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Output(error)),
        _ => Ok(()),
    }
}

/// Writes the failure on one line, and its ways out on one indented line each; without a command, the help.
pub(crate) fn report_failure(failure: &Failure, messages: &mut dyn Write) {
    let mut text = match failure {
        Failure::NoCommand { help } => help.clone(),
        _ => format!("error: {}\n", on_one_line(&failure.to_string())),
    };
    for way in failure.ways() {
        text.extend(["  ", &on_one_line(way), "\n"]);
    }
    // A closed standard error cannot be reported anywhere.
    let _ = messages.write_all(text.as_bytes());
}

/// Text with spaces in place of control characters.
fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Writes a note that is no failure, on one line of standard error.
pub(crate) fn note(text: &str) {
    // A closed standard error cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "note: {}", on_one_line(text));
}

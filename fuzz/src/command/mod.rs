//! The whole command line: arguments that are mostly consistent, and small files that are mostly valid.

mod answer;
mod arguments;
mod contents;

use std::{fmt, fs};

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::{common::in_one_thread, files};

/// Arguments, and the files that they refer to.
pub struct Case {
    arguments: Vec<String>,
    files: Vec<File>,
}

/// A small file.
struct File {
    name: &'static str,
    bytes: Vec<u8>,
}

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let mut case = Self { arguments: Vec::new(), files: Vec::new() };
        arguments::fill(&mut case, bytes)?;
        Ok(case)
    }
}

impl Case {
    fn push(&mut self, arguments: &[&str]) {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
    }

    fn add(&mut self, name: &'static str, bytes: Vec<u8>) {
        self.files.push(File { name, bytes });
    }
}

/// Prints the shell commands that reproduce a finding.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for File { name, bytes } in &self.files {
            writeln!(f, "printf '{}' > {name}", bytes.escape_ascii())?;
        }
        let quoted = self.arguments.iter().map(|argument| format!("'{argument}'")).collect::<Vec<_>>();
        write!(f, "pdpp {}", quoted.join(" "))
    }
}

pub fn run(case: &Case) {
    in_one_thread();
    let Case { arguments, files } = case;
    files.iter().for_each(|File { name, bytes }| _ = files::write(name, bytes));
    let of_file = |argument: &String| match files.iter().find(|file| file.name == argument) {
        Some(file) => files::path(file.name).into_os_string(),
        // Nothing outside the folder is read or written.
        None => argument.replace('/', "_").into(),
    };
    let arguments = ["pdpp".into()].into_iter().chain(arguments.iter().map(of_file));
    let (mut out, mut messages) = (Vec::new(), Vec::new());
    let status = pdpp::run(arguments, &mut out, &mut messages);
    answer::check(status, &text(out), &text(messages));
    for name in ["plot.svg", "plot.png"] {
        // The file exists only if the command succeeded.
        let _ = fs::remove_file(files::path(name));
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("text")
}

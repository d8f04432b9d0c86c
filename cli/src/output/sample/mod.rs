//! What was drawn.

mod json;
mod mixing;
mod text;

use std::io::Write;

use super::{Question, print, print_json};
use crate::{arguments::SampleArguments, failure::Failure, sample::Drawn};

/// Writes the subsets in the format asked for.
pub(crate) fn write(
    question: &Question<'_>,
    drawn: &Drawn,
    arguments: &SampleArguments,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if arguments.output.json {
        return print_json(out, &json::Answer::new(question, drawn, arguments.seed));
    }
    let mut answer = text::render(question, drawn);
    if !arguments.output.quiet {
        answer.push_str(&text::describe(question, drawn, arguments.seed));
        if let Some(file) = &arguments.plot {
            answer.extend(["plot      ", &file.path().display().to_string(), "\n"]);
        }
    }
    print(out, &answer)
}

//! Explains command lines that cannot be parsed.

use std::{
    error::Error as _,
    ffi::OsString,
    num::{IntErrorKind, ParseIntError},
};

use clap::{
    Command, CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{arguments::Arguments, failure::Failure};

/// The sources of items, as clap lists a missing one.
const SOURCES: &str = "--features";

/// A command line that cannot be parsed: the command as defined, if it is known, and the arguments after the program.
struct Line {
    command: Option<Command>,
    arguments: Vec<String>,
}

/// Explains what is wrong with a command line, and what to type instead.
pub(crate) fn explain(error: &clap::Error, arguments: &[OsString]) -> Failure {
    let arguments: Vec<String> =
        arguments.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let command = arguments.first().and_then(|name| Arguments::command().find_subcommand(name).cloned());
    let line = Line { command, arguments };
    let explained = match error.kind() {
        ErrorKind::ValueValidation => value(error),
        ErrorKind::UnknownArgument => line.unknown(error),
        ErrorKind::MissingRequiredArgument => missing(error),
        _ => None,
    };
    let (problem, mut ways) = explained.unwrap_or_else(|| rendered(error));
    ways.push(line.help());
    Failure::Usage { problem, ways }
}

impl Line {
    /// The command, as typed.
    fn name(&self) -> String {
        self.command.as_ref().map_or("pdpp".into(), |command| format!("pdpp {}", command.get_name()))
    }

    fn help(&self) -> String {
        format!("for help, type {} --help", self.name())
    }

    /// Whether the command has an option with this long name, without hyphens.
    fn has(&self, long: &str) -> bool {
        self.command.as_ref().is_some_and(|command| has(command, long))
    }

    /// Whether the option takes a value that is not a file.
    fn takes_text(&self, long: &str) -> bool {
        let is_file =
            |argument: &clap::Arg| argument.get_value_names().is_some_and(|names| names[0] == "FILE");
        let takes = |argument: &clap::Arg| argument.get_action().takes_values() && !is_file(argument);
        let arguments = self.command.as_ref().into_iter().flat_map(Command::get_arguments);
        arguments.filter(|argument| argument.get_long() == Some(long)).any(takes)
    }

    /// An argument that the command does not take.
    fn unknown(&self, error: &clap::Error) -> Option<(String, Vec<String>)> {
        let found = text(error, ContextKind::InvalidArg)?;
        if let Some((option, value)) = self.negative(found) {
            return Some((
                format!("invalid value '{value}' for '{option}': the number must not be negative"),
                vec![format!("write digits only, as in {option} 5")],
            ));
        }
        if let Some(long) = found.strip_prefix("--") {
            return self.before_command(found).or_else(|| self.of_others(long));
        }
        if found.starts_with('-') && found.len() > 1 {
            let long = self.with_one_hyphen(found)?;
            let problem = format!("unexpected argument '-{long}': long options take two hyphens");
            return Some((problem, vec![format!("write --{long}")]));
        }
        let at = self.arguments.iter().position(|argument| argument == found)?;
        let before = self.arguments[..at].last()?;
        let problem = format!("unexpected argument '{found}'");
        if before.ends_with(',') || found.starts_with(',') {
            return Some((problem, vec![format!("write lists without spaces, as in {before}{found}")]));
        }
        let lists = ["--quota", "--include", "--exclude", "--include-ids", "--exclude-ids"];
        if at > 1 && lists.contains(&&*self.arguments[at - 2]) {
            return Some((
                problem,
                vec![format!("separate several values by commas, as in {before},{found}")],
            ));
        }
        Some((problem, vec!["write the option before its value, as in --features items.csv".into()]))
    }

    /// A negative number, which clap takes for an option, and the option before it.
    fn negative(&self, found: &str) -> Option<(&str, &str)> {
        let is_it =
            |pair: &&[String]| pair[1].starts_with(found) && pair[1].starts_with('-') && is_number(&pair[1]);
        let pair = self.arguments.windows(2).find(is_it)?;
        let long = pair[0].strip_prefix("--")?;
        self.takes_text(long).then_some((&*pair[0], &*pair[1]))
    }

    /// The long option, without hyphens, that was typed with one hyphen.
    fn with_one_hyphen(&self, found: &str) -> Option<&str> {
        let letter = found.strip_prefix('-')?;
        let typed = |argument: &&String| {
            argument.starts_with('-') && !argument.starts_with("--") && argument.contains(letter)
        };
        let argument = self.arguments.iter().find(typed)?;
        let long = argument.trim_start_matches('-').split('=').next()?;
        self.has(long).then_some(long)
    }

    /// An option in front of the command.
    fn before_command(&self, found: &str) -> Option<(String, Vec<String>)> {
        let first = self.arguments.first().filter(|first| first.starts_with(found))?;
        let all = Arguments::command();
        let typed = self.arguments.iter().find_map(|argument| all.find_subcommand(argument));
        let long = found.trim_start_matches('-');
        let command = typed.into_iter().chain(all.get_subcommands()).find(|command| has(command, long))?;
        let command = command.get_name();
        let problem = format!("unexpected argument '{found}' in front of the command");
        Some((problem, vec![format!("write options after the command, as in pdpp {command} {first}")]))
    }

    /// An option of other commands.
    fn of_others(&self, long: &str) -> Option<(String, Vec<String>)> {
        self.command.as_ref()?;
        let all = Arguments::command();
        let others = all.get_subcommands().filter(|command| !command.is_hide_set() && has(command, long));
        let others: Vec<String> = others.map(|command| format!("pdpp {}", command.get_name())).collect();
        if others.is_empty() {
            return None;
        }
        let problem = format!("{} has no option --{long}", self.name());
        Some((problem, vec![format!("--{long} is an option of {}", others.join(", "))]))
    }
}

/// A value that is not a whole number, not within its limits, or not a size.
fn value(error: &clap::Error) -> Option<(String, Vec<String>)> {
    let source = error.source()?;
    let (option, value) = (text(error, ContextKind::InvalidArg)?, text(error, ContextKind::InvalidValue)?);
    let name = option.split_whitespace().next()?;
    let invalid = |problem: &str| format!("invalid value '{value}' for '{option}': {problem}");
    if let Some(source) = source.downcast_ref::<ParseIntError>() {
        let problem = match source.kind() {
            IntErrorKind::PosOverflow => "the number is too large",
            _ if is_number(value) && value.starts_with('-') => "the number must not be negative",
            _ => "this is not a whole number",
        };
        return Some((invalid(problem), vec![format!("write digits only, as in {name} 5")]));
    }
    let reason = source.to_string();
    if reason.contains("ByteSize") || reason.contains("SI unit") {
        let way = format!("write a number and a unit, as in {name} 400MB");
        return Some((invalid("this is not a size"), vec![way]));
    }
    let (low, high) = reason.split_once(" is not in ")?.1.split_once("..=")?;
    Some((invalid(&format!("the number must be from {low} to {high}")), Vec::new()))
}

/// Options that are missing.
fn missing(error: &clap::Error) -> Option<(String, Vec<String>)> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return None };
    if missing.iter().any(|option| option.contains(SOURCES)) {
        let ways = [
            "--features FILE reads a matrix with one item per row",
            "--kernel FILE reads a matrix of similarities, one row and column per item",
            "--dataset digits takes the built-in data set",
        ];
        return Some(("no items are given".into(), ways.map(String::from).to_vec()));
    }
    Some((format!("{} is missing", missing.join(", ")), Vec::new()))
}

fn has(command: &Command, long: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some(long) && !argument.is_hide_set())
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

/// A piece of text that clap keeps with an error.
fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// The message of clap without its usage, and its suggestions.
fn rendered(error: &clap::Error) -> (String, Vec<String>) {
    let text = error.render().to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or_default();
    let text = text.split("\n\nFor more information").next().unwrap_or_default();
    let mut paragraphs = text.trim().trim_start_matches("error: ").split("\n\n");
    let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let problem = on_one_line(paragraphs.next().unwrap_or_default());
    (problem, paragraphs.map(|tip| on_one_line(tip).trim_start_matches("tip: ").to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn explained(line: &str) -> (String, Vec<String>) {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = Arguments::try_parse_from(&arguments).unwrap_err();
        let Failure::Usage { problem, ways } = explain(&error, &arguments) else { panic!("{line}") };
        (problem, ways)
    }

    #[test]
    fn messages_say_what_to_type() {
        for (line, problem, way) in [
            ("sample --dataset digits --k three", "'three' for '--k", "--k 5"),
            ("sample --dataset digits --memory lots", "not a size", "--memory 400MB"),
            ("sample --dataset digits --threads 0", "from 1 to 1024", "--help"),
            ("sample --dataset digits --seed -1", "'-1' for '--seed'", "--seed 5"),
            ("sample --dataset digits --seed -12", "'-12' for '--seed'", "--seed 5"),
            ("sample --dataset digits -k 2", "'-k'", "--k"),
            ("sample --dataset digits -seed 2", "'-seed'", "--seed"),
            ("map --dataset digits --seed 1", "pdpp map has no option --seed", "pdpp sample"),
            ("infer --dataset digits --samples 3", "pdpp infer has no option --samples", "pdpp sample"),
            ("sample", "no items are given", "--features FILE"),
            ("sample --dataset digits --quota 1, 2", "'2'", "as in 1,2"),
            ("sample digits", "'digits'", "--features items.csv"),
            ("sample --dataset digits --quota 1=2 3=1", "'3=1'", "by commas, as in 1=2,3=1"),
            ("smaple", "smaple", "sample"),
            ("--k 3", "'--k' in front of the command", "pdpp sample --k"),
            ("--k=3 map --dataset digits", "'--k' in front of the command", "pdpp map --k=3"),
        ] {
            let (found, ways) = explained(&format!("pdpp {line}"));
            assert!(found.contains(problem), "{line}: {found}");
            assert!(ways[0].contains(way), "{line}: {ways:?}");
            assert!(ways.last().is_some_and(|way| way.ends_with("--help")), "{line}: {ways:?}");
        }
    }
}

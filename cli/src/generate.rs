//! `pdpp generate`: shell completions, man pages and the reference of all commands, from the definitions of clap.

use std::io::{self, Write};

use clap::{Arg, Args, Command, CommandFactory, ValueEnum, builder::PossibleValue};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::{
    arguments::{Arguments, EXIT_STATUS},
    failure::Failure,
    output,
};

/// `pdpp generate`.
#[derive(Args, Debug)]
pub(crate) struct GenerateArguments {
    /// What to print
    #[arg(value_enum, value_name = "WHAT")]
    what: What,
}

/// The files that are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Completions for bash.
    Bash,
    /// Completions for zsh.
    Zsh,
    /// Completions for fish.
    Fish,
    /// Completions for elvish.
    Elvish,
    /// Completions for PowerShell.
    Powershell,
    /// The man pages of all commands, one after the other.
    Man,
    /// The reference of all commands in Markdown.
    Markdown,
}

/// Runs the command.
pub(crate) fn run(arguments: &GenerateArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let shell = match arguments.what {
        What::Bash => Shell::Bash,
        What::Zsh => Shell::Zsh,
        What::Fish => Shell::Fish,
        What::Elvish => Shell::Elvish,
        What::Powershell => Shell::PowerShell,
        What::Man => return output::print(out, &pages().map_err(Failure::Output)?),
        What::Markdown => return output::print(out, &reference()),
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "pdpp", &mut text);
    output::print(out, &String::from_utf8_lossy(&text))
}

/// `pdpp` and its commands, without hidden ones.
fn commands() -> Vec<Command> {
    let mut program = Arguments::command().disable_help_subcommand(true);
    program.build();
    let visible: Vec<Command> = program.get_subcommands().filter(|it| !it.is_hide_set()).cloned().collect();
    [vec![program], visible].concat()
}

/// The man pages.
fn pages() -> io::Result<String> {
    let mut text = Vec::new();
    for command in commands() {
        Man::new(command).render(&mut text)?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The reference in Markdown.
fn reference() -> String {
    let sections: Vec<String> = commands().iter().map(section).collect();
    format!("# Every command and option\n\n{}", sections.join("\n"))
}

/// The section of a command: description, usage, options by heading, and examples.
fn section(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let about = about.unwrap_or_default();
    let mut text = format!("## {name}\n\n{}\n\n```text\n{usage}\n```\n", escaped(&about));
    for heading in headings(command) {
        text.extend(["\n### ", heading, "\n\n"]);
        for argument in visible(command).filter(|argument| self::heading(argument) == heading) {
            text += &entry(argument);
        }
    }
    let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    // The exit statuses are the same for all commands.
    let end = if command.has_subcommands() { &after } else { after.trim_end_matches(EXIT_STATUS).trim_end() };
    if end.is_empty() { text } else { format!("{text}\n```text\n{end}\n```\n") }
}

/// The options that are not hidden.
fn visible(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|argument| !argument.is_hide_set())
}

fn heading(argument: &Arg) -> &str {
    argument.get_help_heading().unwrap_or(if argument.is_positional() { "Arguments" } else { "Options" })
}

/// The headings, in the order of their first options.
fn headings(command: &Command) -> Vec<&str> {
    let mut headings = Vec::new();
    for heading in visible(command).map(heading) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    headings
}

/// An option, its long help, its default and its possible values, as an item of a list.
fn entry(argument: &Arg) -> String {
    let mut text =
        argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let list = |values: Vec<&str>| values.join(", ");
    let defaults = argument.get_default_values().iter().filter_map(|value| value.to_str()).collect();
    if argument.get_action().takes_values() && !argument.get_default_values().is_empty() {
        text.extend(["\n\n[default: ", &list(defaults), "]"]);
    }
    let values = argument.get_possible_values();
    if argument.get_action().takes_values() && !argument.is_hide_possible_values_set() && !values.is_empty() {
        let names = list(values.iter().map(PossibleValue::get_name).collect());
        text.extend(["\n\n[possible values: ", &names, "]"]);
    }
    let short = argument.get_short().map_or(String::new(), |short| format!("`-{short}`, "));
    let lines = escaped(&text).replace('\n', "\n  ").replace("\n  \n", "\n\n");
    format!("- {short}`{}`\n\n  {lines}\n", signature(argument))
}

/// `--name VALUE…`, or `VALUE` of an argument without a name.
fn signature(argument: &Arg) -> String {
    let long = argument.get_long().map(|long| format!("--{long}"));
    let takes_values = argument.get_action().takes_values();
    let values = argument.get_value_names().filter(|_| takes_values).unwrap_or_default().join(" ");
    let many = argument.get_num_args().is_some_and(|count| count.max_values() > 1);
    let values = if many { format!("{values}…") } else { values };
    let words: Vec<String> = long.into_iter().chain(Some(values).filter(|it| !it.is_empty())).collect();
    words.join(" ")
}

/// Text in which Markdown sees no markup, and no dash instead of two hyphens.
fn escaped(text: &str) -> String {
    text.replace('<', "\\<").replace('*', "\\*").replace('_', "\\_").replace("--", "\\-\\-")
}

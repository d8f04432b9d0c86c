//! Help texts, and what is generated from the same definitions.

use crate::support::Folder;

const COMMANDS: [&str; 8] = ["", "sample", "map", "infer", "counts", "bench", "reproduce", "devices"];

/// The output of a command, for a terminal of 100 columns.
fn printed(arguments: &str) -> String {
    let output = Folder::new().pdpp(arguments).env("COLUMNS", "100").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{arguments}");
    String::from_utf8(output.stdout).unwrap()
}

/// The description of an option in `-h`, if this line has one.
fn description(line: &str) -> Option<&str> {
    let (_, text) = line.trim_start().strip_prefix('-')?.split_once("  ")?;
    text.trim_start().split(" [default: ").next()
}

#[test]
fn summaries_have_one_line_per_option() {
    for command in COMMANDS {
        let help = printed(&format!("{command} -h"));
        assert!(help.lines().count() <= 60, "{command}: {} lines", help.lines().count());
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{command}: {line}");
            // A description that wraps goes on far to the right.
            assert!(!line.starts_with(&" ".repeat(8)), "{command}: {line}");
            assert!(description(line).is_none_or(|text| text.chars().count() <= 70), "{command}: {line}");
            assert!(description(line).is_none_or(|text| !text.ends_with('.')), "{command}: {line}");
        }
    }
}

#[test]
fn input_comes_first_and_computation_last() {
    let help = printed("sample -h");
    let headings: Vec<&str> = help.lines().filter(|line| line.ends_with(':')).collect();
    let order = ["Input:", "Selection:", "Output:", "Similarity and scores:", "Method:", "Computation:"];
    assert_eq!(headings, order);
    assert!(!help.contains("--burn-in") && printed("sample --help").contains("--burn-in"));
}

#[test]
fn possible_values_are_described() {
    let help = printed("map --help");
    for text in ["- local-search: Greedy, then swaps", "- exact: Branch and bound", "- parts: The items"] {
        assert!(help.contains(text), "{text}: {help}");
    }
}

#[test]
fn help_has_examples() {
    for command in COMMANDS {
        let help = printed(&format!("{command} --help"));
        let examples = help.lines().filter(|line| line.starts_with("    pdpp "));
        assert!((2..=6).contains(&examples.count()), "{command}: {help}");
    }
}

#[test]
fn without_a_command_help_is_printed() {
    let output = Folder::new().pdpp("").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{stderr}");
    assert!(stderr.contains("Usage: pdpp") && !stderr.contains("error"), "{stderr}");
    assert_eq!(printed("help"), printed("--help"));
    assert_eq!(printed("help map"), printed("map --help"));
}

#[test]
fn completions_and_pages_have_all_commands() {
    for what in ["bash", "zsh", "fish", "elvish", "powershell", "man", "markdown"] {
        let text = printed(&format!("generate {what}"));
        for name in COMMANDS {
            assert!(text.contains(name), "{what} lacks {name}");
        }
    }
    assert!(!printed("--help").contains("generate"));
}

#[test]
fn the_reference_has_every_option() {
    let text = printed("generate markdown");
    for command in ["sample", "map", "infer", "counts", "bench", "reproduce", "devices"] {
        let section = text.split(&format!("## pdpp {command}\n")).nth(1).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let help = printed(&format!("{command} --help"));
        for line in help.lines().filter_map(|line| line.strip_prefix("      --")) {
            let option = line.split_whitespace().next().unwrap();
            assert!(section.contains(&format!("`--{option}")), "{command} lacks {option}");
        }
        assert!(section.contains("Examples:") && !section.contains("Exit status:"), "{command}");
    }
    assert!(!text.contains("generate"));
}

/// If this fails: `pdpp generate markdown > docs/guide/options.md`.
#[test]
fn the_reference_page_is_current() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/options.md");
    assert_eq!(std::fs::read_to_string(page).unwrap(), printed("generate markdown"));
}

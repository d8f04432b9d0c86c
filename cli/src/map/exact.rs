//! `--solver exact`: the start of its search, and its continuation.

use std::{fs, io::ErrorKind, path::Path};

use partition_dpp::{
    Subset,
    map::{BranchAndBound, Objective, Search as Tree, Solution},
};
use serde::Deserialize;

use super::{
    arguments::{MapArguments, SolverChoice},
    search::Search,
};
use crate::{failure::Failure, plot::PlotFile, whole_file};

/// What `--resume` writes.
const WHAT: &str = "the search";

/// The part of an answer that a search begins at.
#[derive(Deserialize)]
struct Answer {
    set: Vec<usize>,
}

/// Refuses options that only the exact solver has.
pub(super) fn check(arguments: &MapArguments) -> Result<(), Failure> {
    let MapArguments { solver, warm, resume, plot_search, design, independent, input, .. } = arguments;
    let given = [("--warm", warm.is_some()), ("--resume", resume.is_some())];
    let weighing = &input.weighing;
    for (option, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
        let others = *design || *independent || input.multi_label || weighing.diversity == Some(0.0);
        if *solver != SolverChoice::Exact || others {
            let sentence = format!(
                "{option} is for --solver exact, without --design, --independent, --multi-label and --diversity 0"
            );
            return Err(Failure::Arguments(sentence));
        }
    }
    if plot_search.is_some() && (*solver != SolverChoice::Exact || *independent) {
        let sentence = "--plot-search is for --solver exact, without --independent";
        return Err(Failure::Arguments(sentence.into()));
    }
    if let Some(file) = resume {
        whole_file::check(file, WHAT)?;
    }
    plot_search.as_ref().map_or(Ok(()), PlotFile::check)
}

impl Search<'_> {
    /// The best set, with a proof.
    pub(super) fn exact(&self, model: &impl Objective) -> Result<Solution, Failure> {
        let engine = self.searching(self.engine, self.limit());
        let mut tree = match &self.arguments.resume {
            Some(file) => read(file)?,
            None => None,
        };
        if tree.is_none() {
            tree = self.arguments.warm.as_deref().map(|file| warm(file, self.items)).transpose()?;
        }
        let mut tree = tree.unwrap_or_default();
        let solved = BranchAndBound::default().solve_from(model, &engine, &mut tree);
        let solution = solved.map_err(|error| match &self.arguments.resume {
            Some(file) if matches!(error, partition_dpp::Error::Stream(_)) => {
                Failure::file(file, error.to_string())
            }
            _ => error.into(),
        })?;
        if let Some(file) = &self.arguments.resume {
            whole_file::write(file, WHAT, &tree.to_bytes())?;
        }
        Ok(solution)
    }
}

/// A search that was written before; `None` if there is no file.
fn read(file: &Path) -> Result<Option<Tree>, Failure> {
    match fs::read(file) {
        Ok(bytes) => {
            let tree = Tree::from_bytes(&bytes);
            tree.map(Some).map_err(|error| Failure::file(file, error.to_string()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::file(file, error.to_string())),
    }
}

/// The set of an answer in JSON, or a list of items.
fn warm(file: &Path, items: usize) -> Result<Tree, Failure> {
    let text = fs::read_to_string(file).map_err(|error| Failure::file(file, error.to_string()))?;
    let set = if let Ok(answer) = serde_json::from_str::<Answer>(&text) {
        answer.set
    } else {
        let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
        let numbers: Result<Vec<usize>, _> = words.map(str::parse).collect();
        let sentence = "neither an answer of pdpp map --json nor a list of items, such as 3 17 41";
        numbers.map_err(|_| Failure::file(file, sentence.to_owned()))?
    };
    let set = Subset::new(set, items).map_err(|error| Failure::file(file, error.to_string()))?;
    Ok(Tree::from_set(&set))
}

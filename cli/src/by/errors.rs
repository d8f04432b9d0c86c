//! Problems without an answer.

use partition_dpp::{Watch, watch::Ended};
use serde::Serialize;

use crate::{
    failure::Failure,
    input::{Groups, Id},
    output::table::{MOST_ROWS, more},
};

/// The values whose problem has no answer, with the reason.
#[derive(Debug)]
pub(crate) struct Errors<'a> {
    groups: &'a Groups,
    /// By value.
    reasons: Vec<(usize, String)>,
}

/// A value and its reason, in JSON.
#[derive(Serialize)]
pub(crate) struct ErrorAnswer<'a> {
    by: Id<'a>,
    error: &'a str,
}

/// Why a problem has no answer. Ways out of a budget are left out: those options exclude --by.
fn reason(failure: &Failure) -> String {
    match failure {
        Failure::Abandoned(ended) => ended.to_string(),
        Failure::Slow { predicted, .. } => predicted.clone(),
        Failure::Impossible { source, ways } => format!("{source}; {}", ways.join("; ")),
        other => other.to_string(),
    }
}

fn ended(failure: &Failure) -> Option<Ended> {
    if let Failure::Abandoned(ended) = failure { Some(*ended) } else { None }
}

impl<'a> Errors<'a> {
    /// The errors of problems, in the order of their values.
    ///
    /// # Errors
    /// If no problem has an answer.
    pub(crate) fn of<T>(groups: &'a Groups, solved: &[Result<T, Failure>]) -> Result<Self, Failure> {
        let failed = solved.iter().enumerate().filter_map(|(group, one)| Some((group, one.as_ref().err()?)));
        let reasons: Vec<_> = failed.clone().map(|(group, failure)| (group, reason(failure))).collect();
        if let Some((group, failure)) = failed.clone().next().filter(|_| reasons.len() == solved.len()) {
            if let Some(ended) = failed.clone().find_map(|(_, failure)| ended(failure)) {
                return Err(Failure::Abandoned(ended));
            }
            let (count, value) = (solved.len(), groups.value(group).to_owned());
            let (first, status) = (reason(failure), failure.status());
            return Err(Failure::NoneSolved { count, value, first, status });
        }
        Ok(Self { groups, reasons })
    }

    /// Fails if a watch left problems unsolved; call it after the answers are printed.
    pub(crate) fn end(&self, watch: &Watch) -> Result<(), Failure> {
        let of = self.groups.len();
        let done = of - self.reasons.len();
        watch.ended().map_or(Ok(()), |ended| Err(Failure::StoppedBy { ended, done, of }))
    }

    pub(crate) fn json(&'a self) -> Vec<ErrorAnswer<'a>> {
        let answer =
            |(group, error): &'a (usize, String)| ErrorAnswer { by: self.groups.json(*group), error };
        self.reasons.iter().map(answer).collect()
    }

    /// One line for each of the first few.
    pub(crate) fn text(&self) -> String {
        let line =
            |(group, error): &(usize, String)| format!("no answer {}: {error}\n", self.groups.value(*group));
        let mut text: String = self.reasons.iter().take(MOST_ROWS).map(line).collect();
        text.push_str(&more(self.reasons.len()));
        text
    }
}

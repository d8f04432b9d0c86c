//! Problems without an answer.

use partition_dpp::Watch;
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

impl<'a> Errors<'a> {
    /// Those of problems in the order of their values.
    ///
    /// # Errors
    /// If no problem has an answer.
    pub(crate) fn of<T>(groups: &'a Groups, solved: &[Result<T, Failure>]) -> Result<Self, Failure> {
        let failed = |(group, one): (usize, &'_ Result<T, Failure>)| {
            one.as_ref().err().map(|failure| (group, failure.to_string()))
        };
        let reasons: Vec<_> = solved.iter().enumerate().filter_map(failed).collect();
        let Some((group, first)) = reasons.first() else { return Ok(Self { groups, reasons }) };
        let (value, first) = (groups.value(*group), first.clone());
        let (missing, count) = (reasons.len(), solved.len());
        if missing == count {
            let ended = solved.iter().find_map(|one| match one {
                Err(Failure::Abandoned(ended)) => Some(Failure::Abandoned(*ended)),
                _ => None,
            });
            let value = value.to_owned();
            return Err(ended.unwrap_or(Failure::NoneSolved { count, value, first }));
        }
        Ok(Self { groups, reasons })
    }

    /// What a watch has left undone, once the answers are printed.
    pub(crate) fn end(&self, watch: &Watch<'_>) -> Result<(), Failure> {
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

//! The common part of the answers about many problems.

use partition_dpp::{Subset, engine::EngineInfo};
use serde::Serialize;

use super::{Errors, Problems, errors::ErrorAnswer};
use crate::{
    input::{Id, Input, KernelAnswer},
    law::Question,
    output::{EngineAnswer, OutputArguments, numbers::short},
    rows::RowsArguments,
};

/// Wall-clock times.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Seconds {
    pub(crate) reading: f64,
    pub(crate) solving: f64,
}

/// The values, those without an answer, and times, in JSON.
#[derive(Serialize)]
pub(crate) struct Answered<'a> {
    by: Vec<Id<'a>>,
    errors: Vec<ErrorAnswer<'a>>,
    #[serde(flatten)]
    kernel: KernelAnswer,
    #[serde(flatten)]
    engine: EngineAnswer<'a>,
    /// How many problems a GPU has left to the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_to_cpu: Option<u64>,
    seconds: Seconds,
}

impl<'a> Answered<'a> {
    /// The answers of the CPU.
    pub(crate) fn new(problems: &'a Problems<'_>, errors: &'a Errors<'_>, seconds: Seconds) -> Self {
        let groups = &problems.groups;
        let by = (0..groups.len()).map(|group| groups.json(group)).collect();
        let kernel = problems.input.kernel();
        let (errors, engine) = (errors.json(), EngineAnswer::CPU);
        Self { by, errors, kernel, engine, left_to_cpu: None, seconds }
    }

    /// The same by this engine; `left` is the number of problems that a GPU left to the CPU.
    pub(crate) fn by_engine(self, engine: &'a EngineInfo, left_to_cpu: Option<u64>) -> Self {
        Self { engine: engine.into(), left_to_cpu, ..self }
    }
}

/// The items of a set: their ids, or their indices without ids.
pub(crate) fn listed(input: &Input, set: &Subset) -> String {
    set.iter().map(|item| input.shown(item)).collect::<Vec<_>>().join(" ")
}

impl Problems<'_> {
    /// The text after the table: the values without an answer and, unless quiet, the question, its solution and times.
    pub(crate) fn after(
        &self,
        (errors, seconds): (&Errors<'_>, Seconds),
        how: &str,
        (output, rows): (&OutputArguments, &RowsArguments),
    ) -> String {
        let mut text = errors.text();
        if !output.quiet {
            text.push_str(&self.describe(how, seconds));
            if let Some(file) = &rows.output {
                text.extend(["rows      ", &file.path().display().to_string(), "\n"]);
            }
        }
        text
    }

    fn describe(&self, how: &str, Seconds { reading, solving }: Seconds) -> String {
        let Self { groups, input, law, given, .. } = self;
        let question = Question { input, law, conditions: given };
        let (count, rate) = (groups.len(), groups.len() as f64 / solving);
        format!(
            "{}problems  {count}, one for every value of --by ({how})\ntime      {reading:.2} s reading, {solving:.2} s \
             solving: {} problems a second\n",
            question.describe(),
            short(rate)
        )
    }
}

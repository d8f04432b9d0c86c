//! `--plan`: how a sample would be drawn.

mod json;
mod text;

use std::io::Write;

pub(super) use self::text::reason;
use super::{
    answer::{Planned, PlannedDrawer},
    arguments::SampleArguments,
    forecast::{BUDGET, Forecast},
    memory::Memory,
};
use crate::{failure::Failure, law::Question, output};

/// Writes the plan in the format asked for.
pub(super) fn write(
    question: &Question<'_>,
    planned: &Planned,
    memory: &Memory,
    arguments: &SampleArguments,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let forecast = match &planned.drawer {
        PlannedDrawer::Choice(plan) => Some(Forecast::of_plan(plan, arguments.samples)),
        PlannedDrawer::Estimated(_) => {
            planned.estimated.map(|cost| Forecast::of_estimates(&cost, arguments.samples))
        }
        PlannedDrawer::Chains(_) | PlannedDrawer::Only(_) => None,
    };
    let budget = arguments.budget.unwrap_or(BUDGET).as_secs_f64();
    if arguments.output.json {
        return output::print_json(out, &json::Answer::new(planned, forecast, budget, memory));
    }
    let question = if arguments.output.quiet { String::new() } else { question.describe() };
    output::print(out, &(text::render(planned, forecast.as_ref(), budget, memory) + &question))
}

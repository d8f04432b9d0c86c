//! `pdpp map --design`: D-optimal designs.

use partition_dpp::{
    Engine, Error,
    map::{BranchAndBound, Design, Solution, Solver},
};
use serde::Serialize;

use super::{
    arguments::{MapArguments, SolverChoice},
    search::Search,
};
use crate::{failure::Failure, input::Similarity, law::Question};

/// How much of the best information a design is proven to have, per coefficient.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Efficiency {
    /// Of designs of as many distinct rows.
    #[serde(rename = "efficiency")]
    pub(super) distinct: f64,
    /// Of designs that may repeat rows.
    #[serde(rename = "efficiency_repeated")]
    pub(super) repeated: f64,
}

/// Refuses options that a design does not have.
pub(super) fn check(arguments: &MapArguments) -> Result<(), Failure> {
    let MapArguments { design, solver, law, input, independent, by, .. } = arguments;
    if !design {
        return Ok(());
    }
    let refuse = |sentence: &str| Err(Failure::Arguments(format!("--design {sentence}")));
    if law.k.is_none() && law.quota.is_none() {
        return refuse("needs --k or --quota: the number of rows");
    }
    if !matches!(solver, SolverChoice::LocalSearch | SolverChoice::Exact) {
        return refuse("takes --solver local-search or exact");
    }
    let weighing = &input.weighing;
    let is_weighed = weighing.similarity != Similarity::Dot
        || weighing.represent.is_some()
        || weighing.ridge.is_some()
        || !weighing.scores.is_empty()
        || weighing.score_column.is_some();
    if is_weighed {
        return refuse("takes rows as they are, without --similarity, --represent, --ridge and --scores");
    }
    if input.multi_label {
        return refuse("takes every row once, and --multi-label would copy it");
    }
    if *independent || by.by.is_some() {
        return refuse("takes neither --independent nor --by");
    }
    Ok(())
}

impl Search<'_> {
    /// The best design found, and its efficiency.
    pub(super) fn design(&self, question: &Question<'_>) -> Result<(Solution, Option<Efficiency>), Failure> {
        let input = question.input;
        let conditions = input.conditions(question.conditions)?;
        let design = Design::over(&input.features, &question.law.sets)
            .and_then(|design| design.including(&conditions.include)?.excluding(&conditions.exclude))
            .map_err(|error| input.blame_items(error))?;
        let solution = self.best_design(&design)?;
        let stop = self.watch(Some(self.certificate));
        let certificate = match design.certify(&self.engine.watched(&stop)) {
            Ok(certificate) => certificate,
            // The design is the answer.
            Err(Error::Ended(_)) => return Ok((solution, None)),
            Err(error) => return Err(error.into()),
        };
        let [distinct, repeated] = design.efficiency(&certificate, solution.log_det);
        Ok((solution.certified(&certificate), Some(Efficiency { distinct, repeated })))
    }

    fn best_design(&self, design: &Design) -> Result<Solution, Failure> {
        let engine: &Engine = &self.searching(self.engine, self.limit());
        Ok(match self.arguments.solver {
            SolverChoice::Exact => BranchAndBound::default().solve(design, engine)?,
            _ => self.restarting().solve(design, engine)?,
        })
    }
}

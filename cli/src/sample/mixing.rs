//! How well chains have mixed.

use partition_dpp::mcmc::{ChainDiagnostics, Convergence, MoveCount};
use serde::Serialize;

use super::answer::Mixing;
use crate::{law::Question, output::numbers::short};

/// Chains with a larger R̂ do not agree yet.
const AGREEMENT: f64 = 1.01;

/// A contract that scripts rely on.
#[derive(Serialize)]
pub(super) struct Answer<'a> {
    chains: usize,
    burn_in: usize,
    thin: usize,
    /// The reason why there are no diagnostics.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Diagnostics<'a>>,
}

#[derive(Serialize)]
struct Diagnostics<'a> {
    worst_r_hat: f64,
    fewest_effective_samples: f64,
    longest_autocorrelation_time: f64,
    log_det: Numbers,
    parts: Vec<OfPart<'a>>,
    moves: Vec<Move>,
    /// Moves to sets that do not depend on the present one.
    other_sets: Move,
}

#[derive(Serialize)]
struct Numbers {
    mean: f64,
    standard_error: f64,
    r_hat: f64,
    effective_samples: f64,
    autocorrelation_time: f64,
}

#[derive(Serialize)]
struct OfPart<'a> {
    part: &'a str,
    log_volume: Numbers,
    direction: Numbers,
}

#[derive(Serialize)]
struct Move {
    replaced: usize,
    proposed: u64,
    accepted: u64,
}

impl<'a> Answer<'a> {
    pub(super) fn new(mixing: &'a Mixing, question: &Question<'a>) -> Self {
        let names = question.input.partition.as_ref().map_or(&[][..], |partition| partition.names());
        Self {
            chains: mixing.chains,
            burn_in: mixing.burn_in,
            thin: mixing.thin,
            problem: mixing.diagnostics.as_ref().err().map(ToString::to_string),
            diagnostics: mixing.diagnostics.as_ref().ok().map(|found| Diagnostics::new(found, names)),
        }
    }
}

impl<'a> Diagnostics<'a> {
    fn new(found: &ChainDiagnostics, names: &'a [String]) -> Self {
        let part = |part: &partition_dpp::mcmc::PartConvergence| OfPart {
            part: &names[part.part],
            log_volume: (&part.log_volume).into(),
            direction: (&part.direction).into(),
        };
        Self {
            worst_r_hat: found.worst_r_hat(),
            fewest_effective_samples: found.fewest_effective_draws(),
            longest_autocorrelation_time: found.longest_autocorrelation_time(),
            log_det: (&found.log_det).into(),
            parts: found.parts.iter().map(part).collect(),
            moves: found.moves.iter().map(Move::from).collect(),
            other_sets: (&found.other_sets).into(),
        }
    }
}

impl From<&Convergence> for Numbers {
    fn from(found: &Convergence) -> Self {
        Self {
            mean: found.mean,
            standard_error: found.standard_error,
            r_hat: found.r_hat,
            effective_samples: found.effective_draws,
            autocorrelation_time: found.autocorrelation_time,
        }
    }
}

impl From<&MoveCount> for Move {
    fn from(count: &MoveCount) -> Self {
        Self { replaced: count.replaced, proposed: count.proposed, accepted: count.accepted }
    }
}

/// The diagnostics as text.
pub(super) fn describe(mixing: &Mixing, samples: usize) -> String {
    let Mixing { chains, burn_in, asked, thin, diagnostics } = mixing;
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let head = format!(
        "chains    {chains}, {burn_in} sweep{} of burn-in{}, {thin} sweep{} between draws\n",
        plural(*burn_in),
        if burn_in < asked { format!(" (of {asked}: the time limit ended it)") } else { String::new() },
        plural(*thin),
    );
    let found = match diagnostics {
        Ok(found) => found,
        Err(problem) => return format!("{head}mixing    unknown: {problem}\n"),
    };
    let (single, several): (Vec<&MoveCount>, Vec<&MoveCount>) =
        found.moves.iter().partition(|count| count.replaced == 1);
    let kinds = [(single, "one item"), (several, "several"), (vec![&found.other_sets], "the set")];
    let accepted = kinds.into_iter().filter_map(|(counts, what)| {
        let proposed: u64 = counts.iter().map(|count| count.proposed).sum();
        let accepted: u64 = counts.iter().map(|count| count.accepted).sum();
        let share = 100.0 * accepted as f64 / proposed as f64;
        (proposed > 0).then(|| format!("{share:.0} % of {proposed} moves that replace {what}"))
    });
    let accepted: Vec<String> = accepted.collect();
    let verdict = if found.worst_r_hat() < AGREEMENT {
        "the chains agree"
    } else {
        "the chains do not agree yet; more --samples, a longer --burn-in or --thin may help"
    };
    format!(
        "{head}accepted  {}\n\
         mixing    R\u{302} at most {:.4}: {verdict}\n\
         effective {} of {samples} samples at least, {} of ln det; autocorrelation time {} samples\n",
        accepted.join(", "),
        found.worst_r_hat(),
        short(found.fewest_effective_draws()),
        short(found.log_det.effective_draws),
        short(found.longest_autocorrelation_time()),
    )
}

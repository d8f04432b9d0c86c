//! `--method mcmc`.

use std::str::FromStr;

use clap::Args;
use partition_dpp::mcmc::{McmcOptions, Thinning};

use crate::{
    failure::Failure,
    parse::{is_number, within},
};

/// How swap chains run. A sweep is one proposal for every item of the set.
#[derive(Args, Clone, Debug)]
pub(crate) struct ChainArguments {
    /// Sweeps of every chain before its first draw [default: 100]
    ///
    /// For --method mcmc. A sweep proposes one swap per item of the set.
    #[arg(long, value_name = "SWEEPS", help_heading = "Method", hide_short_help = true, value_parser = burn_in)]
    pub(crate) burn_in: Option<usize>,
    /// Sweeps of a chain between draws [default: auto]
    ///
    /// For --method mcmc. auto takes the autocorrelation time, which a pilot run measures.
    #[arg(long, value_name = "SWEEPS|auto", help_heading = "Method", hide_short_help = true)]
    pub(crate) thin: Option<Thin>,
    /// Number of Markov chains [default: 4]
    ///
    /// For --method mcmc. Every chain has a separate random start.
    #[arg(long, value_name = "C", help_heading = "Method", hide_short_help = true, value_parser = chains)]
    pub(crate) chains: Option<u16>,
}

/// The most sweeps of burn-in, or between draws.
const MOST_SWEEPS: usize = 1_000_000_000;
/// The most moves of all chains together: some days of work.
const MOST_MOVES: f64 = 1e12;

fn burn_in(text: &str) -> Result<usize, String> {
    if text == "0" { Ok(0) } else { within(text, MOST_SWEEPS, "sweeps") }
}

fn chains(text: &str) -> Result<u16, String> {
    within(text, 1024, "chains")
}

/// `--thin`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thin(Thinning);

impl FromStr for Thin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self(Thinning::Automatic)),
            "0" => Err("at least one sweep is needed between draws".into()),
            _ if is_number(text) => {
                within(text, MOST_SWEEPS, "sweeps").map(|sweeps| Self(Thinning::Sweeps(sweeps)))
            }
            _ => Err(format!("'{text}' is neither a number of sweeps nor auto")),
        }
    }
}

impl ChainArguments {
    /// Refuses options of chains without --method mcmc.
    pub(crate) fn check_unused(&self) -> Result<(), Failure> {
        let given = [
            ("--burn-in", self.burn_in.is_some()),
            ("--thin", self.thin.is_some()),
            ("--chains", self.chains.is_some()),
        ];
        let given = given.iter().find(|(_, given)| *given);
        given.map_or(Ok(()), |(name, _)| Err(Failure::Arguments(format!("{name} needs --method mcmc"))))
    }

    /// Refuses draws of sets of this size that take more than [`MOST_MOVES`].
    pub(crate) fn check(&self, draws: u64, size: usize) -> Result<(), Failure> {
        let moves = self.sweeps(draws) * size as f64;
        if moves <= MOST_MOVES {
            return Ok(());
        }
        let ways = ["--samples N with fewer samples", "--thin N and --burn-in N with fewer sweeps"];
        Err(Failure::Moves { moves, limit: MOST_MOVES, ways: ways.map(String::from).to_vec() })
    }

    /// The least number of sweeps for this many draws.
    pub(crate) fn sweeps(&self, draws: u64) -> f64 {
        let options = self.options();
        let thin = match self.thin {
            Some(Thin(Thinning::Sweeps(sweeps))) => sweeps,
            _ => 1,
        };
        options.chains() as f64 * options.burn_in() as f64 + draws as f64 * thin as f64
    }

    /// The library's options.
    pub(crate) fn options(&self) -> McmcOptions {
        let mut options = McmcOptions::default();
        if let Some(sweeps) = self.burn_in {
            options = options.with_burn_in(sweeps);
        }
        if let Some(Thin(thinning)) = self.thin {
            options = options.with_thin(thinning);
        }
        self.chains.map_or(options, |chains| options.with_chains(chains.into()))
    }
}

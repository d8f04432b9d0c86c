//! `--method mcmc`.

use std::str::FromStr;

use clap::Args;
use partition_dpp::{McmcOptions, Thinning};

use crate::failure::Failure;

/// How exchange chains run. A sweep is one proposal for every item of the set.
#[derive(Args, Clone, Debug)]
pub(crate) struct ChainArguments {
    /// Sweeps of every chain before its first draw; 100 unless given.
    #[arg(long, value_name = "SWEEPS", help_heading = "Exchange chains (--method mcmc)")]
    pub(crate) burn_in: Option<usize>,
    /// Sweeps of a chain from draw to draw; unless given as many as a pilot run finds to be correlated.
    #[arg(long, value_name = "SWEEPS|auto", help_heading = "Exchange chains (--method mcmc)")]
    pub(crate) thin: Option<Thin>,
    /// Chains, each from a start of its own; 4 unless given.
    #[arg(long, value_name = "C", help_heading = "Exchange chains (--method mcmc)",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) chains: Option<u16>,
}

/// `--thin`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thin(Thinning);

impl FromStr for Thin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(0) => Err("there must be at least one sweep from draw to draw".into()),
            Ok(sweeps) => Ok(Self(Thinning::Sweeps(sweeps))),
            Err(_) if text == "auto" => Ok(Self(Thinning::Automatic)),
            Err(_) => Err(format!("'{text}' is neither a number of sweeps nor auto")),
        }
    }
}

impl ChainArguments {
    /// Refuses them where there are no chains.
    pub(crate) fn check_unused(&self) -> Result<(), Failure> {
        let given = [
            ("--burn-in", self.burn_in.is_some()),
            ("--thin", self.thin.is_some()),
            ("--chains", self.chains.is_some()),
        ];
        let given = given.iter().find(|(_, given)| *given);
        given.map_or(Ok(()), |(name, _)| Err(Failure::Arguments(format!("{name} needs --method mcmc"))))
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

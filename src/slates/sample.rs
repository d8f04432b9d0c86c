//! Exact samples of one request.

use rand::Rng;

use super::{SlateWorkspace, Slates, whole::Whole};
use crate::{Result, Sampler, SamplerOptions, engine::Cpu};

/// How many more proposals than accepted ones, by [`EARNED`] each, before heavy directions are sought, …
const PLAIN: u32 = 1 << 7;
/// … and before a sampler of its own is set up. Either takes about as long.
const THINNED: u32 = 1 << 12;
/// Proposals that every accepted one earns.
const EARNED: u32 = 64;
/// Estimated total variation error of proposals: their rows keep about twelve digits.
const PROPOSALS: f64 = 1e-11;

/// Draws from the law of the request in a workspace.
///
/// Proposals need hardly any set-up; where too few are accepted, a [`Sampler`] of the candidates is set up. The law is the
/// same: how a set is drawn depends on how many proposals were rejected before, not on the sets accepted.
pub(super) struct Drawing<'s, 'a> {
    slates: &'s Slates<'a>,
    workspace: &'s mut SlateWorkspace,
    /// Number of included items.
    included: usize,
    stage: Stage,
    /// The largest of all stages so far.
    law_error: f64,
}

/// How sets are drawn.
enum Stage {
    /// By proposals as they come, so many more, …
    Plain(u32),
    /// … by those that allow for heavy directions, …
    Thinned(u32),
    /// … or by a sampler.
    Whole(Box<(Sampler<'static>, Whole)>),
}

impl<'s, 'a> Drawing<'s, 'a> {
    /// Prepares draws of the request that was read.
    pub(super) fn new(slates: &'s Slates<'a>, workspace: &'s mut SlateWorkspace) -> Result<Self> {
        let included = workspace.items.len();
        workspace.list(slates)?;
        let SlateWorkspace { items, candidates, counts, available, proposals, .. } = &mut *workspace;
        let quota = slates.quota.low().iter().zip(slates.quota.high());
        let ranges =
            quota.zip(counts.iter().zip(&*available)).map(|((&low, &high), (&count, &available))| {
                [low.saturating_sub(count), (high - count).min(available)]
            });
        let is_possible = proposals.prepare(slates, items, candidates, ranges)?;
        let mut drawing =
            Self { slates, workspace, included, stage: Stage::Plain(PLAIN), law_error: PROPOSALS };
        if !is_possible {
            drawing.set_up()?;
        }
        Ok(drawing)
    }

    /// Draws a set: included items, then those drawn.
    pub(super) fn draw<R: Rng + ?Sized>(&mut self, rng: &mut R) -> Result<&[u32]> {
        let dims = self.slates.features.dims();
        loop {
            let SlateWorkspace { items, candidates, proposals, .. } = &mut *self.workspace;
            items.truncate(self.included);
            match &mut self.stage {
                Stage::Plain(0) => {
                    if proposals.thin(dims)? {
                        self.stage = Stage::Thinned(THINNED);
                    } else {
                        self.set_up()?;
                    }
                }
                Stage::Thinned(0) => self.set_up()?,
                Stage::Plain(left) | Stage::Thinned(left) => {
                    *left -= 1;
                    if proposals.propose(dims, rng) {
                        *left = (*left + EARNED).min(THINNED);
                        items.extend(proposals.accepted().map(|at| candidates[at].item));
                        return Ok(&self.workspace.items);
                    }
                }
                Stage::Whole(whole) => {
                    let (sampler, whole) = &**whole;
                    let (subset, _) = sampler.try_sample_counted(rng)?;
                    whole.add(subset.iter(), items);
                    return Ok(&self.workspace.items);
                }
            }
        }
    }

    /// Estimated total variation error of the law.
    pub(super) fn law_error(&self) -> f64 {
        self.law_error
    }

    /// Sets up a sampler of the candidates and the included items.
    fn set_up(&mut self) -> Result<()> {
        let whole = Whole::of(self.slates, self.workspace, self.included)?;
        let sampler = whole.dpp.sampler(SamplerOptions::default(), &Cpu)?;
        self.law_error = self.law_error.max(sampler.law_error());
        self.stage = Stage::Whole(Box::new((sampler, whole)));
        Ok(())
    }
}

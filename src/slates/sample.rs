//! Exact samples of one request.

use rand::Rng;

use super::{SlateWorkspace, Slates, whole::Whole};
use crate::{Result, Sampler, SamplerOptions, Watch, engine::Engine};

/// Proposals, beyond [`EARNED`] per accepted one, before heavy directions are sought, which takes about as long.
const PLAIN: u32 = 1 << 7;
/// Proposals, likewise, before a separate sampler is set up, which takes about as long.
const THINNED: u32 = 1 << 12;
/// Further proposals that every accepted one allows.
const EARNED: u32 = 64;
/// Proposals between two checks of the watch: a few tenths of a millisecond.
const UNWATCHED: u32 = 64;
/// Estimated total variation error of proposals: their rows keep about twelve digits.
const PROPOSALS: f64 = 1e-11;

/// Draws from the law of the request in a workspace.
///
/// Proposals need little set-up. If too few are accepted, a [`Sampler`] of the candidates is set up. The law stays
/// the same: how a set is drawn depends on how many proposals were rejected before, not on the sets accepted.
pub(super) struct Drawing<'s> {
    slates: &'s Slates,
    workspace: &'s mut SlateWorkspace,
    within: Within<'s>,
    /// The number of included items.
    included: usize,
    stage: Stage,
    /// The largest error of all stages so far.
    law_error: f64,
}

/// The limits on draws: a watch, and an engine under it for the set-up of a sampler.
#[derive(Clone, Copy)]
pub(super) struct Within<'s> {
    pub(super) watch: &'s Watch,
    pub(super) engine: &'s Engine,
}

/// How sets are drawn.
enum Stage {
    /// By proposals under B = I, at most this many more.
    Plain(u32),
    /// By proposals that allow for heavy directions, at most this many more.
    Thinned(u32),
    /// By a sampler.
    Whole(Box<(Sampler, Whole)>),
}

impl<'s> Drawing<'s> {
    /// Prepares draws of the request that was read.
    pub(super) fn new(
        slates: &'s Slates,
        workspace: &'s mut SlateWorkspace,
        within: Within<'s>,
    ) -> Result<Self> {
        let included = workspace.items.len();
        workspace.list(slates)?;
        let SlateWorkspace { items, candidates, counts, available, proposals, .. } = &mut *workspace;
        let quota = slates.quota.low().iter().zip(slates.quota.high());
        let ranges =
            quota.zip(counts.iter().zip(&*available)).map(|((&low, &high), (&count, &available))| {
                [low.saturating_sub(count), (high - count).min(available)]
            });
        let is_possible = proposals.prepare(slates, items, candidates, ranges)?;
        let stage = Stage::Plain(PLAIN);
        let mut drawing = Self { slates, workspace, within, included, stage, law_error: PROPOSALS };
        if !is_possible {
            drawing.set_up()?;
        }
        Ok(drawing)
    }

    /// Draws a set: the included items, then the drawn ones.
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
                    if left.is_multiple_of(UNWATCHED) {
                        self.within.watch.check()?;
                    }
                    *left -= 1;
                    if proposals.propose(dims, rng) {
                        *left = (*left + EARNED).min(THINNED);
                        items.extend(proposals.accepted().map(|at| candidates[at].item));
                        return Ok(&self.workspace.items);
                    }
                }
                Stage::Whole(whole) => {
                    let (sampler, whole) = &**whole;
                    let subset = sampler.sample_under(rng, self.within.watch)?;
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
        let sampler = whole.dpp.sampler(SamplerOptions::default(), self.within.engine)?;
        self.law_error = self.law_error.max(sampler.law_error());
        self.stage = Stage::Whole(Box::new((sampler, whole)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, atomic::AtomicBool};

    use super::*;
    use crate::{
        Error, Features, Partition, Quota, engine::Engine, sample::stream, slates::SlateRequest, watch::Ended,
    };

    fn slates() -> Slates {
        let value = |at: usize| 1.0 + 0.05 * (at as f64 * 1.7 + (at * at) as f64 * 0.31).sin();
        let features = Features::from_rows(40, 12, (0..480).map(value).collect::<Vec<_>>()).unwrap();
        let partition = Partition::from_labels(&(0..40).map(|i| i % 2).collect::<Vec<_>>()).unwrap();
        let quota = Quota::new(&partition, [..=4, ..=4]).unwrap().with_total(6).unwrap();
        Slates::new(&features, &partition, &quota).unwrap()
    }

    #[test]
    fn a_watch_ends_the_set_up_of_a_sampler() {
        let slates = slates();
        let candidates: Vec<u32> = (0..40).collect();
        let (stop, none) = (Arc::new(AtomicBool::new(true)), Watch::default());
        let stopped = Engine::host().watched(&Watch::default().stopped_by(&stop));
        for (engine, ends) in [(Engine::host(), false), (&stopped, true)] {
            let mut workspace = slates.workspace();
            workspace.read(&slates, SlateRequest::of(&candidates)).unwrap();
            let mut drawing = Drawing::new(&slates, &mut workspace, Within { watch: &none, engine }).unwrap();
            let found = drawing.set_up();
            assert_eq!(matches!(found, Err(Error::Ended(Ended::Interrupted))), ends, "{found:?}");
            assert_eq!(matches!(drawing.stage, Stage::Whole(_)), !ends);
        }
    }

    /// Proposals check the watch, too.
    #[test]
    fn a_watch_ends_proposals() {
        let slates = slates();
        let stop = Arc::new(AtomicBool::new(true));
        let watch = Watch::default().stopped_by(&stop);
        let mut workspace = slates.workspace();
        let candidates: Vec<u32> = (0..40).collect();
        workspace.read(&slates, SlateRequest::of(&candidates)).unwrap();
        let within = Within { watch: &watch, engine: Engine::host() };
        let mut drawing = Drawing::new(&slates, &mut workspace, within).unwrap();
        let drawn = drawing.draw(&mut stream(1, 0)).map(|_| ());
        assert!(matches!(drawn, Err(Error::Ended(Ended::Interrupted))), "{drawn:?}");
    }
}

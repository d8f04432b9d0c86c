//! Exact samples of one request.

use rand::Rng;

use super::{SlateWorkspace, Slates};
use crate::{PartitionDpp, Result, Sampler, SamplerOptions, engine};

/// Proposals for a request before heavy directions are found, …
const PLAIN: u32 = 1 << 7;
/// … and before a sampler of its own is set up. Either takes about as long.
const THINNED: u32 = 1 << 12;

/// Draws from the law of the request in a workspace.
///
/// Proposals need no set-up; where too few are accepted, a [`Sampler`] of the candidates is set up. The law is the same:
/// whether a proposal is made depends only on those that were rejected before.
pub(super) struct Drawing<'s, 'a> {
    slates: &'s Slates<'a>,
    workspace: &'s mut SlateWorkspace,
    /// Number of included items.
    included: usize,
    stage: Stage,
}

/// How sets are drawn.
enum Stage {
    /// By proposals as they come, so many more, …
    Plain(u32),
    /// … by those that allow for heavy directions, …
    Thinned(u32),
    /// … or by a sampler.
    Whole(Box<Whole>),
}

/// A sampler of the candidates alone.
struct Whole {
    sampler: Sampler<'static>,
    /// Its items in the matrix.
    items: Vec<usize>,
}

impl<'s, 'a> Drawing<'s, 'a> {
    /// Prepares draws of the request that was read.
    pub(super) fn new(slates: &'s Slates<'a>, workspace: &'s mut SlateWorkspace) -> Result<Self> {
        let SlateWorkspace { items, candidates, proposals, .. } = &mut *workspace;
        let included = items.len();
        proposals.list(candidates);
        workspace.count(slates)?;
        let SlateWorkspace { items, candidates, counts, available, proposals, .. } = &mut *workspace;
        let quota = slates.quota.low().iter().zip(slates.quota.high());
        let ranges =
            quota.zip(counts.iter().zip(&*available)).map(|((&low, &high), (&count, &available))| {
                [low.saturating_sub(count), (high - count).min(available)]
            });
        let is_possible = proposals.prepare(slates, items, candidates, ranges)?;
        let mut drawing = Self { slates, workspace, included, stage: Stage::Plain(PLAIN) };
        if !is_possible {
            drawing.stage = drawing.whole()?;
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
                    let is_thinned = proposals.thin(dims)?;
                    self.stage = if is_thinned { Stage::Thinned(THINNED) } else { self.whole()? };
                }
                Stage::Thinned(0) => self.stage = self.whole()?,
                Stage::Plain(left) | Stage::Thinned(left) => {
                    *left -= 1;
                    if proposals.propose(dims, rng) {
                        items.extend(proposals.accepted().map(|at| candidates[at].item));
                        return Ok(&self.workspace.items);
                    }
                }
                Stage::Whole(whole) => {
                    whole.draw(items, rng)?;
                    return Ok(&self.workspace.items);
                }
            }
        }
    }

    /// Sets up a sampler of the candidates and the included items.
    fn whole(&self) -> Result<Stage> {
        let Slates { features, partition, quota, .. } = self.slates;
        let SlateWorkspace { items: included, candidates, proposals, .. } = &*self.workspace;
        let free = proposals.listed().iter().map(|&at| candidates[at as usize]);
        let scored = free.map(|candidate| (candidate.item as usize, 0.5 * candidate.log_quality));
        let mut all: Vec<(usize, f64)> =
            scored.chain(included.iter().map(|&item| (item as usize, 0.0))).collect();
        all.sort_unstable_by_key(|&(item, _)| item);
        let (items, log_quality): (Vec<usize>, Vec<f64>) = all.into_iter().unzip();
        let features = features.restricted_to(&items)?.with_log_quality(&log_quality)?;
        let partition = partition.restricted_to(&items)?;
        let quota = quota.fitted_to(&partition)?;
        let place = |item: &u32| items.partition_point(|other| *other < *item as usize);
        let included: Vec<usize> = included.iter().map(place).collect();
        let dpp = PartitionDpp::new(&features, &partition, &quota)?.including(&included)?;
        let sampler = dpp.sampler(SamplerOptions::default(), &engine::Cpu)?;
        Ok(Stage::Whole(Box::new(Whole { sampler, items })))
    }
}

impl Whole {
    /// Adds the items of a draw to those that are included.
    fn draw<R: Rng + ?Sized>(&self, items: &mut Vec<u32>, rng: &mut R) -> Result<()> {
        let (subset, _) = self.sampler.try_sample_counted(rng)?;
        let included = items.len();
        for at in &subset {
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            let item = self.items[at] as u32;
            if !items[..included].contains(&item) {
                items.push(item);
            }
        }
        Ok(())
    }
}

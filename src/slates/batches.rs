//! Batches on a device: it picks, and the host makes sets from the picks.
//!
//! The host decides what the device leaves open or does not support, so the sets never depend on the device.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    BatchedRequests, Slate, SlateRequest, SlateWorkspace, Slates, Steps, TASK, each, greedy::Picking,
    workspace::Candidate,
};
use crate::{
    Result, Watch,
    engine::slates::{SlateBatch, SlateDevice},
    parallel::map_ordered,
    watch::Step,
};

/// The most requests, and the most candidates, that are sent to the device together.
const REQUESTS: usize = 1 << 13;
const CANDIDATES: usize = 1 << 21;
/// Scales at which f64 keeps all digits of factors.
const SCALES: std::ops::RangeInclusive<f64> = 1e-150..=1e150;

/// A device, and the number of requests sent to it.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    device: Arc<dyn SlateDevice>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    asked: AtomicU64,
    left: AtomicU64,
}

/// The device's input for some requests.
#[derive(Debug, Default)]
struct Packed {
    lens: Vec<usize>,
    are_distinct: Vec<bool>,
    items: Vec<u32>,
    parts: Vec<u32>,
    factors: Vec<f64>,
    /// For one request: its factors with their log weights.
    weights: Vec<(f64, f64)>,
}

impl Batches {
    pub(super) fn on(device: Arc<dyn SlateDevice>) -> Self {
        Self { device, counts: Arc::default() }
    }

    pub(super) fn counts(&self) -> BatchedRequests {
        let Counts { asked, left } = &*self.counts;
        BatchedRequests { asked: asked.load(Ordering::Relaxed), left: left.load(Ordering::Relaxed) }
    }
}

impl Slates {
    /// The greedy sets of many requests through a device, block by block.
    pub(super) fn solve_on(
        &self,
        batches: &Batches,
        requests: &[SlateRequest<'_>],
        watch: &Watch,
    ) -> Vec<Result<Slate<Vec<u32>>>> {
        let steps = Steps::begin(watch, Step::Search, requests.len());
        let mut has_failed = !SCALES.contains(&self.scale);
        let mut solved = Vec::with_capacity(requests.len());
        for block in blocks(requests) {
            let own = &requests[block];
            let picks = if has_failed || watch.ended().is_some() {
                Vec::new()
            } else {
                let picks = self.picks(batches, own);
                has_failed = picks.is_err();
                picks.unwrap_or_default()
            };
            solved.extend(each(own, &steps, |number, request, workspace| {
                let picks = picks.get(number).and_then(|picks| picks.as_deref());
                let confirmed = picks.and_then(|picks| self.confirm(request, picks, workspace));
                batches.counts.asked.fetch_add(1, Ordering::Relaxed);
                if let Some(slate) = confirmed {
                    return Ok(slate);
                }
                batches.counts.left.fetch_add(1, Ordering::Relaxed);
                self.solve(request, workspace).map(Slate::into_own)
            }));
        }
        solved
    }

    /// The device's picks for some requests.
    fn picks(&self, batches: &Batches, requests: &[SlateRequest<'_>]) -> Result<Vec<Option<Vec<u32>>>> {
        let packed = map_ordered(requests.len().div_ceil(TASK), |task| {
            let (mut packed, mut workspace) = (Packed::default(), SlateWorkspace::default());
            for request in &requests[task * TASK..requests.len().min((task + 1) * TASK)] {
                packed.push(self, *request, &mut workspace);
            }
            packed
        });
        let all = |list: fn(&Packed) -> &Vec<u32>| packed.iter().flat_map(list).copied().collect::<Vec<_>>();
        let (items, parts) = (all(|packed| &packed.items), all(|packed| &packed.parts));
        let factors: Vec<f64> = packed.iter().flat_map(|packed| &packed.factors).copied().collect();
        let are_distinct: Vec<bool> =
            packed.iter().flat_map(|packed| &packed.are_distinct).copied().collect();
        let mut starts = vec![0];
        let mut end = 0;
        starts.extend(packed.iter().flat_map(|packed| &packed.lens).map(|len| {
            end += len;
            end
        }));
        let narrow = |count: &usize| u32::try_from(*count).unwrap_or(u32::MAX);
        let quota = self.quota.low().iter().zip(self.quota.high());
        let quota: Vec<[u32; 2]> = quota.map(|(low, high)| [narrow(low), narrow(high)]).collect();
        batches.device.picks(&SlateBatch {
            features: &self.features,
            quota: &quota,
            size: self.size,
            starts: &starts,
            items: &items,
            parts: &parts,
            factors: &factors,
            are_distinct: &are_distinct,
        })
    }

    /// The set of these picks; `None` if the host cannot have made them.
    fn confirm(
        &self,
        request: SlateRequest<'_>,
        picks: &[u32],
        workspace: &mut SlateWorkspace,
    ) -> Option<Slate<Vec<u32>>> {
        workspace.read(self, request).ok()?;
        workspace.count(self).ok()?;
        workspace.begin_without_rows();
        let log_det = Picking { slates: self, workspace }.follow(picks)?;
        let items = workspace.items.clone();
        (items.len() == self.size).then_some(Slate { items, missing: 0, log_det })
    }
}

/// Splits requests into blocks that are large enough for a device but soon finished.
fn blocks(requests: &[SlateRequest<'_>]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let mut candidates = 0;
        let fits = |request: &&SlateRequest<'_>| {
            candidates += request.candidates.len();
            candidates <= CANDIDATES
        };
        let count = requests[start..].iter().take(REQUESTS).take_while(fits).count();
        let end = requests.len().min(start + count.max(1));
        let block = start..end;
        start = end;
        (!block.is_empty()).then_some(block)
    })
}

impl Packed {
    /// Adds one request.
    ///
    /// It has no candidates if it is left to the host, because it has no set or includes items.
    fn push(&mut self, slates: &Slates, request: SlateRequest<'_>, workspace: &mut SlateWorkspace) {
        let is_plain = request.included.is_empty()
            && workspace.read(slates, request).is_ok()
            && workspace.count(slates).is_ok();
        if !is_plain {
            self.lens.push(0);
            self.are_distinct.push(true);
            return;
        }
        let largest = workspace.largest_log_weight();
        self.lens.push(workspace.candidates.len());
        self.weights.clear();
        for &Candidate { item, part, log_weight, is_out, .. } in &workspace.candidates {
            self.items.push(item);
            self.parts.push(part);
            // The host compares the same numbers.
            let log_weight = log_weight - largest;
            let factor = slates.scale * (0.5 * log_weight).exp();
            self.factors.push(if is_out { 0.0 } else { factor });
            if !is_out {
                self.weights.push((factor, log_weight));
            }
        }
        self.are_distinct.push(are_distinct(&mut self.weights));
    }
}

/// Whether equal factors have equal log weights, since exponentials may lose a difference.
fn are_distinct(weights: &mut [(f64, f64)]) -> bool {
    let is_same = |one: f64, other: f64| one.total_cmp(&other).is_eq();
    if weights.windows(2).all(|pair| is_same(pair[0].1, pair[1].1)) {
        return true;
    }
    weights.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    weights.windows(2).all(|pair| !is_same(pair[0].0, pair[1].0) || is_same(pair[0].1, pair[1].1))
}

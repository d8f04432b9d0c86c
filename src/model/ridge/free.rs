//! A ridge law before its quota, as two independent draws.

use std::sync::Arc;

use super::RidgeDpp;
use crate::{
    Features, Result,
    data::compress_if_wide,
    engine::{Engine, Items, Rows},
    linalg::softplus,
    model::{Counts, FreeItems, GroundSet, Left},
    parallel::map_ordered,
};

/// The number of items per task.
const CHUNK: usize = 1 << 14;

/// The law over sets of any size in which items of part l are e^(t_l) times as likely. It takes two draws without a
/// quota.
///
/// ```text
/// det((Q (A Aᵀ + δI) Q)_S) Π_l e^(t_l |S∩P_l|) = e^Φ · Pr(T ∪ B = S),   Φ = Σ_i ln(1 + e^(x_i)) + ln det(I + K̂)
/// ```
///
/// Here T is from the DPP with rows √(p_i/δ) a_i, whose kernel is K̂. Every item is in B with probability p_i, where
/// p_i = e^(x_i) / (1 + e^(x_i)) and x_i = ln δ + 2 ln q_i + t_l. Items that are in every set have p_i = 1, in units
/// of δ q_i².
#[derive(Clone, Debug)]
pub(crate) struct FreeRidge {
    /// The features, with at most as many dimensions as items.
    features: Features,
    log_delta: f64,
    log_quality: Option<Arc<[f64]>>,
    /// The items of the parts in which a choice is left.
    pub(crate) groups: Vec<FreeItems>,
    /// The counts of these groups, without the certain items.
    pub(crate) counts: Counts,
    /// Items that are in every set, ascending.
    pub(crate) certain: Vec<u32>,
}

/// The DPP of T.
#[derive(Clone, Debug)]
pub(crate) struct DrawnDpp {
    pub(crate) ground: GroundSet,
    /// The groups, followed by any certain items.
    items: Vec<FreeItems>,
}

impl RidgeDpp {
    /// The choices left, and the certain items.
    pub(crate) fn free_ridge(&self) -> Result<FreeRidge> {
        let mut certain = self.included().to_vec();
        let Left { parts, mut total } = self.left().clone();
        let mut open: Vec<(FreeItems, usize, usize)> =
            parts.into_iter().map(|part| (part.items, part.low, part.high)).collect();
        let counts = loop {
            let (low, high): (Vec<_>, Vec<_>) =
                open.iter().map(|(items, low, high)| (*low, (*high).min(items.len()))).unzip();
            let members = open.iter().map(|(items, ..)| items.len()).sum();
            let counts = Counts::in_ranges(&low, &high, total, members);
            for (at, (_, low, high)) in open.iter_mut().enumerate() {
                (*low, *high) = (counts.low[at], counts.high[at]);
            }
            let given = open.len();
            let (full, rest): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|(items, low, _)| items.len() == *low);
            for (items, low, _) in full {
                #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
                certain.extend(items.iter().map(|item| item as u32));
                total = total.map(|total| total - low);
            }
            open = rest.into_iter().filter(|(_, _, high)| *high > 0).collect();
            if open.len() == given {
                break counts;
            }
        };
        certain.sort_unstable();
        Ok(FreeRidge {
            features: compress_if_wide(&self.features)?,
            log_delta: self.delta.ln(),
            log_quality: self.log_quality.clone(),
            groups: open.into_iter().map(|(items, ..)| items).collect(),
            counts,
            certain,
        })
    }
}

impl FreeRidge {
    /// ln δ + 2 ln q_i.
    pub(crate) fn log_odds(&self, item: usize) -> f64 {
        self.log_delta + self.log_quality.as_ref().map_or(0.0, |logs| 2.0 * logs[item])
    }

    /// Whether all items have the same quality.
    pub(crate) fn is_even(&self) -> bool {
        self.log_quality.is_none()
    }

    pub(crate) fn log_delta(&self) -> f64 {
        self.log_delta
    }

    /// A.
    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    /// Σ f(x_i) over a group with weight e^t, for several f at once. The result is the same for any number of
    /// threads.
    pub(crate) fn sums<const N: usize>(
        &self,
        group: usize,
        t: f64,
        f: impl Fn(f64) -> [f64; N] + Sync + Send,
    ) -> [f64; N] {
        let items = Items::from(&self.groups[group]);
        if self.is_even() {
            return f(self.log_delta + t).map(|value| items.len() as f64 * value);
        }
        let chunks = map_ordered(items.len().div_ceil(CHUNK), |chunk| {
            let mut sums = [0.0; N];
            for position in chunk * CHUNK..items.len().min((chunk + 1) * CHUNK) {
                let values = f(self.log_odds(items.at(position)) + t);
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
            sums
        });
        let mut sums = [0.0; N];
        chunks.iter().for_each(|own| sums.iter_mut().zip(own).for_each(|(sum, value)| *sum += value));
        sums
    }

    /// The given features with rows multiplied by e^f(l, x_i); rows of certain items are multiplied by e^`certain`.
    pub(crate) fn weighted(
        &self,
        features: &Features,
        log_weights: &[f64],
        certain: f64,
        f: impl Fn(usize, f64) -> f64,
    ) -> Result<Features> {
        let mut logs = features.log_weights();
        for (group, (items, t)) in self.groups.iter().zip(log_weights).enumerate() {
            items.iter().for_each(|item| logs[item] += f(group, self.log_odds(item) + t));
        }
        self.certain.iter().for_each(|&item| logs[item as usize] += certain);
        features.reweighted(logs)
    }

    /// The DPP of T at these weights.
    pub(crate) fn drawn(&self, log_weights: &[f64]) -> Result<DrawnDpp> {
        let log_root = 0.5 * self.log_delta;
        let rows = self
            .weighted(&self.features, log_weights, -log_root, |_, x| 0.5 * log_probability(x) - log_root)?;
        let certain = (!self.certain.is_empty()).then(|| FreeItems::Listed(self.certain.clone().into()));
        let items = self.groups.iter().cloned().chain(certain).collect();
        Ok(DrawnDpp { ground: GroundSet::new(&rows)?, items })
    }
}

impl DrawnDpp {
    /// The rows of the groups, followed by the rows of any certain items.
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows::alike(self.ground.features(), self.items.iter().map(Items::from).collect())
    }

    /// The same law in graded coordinates, where rounding loses nothing.
    pub(crate) fn graded(&self, engine: &Engine) -> Result<Option<Self>> {
        let items = self.items.clone();
        Ok(self.ground.graded(&self.rows(), engine)?.map(|ground| Self { ground, items }))
    }
}

/// ln p = −ln(1 + e^−x).
pub(crate) fn log_probability(x: f64) -> f64 {
    -softplus(-x)
}

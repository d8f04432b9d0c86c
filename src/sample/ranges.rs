//! The DPP whose part counts lie in ranges.

use rand::{Rng, RngExt};

use super::{
    Law, Projection, Sampler,
    projection::{ProjectionDpp, Scratch},
};
use crate::{
    Error, Features, Partition, RangeQuota, Result,
    data::{FreeItems, GroundSet, check_partition, compress_if_wide},
    engine::{Engine, Items, RowMap, Rows, in_double},
    polynomial::{
        feasibility,
        spectrum::{Spectrum, TiltedSpectrum, keep_probabilities},
        tilt::{Tilt, ranged_tilt},
    },
};

/// A DPP conditioned on its part counts lying in ranges, and on its size if that is fixed.
///
/// ```text
/// Pr(S) ∝ det(K_S)   over all S with lo_l ≤ |S∩P_l| ≤ hi_l, |S| = k if k is given;   K = A Aᵀ
/// ```
///
/// Unlike under exact quotas the scale of K matters: the larger K, the larger the sets.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, Partition, RangeDpp, RangeQuota, engine};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
/// let quota = RangeQuota::new(&partition, &[1..=2, 0..=1])?;
/// let dpp = RangeDpp::new(&features, &partition, &quota)?;
/// let samples = dpp.sampler(&engine::Cpu)?.sample_many(1000, 0);
/// assert!(samples.subsets().iter().all(|subset| quota.allows(&subset.part_counts(&partition))));
/// # Ok(()) }
/// ```
///
/// # Source
/// Celis, Deshpande, Kathuria, Straszak and Vishnoi, *On the complexity of constrained determinantal point processes*
/// (2017), for laws with constraints on counts; proposals weighted by part and corrected by count are this library's.
#[derive(Clone, Debug)]
pub struct RangeDpp<'a> {
    ground: GroundSet<'a>,
    partition: &'a Partition,
    quota: &'a RangeQuota,
    projection: Projection,
}

/// A part that something may be chosen from.
struct OpenPart<'a> {
    part: usize,
    items: FreeItems<'a>,
    low: usize,
    high: usize,
}

impl<'a> RangeDpp<'a> {
    /// The law over sets that the ranges allow, with kernel A Aᵀ.
    ///
    /// # Errors
    /// - [`Error::LabelCount`] if partition and features have different numbers of items;
    /// - [`Error::QuotaOfOtherParts`] if the quota belongs to another partition;
    /// - [`Error::Infeasible`] if every set with the least counts has determinant zero;
    /// - [`Error::SizeAboveRank`] if every set with the total has.
    pub fn new(features: &Features<'a>, partition: &'a Partition, quota: &'a RangeQuota) -> Result<Self> {
        check_partition(features, partition)?;
        quota.check(partition)?;
        let ground = GroundSet::new(compress_if_wide(features)?);
        let dpp = Self { ground, partition, quota, projection: Projection::default() };
        dpp.check()?;
        Ok(dpp)
    }

    /// Chooses how items are picked once the eigenvectors are chosen.
    #[must_use]
    pub fn with_projection(self, projection: Projection) -> Self {
        Self { projection, ..self }
    }

    /// Refuses ranges that no set of positive determinant meets. Counts of independent sets form a polymatroid, so
    /// where the least counts can be met, growing them one by one comes to the largest total there is.
    fn check(&self) -> Result<()> {
        let parts = self.open_parts();
        let limit = self.quota.total().unwrap_or_else(|| parts.iter().map(|part| part.low).sum());
        let basis =
            |part: &OpenPart<'_>| feasibility::part_basis(&self.ground, Items::from(&part.items), limit);
        let bases: Vec<_> = parts.iter().map(basis).collect();
        let dims = self.ground.dims_left();
        let mut counts: Vec<usize> = parts.iter().map(|part| part.low).collect();
        feasibility::check(&bases, &counts, dims).map_err(|violation| Error::Infeasible {
            parts: violation.parts.iter().map(|&at| self.partition.names()[parts[at].part].clone()).collect(),
            rank: violation.rank,
            quota: violation.quota,
        })?;
        let Some(total) = self.quota.total() else { return Ok(()) };
        for (at, part) in parts.iter().enumerate() {
            while counts[at] < part.high && counts.iter().sum::<usize>() < total {
                counts[at] += 1;
                if feasibility::check(&bases, &counts, dims).is_err() {
                    counts[at] -= 1;
                    break;
                }
            }
        }
        let rank = counts.iter().sum();
        if rank < total { Err(Error::SizeAboveRank { k: total, rank }) } else { Ok(()) }
    }

    pub(crate) fn ground(&self) -> &GroundSet<'a> {
        &self.ground
    }

    /// The free items of the parts that something may be chosen from.
    pub(crate) fn groups(&self) -> Vec<FreeItems<'a>> {
        self.open_parts().into_iter().map(|part| part.items).collect()
    }

    /// Least and most to choose of each of them, and of all if that is fixed.
    pub(crate) fn free_ranges(&self) -> (Vec<usize>, Vec<usize>, Option<usize>) {
        let (low, high) = self.open_parts().iter().map(|part| (part.low, part.high)).unzip();
        (low, high, self.quota.total())
    }

    fn open_parts(&self) -> Vec<OpenPart<'a>> {
        let open = |part: usize| {
            let items = self.ground.free_members(self.partition.members(part));
            let (low, high) = (self.quota.low()[part], self.quota.high()[part]);
            (high > 0).then_some(OpenPart { part, items, low, high })
        };
        (0..self.partition.parts()).filter_map(open).collect()
    }

    /// Set-up of the exact sampler: a DPP with weighted parts proposes, and what the weights favour is corrected.
    ///
    /// ```text
    /// accept S with counts c in the ranges with probability exp(Σ min(lo_l t_l, hi_l t_l) − Σ c_l t_l)
    /// ```
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each), O(pn³) per step of the tilt. Per proposal as the DPP. Proposals per
    /// draw: few for few parts or wide ranges; as many as under quotas ([`expected_proposals`](crate::expected_proposals))
    /// where ranges are narrow, and about √(2πk) times more where the total is fixed.
    ///
    /// # Errors
    /// [`Error::Eigen`], and those of the engine.
    pub fn sampler(&self, engine: &'a dyn Engine) -> Result<Sampler<'a>> {
        let parts = self.open_parts();
        let items = parts.iter().map(|part| Items::from(&part.items)).collect();
        let rows = Rows::scaled(self.ground.features(), items);
        // Weights of the scaled rows: t_l − 2 ln s_l.
        let offsets: Vec<f64> = rows.scales().iter().map(|scale| -2.0 * scale.ln()).collect();
        let ranges: Vec<(usize, usize)> = parts.iter().map(|part| (part.low, part.high)).collect();
        let ones = vec![1.0; parts.len()];
        let map = self.ground.beyond().map(|beyond| RowMap { weights: &ones, factor: beyond.as_ref() });
        let grams = in_double(engine).part_grams(&rows, map.as_ref())?;
        let tilt = ranged_tilt(&grams, &offsets, &ranges, self.quota.total());
        let log_weights: Vec<f64> =
            tilt.log_weights().iter().zip(&offsets).map(|(t, offset)| t + offset).collect();
        let weighted = Tilt { log_weights, imbalance: 0.0 };
        let TiltedSpectrum { spectrum, tilt: weighted, .. } = Spectrum::resolve(
            engine,
            &rows,
            self.ground.beyond(),
            |_, _| Ok(weighted.clone()),
            |values| Ok(keep_probabilities(values, 0.0)),
        )?;
        let keep = keep_probabilities(&spectrum.values, 0.0);
        let size = keep.iter().sum();
        let weights = weighted.root_weights();
        let features = self.ground.features();
        let projection =
            ProjectionDpp::new(engine, features, &rows, &weights, &spectrum, size, self.projection)?;
        let mut log_favours = vec![0.0; self.partition.parts()];
        parts.iter().zip(&tilt.parts).for_each(|(part, t)| log_favours[part.part] = *t);
        let favour = |(part, t): (usize, &f64)| {
            (self.quota.low()[part] as f64 * t).min(self.quota.high()[part] as f64 * t)
        };
        let least = log_favours.iter().enumerate().map(favour).sum();
        let law = RangeRejection {
            keep,
            projection,
            partition: self.partition,
            quota: self.quota,
            log_favours,
            least,
        };
        Ok(Sampler::new(Law::Ranges(Box::new(law)), self.ground.included(), engine, spectrum.error))
    }
}

/// Proposals of the weighted DPP, corrected by their counts.
#[derive(Debug)]
pub(crate) struct RangeRejection<'a> {
    /// λ_j / (1 + λ_j).
    keep: Vec<f64>,
    projection: ProjectionDpp<'a>,
    partition: &'a Partition,
    quota: &'a RangeQuota,
    /// t_l: how much more likely, in logarithms, an item of part l makes a proposal than a draw.
    log_favours: Vec<f64>,
    /// Σ min(lo_l t_l, hi_l t_l).
    least: f64,
}

impl RangeRejection<'_> {
    /// An accepted set and the number of proposals it took.
    pub(crate) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> (Vec<u32>, u64) {
        let mut scratch = Scratch::default();
        let mut counts = vec![0; self.partition.parts()];
        for proposals in 1.. {
            scratch.chosen.clear();
            for (j, &probability) in self.keep.iter().enumerate() {
                if rng.random::<f64>() < probability {
                    scratch.chosen.push(j);
                }
            }
            if self.quota.total().is_some_and(|total| total != scratch.chosen.len()) {
                continue;
            }
            counts.fill(0);
            let keep = |item: u32| {
                let part = self.partition.part_of(item as usize);
                counts[part] += 1;
                counts[part] <= self.quota.high()[part]
            };
            let Some(picks) = self.projection.draw(rng, &mut scratch, keep) else { continue };
            let favour: f64 = counts.iter().zip(&self.log_favours).map(|(&count, t)| count as f64 * t).sum();
            if self.quota.allows(&counts) && rng.random::<f64>() < (self.least - favour).exp() {
                return (picks.to_vec(), proposals);
            }
        }
        unreachable!("proposals are unlimited")
    }
}

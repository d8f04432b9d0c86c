//! Narrowing of item weights to the range of f64, without changing the law.
//!
//! If weights span hundreds of decades, f64 cannot hold a sum of their squares. But then only a few sets matter:
//! those with as many items as possible above every wide gap between weights. Narrowing such a gap multiplies the
//! determinants of all these sets by the same factor, and leaves all other sets negligible.
//!
//! ```text
//! u_i = ln q_i‖a_i‖ + y_l,   v_i = f(u_i) − g_l,   |S∩{u ≥ t}| ≤ |S*∩{u ≥ t}| for all allowed S and every t
//! ```
//!
//! S* is the heaviest allowed set. The prices y of the parts are such that no item is worth more than an item of S*
//! that it could replace (the weight splitting of matroid intersection). f shrinks every gap between the levels of S*
//! that is wider than G to G. If a set lacks an item above the gap, its determinant then stays below e^(−G) / det U
//! times the determinant of S*, where U are the unit rows of S*.
//!
//! Source of the prices: Frank, *A weighted matroid intersection algorithm* (1981).

use super::{Counts, FreeItems, GroundSet, max_weight_basis::Heaviest};
use crate::{Features, Result, engine::Items, error::WeightProblem, linalg::OrthonormalBasis};

/// Weights stay as they are if no |ln q| exceeds this and they differ by at most [`SPREAD`].
const LARGEST: f64 = 300.0;
/// The largest difference of ln q between weights that stay as they are.
const SPREAD: f64 = 150.0;
/// Gaps are narrowed to this, plus the possible gain from angles.
const NARROW: f64 = 40.0;
/// The room for all levels together, within which squares of weighted rows fit f64.
const ROOM: f64 = 300.0;

impl GroundSet {
    /// The ground set for choices from these groups, with weights narrowed if necessary.
    ///
    /// # Errors
    /// [`WeightProblem::Spread`].
    pub(crate) fn for_choices(mut self, groups: &[FreeItems], counts: &Counts) -> Result<Self> {
        // Conditions may have removed the items whose weights were too far apart.
        self.restore_weights()?;
        Ok(self.with_narrow_weights(groups, counts)?.unwrap_or(self))
    }

    /// Whether f64 can hold the weights of all these groups together.
    pub(crate) fn has_narrow_weights(&self, groups: &[FreeItems]) -> bool {
        !self.given().is_weighted() || are_narrow(self.given(), groups)
    }

    /// The ground set with weights narrowed to a range that f64 can square; `None` if they are already in it.
    /// `counts` gives the number of items chosen from each group.
    ///
    /// # Cost
    /// One pass over the rows, and O(nk²) for each of about k exchanges.
    ///
    /// # Errors
    /// [`WeightProblem::Spread`] if there are too many levels.
    fn with_narrow_weights(&self, groups: &[FreeItems], counts: &Counts) -> Result<Option<Self>> {
        let given = self.given();
        if self.has_narrow_weights(groups) {
            return Ok(None);
        }
        if given.residual().is_some_and(|residual| residual.left_out > 0) {
            // Dimensions that the factor of a kernel lacks may be worth their price.
            return Err(WeightProblem::Spread.into());
        }
        let lengths: Vec<Vec<f64>> = groups.iter().map(|group| log_lengths(given, group)).collect();
        let found = Heaviest::of(self, groups, &lengths, counts);
        let found = found.and_then(|found| Some((Levels::of(&found, counts.total().is_none())?, found)));
        let proven = found.filter(|(levels, heaviest)| levels.are_exact(self, heaviest, groups, &lengths));
        let Some((levels, heaviest)) = proven else { return Err(WeightProblem::Spread.into()) };
        // Items that cannot be chosen need no weight.
        let mut logs = vec![0.0; given.items()];
        for (group, lengths) in lengths.iter().enumerate() {
            let price = heaviest.prices[group];
            let is_fixed = counts.low[group] == counts.high[group];
            // A price is a common factor of its part, so it matters only if the count can vary.
            let kept = if is_fixed { 0.0 } else { price.clamp(-levels.gap, levels.gap) };
            for (item, length) in Items::from(&groups[group]).iter().zip(lengths) {
                let level = length + price;
                // Rows of zeros need no weight either.
                if level.is_finite() {
                    logs[item] = given.log_weight(item) + (levels.narrowed(level) - level) + (price - kept);
                }
            }
        }
        let lost = |&item: &usize| given.log_weight(item) - logs[item];
        let shift = 2.0 * heaviest.items.iter().map(lost).sum::<f64>();
        let features = self.features().reweighted(logs)?;
        Ok(Some(self.with_features(features, shift)))
    }
}

fn are_narrow(given: &Features, groups: &[FreeItems]) -> bool {
    let logs = groups.iter().flat_map(|group| Items::from(group).iter()).map(|item| given.log_weight(item));
    let range = |(least, most): (f64, f64), log: f64| (least.min(log), most.max(log));
    let (least, most) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), range);
    given.weights_fit() && most - least <= SPREAD && least >= -LARGEST && most <= LARGEST
}

/// ln q_i ‖a_i‖ of every item of a group; −∞ if the row is zero.
fn log_lengths(given: &Features, group: &FreeItems) -> Vec<f64> {
    let mut row = vec![0.0; given.dims()];
    let length = |item| {
        given.read_stored(item, 1.0, &mut row);
        given.log_weight(item) + OrthonormalBasis::normalise(&mut row).unwrap_or(f64::NEG_INFINITY)
    };
    Items::from(group).iter().map(length).collect()
}

/// The levels of the heaviest set, and their images.
struct Levels {
    /// Each level with its image, ascending.
    anchors: Vec<(f64, f64)>,
    gap: f64,
}

impl Levels {
    /// Computes the levels; `None` if too many are far apart. Sets of any size compare items with 0, so 0 is its own
    /// image.
    fn of(heaviest: &Heaviest, any_size: bool) -> Option<Self> {
        let mut levels = heaviest.levels.clone();
        if any_size {
            levels.push(0.0);
        }
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let gaps = || levels.windows(2).map(|pair| pair[1] - pair[0]);
        let gap = NARROW + 2.0 * heaviest.flatness;
        if gaps().map(|width| width.min(gap)).sum::<f64>() > ROOM {
            return None;
        }
        let images = gaps().scan(0.0, |image, width| {
            *image += width.min(gap);
            Some(*image)
        });
        let images: Vec<f64> = std::iter::once(0.0).chain(images).collect();
        let fixed = if any_size { levels.iter().position(|&level| level == 0.0) } else { None };
        let origin = fixed.map_or(0.5 * images.last().copied().unwrap_or_default(), |at| images[at]);
        let anchors = levels.iter().zip(images).map(|(&level, image)| (level, image - origin)).collect();
        Some(Self { anchors, gap })
    }

    /// Whether no set has more items above a narrowed gap than S*. This is decided in exact arithmetic, as nearly
    /// dependent rows may be worth their price.
    fn are_exact(
        &self,
        ground: &GroundSet,
        heaviest: &Heaviest,
        groups: &[FreeItems],
        lengths: &[Vec<f64>],
    ) -> bool {
        let levels =
            groups.iter().zip(lengths).zip(&heaviest.prices).flat_map(|((group, lengths), price)| {
                Items::from(group).iter().zip(lengths).map(move |(item, length)| (item, length + price))
            });
        let levels: Vec<(usize, f64)> = levels.collect();
        let next = self.anchors.iter().map(|(level, _)| *level).skip(1).chain([f64::INFINITY]);
        let gaps = self.anchors.iter().map(|(level, _)| *level).zip(next);
        let wide = gaps.filter(|(low, high)| high - low > self.gap);
        wide.map(|(low, high)| (low + 0.5 * self.gap, high)).all(|(above, level)| {
            let items = levels.iter().filter(|(_, own)| *own > above).map(|(item, _)| *item);
            let own = heaviest.levels.iter().filter(|own| **own >= level).count();
            ground.exact_rank_beyond(items) == own
        })
    }

    /// f(u).
    fn narrowed(&self, level: f64) -> f64 {
        let at = self.anchors.partition_point(|&(anchor, _)| anchor <= level);
        let below = at.checked_sub(1).map(|at| self.anchors[at]);
        match (below, self.anchors.get(at)) {
            (Some((low, image)), None) => image + (level - low).min(self.gap),
            (None, Some((high, image))) => image - (high - level).min(self.gap),
            (Some((low, image)), Some((high, _))) if high - low <= self.gap => image + (level - low),
            (Some((low, image)), Some((high, _))) => {
                let half = 0.5 * self.gap;
                image + (level - low).min(half.max(self.gap - (high - level)))
            }
            (None, None) => 0.0,
        }
    }
}

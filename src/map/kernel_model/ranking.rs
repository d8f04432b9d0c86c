//! The items of a set in the order in which a greedy search would pick them.

use super::{KernelModel, NOTHING};
use crate::{Error, Result, Subset, linalg::kernels::dot, similarity::check_finite};

/// Gains that differ by less are equal: rows of length 1 are so only up to rounding.
const TIE: f64 = 1e-12;

/// An item that is not ranked yet.
struct Open {
    item: u32,
    /// The residual of K_ii, and L⁻¹ K_{S,i}, for the set S ranked so far.
    residual: f64,
    along: Vec<f64>,
}

impl KernelModel<'_> {
    /// Returns the items of a set, the best first, each with what it adds to ln det.
    ///
    /// Of the items left, the next one adds most to ln det of those before it, qualities included; the lowest item
    /// goes first among equals, up to 1e-12. What the items add sums to ln det of the set.
    ///
    /// ```text
    /// i_t = argmax_{i ∈ S∖S_{t−1}} g_t(i),   g_t(i) = ln det K_{S_{t−1} ∪ i} − ln det K_{S_{t−1}}
    /// ```
    ///
    /// This ranks any set, however it was found: a list that is cut off after any number of items is still diverse.
    ///
    /// # Cost
    /// |S|²/2 entries of the kernel, and |S|³/3 operations.
    ///
    /// # Numerics
    /// Items whose residual is at most 1e-12 K_ii depend on others. They come last and add −∞.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`]; [`Error::Kernel`] if entries are not finite.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Features, Subset, map::KernelModel, similarity::DotKernel};
    /// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 2.0, 0.0, 3.0, 1.0])?;
    /// let kernel = DotKernel::new(&features);
    /// let ranking = KernelModel::of_any_size(&kernel)?.ranking(&Subset::new(vec![0, 2], 3)?)?;
    /// assert_eq!(ranking.iter().map(|&(item, _)| item).collect::<Vec<_>>(), [2, 0]);
    /// assert!((ranking[0].1 - 10.0_f64.ln()).abs() < 1e-15 && (ranking[1].1 - 0.1_f64.ln()).abs() < 1e-15);
    /// # Ok(()) }
    /// ```
    ///
    /// # Source
    /// Higham, *Analysis of the Cholesky decomposition of a semi-definite matrix* (1990): complete pivoting.
    pub fn ranking(&self, subset: &Subset) -> Result<Vec<(usize, f64)>> {
        let items = self.kernel.items();
        if let Some(item) = subset.iter().find(|&item| item >= items) {
            return Err(Error::ItemOutOfRange { item, items });
        }
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let open = |item: usize| Open { item: item as u32, residual: self.diagonal[item], along: Vec::new() };
        let mut left: Vec<Open> = subset.iter().map(open).collect();
        let (mut ranking, mut column) = (Vec::with_capacity(left.len()), Vec::new());
        while let Some((place, gain)) = self.best(&left) {
            let next = left.remove(place);
            ranking.push((next.item as usize, gain));
            if gain == f64::NEG_INFINITY {
                continue;
            }
            let others: Vec<u32> = left.iter().map(|open| open.item).collect();
            column.resize(others.len(), 0.0);
            self.kernel.column(next.item as usize, &others, &mut column);
            for (open, &entry) in left.iter_mut().zip(&column) {
                check_finite(open.item as usize, next.item as usize, entry)?;
                let along = (entry - dot(&next.along, &open.along)) / next.residual.sqrt();
                open.residual -= along * along;
                open.along.push(along);
            }
        }
        Ok(ranking)
    }

    /// The place of the item that adds most, and how much.
    fn best(&self, left: &[Open]) -> Option<(usize, f64)> {
        let gain = |open: &Open| {
            let item = open.item as usize;
            let is_new = open.residual > NOTHING * self.diagonal[item];
            if is_new { open.residual.ln() + self.log_square(item) } else { f64::NEG_INFINITY }
        };
        let gains = left.iter().map(gain).enumerate();
        gains.reduce(|best, next| if next.1 > best.1 + TIE { next } else { best })
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Features, Subset,
        engine::Engine,
        map::{Greedy, KernelModel, Solver},
        similarity::{Bandwidth, DotKernel, RbfKernel},
    };

    fn features() -> Features {
        let noise = |i: i32| (f64::from(i) * 12.9898).sin() * 43_758.5;
        let values = (0..40 * 6).map(|i| noise(i).fract()).collect::<Vec<_>>();
        Features::from_rows(40, 6, values).unwrap()
    }

    #[test]
    fn a_greedy_set_is_ranked_as_it_was_picked() {
        let features = features();
        let kernel = RbfKernel::new(&features, Bandwidth::Exactly(1.0)).unwrap();
        let scores: Vec<f64> = (0..40).map(|i| f64::from(i % 7)).collect();
        let model = KernelModel::of_size(&kernel, 12).unwrap().with_scores(&scores, 0.6).unwrap();
        let found = Greedy::default().solve(&model, &Engine::cpu()).unwrap();
        let (items, gains): (Vec<_>, Vec<_>) = model.ranking(&found.subset).unwrap().into_iter().unzip();
        for (gain, expected) in gains.iter().zip(&found.stats.gains) {
            assert!((gain - expected).abs() < 1e-12, "{gains:?} {:?}", found.stats.gains);
        }
        assert!((gains.iter().sum::<f64>() - found.log_det).abs() < 1e-12);
        assert_eq!(Subset::new(items, 40).unwrap(), found.subset);
    }

    #[test]
    fn the_order_is_the_best_at_every_step() {
        let features = features();
        let kernel = DotKernel::new(&features);
        let model = KernelModel::of_any_size(&kernel).unwrap();
        let ranking = model.ranking(&Subset::new(vec![3, 8, 20, 31, 39], 40).unwrap()).unwrap();
        let log_det =
            |items: &[usize]| features.log_det(&Subset::new(items.to_vec(), 40).unwrap()).unwrap().value;
        let items: Vec<usize> = ranking.iter().map(|&(item, _)| item).collect();
        for step in 0..items.len() {
            let before = log_det(&items[..step]);
            let gain = |next: usize| log_det(&[&items[..step], &[next]].concat()) - before;
            assert!((gain(items[step]) - ranking[step].1).abs() < 1e-10);
            assert!(items[step..].iter().all(|&other| gain(other) <= ranking[step].1 + 1e-10));
        }
    }

    #[test]
    fn dependent_items_come_last() {
        let features = Features::from_rows(4, 2, vec![1.0, 0.0, 2.0, 0.0, 0.0, 3.0, 1.0, 1.0]).unwrap();
        let kernel = DotKernel::new(&features);
        let model = KernelModel::of_any_size(&kernel).unwrap();
        let ranking = model.ranking(&Subset::new(vec![0, 1, 2, 3], 4).unwrap()).unwrap();
        assert_eq!(ranking.iter().map(|&(item, _)| item).collect::<Vec<_>>(), [2, 1, 0, 3]);
        assert!(ranking[2].1 == f64::NEG_INFINITY);
        assert!(model.ranking(&Subset::new(vec![4], 5).unwrap()).is_err());
    }
}

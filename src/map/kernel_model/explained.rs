//! The share of Σ K_ii that a set explains.

use super::KernelModel;
use crate::{
    Error, Partition, Result, Subset,
    engine::Engine,
    parallel::map_ordered,
    similarity::{Explained, Factor, NextRow, share},
};

/// The number of items per task.
const TASK: usize = 512;

impl KernelModel<'_> {
    /// Returns the share of Σ K_ii that a set explains, over all items and over each part, regardless of qualities.
    ///
    /// [`Features::explained`](crate::Features::explained) returns the same for rows.
    ///
    /// ```text
    /// Σ_i K_iS K_S⁻¹ K_Si / Σ_i K_ii
    /// ```
    ///
    /// # Cost
    /// m|S| entries of the kernel, and m|S|² operations.
    ///
    /// # Numerics
    /// Chosen items that depend on others up to 1e-12 of K_ii explain nothing more.
    ///
    /// # Errors
    /// [`Error::LabelCount`] if the partition is for another number of items; [`Error::ItemOutOfRange`];
    /// [`Error::Kernel`] if entries are not finite; errors of the engine.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, Partition, Subset, map::KernelModel, similarity::DotKernel};
    /// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 0.0, 2.0, 2.0, 0.0])?;
    /// let partition = Partition::from_labels(&["a", "b", "b"])?;
    /// let kernel = DotKernel::new(&features);
    /// let model = KernelModel::of_size(&kernel, 1)?;
    /// let explained = model.explained(&Subset::new(vec![0], 3)?, &partition, &Engine::cpu())?;
    /// assert_eq!((explained.total, explained.by_part), (5.0 / 9.0, vec![1.0, 0.5]));
    /// # Ok(()) }
    /// ```
    pub fn explained(&self, subset: &Subset, partition: &Partition, engine: &Engine) -> Result<Explained> {
        let (items, labels) = (self.kernel.items(), partition.items());
        if items != labels {
            return Err(Error::LabelCount { items, labels });
        }
        let (mut factor, mut next) = (Factor::new(self.kernel, subset.len()), NextRow::default());
        for item in subset {
            if item >= items {
                return Err(Error::ItemOutOfRange { item, items });
            }
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            self.extend(&mut factor, item as u32, &mut next)?;
        }
        let tasks: Vec<(usize, &[u32])> = (0..partition.parts())
            .flat_map(|part| partition.members(part).chunks(TASK).map(move |members| (part, members)))
            .collect();
        let of_task = |task: usize| -> Result<[f64; 2]> {
            engine.proceed_after(tasks[task].1.len())?;
            let (mut next, mut sums) = (NextRow::default(), [0.0; 2]);
            for &item in tasks[task].1 {
                let whole = self.diagonal[item as usize];
                let beyond = factor.residual(item as usize, whole, &mut next)?;
                sums = [sums[0] + (whole - beyond.clamp(0.0, whole)), sums[1] + whole];
            }
            Ok(sums)
        };
        let mut by_part = vec![[0.0; 2]; partition.parts()];
        for ((part, _), sums) in tasks.iter().zip(map_ordered(tasks.len(), of_task)) {
            let sums = sums?;
            by_part[*part] = [by_part[*part][0] + sums[0], by_part[*part][1] + sums[1]];
        }
        let total = by_part.iter().fold([0.0; 2], |sum, own| [sum[0] + own[0], sum[1] + own[1]]);
        Ok(Explained { total: share(total), by_part: by_part.into_iter().map(share).collect() })
    }
}

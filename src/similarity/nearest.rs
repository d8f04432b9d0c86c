//! Distances of items to the nearest chosen one.

use super::rows::{RowReader, squared_distances};
use crate::{
    Error, Features, Result, Subset, engine::Engine, linalg::power_of_two_near, parallel::map_ordered,
};

/// Items per task.
const TASK: usize = 512;

impl Features {
    /// Returns the mean Euclidean distance of items to the nearest item of a set.
    ///
    /// # Cost
    /// One pass over the rows, 3mn|S| operations.
    ///
    /// # Numerics
    /// In f64. Rows are subtracted before anything is squared.
    ///
    /// # Errors
    /// [`Error::Nothing`] if the set is empty; [`Error::ItemOutOfRange`]; engine errors.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, Subset};
    /// let features = Features::from_rows(4, 1, vec![0.0, 1.0, 5.0, 6.0])?;
    /// assert_eq!(features.mean_distance_to(&Subset::new(vec![0, 3], 4)?, &Engine::cpu())?, 0.5);
    /// # Ok(()) }
    /// ```
    pub fn mean_distance_to(&self, subset: &Subset, engine: &Engine) -> Result<f64> {
        let items = self.items();
        if subset.is_empty() {
            return Err(Error::Nothing { what: "the set" });
        }
        if let Some(item) = subset.iter().find(|&item| item >= items) {
            return Err(Error::ItemOutOfRange { item, items });
        }
        let rows = RowReader::in_units_of(self, power_of_two_near(self.max_abs().max(f64::MIN_POSITIVE)));
        let (mut chosen, count) = (Vec::new(), subset.len());
        subset.iter().for_each(|item| rows.push(item, &mut chosen));
        let of_task = |task: usize| -> Result<f64> {
            let own = task * TASK..items.min((task + 1) * TASK);
            engine.proceed_after(own.len())?;
            let (mut row, mut squares) = (Vec::new(), vec![0.0; count]);
            let nearest = own.map(|item| {
                row.clear();
                rows.push(item, &mut row);
                squared_distances([&row], &chosen, [&mut squares]);
                squares.iter().copied().fold(f64::INFINITY, f64::min).sqrt()
            });
            Ok(nearest.sum())
        };
        let sums = map_ordered(items.div_ceil(TASK), of_task).into_iter().collect::<Result<Vec<f64>>>()?;
        Ok(sums.into_iter().sum::<f64>() / items as f64 / rows.scale())
    }
}

//! Probabilities of items that have one copy per label.

use super::{Inference, Of};
use crate::{Error, Estimate, Result, Subset, data::LabelCopies};

impl Inference {
    /// ln Pr that the items of the chosen copies are exactly these, with any labels, and its error; −∞ if that is
    /// impossible.
    ///
    /// ```text
    /// Pr(T) = N(T) · det(K_T) / Z
    /// ```
    ///
    /// Here N(T) is the number of allowed ways to choose one copy of every item of T. All of them have the same
    /// determinant.
    ///
    /// # Cost
    /// O(n|T|²). Under a quota there is another term: |T| times the number of labels of an item times the number of
    /// reachable vectors of counts, which is at most Π(κ_l + 1).
    ///
    /// # Errors
    /// - [`Error::LabelCount`] if the law is over another number of copies;
    /// - [`Error::ItemOutOfRange`] if the set has items that do not exist.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, PartitionDpp, Quota, Subset, data::LabelCopies};
    /// let items = Features::from_rows(3, 2, vec![1.0, 0.0, 1.0, 2.0, 1.0, 1.0])?;
    /// let copies = LabelCopies::from_labels(&[vec!["a", "b"], vec!["a", "b"], vec!["b"]])?;
    /// let quota = Quota::new(copies.partition(), &[1, 1])?;
    /// let features = copies.features(&items)?;
    /// let inference =
    ///     PartitionDpp::new(&features, copies.partition(), &quota)?.inference(&Engine::cpu())?;
    /// // {0,1} has determinant 4 and two ways to be labelled; {0,2} and {1,2} have 1 and one way.
    /// let log_prob = inference.log_probability_of_items(&copies, &Subset::new(vec![0, 1], 3)?)?;
    /// assert!((log_prob.value - (8.0 / 10.0_f64).ln()).abs() <= log_prob.error);
    /// # Ok(()) }
    /// ```
    pub fn log_probability_of_items(&self, copies: &LabelCopies, items: &Subset) -> Result<Estimate<f64>> {
        match &self.of {
            Of::Rows(of) => of.sets.log_probability_of_items(copies, items),
            Of::Ridge(_) => {
                Err(Error::NotForLaw("with a ridge, a set has no probability whose labels are left open"))
            }
        }
    }
}

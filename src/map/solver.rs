//! The interface of all solvers.

use super::{BranchAndBound, Greedy, LocalSearch, Softmax, Solution, SymmetricGreedy, TopScores};
use crate::{Result, engine::Engine, sealed::Sealed};

/// An algorithm that looks for the most probable set of a model.
///
/// The type parameter is the model. [`Greedy`](super::Greedy), [`LocalSearch`](super::LocalSearch) and
/// [`BranchAndBound`](super::BranchAndBound) solve every [`Objective`](super::Objective). The first two also solve a
/// [`KernelModel`](super::KernelModel). [`SymmetricGreedy`](super::SymmetricGreedy) and [`Softmax`](super::Softmax)
/// solve a [`Dpp`](crate::Dpp).
///
/// The trait is sealed, since solvers read the models' own rows.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, KDpp, map::{BranchAndBound, Greedy, LocalSearch, Solver}};
/// let features = Features::from_rows(4, 3, vec![1., 0., 0., 1., 1., 0., 0., 2., 1., 0., 0., 1.])?;
/// let model = KDpp::new(&features, 2)?;
/// let solvers: [Box<dyn Solver<KDpp>>; 3] =
///     [Box::new(Greedy::default()), Box::new(LocalSearch::default()), Box::new(BranchAndBound::default())];
/// for solver in solvers {
///     assert_eq!(solver.solve(&model, &Engine::cpu())?.subset.as_slice(), [1, 2]);
/// }
/// # Ok(()) }
/// ```
pub trait Solver<M>: Sealed {
    /// Solves a model.
    ///
    /// The watch of the engine ([`Engine::watched`]), if any, receives progress reports and can stop the run. A
    /// stopped run returns the best set so far, with its [`termination`](Solution::termination).
    ///
    /// # Errors
    /// Errors of the engine and of the solver.
    fn solve(&self, model: &M, engine: &Engine) -> Result<Solution>;
}

impl Sealed for BranchAndBound {}
impl Sealed for Greedy {}
impl Sealed for LocalSearch {}
impl Sealed for Softmax {}
impl Sealed for SymmetricGreedy {}
impl Sealed for TopScores {}

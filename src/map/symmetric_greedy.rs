//! The symmetric (double) greedy algorithm.

mod later;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use self::later::{Item, KeptTails, Later};
use super::{
    Candidates, Objective, Place, Solution, Solver, Termination, pivots::Pivots, plain_gains::PlainGains,
    watch::Clock,
};
use crate::{
    Dpp, Result,
    engine::Engine,
    linalg::{INDEPENDENCE_TOLERANCE, OrthonormalBasis},
    model::Counts,
};

/// Decides about one item after the other, from below and above at once: X grows from the empty set, Y shrinks from
/// the ground set, and they meet in the result.
///
/// ```text
/// a_i = f(X+i) − f(X),   b_i = f(Y−i) − f(Y),   f(S) = ln det K_S
/// X ← X+i  if a_i ≥ b_i,   else  Y ← Y−i
/// ```
///
/// If items are dependent, f(Y) is −∞ and b_i is its limit for K + εI, ε → 0: +∞ for items that depend on the others
/// of Y, which leave it. Items that depend on later ones are therefore never kept, so the [`ItemOrder`] matters. With
/// m items of rank r > 0, [`ItemOrder::Index`] chooses among r of the last ones, and [`ItemOrder::GreedyBasisLast`]
/// among r of large volume. Published implementations go by index and leave these decisions to the rounding errors of
/// a zero determinant.
///
/// # Guarantee
/// If f ≥ 0 on all sets, f(X) is at least a third of the optimum in any order, and with [`Decision::Randomised`] at
/// least half of it in expectation. Most kernels have sets with negative ln det K_S, or −∞ for dependent ones; then
/// there is no guarantee. (If all eigenvalues are at least 1, f only grows, and all items are kept.)
///
/// # Cost
/// At most 4mnr operations, fewer if the last items span everything, and O(nr²); 24nr bytes.
/// [`ItemOrder::GreedyBasisLast`] adds a [`Greedy`](crate::map::Greedy) run of r picks.
///
/// # Numerics
/// f64, by orthogonal transformations: Y is never inverted and nothing is downdated. Unit rows that agree to 1e-12
/// count as dependent. Rows may be of any magnitude.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Dpp, Engine, Features, map::{Solver, SymmetricGreedy}};
/// // The first item adds less than a factor of 1, whatever else is chosen.
/// let features = Features::from_rows(3, 3, vec![0.5, 0.0, 0.0, 0.0, 2.0, 0.3, 0.0, 1.5, 2.0])?;
/// let solution = SymmetricGreedy::default().solve(&Dpp::new(&features)?, &Engine::cpu())?;
/// assert_eq!(solution.subset.as_slice(), [1, 2]);
/// # Ok(()) }
/// ```
///
/// # Source
/// Buchbinder, Feldman, Naor and Schwartz, *A tight linear time (1/2)-approximation for unconstrained submodular
/// maximization* (2012), algorithms 1 and 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct SymmetricGreedy {
    order: ItemOrder,
    decision: Decision,
}

/// The order in which the [`SymmetricGreedy`] algorithm decides about items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ItemOrder {
    /// By index, as published implementations do.
    #[default]
    Index,
    /// At random: sorted by one number per item from the ChaCha8 generator with this seed.
    Shuffled {
        /// Seed of the generator.
        seed: u64,
    },
    /// The items outside the basis that the greedy algorithm picks, then the basis, both by index.
    ///
    /// With more items than dimensions, all items outside the basis leave, so the choice is among the basis.
    GreedyBasisLast,
}

/// How the [`SymmetricGreedy`] algorithm decides whether to keep an item or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Decision {
    /// Keeps an item if a_i ≥ b_i.
    #[default]
    Deterministic,
    /// Keeps an item with probability a⁺/(a⁺ + b⁺), or 1 if both are zero, where a⁺ = max(a_i, 0).
    ///
    /// Coins come from the ChaCha8 generator with this seed.
    Randomised {
        /// Seed of the generator.
        seed: u64,
    },
}

impl SymmetricGreedy {
    /// Chooses the order of the items.
    #[must_use]
    pub fn with_order(self, order: ItemOrder) -> Self {
        Self { order, ..self }
    }

    /// Chooses how items are decided.
    #[must_use]
    pub fn with_decision(self, decision: Decision) -> Self {
        Self { decision, ..self }
    }
}

impl Solver<Dpp> for SymmetricGreedy {
    /// Returns the set in which X and Y meet.
    ///
    /// Its [`gains`](super::Stats::gains) are the a_i of the items kept, in the order of decision. A stopped run
    /// returns the items kept so far.
    ///
    /// # Errors
    /// Errors of the engine.
    fn solve(&self, model: &Dpp, engine: &Engine) -> Result<Solution> {
        let (engine, watch) = engine.apart();
        let clock = watch.start();
        let candidates = model.candidates();
        let order = self.order.positions(&candidates, engine, &clock)?;
        let later = Later::of(&candidates, order, &clock);
        let mut coin = Coin::of(self.decision);
        let mut kept = Kept { span: candidates.ground.span(), tails: KeptTails::default() };
        let (mut places, mut gains) = (Vec::new(), Vec::new());
        // All other items depend on later ones.
        for (at, item) in later.items.iter().enumerate().rev() {
            if clock.ended().is_some() {
                break;
            }
            if let Some(gain) = kept.decide(item, later.direction(at), &mut coin) {
                places.push(Place { group: 0, position: item.position });
                gains.push(gain);
                let log_det = candidates.ground.log_det_included().value + gains.iter().sum::<f64>();
                clock.report(log_det, None, gains.len() as u64);
            }
        }
        let termination = clock.ended().unwrap_or(Termination::AllDecided);
        let mut solution = Solution::new(&candidates, &places, termination, engine);
        solution.stats.gains = gains;
        Ok(solution)
    }
}

/// The set X.
struct Kept {
    /// The span of X and the included items.
    span: OrthonormalBasis,
    /// The residuals of X beyond the later and the included items.
    tails: KeptTails,
}

impl Kept {
    /// Decides whether to keep an item. Returns a_i if it does.
    fn decide(&mut self, item: &Item, direction: &[f64], coin: &mut Coin) -> Option<f64> {
        let products = self.tails.products(direction);
        let left = item.beyond_later * self.tails.extend_by(&products).sqrt();
        let residual = self.span.extend(&item.unit);
        let adding = residual.map_or(f64::NEG_INFINITY, |residual| 2.0 * (item.log_norm + residual.ln()));
        let removing =
            if left > INDEPENDENCE_TOLERANCE { -2.0 * (item.log_norm + left.ln()) } else { f64::INFINITY };
        if coin.keeps(adding, removing) {
            self.tails.push(&item.unit, &products, item.beyond_later, left);
            return Some(adding);
        }
        if residual.is_some() {
            self.span.drop_last();
        }
        None
    }
}

impl ItemOrder {
    /// The positions of the free items in this order.
    fn positions(self, candidates: &Candidates<'_>, engine: &Engine, clock: &Clock) -> Result<Vec<usize>> {
        let mut positions: Vec<usize> = (0..candidates.groups[0].len()).collect();
        match self {
            ItemOrder::Index => {}
            ItemOrder::Shuffled { seed } => {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                positions.sort_by_cached_key(|&position| (rng.random::<u64>(), position));
            }
            ItemOrder::GreedyBasisLast => {
                let counts = Counts::exactly(&candidates.counts.high);
                let to_the_rank = Candidates { counts, ..candidates.clone() };
                let rows = to_the_rank.rows();
                let gains = PlainGains::new(engine, &rows);
                let ended = |_: &_| clock.ended();
                let basis = Pivots::pick(&to_the_rank, engine, &rows, gains, &[], &[], &ended)?.places;
                let mut is_basis = vec![false; positions.len()];
                basis.iter().for_each(|place| is_basis[place.position] = true);
                positions.sort_by_key(|&position| is_basis[position]);
            }
        }
        Ok(positions)
    }
}

/// Decides about items: at random if it has a generator, otherwise by the larger gain.
struct Coin(Option<ChaCha8Rng>);

impl Coin {
    fn of(decision: Decision) -> Self {
        match decision {
            Decision::Deterministic => Self(None),
            Decision::Randomised { seed } => {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                // A shuffle with the same seed uses stream 0.
                rng.set_stream(1);
                Self(Some(rng))
            }
        }
    }

    fn keeps(&mut self, adding: f64, removing: f64) -> bool {
        let Some(rng) = &mut self.0 else { return adding >= removing };
        let uniform: f64 = rng.random();
        let (adding, removing) = (adding.max(0.0), removing.max(0.0));
        removing <= 0.0 || uniform * (adding + removing) < adding
    }
}

//! The paper's multivariate characteristic polynomial.

use faer::c64;

use super::CircleVandermonde;
use crate::{
    Error, Estimate, Features, Partition, Result,
    data::check_partition,
    engine::{Engine, Items, Rows},
    model::{
        GroundSet,
        feasibility::{self, PartBasis},
    },
    polynomial::{
        DEFAULT_NODE_BUDGET,
        generating_function::{GeneratingFunction, Reference},
        spectrum::TiltedSpectrum,
        torus::{Torus, TorusPlan, each_count},
    },
};

/// Largest relative rounding error accepted for a coefficient that is taken from another one's grid.
const ACCEPTED: f64 = 1e-10;

/// det(AAᵀ − Σ x_l I_l), one variable per part.
///
/// ```text
/// det(AAᵀ − Σ_l x_l I_l) = Σ c_{i_1…i_p} Π x_l^{i_l},   (I_l)_{ii} = 1 for i ∈ P_l
/// |c_{m_1−κ_1, …, m_p−κ_p}| = Σ det(K_S) over |S∩P_l| = κ_l
/// ```
///
/// Coefficients come from the n×n determinant g(y) = det(I + Σ y_l G_l) at nodes on circles. The radii fit each
/// coefficient, so all are accurate even if they differ by hundreds of decades.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, polynomial::CharacteristicPolynomial};
/// let features = Features::from_rows(2, 2, vec![1.0, 0.0, 1.0, 1.0])?;
/// let partition = Partition::from_labels(&["a", "b"])?;
/// let polynomial = CharacteristicPolynomial::new(&features, &partition)?;
/// // (1 − x)(2 − z) − 1 = 1 − 2x − z + xz, in the order 1, z, x, xz.
/// let found: Vec<f64> = polynomial.coefficients(&Engine::cpu())?.iter().map(|c| c.value()).collect();
/// for (c, expected) in found.iter().zip([1.0, -1.0, -2.0, 1.0]) {
///     assert!((c - expected).abs() < 1e-12);
/// }
/// # Ok(()) }
/// ```
///
/// # Source
/// Kathuria and Deshpande (2016), definition 4 and lemma 3.1.
#[derive(Clone, Debug)]
pub struct CharacteristicPolynomial {
    ground: GroundSet,
    partition: Partition,
}

/// A coefficient, as its sign and logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficient {
    /// −1 or 1.
    pub sign: f64,
    /// ln |c|; −∞ for zero.
    pub log_magnitude: Estimate<f64>,
}

impl Coefficient {
    /// The coefficient as one number, which may overflow or underflow.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.sign * self.log_magnitude.value.exp()
    }
}

impl CharacteristicPolynomial {
    /// The polynomial of K = A Aᵀ, one variable per part.
    ///
    /// # Errors
    /// [`Error::LabelCount`] if partition and features have different numbers of items.
    pub fn new(features: &Features, partition: &Partition) -> Result<Self> {
        check_partition(features, partition)?;
        Ok(Self { ground: GroundSet::new(features)?, partition: partition.clone() })
    }

    /// One coefficient c_{i_1…i_p}.
    ///
    /// # Cost
    /// The same as one log partition function: two passes over A and a torus of nodes.
    ///
    /// # Errors
    /// - [`Error::Shape`] unless there is one exponent per part;
    /// - [`Error::QuotaAbovePartSize`] if an exponent exceeds the size of its part;
    /// - [`Error::NodeBudget`] above a million nodes; engine errors.
    pub fn coefficient(&self, exponents: &[usize], engine: &Engine) -> Result<Coefficient> {
        let parts = self.partition.parts();
        if exponents.len() != parts {
            return Err(Error::Shape {
                what: "the list of exponents",
                expected: parts,
                found: exponents.len(),
            });
        }
        for (part, &quota) in exponents.iter().enumerate() {
            let size = self.partition.size(part);
            if quota > size {
                return Err(Error::QuotaAbovePartSize {
                    part: self.partition.names()[part].clone(),
                    quota,
                    size,
                });
            }
        }
        let counts: Vec<usize> =
            exponents.iter().enumerate().map(|(part, &i)| self.partition.size(part) - i).collect();
        if let Some(known) = self.without_nodes(&counts, &self.bases()) {
            return Ok(known);
        }
        let centre = Centre::new(self, &counts, engine)?;
        let plan =
            TorusPlan::for_coefficient(&centre.function, &centre.counts)?.within(DEFAULT_NODE_BUDGET)?;
        let torus = Torus::new(plan);
        let found = torus.sum(engine, &centre.function, &torus.extractors(&centre.counts))?;
        Ok(self.scaled_up(&counts, found, &centre, &centre.counts))
    }

    /// All Π (m_l + 1) coefficients, in row-major order of the exponents: the last part's exponent varies fastest.
    ///
    /// # Cost
    /// Π (m_l + 1) determinants per grid, and one grid for every few standard deviations of the part counts. This
    /// suits only small cases.
    ///
    /// # Errors
    /// [`Error::NodeBudget`] if all grids together need more than a million nodes; engine errors.
    pub fn coefficients(&self, engine: &Engine) -> Result<Vec<Coefficient>> {
        let sizes: Vec<usize> = (0..self.partition.parts()).map(|part| self.partition.size(part)).collect();
        let nodes: f64 = sizes.iter().map(|&size| size as f64 + 1.0).product();
        if nodes > DEFAULT_NODE_BUDGET {
            return Err(Error::NodeBudget { nodes, budget: DEFAULT_NODE_BUDGET });
        }
        let bases = self.bases();
        let all: Vec<Vec<usize>> =
            each_count(&sizes.iter().map(|size| size + 1).collect::<Vec<_>>()).collect();
        let mut found: Vec<Option<Coefficient>> =
            all.iter().map(|counts| self.without_nodes(counts, &bases)).collect();
        let mut used = 0.0;
        for wanted in 0..all.len() {
            if found[wanted].is_none() {
                used += 0.5 * nodes;
                if used > DEFAULT_NODE_BUDGET {
                    return Err(Error::NodeBudget { nodes: used, budget: DEFAULT_NODE_BUDGET });
                }
                self.read_grid_around(&all[wanted], &all, &mut found, engine)?;
            }
        }
        // Counts κ in lexicographic order are the exponents m − κ in reverse order.
        Ok(found.into_iter().rev().flatten().collect())
    }

    /// Sets `wanted`, and the coefficients that a complete grid around it determines accurately.
    fn read_grid_around(
        &self,
        wanted: &[usize],
        all: &[Vec<usize>],
        found: &mut [Option<Coefficient>],
        engine: &Engine,
    ) -> Result<()> {
        let centre = Centre::new(self, wanted, engine)?;
        let rank = centre.function.rank();
        let largest: Vec<usize> =
            centre.parts.iter().map(|&part| self.partition.size(part).min(rank)).collect();
        let torus = Torus::new(TorusPlan::complete(&largest));
        let values = torus.values(engine, &centre.function)?;
        let shares = torus.all_coefficients(&values)?;
        let error = torus.coefficient(&values, &centre.counts, rank, engine.info().precision).error;
        let index =
            |counts: &[usize]| counts.iter().zip(torus.sizes()).fold(0, |at, (c, size)| at * size + c);
        for (counts, slot) in all.iter().zip(found).filter(|(_, slot)| slot.is_none()) {
            let elsewhere = |part: &usize| counts[*part] > 0 && !centre.parts.contains(part);
            let here: Vec<usize> = centre.parts.iter().map(|&part| counts[part]).collect();
            let outside = here.iter().zip(&largest).any(|(count, largest)| count > largest);
            if outside || (0..counts.len()).any(|part| elsewhere(&part)) {
                continue;
            }
            let share = shares[index(&here)];
            if error <= ACCEPTED * share || counts == wanted {
                *slot = Some(self.scaled_up(counts, Estimate { value: share, error }, &centre, &here));
            }
        }
        Ok(())
    }

    fn scaled_up(
        &self,
        counts: &[usize],
        share: Estimate<f64>,
        centre: &Centre,
        here: &[usize],
    ) -> Coefficient {
        let value = centre.reference.log_coefficient(here, share.value.max(0.0));
        let error = share.error / share.value + centre.error + f64::EPSILON * value.abs();
        Coefficient { sign: self.sign(counts), log_magnitude: Estimate { value, error } }
    }

    /// (−1)^{Σ (m_l − κ_l)}.
    fn sign(&self, counts: &[usize]) -> f64 {
        if (self.partition.items() - counts.iter().sum::<usize>()).is_multiple_of(2) { 1.0 } else { -1.0 }
    }

    /// The coefficient if it needs no nodes: the leading one, or one that is zero.
    fn without_nodes(&self, counts: &[usize], bases: &[PartBasis]) -> Option<Coefficient> {
        let value = if counts.iter().all(|&count| count == 0) {
            0.0
        } else if feasibility::check(bases, counts, self.ground.features().dims()).is_err() {
            f64::NEG_INFINITY
        } else {
            return None;
        };
        Some(Coefficient { sign: self.sign(counts), log_magnitude: Estimate { value, error: 0.0 } })
    }

    fn bases(&self) -> Vec<PartBasis> {
        let items = |part| Items::of_part(&self.partition, part);
        let dims = self.ground.features().dims();
        (0..self.partition.parts())
            .map(|part| feasibility::part_basis(&self.ground, items(part), dims))
            .collect()
    }
}

/// The generating function around one coefficient.
struct Centre {
    /// Parts with a nonzero count, and these counts.
    parts: Vec<usize>,
    counts: Vec<usize>,
    function: GeneratingFunction,
    reference: Reference,
    error: f64,
}

impl Centre {
    fn new(of: &CharacteristicPolynomial, counts: &[usize], engine: &Engine) -> Result<Self> {
        let parts: Vec<usize> = (0..counts.len()).filter(|&part| counts[part] > 0).collect();
        let items = parts.iter().map(|&part| Items::of_part(&of.partition, part)).collect();
        let rows = Rows::scaled(of.ground.features(), items);
        let counts: Vec<usize> = parts.iter().map(|&part| counts[part]).collect();
        let spectrum = TiltedSpectrum::for_counts(engine, &rows, &of.ground, &counts)?;
        let k = counts.iter().sum();
        let (function, reference) = GeneratingFunction::of_size(&spectrum, &rows.scales(), k)?;
        Ok(Self { parts, counts, function, reference, error: spectrum.spectrum.error })
    }
}

impl Torus {
    /// All coefficients in row-major order, from the values at the nodes of a complete torus.
    pub(crate) fn all_coefficients(&self, values: &[c64]) -> Result<Vec<f64>> {
        let system = CircleVandermonde::new(self.sizes(), &vec![1.0; self.sizes().len()])?;
        let mut all = vec![c64::new(0.0, 0.0); system.nodes()];
        for ((at, partner), &value) in self.positions().zip(values) {
            all[partner] = value.conj();
            all[at] = value;
        }
        Ok(system.solve(&all)?.into_iter().map(|c| c.re.max(0.0)).collect())
    }
}

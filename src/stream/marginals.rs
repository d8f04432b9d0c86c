//! Inclusion probabilities of rows that are stored elsewhere.

use faer::{Mat, MatRef};

use super::{
    Batch, Grams,
    open_rows::OpenRows,
    plan::PlanPart,
    setup::Setup,
    surrogate::{Magnitude, Surrogate},
};
use crate::{
    Dpp, Estimate, KDpp, PartitionDpp, Quota, Result,
    bytes::Kind,
    engine::{Engine, in_double},
    estimate::accurate,
    inference::RowInference,
    linalg::columns,
    model::GroundSet,
    sample::TiltedProposals,
};

const KIND: Kind = Kind { tag: *b"PDPPMARG", what: "inclusion probabilities" };
/// The error above which a second pass is worthwhile.
const WANTED: f64 = 1e-9;

/// ln Z and the matrices that give inclusion probabilities.
///
/// The driver computes them from merged [`Grams`] and sends them to the rows.
///
/// ```text
/// Pr(i ∈ S) = ‖F_lᵀ a_i‖²,   i ∈ P_l
/// ```
///
/// Like Z, the matrices F_l depend on the rows only through their Gram matrices.
///
/// # Shapes
/// p·n·r numbers.
///
/// # Cost
/// The cost of the models' `inference`, without the passes over the rows, which are left to the batches.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, stream::{Batch, Grams, Marginals}};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// let batch = Batch::new(0, &features, &Partition::from_labels(&["a", "a", "b", "b"])?)?;
/// let grams = Grams::of_batch(&batch, &Engine::cpu())?;
/// let marginals = Marginals::partition_dpp(&grams, &grams.quota([("a", 1), ("b", 1)])?, &Engine::cpu())?;
/// // Z = det K over {0,2}, {0,3}, {1,2}, {1,3} = 1 + 1 + ¼ + 0.
/// assert!((marginals.log_partition_function().value - 2.25_f64.ln()).abs() < 1e-12);
/// let found = marginals.of_batch(&batch, &Engine::cpu())?;
/// assert!((found.value[0] - 2.0 / 2.25).abs() < 1e-12);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Marginals {
    dims: usize,
    parts: Vec<PlanPart>,
    /// F_l by group, for rows scaled by 2^−order.
    factors: Vec<Mat<f64>>,
    log_z: Estimate<f64>,
    error: f64,
}

impl Marginals {
    /// The marginals of sets of any size, as in [`Dpp::inference`].
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty) if there are no rows; the errors of [`Dpp::inference`].
    pub fn dpp(grams: &Grams, engine: &Engine) -> Result<Self> {
        let engine = in_double(engine);
        let surrogate = Surrogate::united(grams, Magnitude::Kept)?;
        let dpp = Dpp::new(&surrogate.features)?;
        let Some(proposals) = TiltedProposals::of_dpp(&dpp, engine)? else {
            return Self::new(grams, &surrogate, &dpp.ground, &[], None, &dpp.inference_as_given(engine)?);
        };
        let inference = dpp.inference_as_given(engine)?;
        Self::new(grams, &surrogate, &dpp.ground, &[0], Some(&proposals), &inference)
    }

    /// The marginals of sets of k items, as in [`KDpp::inference`].
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty) if there are no rows; the errors of [`KDpp::new`] and
    /// [`KDpp::inference`].
    pub fn k_dpp(grams: &Grams, k: usize, engine: &Engine) -> Result<Self> {
        let engine = in_double(engine);
        let surrogate = Surrogate::united(grams, Magnitude::Irrelevant)?;
        grams.check_size(k)?;
        let explained = |error| surrogate.explained(error);
        let dpp = KDpp::new(&surrogate.features, k).map_err(explained)?;
        let proposals = TiltedProposals::of_k_dpp(&dpp, engine).map_err(explained)?;
        let inference = dpp.inference_as_given(engine).map_err(explained)?;
        let found = Self::new(grams, &surrogate, &dpp.ground, &[0], Some(&proposals), &inference)?;
        Ok(found.shifted(k as f64 * surrogate.log_square(0)))
    }

    /// The marginals of sets that meet a quota made by [`Grams::quota`], as in [`PartitionDpp::inference`].
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty) if there are no rows; the errors of [`PartitionDpp::new`] and
    /// [`PartitionDpp::inference`].
    pub fn partition_dpp(grams: &Grams, quota: &Quota, engine: &Engine) -> Result<Self> {
        let engine = in_double(engine);
        let surrogate = Surrogate::of_parts(grams, quota)?;
        let explained = |error| surrogate.explained(error);
        let dpp = PartitionDpp::new(&surrogate.features, &surrogate.partition, quota).map_err(explained)?;
        let open: Vec<usize> = dpp.open().iter().map(|part| part.part).collect();
        let proposals = if open.is_empty() {
            None
        } else {
            Some(TiltedProposals::of_spectrum(&dpp, engine).map_err(explained)?)
        };
        let inference = dpp.inference_as_given(engine).map_err(explained)?;
        let found = Self::new(grams, &surrogate, dpp.ground(), &open, proposals.as_ref(), &inference)?;
        let Some(counts) = quota.exact_counts() else { return Ok(found) };
        let shifts =
            counts.iter().enumerate().map(|(part, &count)| count as f64 * surrogate.log_square(part));
        Ok(found.shifted(shifts.sum()))
    }

    /// Takes the model's groups from which something is chosen as `open`.
    fn new(
        grams: &Grams,
        surrogate: &Surrogate,
        ground: &GroundSet,
        open: &[usize],
        proposals: Option<&TiltedProposals>,
        inference: &RowInference,
    ) -> Result<Self> {
        let row_factors = inference.row_factors()?;
        let error = match proposals {
            Some(proposals) => {
                let setup = Setup { grams, surrogate, open, proposals };
                setup.error(&setup.group_weights(ground)?)?.law / row_factors.mass
            }
            None => 0.0,
        };
        let mut log_z = inference.log_z();
        let basis = grams.basis().map(|frame| frame.basis(grams.dims())).transpose()?;
        let mut factors = Vec::new();
        for (&group, factor) in open.iter().zip(&row_factors.factors) {
            let factor = factor * faer::Scale(surrogate.factor(group, ground)?);
            log_z.value += surrogate.log_clamped(group, factor.as_ref());
            factors.push(match basis {
                Some(basis) => basis * factor,
                None => factor,
            });
        }
        log_z.error = accurate(log_z.error + error)?;
        let is_found = !factors.is_empty();
        let parts = surrogate
            .parts(grams, open)
            .map(|part| PlanPart { group: part.group.filter(|_| is_found), ..part });
        let error = accurate(row_factors.error + error)?;
        Ok(Self { dims: grams.dims(), parts: parts.collect(), factors, log_z, error })
    }

    fn shifted(mut self, log: f64) -> Self {
        self.log_z.value += log;
        self.log_z.error += f64::EPSILON * log.abs();
        self
    }

    /// ln Z: the logarithm of the sum of det(K_S) over all sets that the law allows.
    #[must_use]
    pub fn log_partition_function(&self) -> Estimate<f64> {
        self.log_z
    }

    /// The estimated error of every inclusion probability.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Whether a second pass in a [`Frame`](super::Frame) is worth it: the error is above 10⁻⁹.
    #[must_use]
    pub fn wants_frame(&self) -> bool {
        self.error.max(self.log_z.error) > WANTED
    }

    /// Pr(i ∈ S) for every row of a batch, in order.
    ///
    /// # Cost
    /// 2mnr operations for a batch of m rows.
    ///
    /// # Errors
    /// The errors of [`Plan::leverages`](super::Plan::leverages).
    pub fn of_batch(&self, batch: &Batch, engine: &Engine) -> Result<Estimate<Vec<f64>>> {
        let mut value = vec![0.0; batch.rows()];
        if let Some((features, partition)) = batch.content() {
            let known: Vec<_> = self.parts.iter().map(|part| (part, part.group.is_some())).collect();
            if let Some((open, parts)) = OpenRows::of_plan(features, partition, self.dims, &known)? {
                let group = |part: u32| self.parts[part as usize].group.unwrap_or_default();
                let factors: Vec<MatRef<'_, f64>> =
                    parts.iter().map(|&part| self.factors[group(part)].as_ref()).collect();
                let scaled = open.scaled()?;
                let rows = scaled.rows();
                let forms = in_double(engine).row_forms(&rows, &factors)?;
                rows.iter().zip(forms).for_each(|((item, _), form)| value[item] = form.min(1.0));
            }
        }
        Ok(Estimate { value, error: self.error })
    }

    /// Serialises to bytes, to be sent to the rows.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let factors: Vec<_> = self.factors.iter().map(|factor| columns(factor.as_ref())).collect();
        KIND.write(&(self.dims, &self.parts, factors, [self.log_z.value, self.log_z.error], self.error))
    }

    /// Deserialises the bytes of [`to_bytes`](Marginals::to_bytes).
    ///
    /// # Errors
    /// [`Error::Stream`](crate::Error::Stream) if the bytes are truncated, of another version, or not inclusion
    /// probabilities.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (dims, parts, factors, log_z, error): (_, Vec<PlanPart>, Vec<_>, [f64; 2], _) =
            KIND.read(bytes)?;
        let matrix = |values: Vec<f64>| {
            KIND.check(dims > 0 && values.len().is_multiple_of(dims))?;
            KIND.check(values.iter().all(|x| x.is_finite()))?;
            Ok(MatRef::from_column_major_slice(&values, dims, values.len() / dims).to_owned())
        };
        let factors = factors.into_iter().map(matrix).collect::<Result<Vec<_>>>()?;
        KIND.check(parts.iter().all(|part| part.is_sound(factors.len())))?;
        Ok(Self { dims, parts, factors, log_z: Estimate { value: log_z[0], error: log_z[1] }, error })
    }
}

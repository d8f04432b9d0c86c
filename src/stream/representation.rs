//! Maps of the rows of batches for sets that represent the other rows.

use std::collections::BTreeMap;

use faer::{Mat, MatRef};

use super::{Batch, Grams, frame::Frame};
use crate::{
    Error, Result,
    bytes::Kind,
    engine::Engine,
    linalg::columns,
    similarity::{Map, mapped},
};

const KIND: Kind = Kind { tag: *b"PDPPREPR", what: "a representation" };

/// Maps of the rows of batches for sets that represent the rest of their part, or all other rows.
///
/// It does the same as [`similarity::Representation`](crate::similarity::Representation) for rows in one place. The
/// driver computes the maps from merged [`Grams`] and sends them to the rows.
///
/// ```text
/// b_i = c_l G_l^(ρ/2) a_i,   c_l² tr G_l^(1+ρ) = tr G_l
/// ```
///
/// First compute the sums over rows without scores. Scores can be set before or after the rows are mapped, since a
/// map and the weight of a row commute. All other steps take mapped batches, including the sums that they need.
///
/// # Shapes
/// n² numbers for every part, or n² in total. Mapped rows take 8n bytes each.
///
/// # Cost
/// An eigendecomposition for every part, about 10n³; 2n² operations for every mapped row.
///
/// # Numerics
/// As for [`similarity::Representation`](crate::similarity::Representation). Sums in a [`frame`](Grams::frame)
/// preserve the digits of short directions.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, stream::{Batch, Grams, Plan, Representation}};
/// let (engine, partition) = (Engine::cpu(), Partition::of(["cat", "cat", "dog", "dog"])?);
/// let batch = |number, values: [f64; 8]| {
///     Batch::new(number, &Features::from_rows(4, 2, values.to_vec())?, &partition)
/// };
/// let batches = [
///     batch(0, [1.0, 0.0, 0.9, 0.1, 0.0, 1.0, 0.1, 1.0])?,
///     batch(1, [1.0, 0.2, 5.0, 9.0, 0.2, 1.0, 1.0, 1.0])?,
/// ];
/// let sums = |batches: &[Batch]| {
///     batches.iter().try_fold(Grams::default(), |sums, batch| sums.merge(Grams::of_batch(batch, &engine)?))
/// };
/// let representation = Representation::of_parts(&sums(&batches)?, 1.0)?;
/// let mapped = batches.iter().map(|batch| representation.batch(batch, &engine));
/// let sums = sums(&mapped.collect::<Result<Vec<Batch>, _>>()?)?;
/// let plan = Plan::partition_dpp(&sums, &sums.quota([("cat", 1), ("dog", 1)])?, &Engine::cpu())?;
/// assert!(plan.expected_trials() > 1.0);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Representation {
    dims: usize,
    /// The maps by the name of the part.
    maps: BTreeMap<String, Map>,
    /// The map of the rows of all parts, used instead of `maps`.
    of_all: Option<Map>,
}

impl Representation {
    /// Maps for sets whose rows represent the rest of their part.
    ///
    /// # Errors
    /// [`Error::Empty`] if there are no rows; [`Error::NotPositive`] if ρ is negative or not finite;
    /// [`Error::Eigen`].
    pub fn of_parts(sums: &Grams, rho: f64) -> Result<Self> {
        check(sums, rho)?;
        let dims = sums.dims();
        let of_part = |(name, part): (&String, &super::grams::PartSum)| {
            let map = map_of(part.gram(dims).as_ref(), sums.basis(), rho)?;
            Ok((name.clone(), if sums.parts().len() == 1 { map.rotated() } else { map }))
        };
        let maps = sums.sums().map(of_part).collect::<Result<_>>()?;
        Ok(Self { dims, maps, of_all: None })
    }

    /// Maps for sets whose rows represent all others.
    ///
    /// # Errors
    /// The errors of [`of_parts`](Self::of_parts).
    pub fn of_all(sums: &Grams, rho: f64) -> Result<Self> {
        check(sums, rho)?;
        let dims = sums.dims();
        let whole = sums.sums().map(|(_, part)| part.clone()).reduce(|mut whole, part| {
            whole.add(&part);
            whole
        });
        let whole = whole.map_or_else(|| Mat::zeros(dims, dims), |whole| whole.gram(dims));
        let map = map_of(whole.as_ref(), sums.basis(), rho)?.rotated();
        Ok(Self { dims, maps: BTreeMap::new(), of_all: Some(map) })
    }

    /// The batch with its rows mapped. It keeps its number, labels and scores.
    ///
    /// # Cost
    /// 2n² operations and 8n bytes per row.
    ///
    /// # Errors
    /// [`Error::Shape`] if rows have another length; [`Error::UnknownPart`] if a label was in no batch when the rows
    /// were summed; errors of the engine.
    pub fn batch(&self, batch: &Batch, engine: &Engine) -> Result<Batch> {
        let Some((features, partition)) = batch.content() else { return Ok(batch.clone()) };
        let (expected, found) = (self.dims, features.dims());
        if found != expected {
            return Err(Error::Shape { what: "a row", expected, found });
        }
        let map = |part: usize| {
            let name = &partition.names()[part];
            let map = self.of_all.as_ref().or_else(|| self.maps.get(name));
            map.ok_or_else(|| Error::UnknownPart {
                name: name.clone(),
                known: self.maps.keys().cloned().collect(),
            })
        };
        let rows = mapped(features, partition, map, engine)?.features;
        Ok(batch.with_rows(rows.weighted_as(features, 0..features.items())?))
    }

    /// Serialises to bytes, to be sent to another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let written = |map: &Map| (columns(map.vectors()), map.weights().to_vec());
        let maps: Vec<_> = self.maps.iter().map(|(name, map)| (name, written(map))).collect();
        KIND.write(&(self.dims, maps, self.of_all.as_ref().map(written)))
    }

    /// Deserialises the bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`Error::Stream`] if the bytes are truncated, of another version, or not a representation.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        type Written = (Vec<f64>, Vec<f64>);
        let (dims, maps, of_all): (usize, Vec<(String, Written)>, Option<Written>) = KIND.read(bytes)?;
        KIND.check(
            maps.is_sorted_by(|(one, _), (next, _)| one < next) && maps.is_empty() == of_all.is_some(),
        )?;
        let read = |(vectors, weights): Written| {
            let is_finite = vectors.iter().chain(&weights).all(|value| value.is_finite());
            KIND.check(is_finite && weights.len() == dims && dims.checked_mul(dims) == Some(vectors.len()))?;
            let vectors = MatRef::from_column_major_slice(&vectors, dims, dims).to_owned();
            Ok::<_, Error>(Map::of(vectors, weights))
        };
        let is_one = maps.len() == 1;
        let named = |(name, map)| {
            let map = read(map)?;
            Ok((name, if is_one { map.rotated() } else { map }))
        };
        let maps = maps.into_iter().map(named).collect::<Result<_>>()?;
        let of_all = of_all.map(read).transpose()?.map(Map::rotated);
        Ok(Self { dims, maps, of_all })
    }
}

fn check(sums: &Grams, rho: f64) -> Result<()> {
    sums.check_not_empty()?;
    if rho >= 0.0 && rho.is_finite() {
        return Ok(());
    }
    Err(Error::NotPositive { what: "the exponent of the representation", value: rho })
}

/// The map of a Gram matrix, which may be in the coordinates of a frame.
fn map_of(gram: MatRef<'_, f64>, frame: Option<&Frame>, rho: f64) -> Result<Map> {
    let map = Map::new(gram, rho)?;
    let Some(frame) = frame else { return Ok(map) };
    let basis = frame.basis(gram.nrows())?;
    Ok(Map::of(basis * map.vectors(), map.weights().to_vec()))
}

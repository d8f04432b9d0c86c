//! Sums over rows that an engine keeps from an earlier pass.

use faer::{Mat, MatRef};

use super::{Engine, Group, Items, RowMap, Rows, in_double};
use crate::{Features, Partition, Result, data::check_partition, linalg};

/// The Gram matrix of every part, and a bound on the leverage of every row in it.
#[derive(Debug)]
pub(super) struct Known {
    features: Features,
    partition: Partition,
    /// s_l, powers of two; zero for parts without rows so far.
    scales: Vec<f64>,
    /// G_l, of the rows s_l a_i.
    grams: Vec<Mat<f64>>,
    /// Upper bounds on s_l a_iᵀ (G_l + εI)⁻¹ s_l a_i.
    leverages: Vec<f64>,
}

/// ε, relative to the trace. Far shorter directions are bounded by their length.
const REGULAR: f64 = 1e-9;
/// The factor by which leverages are increased, to allow for rounding.
const MARGIN: f64 = 1.001;
/// Number of rows that are compared to decide whether all rows are the same.
const COMPARED: usize = 64;
/// The smallest fraction of a Gram matrix that may remain after rows are excluded, or beyond included rows. Four
/// digits are lost at this limit.
const LEFT: f64 = 1e-4;
/// Excluded rows are read again if they are at most this fraction of a part.
const FEW: f64 = 0.05;

impl Engine {
    /// Returns this engine after a pass over the rows of all parts, which later requests reuse.
    ///
    /// Samplers and inference with the returned engine handle other quotas, totals, inclusions, exclusions, and
    /// weights of whole parts without reading the rows again, except for the rows of included or excluded items:
    ///
    /// ```text
    /// G' = G_l − Σ a_i a_iᵀ over excluded items,   ‖F_lᵀ a_i‖² ≤ λ_max(F_lᵀ (G_l + εI) F_l) · a_iᵀ (G_l + εI)⁻¹ a_i
    /// ```
    ///
    /// The law of samples is the same, but a seed draws different sets than without `prepared`, because items are
    /// tried in proportion to the upper bound. With p parts, up to p times as many items are tried. Anything that is
    /// not known accurately enough is computed as before, as is everything about other features. This concerns rows
    /// nearly dependent on included ones, parts with most rows excluded, and inclusion probabilities, which take a
    /// pass over the rows. An engine in single precision computes results that need f64 as before.
    ///
    /// If the engine already knows the first of these rows, with parts of the same names, it reads only the others.
    ///
    /// # Cost
    /// Two passes over the rows, 4mn² operations, and 8m + 24pn² bytes. A sampler then takes O(pn³) operations, 24
    /// bytes per item, and about 70 ns per item for its table.
    ///
    /// # Errors
    /// [`Error::LabelCount`](crate::Error::LabelCount) if the partition has another number of items; engine errors.
    ///
    /// # Examples
    /// A catalogue that grows, with requests for different quotas:
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, Method, Partition, PartitionDpp, Quota};
    /// let mut values: Vec<f64> = (0..4000).map(|i| f64::from(i * i % 97)).collect();
    /// let mut labels = vec!["a", "b"].repeat(500);
    /// let features = Features::from_rows(1000, 4, values.clone())?;
    /// let partition = Partition::from_labels(&labels)?;
    /// let engine = Engine::cpu().prepared(&features, &partition)?;
    /// for counts in [[1, 1], [2, 1], [0, 3]] {
    ///     let dpp = PartitionDpp::new(&features, &partition, &Quota::new(&partition, counts)?)?;
    ///     let sampler = dpp.excluding(&[17])?.sampler(Method::Auto, &engine)?;
    ///     assert_eq!(sampler.sample_many(1, 0).subsets()[0].part_counts(&partition), counts);
    /// }
    /// // Rows that come later are added to what is known.
    /// values.extend([1.0, 2.0, 3.0, 4.0]);
    /// labels.push("b");
    /// let (features, partition) = (Features::from_rows(1001, 4, values)?, Partition::from_labels(&labels)?);
    /// let engine = engine.prepared(&features, &partition)?;
    /// # let quota = Quota::new(&partition, [1, 1])?;
    /// # PartitionDpp::new(&features, &partition, &quota)?.sampler(Method::Auto, &engine)?;
    /// # Ok(()) }
    /// ```
    pub fn prepared(&self, features: &Features, partition: &Partition) -> Result<Self> {
        check_partition(features, partition)?;
        let (beneath, watch) = match self.verbs.apart() {
            Some((beneath, watch)) => (beneath, Some(watch)),
            None => (self, None),
        };
        let known = match &beneath.known {
            Some(known) if known.begin(features, partition) => known.of_more(features, partition),
            _ => Known::nothing(features, partition),
        };
        let known = Some(known.with_all_rows(self)?.into());
        let prepared = Self { known, ..beneath.clone() };
        Ok(watch.map_or_else(|| prepared.clone(), |watch| prepared.watched(watch)))
    }
}

impl Known {
    fn nothing(features: &Features, partition: &Partition) -> Self {
        Self {
            features: features.clone(),
            partition: partition.clone(),
            scales: vec![0.0; partition.parts()],
            grams: vec![Mat::zeros(features.dims(), features.dims()); partition.parts()],
            leverages: Vec::new(),
        }
    }

    fn part_named(&self, name: &String) -> Option<usize> {
        self.partition.names().iter().position(|known| known == name)
    }

    /// Whether the known rows are the first of `features`, in parts of the same names.
    fn begin(&self, features: &Features, partition: &Partition) -> bool {
        let known = self.features.items();
        let parts: Vec<Option<usize>> = partition.names().iter().map(|name| self.part_named(name)).collect();
        let is_same = |item: usize| {
            parts[partition.part_of(item)] == Some(self.partition.part_of(item))
                && (!item.is_multiple_of(known.div_ceil(COMPARED))
                    || features.row(item) == self.features.row(item))
                && features.log_weight(item).total_cmp(&self.features.log_weight(item)).is_eq()
        };
        features.dims() == self.features.dims() && features.items() >= known && (0..known).all(is_same)
    }

    /// Returns the known values arranged for more rows, which begin with the known ones.
    fn of_more(&self, features: &Features, partition: &Partition) -> Self {
        let nothing = Self::nothing(features, partition);
        let parts = || partition.names().iter().map(|name| self.part_named(name));
        let grams =
            parts().zip(nothing.grams).map(|(part, none)| part.map_or(none, |part| self.grams[part].clone()));
        let scales = parts().map(|part| part.map_or(0.0, |part| self.scales[part]));
        Self {
            grams: grams.collect(),
            scales: scales.collect(),
            leverages: self.leverages.clone(),
            ..nothing
        }
    }

    /// Adds the rows that have no leverages yet. The leverages of the other rows only decrease, so the known ones
    /// still bound them.
    fn with_all_rows(mut self, engine: &Engine) -> Result<Self> {
        let known = self.leverages.len();
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let from = known as u32;
        let new = |part: usize| {
            let members = self.partition.members(part);
            &members[members.partition_point(|&item| item < from)..]
        };
        let parts: Vec<usize> = (0..self.partition.parts()).filter(|&part| !new(part).is_empty()).collect();
        if parts.is_empty() {
            return Ok(self);
        }
        let items = parts.iter().map(|&part| Items::Listed(new(part))).collect();
        for (&part, scale) in parts.iter().zip(Rows::scaled(&self.features, items).scales()) {
            if self.scales[part] == 0.0 {
                self.scales[part] = scale;
            }
        }
        let group = |&part: &usize| Group { items: Items::Listed(new(part)), scale: self.scales[part] };
        let rows = Rows::with_scales(&self.features, parts.iter().map(group).collect());
        let engine = in_double(engine);
        for (&part, gram) in parts.iter().zip(engine.part_grams(&rows, None)?) {
            self.grams[part] += gram;
        }
        let factors =
            parts.iter().map(|&part| inverse_root(&self.grams[part])).collect::<Result<Vec<_>>>()?;
        let factors: Vec<MatRef<'_, f64>> = factors.iter().map(Mat::as_ref).collect();
        let forms = engine.row_forms(&rows, &factors)?;
        let mut leverages = std::mem::take(&mut self.leverages);
        leverages.resize(self.features.items(), 0.0);
        rows.iter().zip(forms).for_each(|((item, _), form)| leverages[item] = MARGIN * form);
        drop(rows);
        self.leverages = leverages;
        Ok(self)
    }

    /// Returns the known parts of these rows, group by group; `None` if a group is not known.
    fn groups<'r>(&'r self, rows: &'r Rows<'_>) -> Option<Vec<KnownGroup<'r>>> {
        rows.groups().iter().map(|group| KnownGroup::of(self, rows.features(), *group)).collect()
    }

    /// Returns the Gram matrices of these rows, or of their components in an orthonormal basis; `None` if they are
    /// not known accurately.
    pub(super) fn grams(&self, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Option<Vec<Mat<f64>>> {
        let is_basis = |map: &RowMap<'_>| {
            map.weights.iter().all(|weight| weight.total_cmp(&1.0).is_eq()) && is_orthonormal(map.factor)
        };
        // Rows must be read for any other map, such as whitening: the Gram matrices have too few digits for it.
        if map.is_some_and(|map| !is_basis(map)) {
            return None;
        }
        self.groups(rows)?.iter().map(|known| known.gram(map.map(|map| map.factor))).collect()
    }

    /// Returns upper bounds on ‖F_lᵀ s_l a_i‖² for every row.
    pub(super) fn bounds(&self, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Option<Vec<f64>> {
        let mut bounds = Vec::with_capacity(rows.len());
        for (known, factor) in self.groups(rows)?.iter().zip(factors) {
            known.add_bounds(*factor, &mut bounds)?;
        }
        Some(bounds)
    }
}

fn is_orthonormal(factor: MatRef<'_, f64>) -> bool {
    let product = factor.transpose() * factor;
    let off = |(i, j): (usize, usize)| (product[(i, j)] - if i == j { 1.0 } else { 0.0 }).abs();
    (0..product.nrows()).flat_map(|i| (0..=i).map(move |j| (i, j))).all(|at| off(at) < 1e-10)
}

/// Returns V (Λ + εI)^-½ for a Gram matrix V Λ Vᵀ.
fn inverse_root(gram: &Mat<f64>) -> Result<Mat<f64>> {
    let eigen = linalg::eigen(gram.as_ref())?;
    let trace: f64 = eigen.values.iter().sum();
    let floor = (REGULAR * trace).max(f64::MIN_POSITIVE);
    let roots: Vec<f64> = eigen.values.iter().map(|value| (value.max(0.0) + floor).sqrt().recip()).collect();
    Ok(linalg::scale_columns(eigen.vectors.as_ref(), &roots))
}

/// A group that consists of all rows of some parts, except for a few.
struct KnownGroup<'r> {
    known: &'r Known,
    group: Group<'r>,
    parts: Vec<KnownPart>,
}

/// The rows of one part that belong to a group.
struct KnownPart {
    part: usize,
    /// ρ, the factor between rows of the group and the known rows.
    ratio: f64,
    /// The rows of the part that are not in the group.
    missing: Vec<u32>,
}

impl<'r> KnownGroup<'r> {
    fn of(known: &'r Known, features: &Features, group: Group<'r>) -> Option<Self> {
        if !features.has_rows_of(&known.features) {
            return None;
        }
        let partition = &known.partition;
        let mut parts: Vec<Option<KnownPart>> = (0..partition.parts()).map(|_| None).collect();
        let log_ratio = |item: usize| features.log_weight(item) - known.features.log_weight(item);
        for item in group.items.iter() {
            let part = partition.part_of(item);
            let of_part = parts[part].get_or_insert_with(|| {
                let ratio = group.scale / known.scales[part] * log_ratio(item).exp();
                KnownPart { part, ratio, missing: Vec::new() }
            });
            if features.is_weighted() || known.features.is_weighted() {
                let ratio = group.scale / known.scales[part] * log_ratio(item).exp();
                // The weights within the part have changed.
                if (ratio - of_part.ratio).abs() > 1e-14 * ratio {
                    return None;
                }
            }
        }
        let mut parts: Vec<KnownPart> = parts.into_iter().flatten().collect();
        for of_part in &mut parts {
            of_part.missing = missing(partition.members(of_part.part), group.items);
            let most = FEW * partition.size(of_part.part) as f64 + 8.0;
            if of_part.missing.len() as f64 > most {
                return None;
            }
        }
        Some(Self { known, group, parts })
    }

    /// Returns the Gram matrix of the rows, or of their components in an orthonormal basis; `None` if too few digits
    /// are left.
    fn gram(&self, basis: Option<MatRef<'_, f64>>) -> Option<Mat<f64>> {
        let dims = self.known.features.dims();
        let mut sum = Mat::zeros(dims, dims);
        let mut row = vec![0.0; dims];
        for KnownPart { part, ratio, missing } in &self.parts {
            let mut gram = self.known.grams[*part].clone();
            for &item in missing {
                self.known.features.read_row(item as usize, self.known.scales[*part], &mut row);
                for j in 0..dims {
                    (0..dims).for_each(|i| gram[(i, j)] -= row[i] * row[j]);
                }
            }
            let known = &self.known.grams[*part];
            if (0..dims).any(|j| gram[(j, j)] < LEFT * known[(j, j)]) {
                return None;
            }
            sum += faer::Scale(ratio * ratio) * gram;
        }
        let Some(basis) = basis else { return Some(sum) };
        let trace: f64 = (0..dims).map(|j| sum[(j, j)]).sum();
        let projected = basis.transpose() * sum * basis;
        let is_left = |j: usize| projected[(j, j)] >= LEFT * trace / dims as f64;
        (0..projected.nrows()).all(is_left).then_some(projected)
    }

    /// Appends upper bounds on ‖Fᵀ b_i‖² for the rows b_i of the group; `None` if an eigendecomposition fails.
    fn add_bounds(&self, factor: MatRef<'_, f64>, out: &mut Vec<f64>) -> Option<()> {
        let all = self.known;
        let mut largest = vec![0.0; all.partition.parts()];
        for KnownPart { part, ratio, .. } in &self.parts {
            let gram = &all.grams[*part];
            let trace: f64 = (0..gram.nrows()).map(|j| gram[(j, j)]).sum();
            let form = factor.transpose() * (gram * factor)
                + faer::Scale(REGULAR * trace) * (factor.transpose() * factor);
            largest[*part] = ratio * ratio * linalg::eigen(form.as_ref()).ok()?.values[0];
        }
        let bound = |item: usize| largest[all.partition.part_of(item)] * all.leverages[item];
        out.extend(self.group.items.iter().map(bound));
        Some(())
    }
}

/// Returns the members of a part that are not among the items; both lists are ascending.
fn missing(members: &[u32], items: Items<'_>) -> Vec<u32> {
    let Items::Listed(listed) = items else { return Vec::new() };
    if listed.len() == members.len()
        && listed.first() == members.first()
        && listed.as_ptr() == members.as_ptr()
    {
        return Vec::new();
    }
    let mut listed = listed.iter().copied().peekable();
    let is_missing = |member: &&u32| {
        while listed.next_if(|item| item < *member).is_some() {}
        listed.next_if_eq(*member).is_none()
    };
    members.iter().filter(is_missing).copied().collect()
}

//! Bounds of D-optimal designs: of some rows in memory, and of all rows on the engine.

use faer::{Mat, MatRef};

use super::{
    Relaxed,
    choice::Choices,
    columns::{Pool, maximise_by_columns},
    gamma::lower_product,
    information::{Information, InformationPoint, raised},
    interior_point::maximise,
    linx::lower_times,
    node::{Effort, MOST_AT_ONCE, Method},
    relaxation::{Majorant, Relaxation},
};
use crate::{
    Result,
    engine::{Engine, Rows, in_double},
    linalg::power_of_two_near,
    map::{Place, rounding::of_value},
    model::Counts,
};

/// The items of every group in the first master problem, in addition to twice the number that may be chosen.
const MORE: usize = 8;

/// The undecided and the included rows of a design.
#[derive(Clone, Debug)]
pub(crate) struct DesignRows {
    /// The places of the undecided rows, ascending.
    pub(crate) places: Vec<Place>,
    /// The numbers of rows to choose in addition to the included ones.
    pub(crate) counts: Counts,
    /// The rows a_i, a column per item.
    columns: Vec<f64>,
    pub(crate) dims: usize,
    /// The included rows.
    base: Vec<f64>,
    /// The difference of ln det between the design and these scaled rows.
    pub(crate) constant: f64,
}

impl DesignRows {
    /// Creates the problem from these rows, column by column. Only the rows of `base` are included.
    pub(crate) fn new(
        (places, columns): (Vec<Place>, Vec<f64>),
        counts: Counts,
        base: Vec<f64>,
        (dims, constant): (usize, f64),
    ) -> Self {
        Self { places, counts, columns, dims, base, constant }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Aᵀ, a column per item.
    pub(crate) fn rows(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.columns, self.dims, self.len())
    }

    /// B, a column per included row.
    pub(crate) fn base(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.base, self.dims, self.base.len() / self.dims)
    }

    pub(crate) fn part(&self, items: &[usize]) -> Self {
        let row = |&item: &usize| &self.columns[item * self.dims..(item + 1) * self.dims];
        Self {
            places: items.iter().map(|&item| self.places[item]).collect(),
            counts: self.counts.clone(),
            columns: items.iter().flat_map(row).copied().collect(),
            base: self.base.clone(),
            ..*self
        }
    }

    pub(crate) fn include(&mut self, item: usize) {
        self.counts.take(self.places[item].group);
        self.base.extend_from_slice(&self.columns[item * self.dims..(item + 1) * self.dims]);
        let others: Vec<usize> = (0..self.len()).filter(|&other| other != item).collect();
        *self = self.part(&others);
    }

    fn choices(&self) -> Choices {
        Choices::among(&self.places, self.counts.clone())
    }

    /// An upper bound of ln det of the included rows alone.
    pub(crate) fn included_at_most(&self) -> f64 {
        let rows = Mat::zeros(self.dims, 0);
        let alone = Information { rows, base: self.base().to_owned(), constant: self.constant };
        alone.at(&[]).map_or(f64::INFINITY, |point| alone.intercept(&point))
    }

    fn relaxation(&self) -> Information {
        let (rows, base) = (self.rows().to_owned(), self.base().to_owned());
        Information { rows, base, constant: self.constant }
    }

    /// An upper bound of all designs that are left, with the guidance for branching.
    pub(crate) fn relax(
        &self,
        start: Option<Vec<f64>>,
        effort: Effort,
        ended: &dyn Fn() -> bool,
    ) -> Result<Relaxed> {
        let enough = effort.enough(ended);
        if self.len() > MOST_AT_ONCE {
            let choices = self.choices();
            let whole = self.relaxation();
            let leverages = whole.at(&choices.centre(self.len()))?.as_ref().gradient.clone();
            let pool = Held { rows: self, whole, choices };
            let start = first_items(&pool.choices, &leverages);
            return Ok(Relaxed::from_priced(maximise_by_columns(&pool, start, &enough)?));
        }
        let choices = self.choices();
        let bounded = maximise(&self.relaxation(), &choices, start, &enough)?;
        Ok(Relaxed::of(bounded, &choices, Method::Gamma))
    }
}

/// The items of every group with the largest leverages.
fn first_items(choices: &Choices, leverages: &[f64]) -> Vec<usize> {
    let mut first = Vec::new();
    for (members, most) in choices.groups.iter().zip(&choices.counts.high) {
        let mut members = members.clone();
        members.sort_by(|&i, &j| leverages[j].total_cmp(&leverages[i]).then(i.cmp(&j)));
        first.extend(members.into_iter().take(2 * most + MORE));
    }
    first
}

/// Rows in memory.
struct Held<'a> {
    rows: &'a DesignRows,
    whole: Information,
    choices: Choices,
}

impl Pool for Held<'_> {
    type Master = Information;

    fn master(&self, items: &[usize]) -> (Information, Choices) {
        let part = self.rows.part(items);
        (part.relaxation(), part.choices())
    }

    fn majorants(&self, master: &Information, point: &InformationPoint) -> Result<[Majorant; 2]> {
        let images = lower_times(&point.root, &self.whole.rows);
        let slopes = Information::forms(images.as_ref(), self.whole.rows.as_ref(), &point.reach());
        let majorant = Majorant { intercept: master.intercept(point), slopes };
        Ok([majorant.clone(), majorant])
    }

    fn choices(&self) -> &Choices {
        &self.choices
    }
}

/// All rows, group by group.
pub(crate) struct WholeDesign<'a> {
    engine: &'a Engine,
    rows: &'a Rows<'a>,
    choices: Choices,
    /// The included rows, column by column.
    base: Mat<f64>,
    constant: f64,
    /// About the largest entry of every column of A.
    spreads: Vec<f64>,
    /// The lengths of the rows after dividing columns by `spreads`.
    lengths: Vec<f64>,
    leverages: Vec<f64>,
}

impl<'a> WholeDesign<'a> {
    /// Prepares all rows of these groups, which have a common scale.
    ///
    /// # Cost
    /// Three passes of 2mn².
    pub(crate) fn new(
        engine: &'a Engine,
        rows: &'a Rows<'a>,
        counts: &Counts,
        base: Mat<f64>,
        constant: f64,
    ) -> Result<Self> {
        // Prices in single precision would not give a bound.
        let engine = in_double(engine);
        let (dims, groups) = (rows.features().dims(), rows.groups().len());
        let mut gram = Mat::zeros(dims, dims);
        lower_product(&mut gram, base.as_ref());
        for part in engine.part_grams(rows, None)? {
            gram += part;
        }
        let spreads: Vec<f64> = (0..dims).map(|j| power_of_two_near(gram[(j, j)].sqrt())).collect();
        let unspread = Mat::from_fn(dims, dims, |i, j| if i == j { spreads[i].recip() } else { 0.0 });
        let lengths = engine.row_forms(rows, &vec![unspread.as_ref(); groups])?;
        let root = Information::root(gram);
        let leverages = engine.row_forms(rows, &vec![root.transpose(); groups])?;
        let mut first = 0;
        let of_group = |group: &crate::engine::Group<'_>| {
            first += group.items.len();
            (first - group.items.len()..first).collect()
        };
        let choices =
            Choices { groups: rows.groups().iter().map(of_group).collect(), counts: counts.clone() };
        let lengths = lengths.into_iter().map(f64::sqrt).collect();
        Ok(Self { engine, rows, choices, base, constant, spreads, lengths, leverages })
    }

    /// The bound of all designs.
    ///
    /// # Cost
    /// 2mn² for each of about ten to thirty rounds.
    pub(crate) fn relax(&self, enough: &dyn Fn(f64, f64) -> bool) -> Result<Relaxed> {
        let start = first_items(&self.choices, &self.leverages);
        Ok(Relaxed::from_priced(maximise_by_columns(self, start, enough)?))
    }

    /// The bound of all designs of k rows in which rows may be repeated and have fractional weights: of every
    /// information matrix Σ w_i a_i a_iᵀ with Σ w_i = k.
    ///
    /// # Source
    /// Kiefer and Wolfowitz, *The equivalence of two extremum problems* (1960).
    pub(crate) fn relax_repeated(self, size: usize, enough: &dyn Fn(f64, f64) -> bool) -> Result<f64> {
        let groups = vec![(0..self.lengths.len()).collect()];
        let choices = Choices { groups, counts: Counts::exactly(&[1]) };
        let dims = self.spreads.len();
        let of_size = dims as f64 * (size as f64).ln();
        let constant = self.constant + of_size + of_value(self.constant) + of_value(of_size);
        let one = Self { choices, base: Mat::zeros(dims, 0), constant, ..self };
        Ok(one.relax(enough)?.upper_bound)
    }
}

impl Pool for WholeDesign<'_> {
    type Master = Information;

    fn master(&self, items: &[usize]) -> (Information, Choices) {
        let features = self.rows.features();
        let groups = self.rows.groups();
        let mut rows = Mat::zeros(features.dims(), items.len());
        let (mut group, mut first) = (0, 0);
        for (at, &item) in items.iter().enumerate() {
            while item - first >= groups[group].items.len() {
                first += groups[group].items.len();
                group += 1;
            }
            let row = crate::linalg::column_mut(rows.as_mut(), at);
            features.read_row(groups[group].items.at(item - first), groups[group].scale, row);
        }
        let own = |members: &Vec<usize>| -> Vec<usize> {
            members.iter().filter_map(|member| items.binary_search(member).ok()).collect()
        };
        let groups = self.choices.groups.iter().map(own).collect();
        let choices = Choices { groups, counts: self.choices.counts.clone() };
        (Information { rows, base: self.base.clone(), constant: self.constant }, choices)
    }

    fn majorants(&self, master: &Information, point: &InformationPoint) -> Result<[Majorant; 2]> {
        let dims = self.spreads.len();
        let factors = vec![point.root.transpose(); self.rows.groups().len()];
        let forms = self.engine.row_forms(self.rows, &factors)?;
        // Σ_j ‖G e_j‖ |a_ij| ≤ ‖G D‖ ‖D⁻¹ a_i‖.
        let squares = point.reach().iter().zip(&self.spreads).map(|(g, spread)| (g * spread).powi(2)).sum();
        let reach = f64::sqrt(squares);
        let slope = |(form, length): (&f64, &f64)| raised(*form, 1.01 * reach * length, dims);
        let slopes = forms.iter().zip(&self.lengths).map(slope).collect();
        let majorant = Majorant { intercept: master.intercept(point), slopes };
        Ok([majorant.clone(), majorant])
    }

    fn choices(&self) -> &Choices {
        &self.choices
    }
}

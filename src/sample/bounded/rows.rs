//! The rows v_i, and tables that draw items in proportion to ‖v_i‖².

use faer::Mat;

use super::whitening::Whitening;
use crate::{
    Features, Result,
    engine::{Engine, RowMap, Rows, bounded_forms, in_double},
    linalg::{
        column,
        kernels::{dot, transposed_product},
        square_root,
    },
    polynomial::spectrum::TiltedSpectrum,
    sample::projection::alias::AliasTable,
};

/// The most bytes of stored rows.
pub(super) const STORED_BYTES: usize = 64 << 20;

/// Where the rows v_i come from.
#[derive(Debug)]
enum Source {
    /// √y_l s_l a_i as they are.
    Plain,
    /// Fᵀ √y_l s_l a_i, computed when needed; F is n×r, column-major.
    Mapped(Vec<f64>),
    /// Computed once; m×r, in the order of the groups.
    Stored(Vec<f64>),
}

/// The rows v_i of all groups.
#[derive(Debug)]
pub(super) struct WhitenedRows<'a> {
    features: Features<'a>,
    /// √y_l s_l.
    weights: Vec<f64>,
    rank: usize,
    source: Source,
    tables: Vec<AliasTable>,
    /// The places in [`Source::Stored`] at which groups begin.
    starts: Vec<usize>,
}

/// Whether rows can be taken as they are: they have no components beyond those of the spectrum.
pub(super) fn are_plain(rows: &Rows<'_>, beyond: bool, whitening: &Whitening) -> bool {
    #[expect(clippy::float_cmp, reason = "set, not computed")]
    let unwhitened = whitening.strength == 0.0;
    unwhitened && !beyond && whitening.rank() == rows.features().dims()
}

/// Whether the rows are computed once.
pub(super) fn are_stored(rows: &Rows<'_>, rank: usize) -> bool {
    8 * rows.len() * rank <= STORED_BYTES
}

impl<'a> WhitenedRows<'a> {
    pub(super) fn new(
        engine: &dyn Engine,
        features: &Features<'a>,
        rows: &Rows<'_>,
        found: &TiltedSpectrum,
        whitening: &Whitening,
        plain: bool,
    ) -> Result<Self> {
        let (roots, rank) = (found.tilt.root_weights(), whitening.rank());
        let factor = whitening.factor(found);
        let (source, squares) = if are_stored(rows, rank) {
            let map = RowMap { weights: &roots, factor: factor.as_ref() };
            let stored = in_double(engine).whiten_rows(rows, &map)?;
            let squares = stored.chunks_exact(rank.max(1)).map(|row| dot(row, row)).collect();
            (Source::Stored(stored), squares)
        } else if plain {
            let norms = in_double(engine).row_norms(rows)?;
            let weighted = rows.iter().zip(norms).map(|((_, group), norm)| norm * roots[group].powi(2));
            (Source::Plain, weighted.collect())
        } else {
            let root = square_root(factor.clone());
            let factors: Vec<Mat<f64>> = roots.iter().map(|&weight| &root * faer::Scale(weight)).collect();
            let factors: Vec<_> = factors.iter().map(Mat::as_ref).collect();
            let (forms, above) = bounded_forms(engine, rows, &factors)?;
            (Source::Mapped(columns(&factor)), above.unwrap_or(forms))
        };
        let mut squares = squares.into_iter();
        let (mut starts, mut tables) = (Vec::new(), Vec::new());
        let mut start = 0;
        for group in rows.groups() {
            starts.push(start);
            let len = group.items.len();
            start += len;
            let squares: Vec<f64> = squares.by_ref().take(len).collect();
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            let items = group.items.iter().map(|item| item as u32);
            tables.push(AliasTable::new(len, items.zip(squares)));
        }
        let weights = rows.groups().iter().zip(&roots).map(|(group, root)| group.scale * root).collect();
        Ok(Self { features: features.clone(), weights, rank, source, tables, starts })
    }

    pub(super) fn table(&self, group: usize) -> &AliasTable {
        &self.tables[group]
    }

    /// Dimensions of a row.
    pub(super) fn rank(&self) -> usize {
        if matches!(self.source, Source::Plain) { self.features.dims() } else { self.rank }
    }

    /// F, if rows are computed with it; coordinates are those of the eigenvectors but for plain rows.
    pub(super) fn are_plain(&self) -> bool {
        matches!(self.source, Source::Plain)
    }

    /// Fetches the memory of a row ahead of time.
    #[inline]
    pub(super) fn prefetch(&self, group: usize, position: u32) {
        match &self.source {
            Source::Stored(rows) => {
                let at = (self.starts[group] + position as usize) * self.rank;
                for line in (0..self.rank).step_by(8) {
                    prefetch_index::prefetch_index(rows, at + line);
                }
            }
            Source::Plain | Source::Mapped(_) => {
                self.features.prefetch_row(self.tables[group].item(position) as usize);
            }
        }
    }

    /// Writes the row at a position of a group's table.
    #[inline]
    pub(super) fn read(&self, group: usize, position: u32, raw: &mut Vec<f64>, row: &mut [f64]) {
        match &self.source {
            Source::Stored(rows) => {
                let at = (self.starts[group] + position as usize) * self.rank;
                row.copy_from_slice(&rows[at..at + self.rank]);
            }
            _ => self.compute(group, self.tables[group].item(position), raw, row),
        }
    }

    /// Writes the row of an item of a group.
    pub(super) fn read_item(&self, group: usize, item: u32, raw: &mut Vec<f64>, row: &mut [f64]) {
        match &self.source {
            Source::Stored(_) => self.read(group, self.tables[group].position_of(item), raw, row),
            _ => self.compute(group, item, raw, row),
        }
    }

    fn compute(&self, group: usize, item: u32, raw: &mut Vec<f64>, row: &mut [f64]) {
        let (item, weight) = (item as usize, self.weights[group]);
        if let Source::Mapped(factor) = &self.source {
            raw.resize(self.features.dims(), 0.0);
            self.features.read_row(item, weight, raw);
            transposed_product(factor, raw, row);
        } else {
            self.features.read_row(item, weight, row);
        }
    }
}

/// The entries of a matrix, column after column.
fn columns(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.ncols()).flat_map(|j| column(matrix.as_ref(), j)).copied().collect()
}

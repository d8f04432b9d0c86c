//! The rows v_i, and tables that draw items in proportion to ‖v_i‖².

use faer::{Accum, Mat, MatMut, MatRef, Par, linalg::matmul::matmul};

use super::{item_table::ItemTable, whitening::Whitening};
use crate::linalg::thinning::Thinning;
use crate::{
    Features, Result,
    engine::{Engine, RowMap, Rows, bounded_forms, forms_above, in_double},
    linalg::{
        columns,
        kernels::{dot, narrow_scaled, transposed_product},
        square_root,
    },
    parallel::map_ordered,
    polynomial::spectrum::TiltedSpectrum,
};

/// The most bytes of stored rows.
pub(in crate::sample) const STORED_BYTES: usize = 64 << 20;
/// The most bytes of stored rows that all weighted draws read, if there are many groups.
pub(in crate::sample) const WEIGHTED_BYTES: usize = 1 << 30;

/// Bytes of rows that are computed once; `None` if there are more than `most`.
pub(in crate::sample) fn stored_bytes(items: usize, rank: usize, most: usize) -> Option<usize> {
    Some(8 * items * rank).filter(|&bytes| bytes <= most)
}

/// The source of the rows v_i.
#[derive(Debug)]
enum Source {
    /// √y_l s_l a_i, thinned out.
    Thinned(Thinning),
    /// Fᵀ √y_l s_l a_i, computed when needed; F is n×r, column-major.
    Mapped(Vec<f64>),
    /// Computed once; m×r, in the order of the groups.
    Stored(Vec<f64>),
}

/// Buffers for reading rows.
#[derive(Debug, Default)]
pub(super) struct RowScratch {
    raw: Vec<f64>,
    along: Vec<f64>,
}

/// The rows v_i of all groups.
#[derive(Debug)]
pub(super) struct WhitenedRows {
    features: Features,
    /// √y_l s_l.
    weights: Vec<f64>,
    rank: usize,
    source: Source,
    tables: Vec<ItemTable>,
    /// The index of each group's first row among the rows of all groups.
    starts: Vec<usize>,
    /// v_i/√w_i in f32 for stored rows, for proposals in halves.
    units: Vec<f32>,
}

/// Rows per task.
const CHUNK: usize = 4096;
/// Operations of looking up an item and its row, in a small table and in a large one.
const LOOK_UP: [f64; 2] = [400.0, 2000.0];
/// Bytes of rows above which memory is slow.
const CACHED: usize = 8 << 20;

/// Operations to look up one of `items` rows of `bytes` bytes each.
pub(super) fn look_up(items: usize, bytes: usize) -> f64 {
    LOOK_UP[usize::from(items * bytes > CACHED)]
}

/// The most heavy directions of rows that are thinned out.
const HEAVY: usize = 12;

/// The way rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Rows are computed once.
    Stored,
    /// Rows are thinned out when needed, in the coordinates of the features.
    Thinned,
    /// Rows are multiplied by F when needed.
    Mapped,
}

impl Reading {
    /// The way that suits the size of the rows; `beyond` if they are residuals beyond included rows.
    pub(super) fn of(rows: &Rows<'_>, beyond: bool, whitening: &Whitening) -> Self {
        let rank = whitening.rank();
        if stored_bytes(rows.len(), rank, STORED_BYTES).is_some() {
            Self::Stored
        } else if Self::may_thin(rows, beyond, whitening) && whitening.heavy() <= HEAVY {
            Self::Thinned
        } else {
            Self::Mapped
        }
    }

    /// Whether the spectrum covers all components of the rows.
    fn may_thin(rows: &Rows<'_>, beyond: bool, whitening: &Whitening) -> bool {
        !beyond && whitening.rank() == rows.features().dims()
    }
}

/// Fetches the memory of some values ahead of time.
#[inline]
fn fetch<T>(values: &[T], start: usize, len: usize) {
    (0..len)
        .step_by(64 / size_of::<T>())
        .for_each(|offset| prefetch_index::prefetch_index(values, start + offset));
}

impl WhitenedRows {
    pub(super) fn new(
        engine: &Engine,
        features: &Features,
        rows: &Rows<'_>,
        found: &TiltedSpectrum,
        whitening: &Whitening,
        reading: Reading,
    ) -> Result<Self> {
        let (roots, rank) = (found.tilt.root_weights(), whitening.rank());
        let factor = whitening.factor(found);
        let (source, squares): (_, Vec<f64>) = if reading == Reading::Stored {
            let map = RowMap { weights: &roots, factor: factor.as_ref() };
            let stored = in_double(engine).whiten_rows(rows, &map)?;
            let squares = stored.chunks_exact(rank.max(1)).map(|row| dot(row, row)).collect();
            (Source::Stored(stored), squares)
        } else if reading == Reading::Thinned && whitening.heavy() == 0 {
            let norms = in_double(engine).row_norms(rows)?;
            let weighted = rows.iter().zip(norms).map(|((_, group), norm)| norm * roots[group].powi(2));
            (Source::Thinned(whitening.thinning(found)), weighted.collect())
        } else {
            let root = square_root(factor.clone());
            let factors: Vec<Mat<f64>> = roots.iter().map(|&weight| &root * faer::Scale(weight)).collect();
            let factors: Vec<_> = factors.iter().map(Mat::as_ref).collect();
            let (forms, above) = bounded_forms(engine, rows, &factors)?;
            if reading == Reading::Thinned {
                (Source::Thinned(whitening.thinning(found)), above.unwrap_or(forms))
            } else {
                // If F keeps little of a row, rounding separates its form from its image, and no weight may be below
                // the image.
                let above = above.map_or_else(|| forms_above(engine, rows, &factors, &forms), Ok)?;
                (Source::Mapped(columns(factor.as_ref())), above)
            }
        };
        let (mut starts, mut tables) = (Vec::new(), Vec::new());
        let mut start = 0;
        for group in rows.groups() {
            starts.push(start);
            let len = group.items.len();
            tables.push(ItemTable::new(group.items, &squares[start..start + len])?);
            start += len;
        }
        let weights = rows.groups().iter().zip(&roots).map(|(group, root)| group.scale * root).collect();
        Ok(Self { features: features.clone(), weights, rank, source, tables, starts, units: Vec::new() })
    }

    pub(super) fn features(&self) -> &Features {
        &self.features
    }

    /// The index of a group's first row among the rows of all groups.
    pub(super) fn first(&self, group: usize) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let first = self.starts[group] as u32;
        first
    }

    /// The group of a row with this index among all rows, and the row's position in the group's table.
    pub(super) fn at(&self, place: u32) -> (usize, u32) {
        let group = self.starts.partition_point(|&start| start <= place as usize) - 1;
        (group, place - self.first(group))
    }

    /// √y_l s_l q_i of an item of a group.
    pub(super) fn weight(&self, group: usize, item: u32) -> f64 {
        self.weights[group] * self.features.weight(item as usize)
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.tables.iter().map(ItemTable::len).sum()
    }

    /// Replaces indices among the rows of all groups by items, one per pick from these groups.
    pub(super) fn name(&self, picks: &[usize], places: &mut [u32]) {
        for (place, &group) in places.iter_mut().zip(picks) {
            *place = self.tables[group].item(*place - self.first(group));
        }
    }

    pub(super) fn tables(&self) -> &[ItemTable] {
        &self.tables
    }

    pub(super) fn table(&self, group: usize) -> &ItemTable {
        &self.tables[group]
    }

    /// The rows of a group as columns, if they are stored.
    pub(super) fn stored(&self, group: usize) -> Option<MatRef<'_, f64>> {
        let Source::Stored(rows) = &self.source else { return None };
        let (start, len) = (self.starts[group] * self.rank, self.tables[group].len());
        Some(MatRef::from_column_major_slice(&rows[start..start + len * self.rank], self.rank, len))
    }

    /// Keeps stored rows in f32 as well, divided by the roots of their weights.
    pub(super) fn keep_units(&mut self) {
        let Source::Stored(rows) = &self.source else { return };
        self.units.resize(rows.len(), 0.0);
        let rows = rows.chunks_exact(self.rank.max(1)).zip(self.units.chunks_exact_mut(self.rank.max(1)));
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let scales =
            self.tables.iter().flat_map(|table| (0..table.len() as u32).map(|at| table.root_scale(at)));
        rows.zip(scales).for_each(|((row, unit), scale)| narrow_scaled(row, scale, unit));
    }

    /// Discards the rows in f32.
    pub(super) fn forget_units(&mut self) {
        self.units = Vec::new();
    }

    /// The start of the row at a position of a group's table, if rows are stored.
    #[inline]
    fn start(&self, group: usize, position: u32) -> usize {
        (self.starts[group] + position as usize) * self.rank
    }

    /// v_i/√w_i in f32, if it is stored.
    #[inline]
    pub(super) fn unit(&self, group: usize, position: u32) -> Option<&[f32]> {
        self.units.get(self.start(group, position)..)?.get(..self.rank)
    }

    /// The number of dimensions of the rows.
    pub(super) fn rank(&self) -> usize {
        if self.thinning().is_some() { self.features.dims() } else { self.rank }
    }

    /// The weighting of directions, if rows are in the coordinates of the features instead of the eigenvectors.
    pub(super) fn thinning(&self) -> Option<&Thinning> {
        if let Source::Thinned(thinning) = &self.source { Some(thinning) } else { None }
    }

    /// Operations to read one row.
    pub(super) fn read_operations(&self) -> f64 {
        let (dims, items) = (self.features.dims(), self.len());
        match &self.source {
            Source::Stored(_) => look_up(items, 8 * self.rank),
            Source::Thinned(_) => look_up(items, self.features.row_bytes()) + 2.0 * dims as f64,
            Source::Mapped(_) => {
                look_up(items, self.features.row_bytes()) + (2 * dims * (self.rank + 1)) as f64
            }
        }
    }

    /// Applies `of` to every row of a group of `len` rows, in order.
    pub(super) fn map_group(
        &self,
        group: usize,
        len: usize,
        of: impl Fn(&mut [f64], &mut Vec<f64>) -> f64 + Sync + Send,
    ) -> Vec<f64> {
        let chunks = map_ordered(len.div_ceil(CHUNK), |chunk| {
            let (mut scratch, mut row, mut along) =
                (RowScratch::default(), vec![0.0; self.rank()], Vec::new());
            let positions = chunk * CHUNK..len.min((chunk + 1) * CHUNK);
            let values = positions.map(|position| {
                #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
                self.read(group, position as u32, &mut scratch, &mut row);
                of(&mut row, &mut along)
            });
            values.collect::<Vec<_>>()
        });
        chunks.concat()
    }

    /// Fetches the memory of a row ahead of time.
    #[inline]
    pub(super) fn prefetch(&self, group: usize, position: u32) {
        match &self.source {
            Source::Stored(_) if !self.units.is_empty() => {
                fetch(&self.units, self.start(group, position), self.rank);
            }
            Source::Stored(rows) => fetch(rows, self.start(group, position), self.rank),
            Source::Thinned(_) | Source::Mapped(_) => {
                self.features.prefetch_row(self.tables[group].item(position) as usize);
            }
        }
    }

    /// Writes the row at a position of a group's table.
    #[inline]
    pub(super) fn read(&self, group: usize, position: u32, scratch: &mut RowScratch, row: &mut [f64]) {
        match &self.source {
            Source::Stored(rows) => {
                row.copy_from_slice(&rows[self.start(group, position)..][..self.rank]);
            }
            _ => self.compute(group, self.tables[group].item(position), scratch, row),
        }
    }

    /// The row at a position of a group's table: the stored one, or else computed into `row`.
    #[inline]
    pub(super) fn row<'r>(
        &'r self,
        group: usize,
        position: u32,
        scratch: &mut RowScratch,
        row: &'r mut [f64],
    ) -> &'r [f64] {
        if let Source::Stored(rows) = &self.source {
            return &rows[self.start(group, position)..][..self.rank];
        }
        self.compute(group, self.tables[group].item(position), scratch, row);
        row
    }

    /// Writes the rows at some positions of a group's table, one after another.
    pub(super) fn read_all(
        &self,
        group: usize,
        positions: &[u32],
        scratch: &mut RowScratch,
        rows: &mut [f64],
    ) {
        let rank = self.rank();
        positions.iter().for_each(|&position| self.prefetch(group, position));
        let Source::Mapped(factor) = &self.source else {
            for (&position, row) in positions.iter().zip(rows.chunks_exact_mut(rank)) {
                self.read(group, position, scratch, row);
            }
            return;
        };
        let (dims, table) = (self.features.dims(), &self.tables[group]);
        scratch.raw.resize(positions.len() * dims, 0.0);
        for (&position, raw) in positions.iter().zip(scratch.raw.chunks_exact_mut(dims)) {
            self.features.read_row(table.item(position) as usize, self.weights[group], raw);
        }
        let raw = MatRef::from_column_major_slice(&scratch.raw, dims, positions.len());
        let factor = MatRef::from_column_major_slice(factor, dims, rank);
        let images = MatMut::from_column_major_slice_mut(rows, rank, positions.len());
        matmul(images, Accum::Replace, factor.transpose(), raw, 1.0, Par::Seq);
    }

    /// Writes the row of an item of a group.
    pub(super) fn read_item(&self, group: usize, item: u32, scratch: &mut RowScratch, row: &mut [f64]) {
        match &self.source {
            Source::Stored(_) => self.read(group, self.tables[group].position_of(item), scratch, row),
            _ => self.compute(group, item, scratch, row),
        }
    }

    fn compute(&self, group: usize, item: u32, scratch: &mut RowScratch, row: &mut [f64]) {
        let (item, weight) = (item as usize, self.weights[group]);
        match &self.source {
            Source::Mapped(factor) => {
                scratch.raw.resize(self.features.dims(), 0.0);
                self.features.read_row(item, weight, &mut scratch.raw);
                transposed_product(factor, &scratch.raw, row);
            }
            Source::Thinned(thinning) => {
                self.features.read_row(item, weight, row);
                thinning.apply(row, &mut scratch.along);
            }
            Source::Stored(_) => {}
        }
    }
}

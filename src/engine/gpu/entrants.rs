//! `entrants`: the items that can take part in an exchange of two items of two groups.

use super::{
    buffers::{Lease, size_of},
    context::Context,
    gain_update::longest_rows,
    map_rows::PerRow,
    pace::Load,
    parameters::parameters,
    range::QUAD,
    recording::Work,
    resident::TILE,
    shaders::Shader,
    swap_table::DeviceSwaps,
    whiten_rows::Images,
    words,
};
use crate::{
    Error, Result,
    engine::{LeavingPairs, Precision, RowMap},
    error::DeviceProblem,
    linalg::{column, kernels::dot},
};

/// The most items that a device returns.
const MOST: usize = 1 << 16;
/// The number of items in the first read. If there are more, a second read gets the rest.
const AT_ONCE: usize = 1 << 10;
/// The words before the items: the number of items, and whether a number was broken.
const HEADER: usize = 2;
/// The most sides that a workgroup goes through. A loop takes 256 turns per 256 sides, and drivers may count turns.
const SIDES_TOGETHER: usize = 1 << 13;
/// The most tiles whose rows can be numbered in 32 bits.
const MOST_TILES: usize = 1 << 24;
/// In single precision, a pair with a number beyond this is left to the host.
const FARTHEST: f64 = 1e30;

/// Every pair as seen from each of its groups, group by group.
struct Sides {
    /// The first side of every group, and the number of its sides.
    ranges: Vec<[u32; 2]>,
    /// The columns of the side's own item and of the other item, and the other side.
    places: Vec<[u32; 4]>,
    /// The numbers w, s, 2ρ and t of every side, as in the shader.
    numbers: Vec<f64>,
}

/// The device's input for a search, and its answer.
struct Search {
    images: Images,
    coefficients: Lease,
    ranges: Lease,
    sides: Lease,
    numbers: Lease,
    bounds: Lease,
    found: Lease,
    /// The most sides of any group.
    widest: usize,
    slots: usize,
}

impl DeviceSwaps<'_> {
    /// Returns the items that matter, by group; `None` for too many items or pairs, or pairs beyond the device's
    /// precision.
    pub(super) fn entering(&self, leaving: &LeavingPairs<'_>) -> Result<Option<Vec<Vec<usize>>>> {
        if self.rows.tiles() >= MOST_TILES {
            return Ok(None);
        }
        match self.search_on_device(leaving) {
            Ok(found) => Ok(found.map(|items| self.by_group(&items))),
            // The host compares chunk by chunk instead.
            Err(Error::Device(DeviceProblem::Memory { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn search_on_device(&self, leaving: &LeavingPairs<'_>) -> Result<Option<Vec<u32>>> {
        let longest = if self.longest.is_empty() {
            longest_rows(&self.gpu, &self.source)?
        } else {
            self.longest.clone()
        };
        let gpu = self.gpu.clone();
        let context = gpu.context();
        context.checked("entrants", || {
            let Some(search) = self.search(context, leaving, &longest)? else { return Ok(None) };
            let mut work = context.work("entrants");
            self.record_pass(context, &mut work, &search, Pass::Bounds)?;
            self.record_pass(context, &mut work, &search, Pass::Marks)?;
            read(context, work, &search)
        })
    }

    fn search(
        &self,
        context: &Context,
        leaving: &LeavingPairs<'_>,
        longest: &[f64],
    ) -> Result<Option<Search>> {
        let slots = leaving.duals.ncols();
        let lengths: Vec<f64> =
            leaving.duals.col_iter().map(|dual| dual.norm_l2().max(f64::MIN_POSITIVE)).collect();
        let unit =
            faer::Mat::from_fn(leaving.duals.nrows(), slots, |i, j| leaving.duals[(i, j)] / lengths[j]);
        let weights = vec![1.0; self.rows.lens.len()];
        let images = Images::upload(context, &RowMap { weights: &weights, factor: unit.as_ref() }, slots)?;
        let Some(sides) = self.sides(context, leaving, &images, longest) else { return Ok(None) };
        let needed = (sides.numbers.len() * size_of(context.precision)) as u64;
        if needed > context.device.limits().max_storage_buffer_binding_size {
            return Ok(None);
        }
        let largest = self.rows.chunks.iter().map(|chunk| chunk.len).max().unwrap_or(0);
        let bounds = context.uploaded_words(&vec![0; sides.places.len().max(1)]);
        let found = context.storage(4 * (HEADER + MOST) as u64);
        context.send_bytes(&found, 0, &[0; 4 * HEADER]);
        Ok(Some(Search {
            coefficients: context.reals(largest * slots),
            widest: sides.ranges.iter().map(|range| range[1] as usize).max().unwrap_or(0),
            ranges: context.uploaded_words(sides.ranges.as_flattened()),
            sides: context.uploaded_words(sides.places.as_flattened()),
            numbers: context.uploaded(&sides.numbers)?,
            images,
            bounds,
            found,
            slots,
        }))
    }

    /// Returns the sides of all pairs; `None` if a number is beyond the device's precision.
    ///
    /// With unit duals x = C_ij / √M_ii, y = C_i'j / √M_i'i' and their cosine ρ = M_ii' / √(M_ii M_i'i'),
    ///
    /// ```text
    /// D e_j e_j' = u_j u_j',   u_j = M_ii / √(1 − ρ²) ((1 − ρ²) d_j + x² + y² − 2ρxy)
    /// ```
    fn sides(
        &self,
        context: &Context,
        leaving: &LeavingPairs<'_>,
        images: &Images,
        longest: &[f64],
    ) -> Option<Sides> {
        let groups = self.rows.lens.len();
        let most = if context.precision == Precision::F32 { FARTHEST } else { f64::MAX.sqrt() };
        // The other side is given by its number in its group.
        let mut own: Vec<Vec<([u32; 4], [f64; 4])>> = vec![Vec::new(); groups];
        for &[one, other] in leaving.pairs {
            let [v, w] = [one, other].map(|(_, at)| column(leaving.duals, at));
            let (vv, ww, vw) = (dot(v, v), dot(w, w), dot(v, w));
            let rest = (vv * ww - vw * vw) / (vv * ww);
            if rest.is_nan() || rest <= 0.0 {
                continue;
            }
            let cosine = vw / (vv * ww).sqrt();
            let places = [own[one.0].len(), own[other.0].len()];
            for (side, ((group, at), (_, beside))) in [(one, other), (other, one)].into_iter().enumerate() {
                let unit = images.unit(group, self.rows.units[group]).powi(2);
                let weight = [vv, ww][side] / rest.sqrt();
                let rounding = weight * longest[group] * self.rounding(context.precision);
                let share = rest * self.rows.units[group].powi(2) / unit;
                let numbers = [weight * unit, share, 2.0 * cosine, rounding];
                let inverses = [numbers[0], share].map(f64::recip);
                if numbers.iter().chain(&inverses).any(|x| x.is_nan() || x.abs() > most) {
                    return None;
                }
                own[group].push(([words(at), words(beside), words(places[1 - side]), 0], numbers));
            }
        }
        Some(Sides::new(own, leaving))
    }

    /// A bound on the error of (1 − ρ²) d + x² + y² − 2ρxy relative to ‖a‖², with products of n terms.
    fn rounding(&self, precision: Precision) -> f64 {
        let terms = (self.rows.quads() * QUAD) as f64;
        precision.epsilon() * (terms + 8.0) * (8.0 + 2.0 * terms.sqrt()) * (self.updates + 1) as f64
    }

    fn record_pass(&self, context: &Context, work: &mut Work, search: &Search, pass: Pass) -> Result<()> {
        let sides = search.sides_together(context);
        let mut first_tile = 0;
        for (chunk, residuals) in self.rows.chunks.iter().zip(&self.residuals) {
            let tiles = chunk.tiles.len();
            // The coefficients of a single chunk are still there from the first pass.
            if pass == Pass::Bounds || self.rows.chunks.len() > 1 {
                let loaded = self.rows.load(context, self.source.features(), work, chunk)?;
                search.images.record(work, &loaded, &search.coefficients)?;
            }
            for first in (0..search.widest).step_by(sides) {
                context.dispatch(
                    work,
                    Shader::Entrants,
                    &parameters! {
                        tiles,
                        first_tile,
                        slots: search.slots,
                        first,
                        sides,
                        most: MOST,
                        marks: pass == Pass::Marks,
                    },
                    &[
                        &chunk.table,
                        &search.ranges,
                        &search.sides,
                        &search.numbers,
                        &search.coefficients,
                        residuals,
                        &search.bounds,
                        &search.found,
                    ],
                    Load { groups: tiles, ..search.load(context, sides.min(search.widest - first)) },
                )?;
            }
            self.rows.let_go(context, work)?;
            first_tile += tiles;
        }
        Ok(())
    }

    fn by_group(&self, items: &[u32]) -> Vec<Vec<usize>> {
        let mut positions = vec![Vec::new(); self.rows.lens.len()];
        for &item in items {
            let (_, tile) = self.rows.tile(item as usize / TILE);
            positions[tile.group].push(tile.position + item as usize % TILE);
        }
        for own in &mut positions {
            own.sort_unstable();
            own.dedup();
        }
        positions
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Bounds,
    Marks,
}

impl Sides {
    /// Joins the sides of all groups. In `own`, a side refers to another by its number in that group.
    fn new(own: Vec<Vec<([u32; 4], [f64; 4])>>, leaving: &LeavingPairs<'_>) -> Self {
        let mut first = 0;
        let ranges: Vec<[u32; 2]> = own
            .iter()
            .map(|own| {
                first += own.len();
                [words(first - own.len()), words(own.len())]
            })
            .collect();
        let mut group_of = vec![0; leaving.duals.ncols()];
        leaving.pairs.iter().flatten().for_each(|&(group, column)| group_of[column] = group);
        let all = own.into_iter().flatten();
        let (places, numbers): (Vec<[u32; 4]>, Vec<[f64; 4]>) = all
            .map(|([at, beside, other, _], numbers)| {
                ([at, beside, other + ranges[group_of[beside as usize]][0], 0], numbers)
            })
            .unzip();
        Self { ranges, places, numbers: numbers.concat() }
    }
}

impl Search {
    /// The number of sides of a group that one dispatch goes through.
    fn sides_together(&self, context: &Context) -> usize {
        let load = self.load(context, TILE);
        (context.pace.units_of_a_group(load.flops, load.bytes).saturating_mul(TILE)).min(SIDES_TOGETHER)
    }

    /// The load of a workgroup with this many sides.
    fn load(&self, context: &Context, sides: usize) -> Load {
        let width = size_of(context.precision) as f64;
        let times = sides.div_ceil(TILE) as f64;
        let rows = TILE as f64;
        Load {
            groups: 1,
            flops: 12.0 * rows * rows * times,
            bytes: rows * width * (self.slots + 1) as f64 * times,
        }
    }
}

/// Reads the items found; `None` if there are too many.
fn read(context: &Context, work: Work, search: &Search) -> Result<Option<Vec<u32>>> {
    let bytes = |from: usize, to: usize| (&*search.found, 4 * from as u64, 4 * (to - from) as u64);
    let found = context.download(work, &[bytes(0, HEADER + AT_ONCE)])?;
    let mut items: Vec<u32> = bytemuck::pod_collect_to_vec(&found[0]);
    let (count, broken) = (items[0] as usize, items[1]);
    if broken != 0 {
        return Err(context.not_finite("entrants").into());
    }
    if count > MOST {
        return Ok(None);
    }
    items.drain(..HEADER);
    if count > AT_ONCE {
        let rest = context.download(context.work("entrants"), &[bytes(HEADER + AT_ONCE, HEADER + count)])?;
        items.extend(bytemuck::pod_collect_to_vec::<u8, u32>(&rest[0]));
    }
    items.truncate(count);
    Ok(Some(items))
}

//! Swaps of two items of two parts at once, for sets that no swap of one item improves.

use super::{SearchSpace, chosen::Chosen};
use crate::{
    Result,
    engine::{self, Engine, Group, LeavingPairs, RowMap, Rows},
    linalg::{column, kernels::dot},
    map::{Place, Stats, watch::Clock},
    parallel::map_ordered,
};

/// Pairs of entering items that may be compared in total over all pairs of leaving ones.
const BUDGET: usize = 1 << 22;
/// The least number of entering items of each part that are considered for a pair of leaving ones.
const SHORTEST: usize = 8;

/// The set after the best swap of two items i, i' of two parts for two others j, j' of the same parts, if it
/// improves.
///
/// ```text
/// det K_{S − {i,i'} + {j,j'}} / det K_S = D (e_j e_j' − x²),   D = det M_II,  I = {i, i'}
/// e_j = d_j + C_{I,j}ᵀ (M_II)⁻¹ C_{I,j},   x = r_j·r_j' + C_{I,j}ᵀ (M_II)⁻¹ C_{I,j'}
/// ```
///
/// e_j is the squared distance of a_j from the span of S − I, and r_j the residual of a_j beyond the span of S. Since
/// e_j e_j' − x² ≤ e_j e_j' (Hadamard), pairs are compared in descending order of that bound while it exceeds the best.
///
/// All pairs are compared if parts have at most L = √(2²²/pairs of leaving items) items (L ≥ 8); in larger parts, the L
/// items with the largest e_j. Pairs are skipped once the time is up.
///
/// # Cost
/// 2mnk operations and 8mk bytes for C, 7mk² operations for the e_j, at most 2²² n for the pairs. An engine with a memory
/// of its own computes C and e_j there, and tells which items can matter; unless these are too many, the host computes
/// with them alone.
pub(super) fn best_double_swap(
    space: &SearchSpace<'_>,
    chosen: &Chosen<'_>,
    clock: &Clock,
    stats: &mut Stats,
) -> Result<Option<Vec<Place>>> {
    let pairs = leaving_pairs(space, chosen);
    if pairs.is_empty() {
        return Ok(None);
    }
    let limit = (BUDGET / pairs.len()).isqrt().max(SHORTEST);
    let items = Compared::new(space, chosen, &pairs)?;
    let in_time = |at: usize| clock.ended().is_none().then(|| items.best_of(&pairs[at], limit));
    let found = map_ordered(pairs.len(), in_time);
    let mut best: Option<Found> = None;
    for found in found.into_iter().flatten() {
        stats.evaluations += found.compared;
        if found.ratio > best.as_ref().map_or(1.0, |best| best.ratio) {
            best = Some(found);
        }
    }
    let Some(Found { entering: Some(entering), leaving, ratio, .. }) = best else { return Ok(None) };
    if !space.improves(ratio) {
        return Ok(None);
    }
    let mut places = chosen.places();
    for (leaving, entering) in leaving.iter().zip(entering) {
        places.iter_mut().filter(|place| *place == leaving).for_each(|place| *place = entering);
    }
    Ok(Some(places))
}

/// Two slots of different groups.
type Slots = [(usize, usize); 2];

/// All pairs of slots in different groups that have other items.
fn leaving_pairs(space: &SearchSpace<'_>, chosen: &Chosen<'_>) -> Vec<Slots> {
    let open = |group: &usize| chosen.slots[*group].len() < space.rows.groups()[*group].items.len();
    let slots_of = |group: usize| (0..chosen.slots[group].len()).map(move |slot| (group, slot));
    let slots: Vec<(usize, usize)> = (0..chosen.slots.len()).filter(open).flat_map(slots_of).collect();
    let later = |first: &(usize, usize)| {
        let first = *first;
        slots.iter().filter(move |other| other.0 > first.0).map(move |&other| [first, other])
    };
    slots.iter().flat_map(later).collect()
}

/// The best swap of a pair of leaving items.
struct Found {
    leaving: [Place; 2],
    entering: Option<[Place; 2]>,
    ratio: f64,
    compared: u64,
}

/// C and d of the items that are compared: of all, or of those that the engine says can take part in an exchange that
/// improves the determinant. The others come after these in every descending order of bounds, so none would be compared.
struct Compared<'a> {
    space: &'a SearchSpace<'a>,
    chosen: &'a Chosen<'a>,
    /// The positions of the items of every group; `None` for all.
    positions: Option<Vec<Vec<usize>>>,
    /// C, item after item.
    coefficients: Vec<f64>,
    /// d, −∞ for chosen items.
    residuals: Vec<f64>,
    /// Where the items of every group begin, and the number of all.
    starts: Vec<usize>,
    /// Number of chosen items, k.
    slots: usize,
}

/// An item that may enter.
#[derive(Clone, Copy)]
struct Entrant {
    position: usize,
    /// e_j.
    distance: f64,
    /// C_{I,j}.
    along: [f64; 2],
}

impl<'a> Compared<'a> {
    fn new(space: &'a SearchSpace<'a>, chosen: &'a Chosen<'a>, pairs: &[Slots]) -> Result<Self> {
        let column = |(group, slot): (usize, usize)| (group, chosen.column(group, slot) - chosen.first[0]);
        let pairs: Vec<[(usize, usize); 2]> = pairs.iter().map(|pair| pair.map(column)).collect();
        let leaving = LeavingPairs { duals: chosen.free_duals(), pairs: &pairs };
        match chosen.table.entrants(&leaving)? {
            Some(positions) => Self::listed(space, chosen, positions),
            None => Self::all(space, chosen),
        }
    }

    fn all(space: &'a SearchSpace<'a>, chosen: &'a Chosen<'a>) -> Result<Self> {
        let mut items = Self::of(space.engine, space.rows, space, chosen)?;
        chosen.span_complement().mark(space.rows, &mut items.residuals);
        Ok(items)
    }

    /// Items that are not chosen; few, so the host computes their numbers from the data.
    fn listed(
        space: &'a SearchSpace<'a>,
        chosen: &'a Chosen<'a>,
        positions: Vec<Vec<usize>>,
    ) -> Result<Self> {
        let groups = space.rows.groups();
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let items = |(group, positions): (&Group<'_>, &Vec<usize>)| {
            positions.iter().map(|&position| group.items.at(position) as u32).collect()
        };
        let items: Vec<Vec<u32>> = groups.iter().zip(&positions).map(items).collect();
        let listed = groups.iter().zip(&items);
        let listed = listed.map(|(group, items)| Group { items: engine::Items::Listed(items), ..*group });
        let rows = Rows::with_scales(space.rows.features(), listed.collect());
        Ok(Self { positions: Some(positions), ..Self::of(Engine::host(), &rows, space, chosen)? })
    }

    /// The numbers of these rows.
    fn of(
        engine: &Engine,
        rows: &Rows<'_>,
        space: &'a SearchSpace<'a>,
        chosen: &'a Chosen<'a>,
    ) -> Result<Self> {
        let groups = rows.groups().len();
        let weights = vec![1.0; groups];
        let map = RowMap { weights: &weights, factor: chosen.free_duals() };
        let coefficients = engine.whiten_rows(rows, &map)?;
        let residuals = chosen.span_complement().forms(&**engine, rows)?;
        let mut starts = vec![0];
        starts.extend(rows.groups().iter().scan(0, |next, group| {
            *next += group.items.len();
            Some(*next)
        }));
        let slots = chosen.free_duals().ncols();
        Ok(Self { space, chosen, positions: None, coefficients, residuals, starts, slots })
    }

    fn position(&self, group: usize, at: usize) -> usize {
        self.positions.as_ref().map_or(at, |positions| positions[group][at])
    }

    fn best_of(&self, pair: &Slots, limit: usize) -> Found {
        let [(p, a), (q, b)] = *pair;
        let place = |group: usize, slot: usize| Place { group, position: self.chosen.slots[group][slot] };
        let mut found =
            Found { leaving: [place(p, a), place(q, b)], entering: None, ratio: 1.0, compared: 0 };
        let Some(inverse) = Leaving::new(self.chosen, pair) else { return found };
        let (left, right) = (self.entrants(p, &inverse, limit), self.entrants(q, &inverse, limit));
        let rests = [self.rests(p, &left), self.rests(q, &right)];
        for (j, x) in left.iter().enumerate() {
            for (l, y) in right.iter().enumerate() {
                if inverse.determinant * x.distance * y.distance <= found.ratio {
                    break;
                }
                found.compared += 1;
                let inner = dot(&rests[0][j], &rests[1][l]) + inverse.form(x.along, y.along);
                let ratio = inverse.determinant * (x.distance * y.distance - inner * inner);
                if ratio > found.ratio {
                    let enter = |group: usize, entrant: &Entrant| Place { group, position: entrant.position };
                    found = Found { ratio, entering: Some([enter(p, x), enter(q, y)]), ..found };
                }
            }
        }
        found
    }

    /// The items of a group by descending e_j, at most `limit` of them; ties in item order.
    fn entrants(&self, group: usize, leaving: &Leaving, limit: usize) -> Vec<Entrant> {
        let start = self.starts[group];
        let descending =
            |x: &Entrant, y: &Entrant| y.distance.total_cmp(&x.distance).then(x.position.cmp(&y.position));
        let mut entrants: Vec<Entrant> = Vec::new();
        let mut floor = f64::NEG_INFINITY;
        for item in start..self.starts[group + 1] {
            let row = &self.coefficients[item * self.slots..(item + 1) * self.slots];
            let along = leaving.columns.map(|column| row[column]);
            let distance = self.residuals[item] + leaving.form(along, along);
            if distance > floor {
                entrants.push(Entrant { position: self.position(group, item - start), distance, along });
            }
            if entrants.len() == 4 * limit {
                entrants.select_nth_unstable_by(limit - 1, descending);
                entrants.truncate(limit);
                floor = entrants[limit - 1].distance;
            }
        }
        entrants.sort_unstable_by(descending);
        entrants.truncate(limit);
        entrants
    }

    /// r_j of some items, in coordinates of the orthogonal complement of the span of S.
    fn rests(&self, group: usize, entrants: &[Entrant]) -> Vec<Vec<f64>> {
        let (features, members) = (self.space.rows.features(), self.space.rows.groups()[group]);
        let complement = self.chosen.complement.as_ref();
        let mut row = vec![0.0; features.dims()];
        let rest = |entrant: &Entrant| {
            features.read_row(members.items.at(entrant.position), members.scale, &mut row);
            (0..complement.ncols()).map(|j| dot(column(complement, j), &row)).collect()
        };
        entrants.iter().map(rest).collect()
    }
}

/// M_II of two leaving items.
struct Leaving {
    /// Their columns of C.
    columns: [usize; 2],
    determinant: f64,
    /// The entries of (M_II)⁻¹: the two diagonal ones, and the off-diagonal one.
    inverse: [f64; 3],
}

impl Leaving {
    fn new(chosen: &Chosen<'_>, pair: &Slots) -> Option<Self> {
        let columns = pair.map(|(group, slot)| chosen.column(group, slot));
        let [v, w] = columns.map(|column| chosen.dual(column));
        let (vv, ww, vw) = (dot(v, v), dot(w, w), dot(v, w));
        let determinant = vv * ww - vw * vw;
        let first = chosen.column(0, 0);
        (determinant > 0.0).then(|| Self {
            columns: columns.map(|column| column - first),
            determinant,
            inverse: [ww / determinant, vv / determinant, -vw / determinant],
        })
    }

    /// xᵀ (M_II)⁻¹ y.
    fn form(&self, x: [f64; 2], y: [f64; 2]) -> f64 {
        let [first, second, beside] = self.inverse;
        first * x[0] * y[0] + second * x[1] * y[1] + beside * (x[0] * y[1] + x[1] * y[0])
    }
}

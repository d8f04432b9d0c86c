//! Additions and removals of single items.

use faer::Mat;

use crate::{
    Result,
    engine::Engine,
    linalg::{OrthonormalBasis, column, column_mut, inverse_of_lower, kernels::dot},
    map::{Candidates, Place, pivots::Pivots, plain_gains::PlainGains, watch::Clock},
};

/// The least gain in ln det for which an item is dropped.
const LEAST_GAIN: f64 = 1e-10;

/// Drops and adds the best single items until none improves the set or time is up. Dependent items are dropped first.
pub(super) fn improve(
    candidates: &Candidates<'_>,
    engine: &Engine,
    places: Vec<Place>,
    clock: &Clock,
) -> Result<Vec<Place>> {
    let rows = candidates.rows();
    let mut places = independent(candidates, places);
    loop {
        while clock.ended().is_none()
            && let Some(at) = worst(candidates, &places)
        {
            places.remove(at);
        }
        if clock.ended().is_some() {
            return Ok(places);
        }
        let gains = PlainGains::new(engine, &rows);
        let ended = |_: &_| clock.ended();
        let added = Pivots::pick(candidates, engine, &rows, gains, &places, &[], &ended)?.places;
        if added.is_empty() {
            return Ok(places);
        }
        places.extend(added);
    }
}

/// The places that do not depend on the included items and the places before them.
fn independent(candidates: &Candidates<'_>, places: Vec<Place>) -> Vec<Place> {
    let mut span = candidates.ground.span();
    let mut is_new = |place: &Place| {
        let mut unit = candidates.features().row(candidates.item(*place));
        OrthonormalBasis::normalise(&mut unit).is_some() && span.extend(&unit).is_some()
    };
    places.into_iter().filter(|place| is_new(place)).collect()
}

/// The item whose removal raises the determinant most.
///
/// ```text
/// det(K_{S−i}) / det(K_S) = (K_S⁻¹)_ii
/// ```
fn worst(candidates: &Candidates<'_>, places: &[Place]) -> Option<usize> {
    let included = candidates.ground.included().iter().map(|&item| item as usize);
    let items: Vec<usize> = places.iter().map(|&place| candidates.item(place)).chain(included).collect();
    let mut units = Mat::<f64>::zeros(candidates.features().dims(), items.len());
    let mut log_norms = Vec::with_capacity(items.len());
    for (at, &item) in items.iter().enumerate() {
        let unit = column_mut(units.as_mut(), at);
        candidates.features().read_row(item, 1.0, unit);
        log_norms.push(OrthonormalBasis::normalise(unit)?);
    }
    // (RᵀR)⁻¹ = R⁻¹R⁻ᵀ: the rows of R⁻¹ are the columns of R⁻ᵀ.
    let r = units.qr().thin_R().to_owned();
    let inverse = inverse_of_lower(r.transpose());
    let gain = |at: usize| {
        let row = column(inverse.as_ref(), at);
        dot(row, row).ln() - 2.0 * log_norms[at]
    };
    let gains = (0..places.len()).map(|at| (at, gain(at))).filter(|&(_, gain)| gain > LEAST_GAIN);
    gains.reduce(|best, other| if other.1 > best.1 { other } else { best }).map(|(at, _)| at)
}

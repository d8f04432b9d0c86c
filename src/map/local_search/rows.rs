//! The rows of a set, from the data.

use faer::Mat;

use super::SearchSpace;
use crate::linalg::{column_mut, power_of_two_near};

/// The scaled rows of the included and the chosen items as columns, and −ln of the squared scales; `None` if there are
/// too many to be independent.
pub(super) fn read_rows(space: &SearchSpace<'_>, slots: &[Vec<usize>]) -> Option<(Mat<f64>, f64)> {
    let features = space.rows.features();
    let included = space.candidates.ground.included();
    let count = included.len() + slots.iter().map(Vec::len).sum::<usize>();
    if count > features.dims() {
        return None;
    }
    let of_included = included.iter().map(|&item| {
        let magnitude = features.max_abs_of(&[item]);
        (item as usize, power_of_two_near(magnitude).recip())
    });
    let of_group = |(group, slots): (usize, &Vec<usize>)| {
        let members = space.rows.groups()[group];
        slots.iter().map(move |&position| (members.items.at(position), members.scale)).collect::<Vec<_>>()
    };
    let chosen = slots.iter().enumerate().flat_map(of_group);
    let mut rows = Mat::zeros(features.dims(), count);
    let mut log_det = 0.0;
    for (at, (item, scale)) in of_included.chain(chosen).enumerate() {
        features.read_row(item, scale, column_mut(rows.as_mut(), at));
        log_det -= 2.0 * scale.ln();
    }
    Some((rows, log_det))
}

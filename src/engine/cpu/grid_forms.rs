//! `grid_forms`: det P(θ) at every node, and Re Σ x_l(θ) det P(θ) P(θ)⁻¹ for every part.

use faer::Mat;

use super::grid_determinants::grid_determinants;
use crate::{
    Result,
    engine::{FormGrid, GridForms, GridRequest, PhaseGrid, inverses_at_a_time, watched::at_a_time},
    linalg::add_real_part,
};

/// Adds nodes one at a time, regardless of how many are inverted together.
pub(super) fn grid_forms(of: &FormGrid<'_>, passed: &dyn Fn(usize) -> Result<()>) -> Result<GridForms> {
    let FormGrid { grid, coefficients } = *of;
    let (parts, size) = (grid.shares.len(), grid.shares[0].nrows());
    let mut determinants = Vec::with_capacity(grid.nodes());
    let mut forms = vec![Mat::zeros(size, size); parts];
    let nodes = inverses_at_a_time(size).min(at_a_time(grid.nodes(), 8.0 * (size as f64).powi(3)));
    for phases in grid.phases.chunks(nodes * parts) {
        let some = PhaseGrid { shares: grid.shares, phases };
        for point in grid_determinants(&some, GridRequest::Inverses) {
            let own = &coefficients[determinants.len() * parts..][..parts];
            let value = point.determinant.value();
            if let Some(inverse) = &point.inverse {
                forms.iter_mut().zip(own).for_each(|(form, x)| add_real_part(form, x * value, inverse));
            }
            determinants.push(point.determinant);
        }
        passed(some.nodes())?;
    }
    Ok(GridForms { determinants, forms })
}

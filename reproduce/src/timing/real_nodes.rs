//! The accuracy of the paper's interpolation at real nodes, in f64.

use nalgebra::{DMatrix, DVector};
use partition_dpp::{Engine, Error, Method, PartitionDpp};

use super::RandomParts;
use crate::{
    context::Context,
    failure::Failure,
    report::{Cell, Section, Table, Verdict},
};

/// The items and the quota of each of the two parts.
const CASES: [(usize, usize); 4] = [(10, 3), (15, 5), (24, 5), (24, 10)];

pub(super) const STEPS: u64 = CASES.len() as u64;

pub(super) fn run(context: &Context<'_>, section: &mut Section) -> Result<(), Failure> {
    let mut table = Table::new(
        "real-nodes",
        "Probability that item 0 is chosen: as computed by this library, and from a Vandermonde system at real nodes. \
         Probabilities outside [0, 1] are as computed.",
        ["parts, quota", "exact", "evenly spaced nodes", "off by", "Chebyshev nodes", "off by"],
    );
    let mut off_by = [Vec::new(), Vec::new()];
    for (size, each) in CASES {
        let name = format!("[{size}, {size}], [{each}, {each}]");
        context.step(&format!("real nodes: {name}"))?;
        let instance = RandomParts::new(context, "nodes", (2, size), 2 * size, each)?;
        let RandomParts { features, partition, quota } = &instance;
        let dpp = PartitionDpp::new(features, partition, quota)?;
        let exact = dpp.inference(&Engine::cpu())?.inclusion_probabilities()?.value[0];
        let mut row = vec![Cell::text(&name), Cell::fixed(exact, 6)];
        let sampler = dpp.sampler(Method::Rejection, &Engine::cpu())?;
        let tilt = sampler.tilt().unwrap_or(&[1.0, 1.0]);
        for (nodes, off_by) in [equispaced(size), chebyshev(size)].into_iter().zip(&mut off_by) {
            let found = included(&instance, &nodes, tilt, each)?;
            let off = (found - exact).abs();
            off_by.push(off);
            row.push(Cell::Number { value: found, shown: format!("{found:.4e}") });
            row.push(Cell::Number { value: off, shown: format!("{off:.0e}") });
        }
        table.rows.push(row);
    }
    section.table(table);
    section.claim(
        "Any m_l + 1 distinct points will do as nodes of the interpolation.",
        format!(
            "In exact arithmetic. In f64 evenly spaced nodes give a probability that is off by {:.0e} at 10 + 10 items and \
             {:.0e} at 24 + 24, Chebyshev nodes by {:.0e} and {:.0e}: draws from a wrong distribution. Nodes on circles lose \
             nothing.",
            off_by[0][0], off_by[0][3], off_by[1][0], off_by[1][3]
        ),
        Verdict::DoesNotHold,
    );
    Ok(())
}

/// Returns evenly spaced nodes on (0, 2], one more than there are items.
fn equispaced(size: usize) -> Vec<f64> {
    (0..=size).map(|i| 2.0 * (1.0 + i as f64) / (1.0 + size as f64)).collect()
}

/// Returns the zeros of a Chebyshev polynomial on (−1, 1).
fn chebyshev(size: usize) -> Vec<f64> {
    let angle = |i: usize| std::f64::consts::PI * (i as f64 + 0.5) / (size as f64 + 1.0);
    (0..=size).map(|i| angle(i).cos()).collect()
}

/// Returns 1 − (Z without item 0) / Z.
fn included(instance: &RandomParts, nodes: &[f64], tilt: &[f64], each: usize) -> Result<f64, Failure> {
    let all = coefficient(instance, 0, nodes, tilt, each)?;
    let without = coefficient(instance, 1, nodes, tilt, each)?;
    Ok(1.0 - without / all)
}

/// Returns the coefficient of (x₁ x₂)^each in det(I + x₁ y₁ G₁ + x₂ y₂ G₂), without the first `left_out` items of the
/// first part.
///
/// The tilt y makes this coefficient one of the largest, which favours the real nodes.
fn coefficient(
    instance: &RandomParts,
    left_out: usize,
    nodes: &[f64],
    tilt: &[f64],
    each: usize,
) -> Result<f64, Failure> {
    let RandomParts { features, partition, .. } = instance;
    let dims = features.dims();
    let gram = |part: usize, skip: usize| {
        let mut sum = DMatrix::zeros(dims, dims);
        for &item in &partition.members(part)[skip..] {
            let row = DVector::from_vec(features.row(item as usize));
            sum.ger(1.0, &row, &row, 1.0);
        }
        sum
    };
    let (first, second) = (gram(0, left_out) * tilt[0], gram(1, 0) * tilt[1]);
    let value =
        |x: f64, y: f64| (DMatrix::identity(dims, dims) + &first * x + &second * y).lu().determinant();
    let values = DMatrix::from_fn(nodes.len(), nodes.len(), |i, j| value(nodes[i], nodes[j]));
    // Solve V c Vᵀ = values, one system per variable.
    let vandermonde = DMatrix::from_fn(nodes.len(), nodes.len(), |i, j| {
        nodes[i].powi(i32::try_from(j).unwrap_or(i32::MAX))
    });
    let lu = vandermonde.lu();
    let solved = lu.solve(&values).and_then(|half| lu.solve(&half.transpose()));
    solved
        .map(|coefficients| coefficients[(each, each)])
        .ok_or(Failure::Library(Error::Eigen { size: nodes.len() }))
}

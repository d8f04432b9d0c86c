//! Verbs whose results must be in double precision.

use faer::MatRef;

use super::{Engine, Precision, Rows};
use crate::Result;

/// Returns the engine for anything that determines the law of draws: the given engine, or the CPU if that engine
/// computes in single precision. Gram matrices in single precision would falsify eigenvectors, tilt and rank.
pub(crate) fn in_double(engine: &Engine) -> &Engine {
    match engine.info().precision {
        Precision::F64 => engine,
        Precision::F32 => engine.stand_in().unwrap_or(Engine::host()),
    }
}

/// Computes ‖F_lᵀ a_i‖² for every row, and upper bounds if the engine computes in single precision.
pub(crate) fn bounded_forms(
    engine: &Engine,
    rows: &Rows<'_>,
    factors: &[MatRef<'_, f64>],
) -> Result<(Vec<f64>, Option<Vec<f64>>)> {
    let forms = engine.row_forms(rows, factors)?;
    if engine.info().precision == Precision::F64 {
        return Ok((forms, None));
    }
    let above = forms_above(engine, rows, factors, &forms)?;
    Ok((forms, Some(above)))
}

/// Upper bounds on ‖F_lᵀ a_i‖², from the values that the engine computed. Their roots are off by at most (n +
/// 2)·ε·‖F_l‖‖a_i‖.
pub(crate) fn forms_above(
    engine: &Engine,
    rows: &Rows<'_>,
    factors: &[MatRef<'_, f64>],
    forms: &[f64],
) -> Result<Vec<f64>> {
    let norms = engine.row_norms(rows)?;
    let unit = (rows.features().dims() as f64 + 2.0) * engine.info().precision.epsilon();
    let sizes: Vec<f64> = factors.iter().map(|factor| unit * factor.norm_l2()).collect();
    let above = |(((_, group), form), norm): (((usize, usize), &f64), &f64)| {
        (form.sqrt() + sizes[group] * norm.sqrt()).powi(2)
    };
    Ok(rows.iter().zip(forms).zip(&norms).map(above).collect())
}

//! Integers from .npy files: the labels.

use std::path::Path;

use partition_dpp::{Error, data::NpyArray, error::NpyProblem};

use crate::failure::Failure;

/// Passes the integers of a one-dimensional array to a function, one by one; `most` of them at most.
pub(super) fn read_integers(
    path: &Path,
    most: usize,
    mut sink: impl FnMut(i128) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let in_file = Failure::in_file(path);
    let array = NpyArray::open(path).map_err(&in_file)?;
    let &[labels] = array.shape() else {
        let dimensions = array.shape().len();
        let problem = format!("the array has {dimensions} dimensions; labels need 1");
        return Err(Failure::file(path, problem));
    };
    if labels > most as u64 {
        return Err(Failure::file(path, format!("there are {labels} labels for the {most} items")));
    }
    let integers = array.integers().map_err(|error| match error {
        Error::Npy { problem: problem @ NpyProblem::NotIntegers(_), .. } => {
            Failure::file(path, format!("{problem}; give other labels as .csv"))
        }
        other => in_file(other),
    })?;
    for integer in integers {
        sink(integer.map_err(&in_file)?)?;
    }
    Ok(())
}

//! Integers from .npy files: the labels. Feature matrices are the library's business.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use npyz::{DType, Deserialize, NpyFile, TypeChar};

use crate::failure::Failure;

/// Hands over the integers of a one-dimensional array, one by one.
pub(super) fn read_integers(
    path: &Path,
    sink: impl FnMut(i128) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let file = File::open(path).map_err(|error| Failure::io(path, &error))?;
    let array = NpyFile::new(BufReader::new(file)).map_err(|_| Failure::file(path, "not a .npy file"))?;
    let dimensions = array.shape().len();
    if dimensions != 1 {
        let problem = format!("the array has {dimensions} dimensions where labels need 1");
        return Err(Failure::file(path, problem));
    }
    let kind = array.dtype();
    let element = match &kind {
        DType::Plain(element) => Some((element.type_char(), element.num_bytes())),
        _ => None,
    };
    match element {
        Some((TypeChar::Int, Some(1))) => integers::<i8, _>(array, path, sink),
        Some((TypeChar::Int, Some(2))) => integers::<i16, _>(array, path, sink),
        Some((TypeChar::Int, Some(4))) => integers::<i32, _>(array, path, sink),
        Some((TypeChar::Int, Some(8))) => integers::<i64, _>(array, path, sink),
        Some((TypeChar::Uint, Some(1))) => integers::<u8, _>(array, path, sink),
        Some((TypeChar::Uint, Some(2))) => integers::<u16, _>(array, path, sink),
        Some((TypeChar::Uint, Some(4))) => integers::<u32, _>(array, path, sink),
        Some((TypeChar::Uint, Some(8))) => integers::<u64, _>(array, path, sink),
        _ => {
            let kind = kind.descr();
            Err(Failure::file(
                path,
                format!("elements of type {kind} are not integers; give other labels as .csv"),
            ))
        }
    }
}

fn integers<T: Deserialize + Into<i128>, R: Read>(
    array: NpyFile<R>,
    path: &Path,
    mut sink: impl FnMut(i128) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let promised = array.len();
    let elements = array.data::<T>().map_err(|error| Failure::file(path, error.to_string()))?;
    for (found, value) in elements.enumerate() {
        let value = value.map_err(|_| {
            Failure::file(
                path,
                format!("the file is truncated: the header promises {promised} labels, {found} are there"),
            )
        })?;
        sink(value.into())?;
    }
    Ok(())
}

//! Writes matrices to .npy files, piece by piece.

use std::{
    fs::{self, File},
    io::{self, BufWriter},
    path::Path,
};

use npyz::{WriteOptions, WriterBuilder};

use crate::{Error, Result};

/// Takes the next values.
pub(crate) type Sink<'w> = dyn FnMut(&[f32]) -> Result<()> + 'w;

/// Writes a matrix of f32 whose values `content` passes to the sink in row-major order. The file gets its final name
/// only when it is complete.
pub(crate) fn write_npy<T>(
    path: &Path,
    (rows, columns): (usize, usize),
    content: impl FnOnce(&mut Sink<'_>) -> Result<T>,
) -> Result<T> {
    let io = |error: io::Error| Error::Io { path: path.to_owned(), error };
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".part");
    let written = || {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&unfinished).map_err(io)?);
        let options = WriteOptions::new().default_dtype().shape(&[rows as u64, columns as u64]);
        let mut matrix = options.writer(&mut file).begin_nd().map_err(io)?;
        let found = content(&mut |values| matrix.extend(values.iter().copied()).map_err(io))?;
        matrix.finish().map_err(io)?;
        file.into_inner().map_err(|error| io(error.into_error()))?;
        fs::rename(&unfinished, path).map_err(io)?;
        Ok(found)
    };
    let found = written();
    if found.is_err() {
        // The incomplete file is useless. The first error is the one that matters.
        let _ = fs::remove_file(&unfinished);
    }
    found
}

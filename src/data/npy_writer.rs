//! Matrices written to .npy files, piece by piece.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
};

use crate::{Error, Result};

/// Bytes before the header's text: the magic string, the version, and the length of the text.
const PREFIX: usize = 10;
/// Arrays begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// Takes the next values.
pub(crate) type Sink<'w> = dyn FnMut(&[f32]) -> Result<()> + 'w;

/// Writes a matrix of f32 whose values `content` passes on in row-major order. The file takes its name when it is whole.
pub(crate) fn write_npy<T>(
    path: &Path,
    shape: (usize, usize),
    content: impl FnOnce(&mut Sink<'_>) -> Result<T>,
) -> Result<T> {
    let io = |source: io::Error| Error::Io { path: path.to_owned(), source };
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".part");
    let written = || {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&unfinished).map_err(io)?);
        file.write_all(&header(shape)).map_err(io)?;
        let found = content(&mut |values| file.write_all(bytemuck::cast_slice(values)).map_err(io))?;
        file.into_inner().map_err(|error| io(error.into_error()))?;
        fs::rename(&unfinished, path).map_err(io)?;
        Ok(found)
    };
    let found = written();
    if found.is_err() {
        // What is left of it is of no use; the error that matters is the first.
        let _ = fs::remove_file(&unfinished);
    }
    found
}

fn header((rows, columns): (usize, usize)) -> Vec<u8> {
    let order = if cfg!(target_endian = "little") { '<' } else { '>' };
    let mut text =
        format!("{{'descr': '{order}f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let padding = (PREFIX + text.len() + 1).next_multiple_of(ALIGNMENT) - (PREFIX + text.len() + 1);
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    #[expect(clippy::cast_possible_truncation, reason = "two numbers and some words")]
    let length = (text.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes()].concat()
}

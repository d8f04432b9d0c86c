//! Arrays from .npy files: mapped if the bytes can be used directly, and converted otherwise.

mod header;

use std::{
    fmt,
    fs::{self, File, FileType},
    path::{Path, PathBuf},
    sync::Arc,
};

use half::f16;
use memmap2::Mmap;
use npyz::{DType, Deserialize, Endianness, NpyFile, NpyHeader, Order, TypeChar};

use super::{
    Features,
    mapped::{Mapped, map_file},
    values::{Scalar, Storage},
};
use crate::{Error, Result, error::NpyProblem};

/// A .npy file whose header has been read, but not its array.
///
/// Use it to learn the shape and the memory of an array before reading it; [`Features::open_npy`] reads a file
/// directly.
///
/// ```no_run
/// # fn main() -> Result<(), partition_dpp::Error> {
/// let array = partition_dpp::data::NpyArray::open("features.npy")?;
/// println!("{:?}: {} bytes to convert", array.shape(), array.bytes_to_convert());
/// let features = array.into_features()?;
/// # Ok(()) }
/// ```
///
/// # Numerics
/// Booleans become 0 and 1. Either byte order is accepted, also as `=`, the order of the machine (`=f8`).
pub struct NpyArray {
    path: PathBuf,
    map: Arc<Mmap>,
    header: NpyHeader,
    /// The offset of the array in the file.
    offset: usize,
    /// The number of elements.
    len: usize,
}

/// Elements in one of the types in which rows are stored.
enum Elements {
    F16(Storage<f16>),
    F32(Storage<f32>),
    F64(Storage<f64>),
}

impl NpyArray {
    /// Reads the header.
    ///
    /// The file must not be truncated or rewritten while the array, or any features made from it, are in use.
    ///
    /// # Errors
    /// - [`Error::Io`] if the file cannot be read;
    /// - [`Error::Npy`] if it is not a .npy file, or ends before its array does.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let io = |error| Error::Io { path: path.to_owned(), error };
        let npy = |problem| Error::Npy { path: path.to_owned(), problem };
        // Opening a pipe would block until it has a writer.
        let found = fs::metadata(path).map_err(io)?;
        if !found.is_file() {
            return Err(npy(NpyProblem::NotAFile(kind(found.file_type()))));
        }
        if found.len() == 0 {
            return Err(npy(NpyProblem::Header));
        }
        let map = map_file(&File::open(path).map_err(io)?).map_err(io)?;
        let (header, offset) = header::read(&map).map_err(npy)?;
        let len = header.shape().iter().try_fold(1_u64, |len, &size| len.checked_mul(size));
        let promised = len.and_then(|len| {
            // Elements of size zero do not limit the number of elements.
            len.checked_mul(header.dtype().num_bytes().unwrap_or(0) as u64).map(|bytes| (len, bytes))
        });
        let Some((Ok(len), expected)) = promised.map(|(len, bytes)| (usize::try_from(len), bytes)) else {
            let reason = "the array has too many elements for any file".into();
            return Err(npy(NpyProblem::Malformed { reason, header: format!("shape {:?}", header.shape()) }));
        };
        let found = (map.len() - offset) as u64;
        if found < expected {
            return Err(npy(NpyProblem::Truncated { expected, found }));
        }
        Ok(Self { path: path.to_owned(), map, header, offset, len })
    }

    /// The size of every dimension: (rows, columns) for a matrix.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        self.header.shape()
    }

    /// The bytes of memory that [`into_features`](Self::into_features) takes; 0 if rows are mapped.
    #[must_use]
    pub fn bytes_to_convert(&self) -> u64 {
        let DType::Plain(element) = self.header.dtype() else { return 0 };
        let each = match (element.type_char(), element.num_bytes()) {
            _ if self.mapped().is_some() => 0,
            (TypeChar::Float, Some(2)) => 2,
            (TypeChar::Float, Some(4)) | (TypeChar::Bool, _) | (_, Some(1 | 2)) => 4,
            _ => 8,
        };
        (self.len as u64).saturating_mul(each)
    }

    /// The bytes of an element, if elements are floating-point numbers.
    pub(super) fn float_bytes(&self) -> Option<usize> {
        let DType::Plain(element) = self.header.dtype() else { return None };
        element.num_bytes().filter(|_| element.type_char() == TypeChar::Float)
    }

    /// The features of a matrix of booleans, integers or floating-point numbers, one item per row.
    ///
    /// # Errors
    /// The errors of [`Features::open_npy`].
    pub fn into_features(self) -> Result<Features> {
        let (rows, columns, values) = self.matrix().map_err(|problem| self.problem(problem))?;
        match values {
            Elements::F16(values) => Features::from_rows(rows, columns, values),
            Elements::F32(values) => Features::from_rows(rows, columns, values),
            Elements::F64(values) => Features::from_rows(rows, columns, values),
        }
    }

    /// The elements of an array of booleans or integers, in the order of the file.
    ///
    /// # Errors
    /// [`Error::Npy`] if the elements have another type, or a boolean is neither 0 nor 1.
    pub fn integers(&self) -> Result<Box<dyn Iterator<Item = Result<i128>> + '_>> {
        let kind = self.header.dtype();
        let not_integers = || self.problem(NpyProblem::NotIntegers(header::describe(&kind)));
        let DType::Plain(element) = &kind else { return Err(not_integers()) };
        match (element.type_char(), element.num_bytes()) {
            (TypeChar::Bool, _) => self.integers_as::<bool>(),
            (TypeChar::Int, Some(1)) => self.integers_as::<i8>(),
            (TypeChar::Int, Some(2)) => self.integers_as::<i16>(),
            (TypeChar::Int, Some(4)) => self.integers_as::<i32>(),
            (TypeChar::Int, Some(8)) => self.integers_as::<i64>(),
            (TypeChar::Uint, Some(1)) => self.integers_as::<u8>(),
            (TypeChar::Uint, Some(2)) => self.integers_as::<u16>(),
            (TypeChar::Uint, Some(4)) => self.integers_as::<u32>(),
            (TypeChar::Uint, Some(8)) => self.integers_as::<u64>(),
            _ => Err(not_integers()),
        }
    }

    /// The elements of a one-dimensional array of booleans, integers or floating-point numbers.
    ///
    /// # Errors
    /// [`Error::Npy`] if the array is not one-dimensional, or its elements have another type.
    pub fn numbers(&self) -> Result<Vec<f64>> {
        let [_] = self.shape() else { return Err(self.problem(NpyProblem::NotAList(self.shape().len()))) };
        let values = self.mapped().map_or_else(|| convert(&self.header, self.data(), self.len, 1), Ok);
        Ok(match values.map_err(|problem| self.problem(problem))? {
            Elements::F16(values) => values.as_slice().iter().map(|&value| value.into()).collect(),
            Elements::F32(values) => values.as_slice().iter().map(|&value| value.into()).collect(),
            Elements::F64(values) => values.as_slice().to_vec(),
        })
    }

    fn integers_as<T: Deserialize + Into<i128> + 'static>(
        &self,
    ) -> Result<Box<dyn Iterator<Item = Result<i128>> + '_>> {
        let file = NpyFile::with_header(self.header.clone(), self.data());
        let elements =
            file.data::<T>().map_err(|error| self.problem(NpyProblem::Element(error.to_string())))?;
        let integer = |value: std::io::Result<T>| {
            value.map(Into::into).map_err(|error| self.problem(NpyProblem::Element(error.to_string())))
        };
        Ok(Box::new(elements.map(integer)))
    }

    fn problem(&self, problem: NpyProblem) -> Error {
        Error::Npy { path: self.path.clone(), problem }
    }

    /// The bytes from the start of the array to the end of the file.
    fn data(&self) -> &[u8] {
        &self.map[self.offset..]
    }

    fn matrix(&self) -> std::result::Result<(usize, usize, Elements), NpyProblem> {
        let &[rows, columns] = self.shape() else {
            return Err(NpyProblem::Dimensions(self.shape().len()));
        };
        // Their product fits in usize, but one of them may not, if another is zero.
        let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        let (rows, columns) = (size(rows), size(columns));
        let values = self.mapped().map_or_else(|| convert(&self.header, self.data(), rows, columns), Ok)?;
        Ok((rows, columns, values))
    }

    /// The mapped elements, if rows can be stored in their type.
    fn mapped(&self) -> Option<Elements> {
        let DType::Plain(element) = self.header.dtype() else { return None };
        if self.header.order() != Order::C || element.endianness() != Endianness::of_machine() {
            return None;
        }
        let (map, offset, len) = (&self.map, self.offset, self.len);
        match (element.type_char(), element.num_bytes()) {
            (TypeChar::Float, Some(2)) => mapped(map, offset, len).map(Elements::F16),
            (TypeChar::Float, Some(4)) => mapped(map, offset, len).map(Elements::F32),
            (TypeChar::Float, Some(8)) => mapped(map, offset, len).map(Elements::F64),
            _ => None,
        }
    }
}

impl fmt::Debug for NpyArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = header::describe(&self.header.dtype());
        write!(f, "NpyArray({}: {:?} {kind})", self.path.display(), self.shape())
    }
}

/// The kind of a file that is not a regular file, as text.
fn kind(found: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if found.is_fifo() {
            return "a pipe";
        }
        if found.is_char_device() || found.is_block_device() {
            return "a device";
        }
        if found.is_socket() {
            return "a socket";
        }
    }
    if found.is_dir() { "a folder" } else { "not a regular file" }
}

fn mapped<T: Scalar>(map: &Arc<Mmap>, offset: usize, len: usize) -> Option<Storage<T>> {
    Mapped::new(Arc::clone(map), offset, len).map(Storage::from)
}

/// Copies elements of any real type. Integers become f32 if f32 holds every value of their type exactly.
fn convert(
    header: &NpyHeader,
    data: &[u8],
    rows: usize,
    columns: usize,
) -> std::result::Result<Elements, NpyProblem> {
    let unreadable = || NpyProblem::Type(header::describe(&header.dtype()));
    /// Reads elements of type `$from` as `$to`, in row-major order.
    macro_rules! read {
        ($from:ty, $to:ident, $cast:expr) => {{
            let file = NpyFile::with_header(header.clone(), data);
            let reader = file.data::<$from>().map_err(|_| unreadable())?;
            let cast = $cast;
            let values = reader.map(|value| value.map(cast)).collect::<std::io::Result<Vec<_>>>();
            let values = values.map_err(|error| NpyProblem::Element(error.to_string()))?;
            Elements::$to(Storage::from(row_major(header.order(), values, rows, columns)))
        }};
    }
    let DType::Plain(element) = header.dtype() else {
        return Err(unreadable());
    };
    Ok(match (element.type_char(), element.num_bytes()) {
        (TypeChar::Float, Some(2)) => read!(f16, F16, |value| value),
        (TypeChar::Float, Some(4)) => read!(f32, F32, |value| value),
        (TypeChar::Float, Some(8)) => read!(f64, F64, |value| value),
        (TypeChar::Bool, _) => read!(bool, F32, |value| f32::from(u8::from(value))),
        (TypeChar::Int, Some(1)) => read!(i8, F32, f32::from),
        (TypeChar::Int, Some(2)) => read!(i16, F32, f32::from),
        (TypeChar::Int, Some(4)) => read!(i32, F64, f64::from),
        (TypeChar::Int, Some(8)) => read!(i64, F64, |value| value as f64),
        (TypeChar::Uint, Some(1)) => read!(u8, F32, f32::from),
        (TypeChar::Uint, Some(2)) => read!(u16, F32, f32::from),
        (TypeChar::Uint, Some(4)) => read!(u32, F64, f64::from),
        (TypeChar::Uint, Some(8)) => read!(u64, F64, |value| value as f64),
        _ => return Err(unreadable()),
    })
}

fn row_major<T: Copy>(order: Order, values: Vec<T>, rows: usize, columns: usize) -> Vec<T> {
    // A matrix without columns may have any number of rows.
    if order == Order::C || values.is_empty() {
        return values;
    }
    let mut out = Vec::with_capacity(values.len());
    for row in 0..rows {
        out.extend((0..columns).map(|column| values[column * rows + row]));
    }
    out
}

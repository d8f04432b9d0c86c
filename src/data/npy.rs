//! Matrices from .npy files: mapped where the bytes can be used as they are, converted otherwise.

use std::{fs::File, path::Path, sync::Arc};

use half::f16;
use memmap2::Mmap;
use npyz::{DType, Endianness, NpyFile, NpyHeader, Order, TypeChar};

use super::{
    Features,
    mapped::{Mapped, map_file},
    values::{Scalar, Storage},
};
use crate::{Error, NpyProblem, Result};

/// A matrix read from a file.
struct NpyMatrix {
    rows: usize,
    columns: usize,
    values: Elements,
}

/// Elements of the types that rows are stored in.
enum Elements {
    F16(Storage<'static, f16>),
    F32(Storage<'static, f32>),
    F64(Storage<'static, f64>),
}

/// Reads a two-dimensional real array.
pub(crate) fn read_features(path: &Path) -> Result<Features<'static>> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let npy = |problem| Error::Npy { path: path.to_owned(), problem };
    let file = File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.len() == 0 {
        return Err(npy(NpyProblem::Header));
    }
    let NpyMatrix { rows, columns, values } = parse(&map_file(&file).map_err(io)?).map_err(npy)?;
    match values {
        Elements::F16(values) => Features::from_rows(rows, columns, values),
        Elements::F32(values) => Features::from_rows(rows, columns, values),
        Elements::F64(values) => Features::from_rows(rows, columns, values),
    }
}

fn parse(map: &Arc<Mmap>) -> std::result::Result<NpyMatrix, NpyProblem> {
    let mut rest: &[u8] = map;
    let header = NpyHeader::from_reader(&mut rest).map_err(|_| NpyProblem::Header)?;
    let offset = map.len() - rest.len();
    let &[rows, columns] = header.shape() else {
        return Err(NpyProblem::Dimensions(header.shape().len()));
    };
    let (rows, columns) = (size(rows)?, size(columns)?);
    let DType::Plain(element) = header.dtype() else {
        return Err(NpyProblem::Type(header.dtype().descr()));
    };
    let Some(len) = rows.checked_mul(columns) else {
        return Err(NpyProblem::Header);
    };
    let promised = (element.num_bytes().unwrap_or(0) as u64).saturating_mul(len as u64);
    if (rest.len() as u64) < promised {
        return Err(NpyProblem::Truncated { expected: promised, found: rest.len() as u64 });
    }
    let in_place = header.order() == Order::C && element.endianness() == Endianness::of_machine();
    let values = match (element.type_char(), element.num_bytes()) {
        (TypeChar::Float, Some(2)) if in_place => mapped(map, offset, len).map(Elements::F16),
        (TypeChar::Float, Some(4)) if in_place => mapped(map, offset, len).map(Elements::F32),
        (TypeChar::Float, Some(8)) if in_place => mapped(map, offset, len).map(Elements::F64),
        _ => None,
    };
    let values = match values {
        Some(values) => values,
        None => convert(&header, rest, rows, columns)?,
    };
    Ok(NpyMatrix { rows, columns, values })
}

fn size(dimension: u64) -> std::result::Result<usize, NpyProblem> {
    usize::try_from(dimension).map_err(|_| NpyProblem::Header)
}

fn mapped<T: Scalar>(map: &Arc<Mmap>, offset: usize, len: usize) -> Option<Storage<'static, T>> {
    Mapped::new(Arc::clone(map), offset, len).map(Storage::from)
}

/// Copies elements of any real type; the integers that f32 holds exactly become f32.
fn convert(
    header: &NpyHeader,
    data: &[u8],
    rows: usize,
    columns: usize,
) -> std::result::Result<Elements, NpyProblem> {
    /// Elements of type `$from`, as `$to`, in row-major order.
    macro_rules! read {
        ($from:ty, $to:ident, $cast:expr) => {{
            let file = NpyFile::with_header(header.clone(), data);
            let reader = file.data::<$from>().map_err(|_| NpyProblem::Type(header.dtype().descr()))?;
            let cast = $cast;
            let values = reader.map(|value| value.map(cast)).collect::<std::io::Result<Vec<_>>>();
            let values = values.map_err(|_| NpyProblem::Header)?;
            Elements::$to(Storage::from(row_major(header.order(), values, rows, columns)))
        }};
    }
    let unreadable = || NpyProblem::Type(header.dtype().descr());
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
    match order {
        Order::C => values,
        Order::Fortran => {
            let mut out = Vec::with_capacity(values.len());
            for row in 0..rows {
                out.extend((0..columns).map(|column| values[column * rows + row]));
            }
            out
        }
    }
}

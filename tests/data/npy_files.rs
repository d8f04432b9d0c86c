//! .npy files: every element type is read to the last bit, and every broken file is refused.

#![allow(clippy::float_cmp, reason = "what is read is what was written")]

use std::path::Path;

use oracles::{
    assert_error,
    npy::{f64s, file, npy, with_header},
};
use partition_dpp::{Error, Features, data::NpyArray, error::NpyProblem};

/// Returns the values of a 2×3 file.
fn read(bytes: &[u8]) -> Vec<f64> {
    let file = file(bytes);
    let features = Features::open_npy(file.path()).unwrap();
    assert_eq!((features.items(), features.dims()), (2, 3));
    [features.row(0), features.row(1)].concat()
}

/// Returns the problem of a file, whose name the message must contain.
fn problem(bytes: &[u8]) -> (NpyProblem, String) {
    let file = file(bytes);
    match Features::open_npy(file.path()) {
        Err(Error::Npy { path, problem }) => {
            assert_eq!(path, file.path());
            let message = Error::Npy { path, problem: problem.clone() }.to_string();
            assert!(message.contains(file.path().to_str().unwrap()) && !message.contains('\n'));
            (problem, message)
        }
        other => panic!("{other:?}"),
    }
}

/// Six values as bytes of one element type.
macro_rules! bytes {
    ($values:expr, $type:ty, $to:ident) => {
        $values.iter().flat_map(|&value| (value as $type).$to()).collect::<Vec<u8>>()
    };
}

const SMALL: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 100.0, 127.0];
const SIGNED: [f64; 6] = [0.0, -1.0, 2.0, -3.0, 100.0, -128.0];

#[test]
fn signed_integers_are_read_exactly() {
    let wide = [-32768.0, -1.0, 2.0, 3.0, 100.0, 32767.0];
    let wider = [-2_147_483_648.0, -1.0, 2.0, 3.0, 16_777_217.0, 2_147_483_647.0];
    let widest = [-9_007_199_254_740_991.0, -1.0, 2.0, 3.0, 4.0, 9_007_199_254_740_991.0];
    assert_eq!(read(&npy("|i1", false, &[2, 3], &bytes!(SIGNED, i8, to_le_bytes))), SIGNED);
    assert_eq!(read(&npy("<i2", false, &[2, 3], &bytes!(wide, i16, to_le_bytes))), wide);
    assert_eq!(read(&npy("<i4", false, &[2, 3], &bytes!(wider, i32, to_le_bytes))), wider);
    assert_eq!(read(&npy("<i8", false, &[2, 3], &bytes!(widest, i64, to_le_bytes))), widest);
}

#[test]
fn unsigned_integers_are_read_exactly() {
    let byte = [0.0, 1.0, 2.0, 3.0, 128.0, 255.0];
    let wide = [0.0, 1.0, 2.0, 3.0, 256.0, 65535.0];
    let wider = [0.0, 1.0, 2.0, 3.0, 16_777_217.0, 4_294_967_295.0];
    let widest = [0.0, 1.0, 2.0, 3.0, 4.0, 9_007_199_254_740_991.0];
    assert_eq!(read(&npy("|u1", false, &[2, 3], &bytes!(byte, u8, to_le_bytes))), byte);
    assert_eq!(read(&npy("<u2", false, &[2, 3], &bytes!(wide, u16, to_le_bytes))), wide);
    assert_eq!(read(&npy("<u4", false, &[2, 3], &bytes!(wider, u32, to_le_bytes))), wider);
    assert_eq!(read(&npy("<u8", false, &[2, 3], &bytes!(widest, u64, to_le_bytes))), widest);
}

#[test]
fn booleans_are_zero_and_one() {
    assert_eq!(read(&npy("|b1", false, &[2, 3], &[0, 1, 1, 0, 0, 1])), [0., 1., 1., 0., 0., 1.]);
}

#[test]
fn half_precision_is_read_exactly() {
    // 0, −1, 65504 (the largest), 2⁻¹⁴ (the smallest normal), 2⁻²⁴ (the smallest), ⅓ rounded.
    let bits: [u16; 6] = [0x0000, 0xbc00, 0x7bff, 0x0400, 0x0001, 0x3555];
    let data: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let expected = [0.0, -1.0, 65504.0, 2f64.powi(-14), 2f64.powi(-24), 1365.0 / 4096.0];
    assert_eq!(read(&npy("<f2", false, &[2, 3], &data)), expected);
}

#[test]
fn single_and_double_precision_are_read_exactly() {
    let values = [0.1, -2.5, 1e-300, 1e300, f64::MIN_POSITIVE, 1.0 / 3.0];
    assert_eq!(read(&npy("<f8", false, &[2, 3], &f64s(&values))), values);
    let values = [0.1_f32, -2.5, 1e-38, 3e38, 1e-45, 1.0 / 3.0];
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(read(&npy("<f4", false, &[2, 3], &data)), values.map(f64::from));
}

#[test]
fn big_endian_values_are_turned_round() {
    let values = [0.5, -2.5, 3.0, 1e10, 100.0, 0.0];
    let integers = [0.0, -1.0, 2.0, 300.0, 100.0, -32768.0];
    assert_eq!(read(&npy(">f8", false, &[2, 3], &bytes!(values, f64, to_be_bytes))), values);
    assert_eq!(read(&npy(">f4", false, &[2, 3], &bytes!(values, f32, to_be_bytes))), values);
    assert_eq!(read(&npy(">i2", false, &[2, 3], &bytes!(integers, i16, to_be_bytes))), integers);
    assert_eq!(read(&npy(">i8", false, &[2, 3], &bytes!(integers, i64, to_be_bytes))), integers);
    assert_eq!(read(&npy(">u4", false, &[2, 3], &bytes!(SMALL, u32, to_be_bytes))), SMALL);
}

#[test]
fn fortran_order_is_transposed() {
    // Columns (1, 4), (2, 5), (3, 6).
    let columns = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
    let rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(read(&npy("<f8", true, &[2, 3], &f64s(&columns))), rows);
    assert_eq!(read(&npy(">f4", true, &[2, 3], &bytes!(columns, f32, to_be_bytes))), rows);
    assert_eq!(read(&npy("|u1", true, &[2, 3], &bytes!(columns, u8, to_le_bytes))), rows);
}

#[test]
fn data_at_an_odd_offset_are_read_exactly() {
    let values = [0.1, -2.5, 1e-300, 1e300, 7.0, 1.0 / 3.0];
    for spaces in 0..8 {
        let padding = " ".repeat(spaces);
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}}{padding}\n");
        assert_eq!(read(&with_header(&header, &f64s(&values))), values);
    }
}

#[test]
fn bytes_after_the_array_are_ignored() {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    assert_eq!(read(&npy("<f8", false, &[2, 3], &f64s(&values))), values[..6]);
}

#[test]
fn a_missing_file_is_named() {
    let path = Path::new("/nonexistent/features.npy");
    assert_error!(
        Features::open_npy(path),
        Error::Io { path: ref named, ref error }
            if named == path && error.kind() == std::io::ErrorKind::NotFound,
        ["/nonexistent/features.npy"]
    );
    let folder = tempfile::tempdir().unwrap();
    assert_error!(
        Features::open_npy(folder.path()),
        Error::Npy { problem: NpyProblem::NotAFile("a folder"), .. },
        [folder.path().to_str().unwrap(), "this is a folder"]
    );
}

#[test]
fn what_is_not_npy_is_refused() {
    let whole = npy("<f8", false, &[2, 3], &f64s(&SMALL));
    for bytes in [&b""[..], b"1.0,2.0\n3.0,4.0\n", &whole[..5]] {
        let (problem, message) = problem(bytes);
        assert_eq!(problem, NpyProblem::Header, "{bytes:?}");
        assert!(message.contains("not a .npy file"), "{message}");
    }
}

#[test]
fn a_broken_header_is_shown() {
    let whole = npy("<f8", false, &[2, 3], &f64s(&SMALL));
    let header = |text: &str| with_header(text, &[]);
    let negative = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, -3)}";
    for (bytes, culprits) in [
        (whole[..7].to_vec(), ["ends", ""]),
        (whole[..9].to_vec(), ["ends", ""]),
        (whole[..40].to_vec(), ["ends", ""]),
        (header("{'descr': '<f8'}\n"), ["fortran_order", "(it is {'descr': '<f8'})"]),
        (header(&format!("{negative}\n")), ["negative", negative]),
        (header("{'descr': '<f7', 'fortran_order': False, 'shape': (2, 3)}"), ["f7", "(2, 3)"]),
        (header("\u{e9}\u{0}{"), ["Python expression", "\u{e9} {"]),
    ] {
        let (problem, message) = problem(&bytes);
        assert!(matches!(problem, NpyProblem::Malformed { .. }), "{problem:?}");
        assert!(message.contains("the .npy header cannot be read"), "{message}");
        assert!(culprits.iter().all(|culprit| message.contains(culprit)), "{culprits:?}: {message}");
    }
    for (major, minor) in [(0, 0), (1, 1), (4, 0)] {
        let mut other = whole.clone();
        (other[6], other[7]) = (major, minor);
        assert_eq!(problem(&other).0, NpyProblem::Version { major, minor });
    }
}

#[test]
fn types_in_other_spellings() {
    let values = [0.5, -2.5, 3.0, 1e10, 100.0, 0.0];
    let native = bytes!(values, f64, to_ne_bytes);
    for spelling in ["=f8", "f8"] {
        assert_eq!(read(&npy(spelling, false, &[2, 3], &native)), values);
        assert_eq!(read(&npy(spelling, true, &[2, 3], &native))[1], values[2]);
    }
    let header = "{\"shape\": (2, 3), \"descr\" : \"=f8\", \"fortran_order\": False}\n";
    assert_eq!(read(&with_header(header, &native)), values);
    for spelling in ["?", "|b1", "<b1", "b1"] {
        assert_eq!(read(&npy(spelling, false, &[2, 3], &[0, 1, 1, 0, 0, 1])), [0., 1., 1., 0., 0., 1.]);
    }
    let (problem, message) = problem(&npy("?", false, &[2, 3], &[0, 1, 1, 0, 2, 1]));
    assert!(matches!(problem, NpyProblem::Element(_)) && message.contains('2'), "{message}");
}

/// Versions 2 and 3 have room for longer headers.
#[test]
fn headers_of_all_versions() {
    let values = [0.5, -2.5, 3.0, 1e10, 100.0, 0.0];
    for version in [2, 3] {
        let header =
            format!("{{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}}{}\n", " ".repeat(65_000));
        let length = u32::try_from(header.len()).unwrap().to_le_bytes();
        let bytes = [b"\x93NUMPY", &[version, 0][..], &length, header.as_bytes(), &f64s(&values)].concat();
        assert_eq!(read(&bytes), values);
    }
}

#[test]
fn what_a_file_holds_is_told_without_reading_it() {
    for (descr, fortran, each) in [("<f8", false, 0), ("<f4", false, 0), ("<f4", true, 4), (">f8", false, 8)]
    {
        let file = file(&npy(descr, fortran, &[2, 3], &[0; 48]));
        let array = NpyArray::open(file.path()).unwrap();
        assert_eq!((array.shape(), array.bytes_to_convert()), (&[2, 3][..], 6 * each), "{descr}");
    }
    for (descr, each) in [("|i1", 4), ("<u2", 4), ("<i4", 8), ("<u8", 8), ("|b1", 4)] {
        let file = file(&npy(descr, false, &[6], &[1; 48]));
        let array = NpyArray::open(file.path()).unwrap();
        assert_eq!((array.shape(), array.bytes_to_convert()), (&[6][..], 6 * each), "{descr}");
        assert_eq!(array.integers().unwrap().filter_map(Result::ok).count(), 6);
    }
    let labels = file(&npy(">i2", false, &[3], &[0, 7, 255, 255, 1, 0]));
    let array = NpyArray::open(labels.path()).unwrap();
    let integers: Vec<i128> = array.integers().unwrap().map(Result::unwrap).collect();
    assert_eq!(integers, [7, -1, 256]);
    let reals = file(&npy("<f4", false, &[1], &[0; 4]));
    let array = NpyArray::open(reals.path()).unwrap();
    assert_error!(
        array.integers().map(|_| ()),
        Error::Npy { problem: NpyProblem::NotIntegers(_), .. },
        ["'<f4'", "not integers"]
    );
}

#[test]
fn a_truncated_file_tells_the_bytes_expected_and_found() {
    for (descr, expected) in [("<f8", 48), (">f8", 48), ("<f4", 24), ("|u1", 6), ("<f2", 12)] {
        for found in [0, 1, expected - 1] {
            let (problem, message) =
                problem(&npy(descr, false, &[2, 3], &vec![0; usize::try_from(found).unwrap()]));
            assert_eq!(problem, NpyProblem::Truncated { expected, found }, "{descr}");
            assert!(message.contains(&format!("{expected} bytes")), "{message}");
            assert!(message.contains(&format!("the file has {found}")), "{message}");
        }
    }
}

#[test]
fn an_array_that_is_not_a_matrix_is_refused_with_its_dimensions() {
    for shape in [&[][..], &[6], &[1, 2, 3], &[1, 1, 2, 3]] {
        let (problem, message) = problem(&npy("<f8", false, shape, &f64s(&SMALL)));
        assert_eq!(problem, NpyProblem::Dimensions(shape.len()));
        let plural = if shape.len() == 1 { "" } else { "s" };
        assert!(message.contains(&format!("has {} dimension{plural}", shape.len())), "{message}");
    }
}

#[test]
fn elements_that_are_not_numbers_are_refused_with_their_type() {
    for (descr, bytes) in [("<c8", 8), ("<c16", 16), ("<U5", 20), ("|S5", 5), ("<M8[ns]", 8), ("<f16", 16)] {
        for fortran in [false, true] {
            let (problem, message) = problem(&npy(descr, fortran, &[2, 3], &vec![0; 6 * bytes]));
            assert!(matches!(&problem, NpyProblem::Type(found) if found.contains(descr)), "{problem:?}");
            assert!(message.contains(descr), "{message}");
        }
    }
    let (problem, message) = problem(&npy("[('x', '<f4'), ('y', '<f4')]", false, &[2, 3], &[0; 48]));
    assert!(matches!(&problem, NpyProblem::Type(_)), "{problem:?}");
    assert!(message.contains("<f4"), "{message}");
}

#[test]
fn an_empty_array_is_refused() {
    for shape in [[0, 3], [2, 0]] {
        let file = file(&npy("<f8", false, &shape, &[]));
        assert_error!(Features::open_npy(file.path()), Error::Empty { .. }, ["the feature matrix is empty"]);
    }
}

#[test]
fn a_value_that_is_not_finite_is_found_in_a_file() {
    let mut values = SMALL;
    values[5] = f64::NEG_INFINITY;
    let mapped = file(&npy("<f8", false, &[2, 3], &f64s(&values)));
    let found = Features::open_npy(mapped.path());
    assert_error!(found, Error::NotFinite { row: 1, column: 2, .. }, ["row 1, column 2 is -inf"]);
    // Half precision: NaN.
    let mut data = vec![0; 12];
    data[2..4].copy_from_slice(&0x7e00_u16.to_le_bytes());
    let half = file(&npy("<f2", false, &[2, 3], &data));
    assert_error!(Features::open_npy(half.path()), Error::NotFinite { row: 0, column: 1, .. }, ["NaN"]);
}

#[test]
fn a_size_whose_product_overflows_is_refused() {
    // 2⁶³·2 overflows to 0 in 64 bits.
    for (descr, fortran) in [("<f8", false), ("|i1", false), ("<f8", true), ("|i1", true)] {
        let file = file(&npy(descr, fortran, &[1 << 63, 2], &f64s(&SMALL)));
        let refused = std::panic::catch_unwind(|| Features::open_npy(file.path()).is_err());
        assert!(matches!(refused, Ok(true)), "{descr}, Fortran order {fortran}: {refused:?}");
    }
}

//! .npy files written byte by byte.

use std::io::Write;

use tempfile::NamedTempFile;

/// Returns a file: magic, version 1.0, header padded to a multiple of 64 bytes, data.
pub fn npy(descr: &str, fortran: bool, shape: &[u64], data: &[u8]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(|size| format!("{size},")).collect();
    let sizes = sizes.join(" ");
    let order = if fortran { "True" } else { "False" };
    // A structured type is a list, any other type a string.
    let descr = if descr.starts_with('[') { descr.to_owned() } else { format!("'{descr}'") };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': ({sizes}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    with_header(&header, data)
}

/// Returns a file like [`npy`], but with the given header.
pub fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// Writes bytes to a temporary file.
pub fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file.flush().unwrap();
    file
}

/// Returns values as little-endian f64.
pub fn f64s(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

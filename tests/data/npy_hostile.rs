//! .npy headers that would take hours to read, and error sentences that would fill pages.

use std::{sync::mpsc, thread, time::Duration};

use oracles::npy::{file, npy, with_header};
use partition_dpp::{Error, Features, error::NpyProblem};

/// Returns the error of reading a file. Reading what its header promises would take days.
fn read(bytes: &[u8]) -> Error {
    let file = file(bytes);
    let path = file.path().to_owned();
    let (done, outcome) = mpsc::channel();
    thread::spawn(move || done.send(Features::open_npy(path).unwrap_err()));
    outcome.recv_timeout(Duration::from_secs(600)).unwrap()
}

#[test]
fn rows_without_columns_are_not_counted() {
    for rows in [1 << 40, u64::MAX] {
        for (descr, fortran) in [("<f8", true), (">f8", true), ("|u1", true), ("|u1", false), ("<f8", false)]
        {
            let error = read(&npy(descr, fortran, &[rows, 0], &[]));
            assert!(matches!(error, Error::Empty { .. }), "{descr}, Fortran order {fortran}: {error}");
        }
    }
}

#[test]
fn sizes_whose_product_is_no_number_are_refused() {
    // If overflow is checked (the profile `dev` in this test), the products are taken in both orders.
    for shape in [&[1 << 62, 4][..], &[u64::MAX, u64::MAX], &[0, 1 << 63, 4], &[1 << 63, 4, 0]] {
        for fortran in [false, true] {
            let error = read(&npy("|u1", fortran, shape, &[]));
            assert!(
                error.to_string().contains("the array has too many elements for any file"),
                "{shape:?}: {error}"
            );
        }
    }
    // Keys may be spelled differently, or appear twice.
    for key in [r"'\x73hape'", r"'shape': (1, 1), 'shape'", r"u'shape'"] {
        let header = format!("{{'descr': '|u1', 'fortran_order': False, {key}: (4294967296, 4294967296)}}\n");
        let error = read(&with_header(&header, &[0]));
        assert!(matches!(error, Error::Npy { problem: NpyProblem::Malformed { .. }, .. }), "{key}: {error}");
    }
}

#[test]
fn brackets_within_brackets_are_refused() {
    for bracket in ["{", "(", "[", "[{", "{'a':", "[('a',"] {
        for depth in [12, 200, 9_000] {
            let header = format!("{{'descr': {}\n", bracket.repeat(depth));
            let header = &header[..header.len().min(65_000)];
            let error = read(&with_header(header, &[]));
            let is_problem = matches!(error, Error::Npy { problem: NpyProblem::Malformed { .. }, .. });
            assert!(is_problem, "{depth} × {bracket}: {error}");
            assert!(error.to_string().len() < 500, "{error}");
        }
    }
}

#[test]
fn records_are_told_from_nonsense() {
    let records = "[('a', '<i4'), ('b', [('c', [('d', '<f4', (2, 3))])])]";
    let error = read(&npy(records, false, &[1, 1], &[0; 28]));
    assert!(matches!(error, Error::Npy { problem: NpyProblem::Type(_), .. }), "{error}");
    let fields = "('field', '<f4'), ".repeat(3_000);
    let error = read(&npy(&format!("[{fields}]"), false, &[1, 1], &[0; 12_000])).to_string();
    assert!(error.len() < 500 && error.contains("records"), "{error}");
}

#[test]
fn a_sentence_about_a_header_is_short() {
    for (start, end) in [("{'descr': ?", "x"), ("{'shape': (", "9"), ("{'descr': '<f4', 'shape': (", "1+")] {
        let header = format!("{start}{}\n", end.repeat(60_000 / end.len()));
        let error = read(&with_header(&header, &[])).to_string();
        assert!(error.len() < 500 && !error.contains('\n'), "{error}");
    }
}

//! Makes files from bytes: a few items, their parts, and sets of them.

use arbitrary::{Result, Unstructured};

use super::Case;
use crate::values::Values;

/// Cells that are not finite numbers.
const NO_NUMBERS: [&str; 6] = ["nan", "inf", "-inf", "", "x", "\"1\n\""];
/// Names of parts, in order.
const NAMES: [&str; 4] = ["a", "b", "c=d", "é"];
/// Names of parts that are numbers, in order.
const DIGITS: [&str; 4] = ["-1", "0", "2", "10"];

/// Adds features, shards of them, a kernel, or arbitrary bytes; returns the intended number of items.
pub(super) fn items(case: &mut Case, bytes: &mut Unstructured<'_>) -> Result<usize> {
    let (items, dims) = (bytes.int_in_range(1..=9)?, bytes.int_in_range(1..=5)?);
    let values = Values::of(bytes)?;
    match bytes.int_in_range(0..=31)? {
        0 => {
            case.push(&["--features", "raw.npy"]);
            let raw = bytes.bytes(bytes.len().min(200))?.to_vec();
            case.add("raw.npy", raw);
        }
        1 => {
            case.push(&["--features", "raw.csv"]);
            let raw = bytes.bytes(bytes.len().min(100))?.to_vec();
            case.add("raw.csv", raw);
        }
        2..=8 => {
            let rows = values.matrix(bytes, items, dims)?;
            let mut kernel = products(&rows);
            if bytes.ratio(1, 8)? {
                // The matrix may no longer be a kernel.
                let (i, j) = (bytes.choose_index(items)?, bytes.choose_index(items)?);
                kernel[i][j] = values.next(bytes)?;
            }
            let name = array(case, bytes, &kernel, ["kernel.csv", "kernel.npy"])?;
            case.push(&["--kernel", name]);
        }
        9..=11 => {
            let first = bytes.int_in_range(0..=items - 1)?;
            let rows = values.matrix(bytes, items, dims)?;
            let names = [["one.csv", "one.npy"], ["two.csv", "two.npy"]];
            case.push(&["--features"]);
            for (rows, names) in [&rows[..first], &rows[first..]].into_iter().zip(names) {
                let name = array(case, bytes, rows, names)?;
                case.push(&[name]);
            }
        }
        _ => {
            let rows = values.matrix(bytes, items, dims)?;
            let name = array(case, bytes, &rows, ["items.csv", "items.npy"])?;
            case.push(&["--features", name]);
        }
    }
    Ok(items)
}

/// Returns all inner products.
fn products(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let product = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).map(|(x, y)| x * y).sum();
    rows.iter().map(|a| rows.iter().map(|b| product(a, b)).collect()).collect()
}

/// Adds a matrix in one of two formats; returns the name of the file.
fn array(
    case: &mut Case,
    bytes: &mut Unstructured<'_>,
    rows: &[Vec<f64>],
    names: [&'static str; 2],
) -> Result<&'static str> {
    if bytes.ratio(1, 3)? {
        let file = npy(bytes, rows)?;
        case.add(names[1], file);
        return Ok(names[1]);
    }
    let mut text = String::new();
    if bytes.ratio(1, 8)? {
        text.push_str(&rows.first().map_or(String::new(), |row| vec!["x"; row.len()].join(",") + "\n"));
    }
    let broken = bytes.ratio(1, 32)?;
    for row in rows {
        let mut cells: Vec<String> = row.iter().map(|x| format!("{x:e}")).collect();
        if broken && bytes.ratio(1, 4)? {
            let at = bytes.choose_index(cells.len())?;
            cells[at] = String::from(*bytes.choose(&NO_NUMBERS)?);
        }
        text.push_str(&(cells.join(",") + "\n"));
    }
    case.add(names[0], text.into_bytes());
    Ok(names[0])
}

fn npy(bytes: &mut Unstructured<'_>, rows: &[Vec<f64>]) -> Result<Vec<u8>> {
    let columns = rows.first().map_or(1, Vec::len);
    let kind = *bytes.choose(&["<f8", "<f8", ">f8", "<f4", "<f2", "|u1", "<i8", "|b1", "<U1"])?;
    let fortran = bytes.ratio(1, 4)?;
    let order = if fortran { "True" } else { "False" };
    let shape = format!("({}, {columns})", rows.len());
    let header = format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut file =
        [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
    let mut put = |x: f64| match kind {
        "<f8" => file.extend(x.to_le_bytes()),
        ">f8" => file.extend(x.to_be_bytes()),
        "<f4" => file.extend((x as f32).to_le_bytes()),
        // The upper half of an f32, read as f16, is a different number.
        "<f2" => file.extend(&(x as f32).to_le_bytes()[2..]),
        "|b1" => file.push(u8::from(x != 0.0)),
        "<i8" => file.extend((x as i64).to_le_bytes()),
        _ => file.push(x as i64 as u8),
    };
    if fortran {
        (0..columns).for_each(|column| rows.iter().for_each(|row| put(row[column])));
    } else {
        rows.iter().flatten().for_each(|&x| put(x));
    }
    if bytes.ratio(1, 64)? {
        file.pop();
    }
    Ok(file)
}

/// Adds one label per item, or several; returns the names of the parts.
pub(super) fn labels(
    case: &mut Case,
    bytes: &mut Unstructured<'_>,
    items: usize,
) -> Result<&'static [&'static str]> {
    let parts = bytes.int_in_range(1..=NAMES.len())?;
    let names = if bytes.ratio(1, 4)? { &DIGITS[..parts] } else { &NAMES[..parts] };
    let labelled = if bytes.ratio(1, 32)? { items + 1 } else { items };
    match bytes.int_in_range(0..=15)? {
        0 => {}
        1 => {
            case.push(&["--labels", "raw-labels.csv"]);
            let raw = bytes.bytes(bytes.len().min(60))?.to_vec();
            case.add("raw-labels.csv", raw);
        }
        2..=4 => {
            let mut text = names.join(",") + "\n";
            for _ in 0..labelled {
                let bits: u8 = bytes.arbitrary()?;
                let cells = (0..parts).map(|part| (bits >> part & 1).to_string());
                text.push_str(&(cells.collect::<Vec<_>>().join(",") + "\n"));
            }
            case.add("labels.csv", text.into_bytes());
            case.push(&["--labels", "labels.csv", "--multi-label"]);
        }
        5 => {
            let header = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': ({labelled},), }}\n");
            let length = (header.len() as u16).to_le_bytes();
            let mut file = [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes()].concat();
            for _ in 0..labelled {
                file.push(bytes.choose_index(parts)? as u8);
            }
            case.add("labels.npy", file);
            case.push(&["--labels", "labels.npy"]);
        }
        several => {
            let columns = if several == 6 { "part,other\n" } else { "part\n" };
            let mut text = columns.to_owned();
            for _ in 0..labelled {
                text.push_str(bytes.choose(names)?);
                text.push_str(if several == 6 { ",1\n" } else { "\n" });
            }
            case.add("labels.csv", text.into_bytes());
            case.push(&["--labels", "labels.csv"]);
            if several == 6 {
                case.push(&["--label-column", *bytes.choose(&["part", "part", "other", "none", ""])?]);
            }
        }
    }
    Ok(names)
}

/// Adds a file of sets, mostly valid.
pub(super) fn sets(case: &mut Case, bytes: &mut Unstructured<'_>, items: usize) -> Result<()> {
    let text = if bytes.ratio(1, 16)? {
        bytes.bytes(bytes.len().min(40))?.to_vec()
    } else {
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for _ in 0..bytes.int_in_range(0..=3)? {
            let size = bytes.int_in_range(0..=4)?;
            sets.push((0..size).map(|_| bytes.int_in_range(0..=items)).collect::<Result<_>>()?);
        }
        serde_json::to_vec(&sets).expect("numbers")
    };
    case.add("sets.json", text);
    case.push(&["--sets", "sets.json"]);
    Ok(())
}

//! The header of a .npy file.

use npyz::{DType, Endianness, NpyHeader, TypeChar};
use py_literal::Value;

use crate::error::NpyProblem;

/// The magic bytes of .npy files.
const MAGIC: &[u8] = b"\x93NUMPY";
/// The longest header that is read, in bytes. NumPy writes a few hundred, and the time to parse a number grows with
/// the square of its digits.
const LONGEST: usize = 1 << 16;
/// The deepest nesting of brackets that is parsed. Parsing time may triple with every level, and records have only
/// five or six levels.
const DEEPEST: usize = 8;
/// The largest number of header characters in a message.
const SHOWN: usize = 120;

/// The header, and the offset of the array.
pub(super) fn read(file: &[u8]) -> Result<(NpyHeader, usize), NpyProblem> {
    let rest = file.strip_prefix(MAGIC).ok_or(NpyProblem::Header)?;
    let (&[major, minor], rest) = rest.split_first_chunk().ok_or_else(cut)?;
    let (length, text) = match (major, minor) {
        (1, 0) => rest.split_first_chunk().map(|(size, text)| (u16::from_le_bytes(*size).into(), text)),
        (2 | 3, 0) => rest.split_first_chunk().map(|(size, text)| (u32::from_le_bytes(*size), text)),
        _ => return Err(NpyProblem::Version { major, minor }),
    }
    .ok_or_else(cut)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > LONGEST {
        let reason = format!("it has {length} bytes, and at most {LONGEST} are read");
        return Err(NpyProblem::Malformed { reason, header: String::new() });
    }
    let begins = file.len() - text.len() + length;
    let text = String::from_utf8_lossy(text.get(..length).ok_or_else(cut)?);
    let header = parse(&in_common_spelling(&text)).map_err(|reason| {
        let header = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
        NpyProblem::Malformed { reason, header }
    })?;
    Ok((header, begins))
}

fn cut() -> NpyProblem {
    NpyProblem::Malformed { reason: "the file ends before it does".into(), header: String::new() }
}

fn parse(text: &str) -> Result<NpyHeader, String> {
    if depth(text) > DEEPEST {
        return Err(format!("its brackets are nested more than {DEEPEST} deep"));
    }
    if is_uncountable(text) {
        return Err("the array has too many elements for any file".into());
    }
    let length = u32::try_from(text.len()).map_err(|error| error.to_string())?;
    let header = [MAGIC, &[3, 0], &length.to_le_bytes(), text.as_bytes()].concat();
    // Only the first line of the message is kept: the rest repeats the header, underlined.
    let reason = |error: std::io::Error| error.to_string().lines().next().unwrap_or_default().to_owned();
    NpyHeader::from_reader(&header[..]).map_err(reason)
}

/// Whether the product of the nonzero sizes of the shape overflows u64. The parser multiplies them in some order, and
/// panics on overflow if overflow checks are on.
fn is_uncountable(text: &str) -> bool {
    let Ok(Value::Dict(entries)) = text.strip_suffix('\n').unwrap_or(text).parse() else { return false };
    let shapes = entries.iter().filter(|(key, _)| key.as_string().is_some_and(|key| key == "shape"));
    shapes.into_iter().any(|(_, shape)| {
        let sizes = shape.as_tuple().or(shape.as_list()).map_or(&[][..], Vec::as_slice);
        // The parser rejects anything that is not a size.
        let sizes = sizes.iter().filter_map(|size| u64::try_from(size.as_integer()?).ok());
        sizes.map(|size| size.max(1)).try_fold(1, u64::checked_mul).is_none()
    })
}

/// The deepest nesting of brackets, including brackets in names.
fn depth(text: &str) -> usize {
    let mut open = 0_usize;
    let depths = text.bytes().map(|byte| {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open
    });
    depths.max().unwrap_or(0)
}

/// The header with the element type in NumPy's spelling; other programs omit the byte order, or write `=`.
fn in_common_spelling(text: &str) -> String {
    let found = ["'descr'", "\"descr\""].iter().find_map(|key| Some(text.find(key)? + key.len()));
    let common = found.and_then(|end| {
        let value = text[end..].trim_start().strip_prefix(':')?.trim_start();
        let quote = value.chars().next().filter(|quote| "'\"".contains(*quote))?;
        let (kind, after) = value[1..].split_once(quote)?;
        let before = &text[..text.len() - value.len()];
        Some(format!("{before}'{}'{after}", common_spelling(kind)?))
    });
    common.unwrap_or_else(|| text.to_owned())
}

fn common_spelling(kind: &str) -> Option<String> {
    let of_machine = if Endianness::of_machine() == Endianness::Little { '<' } else { '>' };
    match kind.trim_start_matches(['=', '|', '<', '>']) {
        "?" => Some("|b1".into()),
        bare if kind.starts_with('=') => Some(format!("{of_machine}{bare}")),
        bare if bare == kind && kind.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Some(format!("{of_machine}{bare}"))
        }
        _ => None,
    }
}

/// An element type as written in the header, with a description.
pub(super) fn describe(kind: &DType) -> String {
    let written = kind.descr();
    let DType::Plain(element) = kind else {
        return format!("{} (records)", written.chars().take(SHOWN).collect::<String>());
    };
    let words = match element.type_char() {
        TypeChar::Bool => "booleans".into(),
        TypeChar::Int | TypeChar::Uint => "integers".into(),
        TypeChar::Float => format!("floating-point numbers of {} bytes", element.size_field()),
        TypeChar::Complex => "complex numbers".into(),
        TypeChar::TimeDelta => "time differences".into(),
        TypeChar::DateTime => "dates".into(),
        TypeChar::ByteStr | TypeChar::UnicodeStr => "text".into(),
        TypeChar::Object => "Python objects".into(),
        _ => return written,
    };
    format!("{written} ({words})")
}

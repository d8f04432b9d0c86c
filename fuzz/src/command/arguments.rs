//! Makes arguments from bytes.

use arbitrary::{Result, Unstructured};

use super::{Case, contents};

/// The time limit in seconds; a command that ignores it is a finding.
const BRIEFLY: &str = "0.02";

/// Numbers that are out of range or malformed.
const ODD: [&str; 20] = [
    "-1",
    "0",
    "1",
    "1e9",
    "1000000000",
    "18446744073709551615",
    "18446744073709551616",
    "-0",
    "nan",
    "inf",
    "1e-320",
    "1e308",
    "",
    " ",
    "x",
    "0x1",
    "1,1",
    "1..2",
    "..",
    "=",
];

/// Options that several commands or none accept.
const LOOSE: [&str; 16] = [
    "--json",
    "--quiet",
    "--plan",
    "--certify",
    "--independent",
    "--multi-label",
    "--help",
    "--version",
    "-q",
    "--",
    "--precision=f32",
    "--precision=f64",
    "--engine=cpu",
    "--engine=auto",
    "--frobnicate",
    "stray",
];

pub(super) fn fill(case: &mut Case, bytes: &mut Unstructured<'_>) -> Result<()> {
    let command = *bytes.choose(&["sample", "sample", "infer", "map", "counts"])?;
    case.push(&[command]);
    let items = contents::items(case, bytes)?;
    let parts = contents::labels(case, bytes, items)?;
    law(case, bytes, items, parts)?;
    conditions(case, bytes, items)?;
    match command {
        "sample" => sample(case, bytes)?,
        "infer" if bytes.ratio(1, 3)? => contents::sets(case, bytes, items)?,
        "map" => map(case, bytes)?,
        _ => {}
    }
    if bytes.ratio(15, 16)? {
        case.push(&["--time-limit", BRIEFLY]);
    } else {
        let limit =
            *bytes.choose(&["0", "0.001", "-1", "nan", "x", "", "1e300", " 0.01", "inf", "1e-320"])?;
        case.push(&["--time-limit", limit]);
    }
    if bytes.ratio(3, 4)? {
        case.push(&["--json"]);
    }
    if bytes.ratio(1, 16)? {
        case.push(&[*bytes.choose(&LOOSE)?]);
    }
    Ok(())
}

fn number(bytes: &mut Unstructured<'_>, most: usize) -> Result<String> {
    if bytes.ratio(1, 32)? { odd(bytes) } else { Ok(bytes.int_in_range(0..=most)?.to_string()) }
}

fn odd(bytes: &mut Unstructured<'_>) -> Result<String> {
    Ok((*bytes.choose(&ODD)?).to_owned())
}

fn law(case: &mut Case, bytes: &mut Unstructured<'_>, items: usize, parts: &[&str]) -> Result<()> {
    let (with_quota, with_size) = match bytes.int_in_range(0..=7)? {
        0 => (false, false),
        1 | 2 => (false, true),
        3 => (true, true),
        _ => (true, false),
    };
    if with_quota {
        let quota = quota(bytes, parts)?;
        case.push(&["--quota", &quota]);
    }
    if with_size {
        let k = number(bytes, items + 1)?;
        case.push(&["--k", &k]);
    }
    Ok(())
}

/// Makes a quota by position or by name, from numbers and ranges, sometimes with one entry too few or too many.
fn quota(bytes: &mut Unstructured<'_>, parts: &[&str]) -> Result<String> {
    if bytes.ratio(1, 32)? {
        let text = bytes.bytes(bytes.len().min(12))?;
        return Ok(String::from_utf8_lossy(text).into_owned());
    }
    let (named, ranges) = (bytes.ratio(1, 4)?, bytes.ratio(1, 2)?);
    let count = match bytes.int_in_range(0..=31)? {
        0 => parts.len() + 1,
        1 => parts.len() - 1,
        _ => parts.len(),
    };
    let mut entries = Vec::new();
    for at in 0..count {
        let entry = if ranges && bytes.arbitrary()? {
            let low = if bytes.arbitrary()? { number(bytes, 3)? } else { String::new() };
            let high = if bytes.arbitrary()? { number(bytes, 4)? } else { String::new() };
            format!("{low}..{high}")
        } else {
            number(bytes, 3)?
        };
        let name = if named { format!("{}=", parts.get(at).unwrap_or(&"nobody")) } else { String::new() };
        entries.push(name + &entry);
    }
    Ok(entries.join(","))
}

fn conditions(case: &mut Case, bytes: &mut Unstructured<'_>, items: usize) -> Result<()> {
    for option in ["--include", "--exclude"] {
        if bytes.ratio(1, 4)? {
            let mut list = Vec::new();
            for _ in 0..bytes.int_in_range(1..=3)? {
                list.push(number(bytes, items)?);
            }
            case.push(&[option, &list.join(",")]);
        }
    }
    Ok(())
}

fn sample(case: &mut Case, bytes: &mut Unstructured<'_>) -> Result<()> {
    let samples = number(bytes, 40)?;
    case.push(&["--samples", &samples]);
    let method = *bytes.choose(&["auto", "auto", "rejection", "interpolation", "per-candidate", "mcmc"])?;
    if method != "auto" {
        case.push(&["--method", method]);
    }
    if method == "mcmc" || bytes.ratio(1, 64)? {
        for (option, most) in [("--burn-in", 8), ("--thin", 4), ("--chains", 3)] {
            if bytes.arbitrary()? {
                let value = number(bytes, most)?;
                case.push(&[option, &value]);
            }
        }
    }
    if bytes.ratio(1, 16)? {
        case.push(&["--independent"]);
    }
    if bytes.ratio(1, 8)? {
        case.push(&["--plan"]);
    }
    let seed = bytes.arbitrary::<u8>()?.to_string();
    case.push(&["--seed", &seed]);
    // Without this option, the command reads the free memory of the system.
    let memory =
        *bytes.choose(&["1GB", "1GB", "1GB", "1GB", "1GB", "1kB", "0", "-1", "1", "x", "1EB", ""])?;
    case.push(&["--memory", memory]);
    if bytes.ratio(1, 16)? {
        let budget = odd(bytes)?;
        case.push(&["--budget", &budget]);
    }
    Ok(())
}

fn map(case: &mut Case, bytes: &mut Unstructured<'_>) -> Result<()> {
    let solvers = ["local-search", "greedy", "exact", "symmetric-greedy", "softmax"];
    let solver = *bytes.choose(&solvers)?;
    case.push(&["--solver", solver]);
    if bytes.ratio(1, 4)? {
        case.push(&["--certify"]);
    }
    if bytes.ratio(1, 16)? {
        let epsilon = odd(bytes)?;
        case.push(&["--epsilon", &epsilon]);
    }
    Ok(())
}

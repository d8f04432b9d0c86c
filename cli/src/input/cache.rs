//! Features of --similarity rbf that are kept in a file, and read again if they belong to the same input.
//!
//! FILE.json, in the same folder as FILE, records the origin of the features.

use std::{
    fs,
    hash::Hasher,
    io,
    path::{Path, PathBuf},
};

use partition_dpp::{Error, Features, similarity::Rbf};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash64;

use super::{
    Reading,
    weighing::{Gaussian, with_progress},
};
use crate::{
    failure::Failure,
    output,
    whole_file::{self, Files},
};

/// The file in messages.
const WHAT: &str = "the cache";
/// Rows hashed at a time.
const CHUNK: usize = 1 << 12;
/// Rows of the cache that are compared with what is known of them: it is not read twice.
const COMPARED: usize = 1 << 10;

/// The origin of features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// Other versions may make others.
    made_by: String,
    items: usize,
    dims: usize,
    /// A hash of all rows.
    rows: String,
    /// None in files of versions that took the median distance without computing it first.
    bandwidth: Option<f64>,
    landmarks: usize,
    /// That landmarks are drawn with.
    seed: u64,
}

/// FILE.json.
#[derive(Debug, Serialize, Deserialize)]
struct Sidecar {
    #[serde(flatten)]
    origin: Origin,
    kernel_error: f64,
    /// Of the features in FILE.
    shape: [usize; 2],
    /// A hash of some of their rows.
    features: String,
}

impl Origin {
    pub(super) fn new(rows: &Features, bandwidth: f64, landmarks: usize) -> Self {
        Self {
            made_by: concat!("pdpp ", env!("CARGO_PKG_VERSION")).into(),
            items: rows.items(),
            dims: rows.dims(),
            rows: hash_of(rows, 1),
            bandwidth: Some(bandwidth),
            landmarks,
            seed: 0,
        }
    }
}

/// The features of this kernel, and their error: those in the file if they are of the same origin; otherwise they are made
/// and kept there.
///
/// # Errors
/// If the file cannot be written, or is there and none of these.
pub(super) fn features(
    path: &Path,
    rows: &Features,
    rbf: Rbf,
    origin: Origin,
    reading: Reading<'_>,
) -> Result<Gaussian, Failure> {
    match kept(path)? {
        Some((sidecar, features)) if sidecar.origin == origin => {
            let (kernel_error, landmarks) = (sidecar.kernel_error, Some(features.dims()));
            return Ok(Gaussian { features, kernel_error, landmarks });
        }
        Some(_) => {
            let path = path.display();
            output::note(&format!(
                "{path} was made of another input or with other options, and is made again"
            ));
        }
        None => {}
    }
    whole_file::check(path, WHAT)?;
    let mut files = Files::default();
    let made = files.add_made(path, WHAT, |beside| {
        let made = with_progress(reading, |engine| rbf.to_npy(rows, beside, engine));
        made.map_err(|error| match error {
            Error::Io { error, .. } => Failure::file(path, format!("{WHAT} cannot be written: {error}")),
            other => other.into(),
        })
    })?;
    let made = Gaussian::from(&made);
    let (features, kernel_error) = (&made.features, made.kernel_error);
    let shape = [features.items(), features.dims()];
    let sidecar = Sidecar { origin, kernel_error, shape, features: hash_of_some(features) };
    let text =
        serde_json::to_string_pretty(&sidecar).map_err(|error| Failure::file(path, error.to_string()))?;
    files.add(&beside(path), WHAT, (text + "\n").as_bytes())?;
    files.finish()?;
    Ok(made)
}

/// The contents of the file, if it exists.
fn kept(path: &Path) -> Result<Option<(Sidecar, Features)>, Failure> {
    let refused = |problem: &str| {
        let advice = "name another file for --cache, or remove this one";
        Err(Failure::file(path, format!("{problem}; {advice}")))
    };
    let described = beside(path);
    let sidecar = match fs::read(&described) {
        Ok(text) => {
            let Ok(sidecar) = serde_json::from_slice::<Sidecar>(&text) else {
                return refused(&format!("{} does not describe a cache", described.display()));
            };
            Some(sidecar)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::io(&described, &error)),
    };
    match path.try_exists() {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        Err(error) => return Err(Failure::io(path, &error)),
    }
    let Some(sidecar) = sidecar else {
        return refused("this file was not made by --cache");
    };
    let Ok(features) = Features::open_npy(path) else {
        return refused("this cache cannot be read: it is broken");
    };
    if sidecar.shape != [features.items(), features.dims()] || sidecar.features != hash_of_some(&features) {
        return refused(&format!("this is not the file that {} describes", described.display()));
    }
    Ok(Some((sidecar, features)))
}

/// FILE.json.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".json");
    name.into()
}

fn hash_of_some(features: &Features) -> String {
    hash_of(features, features.items().div_ceil(COMPARED))
}

/// A hash of every `step`-th row.
fn hash_of(features: &Features, step: usize) -> String {
    let rows: Vec<usize> = (0..features.items()).step_by(step).collect();
    let of_chunk = |rows: &[usize]| {
        let mut hasher = XxHash64::with_seed(0);
        rows.iter().for_each(|&row| hasher.write(bytemuck::cast_slice(&features.row(row))));
        hasher.finish()
    };
    let chunks: Vec<u64> = rows.par_chunks(CHUNK).map(of_chunk).collect();
    let mut hasher = XxHash64::with_seed(0);
    chunks.into_iter().for_each(|chunk| hasher.write_u64(chunk));
    format!("{:016x}", hasher.finish())
}

//! Files that are there whole or not at all.

use std::{
    io::{self, Write},
    path::Path,
};

use crate::failure::Failure;

/// Refuses, before anything is computed, a file that could not be written in the end; `what` it would hold.
pub(crate) fn check_folder(path: &Path, what: &str) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::file(path, format!("{what} cannot be written: this is a folder")));
    }
    if !folder(path).is_dir() {
        return Err(Failure::file(path, format!("{what} cannot be written: there is no such folder")));
    }
    Ok(())
}

/// All or nothing: the bytes go to a file beside it that then takes its name.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(mode);
    let mut file = builder.tempfile_in(folder(path))?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

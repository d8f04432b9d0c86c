//! The folder to which files are written, in memory if the system has /dev/shm.

use std::{fs, path::Path, path::PathBuf, thread_local};

use tempfile::TempDir;

thread_local! {
    static FOLDER: TempDir = make();
}

fn make() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder for small files")
}

/// Returns the path of a file of this name, whether or not it exists.
pub(crate) fn path(name: &str) -> PathBuf {
    FOLDER.with(|folder| folder.path().join(name))
}

/// Writes a file. An existing file is removed first, since it may be mapped.
pub(crate) fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = path(name);
    // The file need not exist.
    let _ = fs::remove_file(&path);
    fs::write(&path, bytes).expect("room for a small file");
    path
}

//! The folder that files are written to, in memory where the system has such a folder.

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

/// Where a file of this name is, or would be.
pub(crate) fn path(name: &str) -> PathBuf {
    FOLDER.with(|folder| folder.path().join(name))
}

/// Writes a file. One that was there before is replaced, since it may be mapped.
pub(crate) fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = path(name);
    // It need not be there.
    let _ = fs::remove_file(&path);
    fs::write(&path, bytes).expect("room for a small file");
    path
}

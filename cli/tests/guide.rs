//! Runs the commands of the guide, and 60 wrong ones, and compares what they print with the pages.
//!
//! `TRYCMD=overwrite cargo test --release -p pdpp --test guide` writes the answers into the pages.

use std::{env, path::Path};

use tempfile::TempDir;

/// Commands run in an empty folder with a link to `docs`, so that a page's files do not end up in the repository.
#[test]
#[cfg(unix)]
fn commands_print_what_the_pages_say() -> std::io::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").canonicalize()?;
    let folder = TempDir::new()?;
    std::os::unix::fs::symlink(docs, folder.path().join("docs"))?;
    env::set_current_dir(folder.path())?;
    let cases = trycmd::TestCases::new();
    cases
        .default_bin_path(env!("CARGO_BIN_EXE_pdpp"))
        .register_bin("pdpp", Path::new(env!("CARGO_BIN_EXE_pdpp")));
    cases.case("docs/guide/*.md").case(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/messages.md"));
    cases.run();
    Ok(())
}

//! Files that options write are none of those that are read.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{failure::Failure, whole_file};

/// An option, and a file that it writes.
pub(crate) type Written<'a> = (&'static str, &'a Path);

/// Refuses options that would replace a file that is read, or that another option writes, by whatever name or link, before
/// the work begins.
pub(crate) fn refuse_replacing<'a>(
    written: &[Written<'_>],
    read: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let identified = |path: &'a Path| Identity::of(path).map(|identity| (path, identity));
    let read: Vec<(&Path, Identity)> =
        if written.is_empty() { Vec::new() } else { read.into_iter().filter_map(identified).collect() };
    let mut earlier: Vec<(&str, Identity)> = Vec::new();
    for &(option, path) in written {
        let Some(identity) = Identity::of(path) else { continue };
        if let Some((input, _)) = read.iter().find(|(_, other)| *other == identity) {
            let input = input.display();
            let problem =
                format!("this is the input {input}, which {option} would replace; name another file");
            return Err(Failure::file(path, problem));
        }
        if let Some((other, _)) = earlier.iter().find(|(_, other)| *other == identity) {
            let problem = format!("{other} and {option} would write the same file; name another file");
            return Err(Failure::file(path, problem));
        }
        earlier.push((option, identity));
    }
    Ok(())
}

/// The identity of a file, common to all its names.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// The device and the inode of a file that exists.
    #[cfg(unix)]
    Node(u64, u64),
    /// The canonical path of a file.
    Path(PathBuf),
}

impl Identity {
    /// `None` for a device or a pipe, which nothing replaces, and for a file whose folder does not exist.
    fn of(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            Ok(found) if !found.is_file() => None,
            #[cfg(unix)]
            Ok(found) => {
                use std::os::unix::fs::MetadataExt;
                Some(Self::Node(found.dev(), found.ino()))
            }
            #[cfg(not(unix))]
            Ok(_) => fs::canonicalize(path).ok().map(Self::Path),
            Err(_) => {
                let end = whole_file::end_of_links(path).ok()?;
                let folder = fs::canonicalize(whole_file::folder(&end)).ok()?;
                Some(Self::Path(folder.join(end.file_name()?)))
            }
        }
    }
}

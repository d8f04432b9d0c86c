//! Files, written completely or not at all.
//!
//! A new file is written in the same folder and then replaces the regular file, so that it is never half written. Symbolic links
//! are followed. Devices and pipes are written to.

use std::{
    fs::{self, File, Metadata, OpenOptions, Permissions},
    io::{self, Write, stderr, stdout},
    path::{Path, PathBuf},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use partition_dpp::watch::Ended;
use tempfile::NamedTempFile;

use crate::{failure::Failure, interrupt};

/// The longest chain of symbolic links that is followed.
const MOST_LINKS: usize = 40;
/// Time between checks for Ctrl-C while a pipe has no reader.
const PATIENCE: Duration = Duration::from_millis(50);

/// Makes writing past the limit of file sizes (`ulimit -f`) an error, as a full disk is, instead of a fatal signal.
#[cfg(unix)]
pub(crate) fn survive_size_limits() -> Result<(), Failure> {
    use std::sync::{Arc, atomic::AtomicBool};
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))
        .map(|_| ())
        .map_err(|error| Failure::Signal(error.to_string()))
}

/// Refuses a file that cannot be written, before the work begins; `what` names its contents in messages.
pub(crate) fn check(path: &Path, what: &str) -> Result<(), Failure> {
    let checked = Target::of(path).and_then(|target| match target {
        Target::Regular { file, .. } => new_file_beside(&file).map(drop),
        Target::Stream(_) | Target::Output | Target::Messages => Ok(()),
    });
    checked.map_err(|problem| cannot(path, what, &problem))
}

/// Writes one file.
pub(crate) fn write(path: &Path, what: &str, bytes: &[u8]) -> Result<(), Failure> {
    let mut files = Files::default();
    files.add(path, what, bytes)?;
    files.finish()
}

/// Several files that appear only once all of them are written.
#[derive(Debug, Default)]
pub(crate) struct Files(Vec<Pending>);

/// A temporary file, or the bytes for a device or pipe.
#[derive(Debug)]
enum Pending {
    Whole { path: PathBuf, what: String, file: NamedTempFile, target: PathBuf },
    Bytes { path: PathBuf, what: String, bytes: Vec<u8>, target: Target },
}

impl Files {
    /// Adds a file.
    pub(crate) fn add(&mut self, path: &Path, what: &str, bytes: &[u8]) -> Result<(), Failure> {
        let pending = Target::of(path).and_then(|target| {
            let (path, what) = (path.to_owned(), what.to_owned());
            Ok(match target {
                Target::Regular { file: target, permissions } => {
                    let file = filled(&target, permissions, bytes)?;
                    Pending::Whole { path, what, file, target }
                }
                target => Pending::Bytes { path, what, bytes: bytes.to_owned(), target },
            })
        });
        self.0.push(pending.map_err(|problem| cannot(path, what, &problem))?);
        Ok(())
    }

    /// Adds a regular file that `make` makes under another name, replacing the empty one that is there.
    pub(crate) fn add_made<T>(
        &mut self,
        path: &Path,
        what: &str,
        make: impl FnOnce(&Path) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let cannot = |problem: String| cannot(path, what, &problem);
        let Target::Regular { file: target, permissions } = Target::of(path).map_err(cannot)? else {
            return Err(cannot("this is not a regular file".into()));
        };
        let file = new_file_beside(&target).map_err(cannot)?;
        let made = make(file.path())?;
        let finish = || {
            permissions.map_or(Ok(()), |permissions| fs::set_permissions(file.path(), permissions))?;
            File::open(file.path())?.sync_all()
        };
        finish().map_err(|error| cannot(error.to_string()))?;
        self.0.push(Pending::Whole { path: path.to_owned(), what: what.to_owned(), file, target });
        Ok(made)
    }

    /// Renames all files to their names.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        for pending in self.0 {
            match pending {
                Pending::Whole { path, what, file, target } => {
                    file.persist(target).map_err(|error| cannot(&path, &what, &error.error.to_string()))?;
                }
                Pending::Bytes { path, what, bytes, target } => match target.write(bytes) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                        return Err(Failure::Abandoned(Ended::Interrupted));
                    }
                    // A reader that closes the pipe early is no failure.
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                        return Err(cannot(&path, &what, &error.to_string()));
                    }
                    _ => {}
                },
            }
        }
        Ok(())
    }
}

/// The target of a path.
#[derive(Debug)]
enum Target {
    /// A regular file behind all links; with permissions if it exists already.
    Regular { file: PathBuf, permissions: Option<Permissions> },
    /// A device or a pipe.
    Stream(PathBuf),
    /// Standard output, which would be overwritten from its start if it were opened again.
    Output,
    /// Standard error, likewise.
    Messages,
}

impl Target {
    fn of(path: &Path) -> Result<Self, String> {
        let of_system = |error: io::Error| error.to_string();
        match path.to_str() {
            Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => return Ok(Target::Output),
            Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => return Ok(Target::Messages),
            _ => {}
        }
        let found = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Target::Regular { file: end_of_links(path)?, permissions: None });
            }
            found => found.map_err(of_system)?,
        };
        if let Some(kind) = unwritable(&found) {
            return Err(format!("this is {kind}"));
        }
        if !found.is_file() {
            return Ok(Target::Stream(path.to_owned()));
        }
        // A file that may not be written to is not replaced either.
        OpenOptions::new().write(true).open(path).map_err(of_system)?;
        let file = fs::canonicalize(path).map_err(of_system)?;
        Ok(Target::Regular { file, permissions: Some(found.permissions()) })
    }

    fn write(self, bytes: Vec<u8>) -> io::Result<()> {
        let all = |mut out: Box<dyn Write>| out.write_all(&bytes).and_then(|()| out.flush());
        match self {
            Target::Output => all(Box::new(stdout().lock())),
            Target::Messages => all(Box::new(stderr().lock())),
            Target::Regular { file: path, .. } | Target::Stream(path) => write_to_stream(path, bytes),
        }
    }
}

/// The kind of a file that is not written to, in words.
fn unwritable(found: &Metadata) -> Option<&'static str> {
    if found.is_dir() {
        return Some("a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if found.file_type().is_socket() {
            return Some("a socket, which cannot be opened by its name");
        }
        if found.file_type().is_block_device() {
            return Some("a disk");
        }
    }
    None
}

/// The path of a file that does not exist yet, behind all links.
pub(crate) fn end_of_links(path: &Path) -> Result<PathBuf, String> {
    let mut end = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&end) {
            Ok(link) => end = folder(&end).join(link),
            Err(_) if folder(&end).is_dir() => return Ok(end),
            Err(_) => return Err("there is no such folder".into()),
        }
    }
    Err("its links lead nowhere".into())
}

/// A temporary file in the folder of another.
fn new_file_beside(target: &Path) -> Result<NamedTempFile, String> {
    #[cfg(unix)]
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    let made = tempfile::Builder::new().permissions(mode).tempfile_in(folder(target));
    #[cfg(not(unix))]
    let made = NamedTempFile::new_in(folder(target));
    // The system's message names the temporary file.
    made.map_err(|error| format!("cannot create a file in its folder: {}", error.kind()))
}

/// A temporary file with these bytes, flushed to the disk.
fn filled(target: &Path, permissions: Option<Permissions>, bytes: &[u8]) -> Result<NamedTempFile, String> {
    let file = new_file_beside(target)?;
    let fill = |mut file: &File| {
        file.write_all(bytes)?;
        permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
        // Some file systems report only now that they are full.
        file.sync_all()
    };
    fill(file.as_file()).map_err(|error| error.to_string())?;
    Ok(file)
}

/// Opens a pipe, which blocks until it has a reader, but ends at Ctrl-C.
fn write_to_stream(path: PathBuf, bytes: Vec<u8>) -> io::Result<()> {
    // Looked at before anything is written: whoever reads the first bytes may press Ctrl-C at once.
    let already_raised = interrupt::raised();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let stream = OpenOptions::new().write(true).open(path);
        let written = stream.and_then(|mut stream| stream.write_all(&bytes).and_then(|()| stream.flush()));
        // After Ctrl-C the receiver is gone.
        let _ = sender.send(written);
    });
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(written) => return written,
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the writer failed")),
            Err(RecvTimeoutError::Timeout) if already_raised || !interrupt::raised() => {}
            Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::Interrupted.into()),
        }
    }
}

/// The folder of a file.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn cannot(path: &Path, what: &str, problem: &str) -> Failure {
    Failure::file(path, format!("{what} cannot be written: {problem}"))
}

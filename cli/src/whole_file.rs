//! Everything that is written to files: whole, or not at all.
//!
//! A regular file is replaced by one that was written beside it, so that at no time there is half a file; of a
//! symbolic link it is the target that is replaced. What is no regular file (a device, a pipe) is written to and never
//! replaced.

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

/// Links to links are followed so far.
const MOST_LINKS: usize = 40;
/// How long a Ctrl-C may wait while a pipe has no reader.
const PATIENCE: Duration = Duration::from_millis(50);

/// Makes writing past a limit of file sizes (`ulimit -f`) an error like a full disk, not the end of the program.
#[cfg(unix)]
pub(crate) fn survive_size_limits() -> Result<(), Failure> {
    use std::sync::{Arc, atomic::AtomicBool};
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))
        .map(|_| ())
        .map_err(|error| Failure::Signal(error.to_string()))
}

/// Refuses, before anything is computed, a file that could not be written in the end; `what` it would hold.
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

/// Several files, of which none is there before all are written.
#[derive(Debug, Default)]
pub(crate) struct Files(Vec<Pending>);

/// A file that waits for its name, or bytes that wait for their reader.
#[derive(Debug)]
enum Pending {
    Whole { path: PathBuf, what: String, file: NamedTempFile, target: PathBuf },
    Bytes { path: PathBuf, what: String, bytes: Vec<u8>, target: Target },
}

impl Files {
    /// One more.
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

    /// Gives them their names.
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
                    // A reader who has seen enough is no failure.
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

/// What a path leads to.
#[derive(Debug)]
enum Target {
    /// A file at the end of all links, which is there already if it has permissions.
    Regular { file: PathBuf, permissions: Option<Permissions> },
    /// A device or a pipe.
    Stream(PathBuf),
    /// What standard output is connected to: opened anew it would be written from its start.
    Output,
    /// The same of standard error.
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
        // What must not be written to must not be replaced either.
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

/// Kinds of files that nothing is written to, in words.
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

/// Where a path leads that leads to no file yet: one of its links may point there.
fn end_of_links(path: &Path) -> Result<PathBuf, String> {
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

/// An open file without a lasting name, in the folder of another.
fn new_file_beside(target: &Path) -> Result<NamedTempFile, String> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(mode);
    let made = builder.tempfile_in(folder(target));
    // The system's message would name the temporary file.
    made.map_err(|error| format!("no file can be made in its folder: {}", error.kind()))
}

/// The file that is to take the target's place, on the disk with all its bytes.
fn filled(target: &Path, permissions: Option<Permissions>, bytes: &[u8]) -> Result<NamedTempFile, String> {
    let file = new_file_beside(target)?;
    let fill = |mut file: &File| {
        file.write_all(bytes)?;
        permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
        // Some file systems find out only now that they are full.
        file.sync_all()
    };
    fill(file.as_file()).map_err(|error| error.to_string())?;
    Ok(file)
}

/// Opening a pipe blocks until it has a reader; Ctrl-C must be able to end that.
fn write_to_stream(path: PathBuf, bytes: Vec<u8>) -> io::Result<()> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let stream = OpenOptions::new().write(true).open(path);
        let written = stream.and_then(|mut stream| stream.write_all(&bytes).and_then(|()| stream.flush()));
        // After a Ctrl-C there is no receiver.
        let _ = sender.send(written);
    });
    let already_raised = interrupt::raised();
    loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(written) => return written,
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the writer has failed")),
            Err(RecvTimeoutError::Timeout) if already_raised || !interrupt::raised() => {}
            Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::Interrupted.into()),
        }
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn cannot(path: &Path, what: &str, problem: &str) -> Failure {
    Failure::file(path, format!("{what} cannot be written: {problem}"))
}

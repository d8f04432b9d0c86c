//! `pdpp` with a terminal as its standard error. The progress bar shows when to press Ctrl-C.

use std::{
    fs::File,
    io::{ErrorKind, Read},
    process::{self, Child, Output, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread::scope,
};

use nix::pty::{Winsize, openpty};

use super::support::{DEAD_LINE, Folder};

/// Wide enough for every progress bar.
const SIZE: Winsize = Winsize { ws_row: 50, ws_col: 250, ws_xpixel: 0, ws_ypixel: 0 };

/// Returns the numbers that a progress bar has shown in front of `unit`.
pub(crate) fn numbers(shown: &str, unit: &str) -> Vec<u64> {
    let before = |at: usize| {
        let text = &shown[..at];
        text[text.trim_end_matches(|c: char| c.is_ascii_digit()).len()..].parse().ok()
    };
    shown.match_indices(unit).filter_map(|(at, _)| before(at)).collect()
}

/// Whether a progress bar has shown a number of at least `least` in front of `unit`.
pub(crate) fn counted(shown: &str, unit: &str, least: u64) -> bool {
    numbers(shown, unit).iter().any(|&number| number >= least)
}

impl Folder {
    /// Runs a command and sends Ctrl-C as soon as its progress bar has shown what is awaited, as on a machine without
    /// a
    /// graphics adapter. Returns its output; standard error begins with the message.
    pub(crate) fn interrupted(&self, arguments: &str, awaited: impl Fn(&str) -> bool) -> Output {
        let terminal = openpty(&SIZE, None).unwrap();
        let mut command = process::Command::new(env!("CARGO_BIN_EXE_pdpp"));
        command.args(arguments.split(' ')).current_dir(self.path("."));
        command.env("WGPU_BACKEND", "gl").env("TERM", "xterm");
        command.stdout(Stdio::piped()).stderr(terminal.slave);
        let child = command.spawn().unwrap();
        // The command holds the other end of the terminal.
        drop(command);
        let id = child.id();
        let (done, waiting) = mpsc::channel::<()>();
        scope(|scope| {
            scope.spawn(move || {
                if waiting.recv_timeout(DEAD_LINE) == Err(RecvTimeoutError::Timeout) {
                    signal(id, "-KILL");
                }
            });
            let stdout = scope.spawn(|| stdout_of(child));
            let shown = shown(File::from(terminal.master), |shown, signalled| {
                !signalled && awaited(shown) && signal(id, "-INT")
            });
            let mut output = stdout.join().unwrap();
            drop(done);
            let message = shown.rfind("error: ").map_or(&shown[..], |at| &shown[at..]);
            output.stderr = message.replace("\r\n", "\n").into_bytes();
            output
        })
    }
}

fn signal(id: u32, name: &str) -> bool {
    process::Command::new("kill").args([name, &id.to_string()]).status().unwrap().success()
}

fn stdout_of(child: Child) -> Output {
    child.wait_with_output().unwrap()
}

/// Returns everything that a terminal shows until the other end is closed.
///
/// `look` is called after each piece, with whether an earlier call has returned true.
fn shown(mut terminal: File, look: impl Fn(&str, bool) -> bool) -> String {
    let (mut bytes, mut content) = (Vec::new(), false);
    let mut piece = [0; 4096];
    loop {
        match terminal.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The other end is closed.
            Err(_) => break,
        }
        content |= look(&String::from_utf8_lossy(&bytes), content);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(content, "it ended before it was interrupted: {text}");
    text
}

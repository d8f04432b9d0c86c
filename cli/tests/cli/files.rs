//! Output files are written whole or not at all, through links, and into devices and pipes.
#![cfg(unix)]

use std::{
    fs::{self, File},
    io::Read,
    os::unix::{
        fs::{FileTypeExt, PermissionsExt, symlink},
        net::UnixListener,
    },
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{self, Receiver},
    thread::{self, sleep},
    time::{Duration, Instant},
};

use super::support::{DEAD_LINE, Folder, begins_with};

const BENCH: &str = "bench --items 40 --dims 3 --k 2 --quiet";
const SAMPLE: &str = "sample --features features.csv --k 2";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Starts `pdpp` with the destination of its output.
fn start(folder: &Folder, arguments: &str, stdout: impl Into<Stdio>) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdpp"));
    command.args(arguments.split(' ')).current_dir(folder.path(".")).env("WGPU_BACKEND", "gl");
    command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns the output of a command that ends in time.
fn finish(mut child: Child) -> Output {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > DEAD_LINE {
            child.kill().unwrap();
            panic!("it hangs");
        }
        sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Reads from a pipe, or only its first few bytes.
fn reader(path: &Path, most: u64) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    let path = path.to_owned();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        File::open(path).unwrap().take(most).read_to_end(&mut bytes).unwrap();
        sender.send(bytes).unwrap();
    });
    receiver
}

/// Makes the devices /dev/null and /dev/full in the folder, since the superuser could replace the machine's own ones.
///
/// Users who may not make devices may not replace them either, and get links.
fn devices(folder: &Folder) -> [String; 2] {
    [("null", "3"), ("full", "7")].map(|(name, minor)| {
        let own = folder.path(name);
        let made = Command::new("mknod").arg(&own).args(["c", "1", minor]).stderr(Stdio::null()).status();
        if made.is_ok_and(|status| status.success()) {
            File::options().write(true).open(&own).unwrap();
            name.to_owned()
        } else {
            format!("/dev/{name}")
        }
    })
}

#[test]
fn devices_stay_what_they_are() {
    let folder = Folder::new();
    let [null, full] = devices(&folder);
    symlink(&null, folder.path("null.png")).unwrap();
    symlink(&full, folder.path("full.png")).unwrap();
    symlink(&full, folder.path("full.csv")).unwrap();
    folder.text(&format!("{SAMPLE} --plot null.png"));
    folder.text(&format!("{BENCH} --csv {null}"));
    folder.refuses(&format!("{SAMPLE} --plot full.png"), 2, &["full.png", "the plot", "No space left"]);
    folder.refuses(&format!("{BENCH} --csv full.csv"), 2, &["full.csv", "the table", "No space left"]);
    folder.refuses(&format!("{BENCH} --csv {full}"), 2, &[&full, "No space left"]);
    for device in [null, full] {
        let found = fs::symlink_metadata(folder.path(".").join(&device)).unwrap();
        assert!(found.file_type().is_char_device(), "{device}");
    }
    for link in ["null.png", "full.png", "full.csv"] {
        assert!(folder.path(link).is_symlink(), "{link}");
    }
}

#[test]
fn standard_output_by_its_name_comes_before_the_answer() {
    let folder = Folder::new();
    let out = File::create(folder.path("out.txt")).unwrap();
    assert!(finish(start(&folder, &format!("{BENCH} --csv /dev/stdout"), out)).status.success());
    let text = fs::read_to_string(folder.path("out.txt")).unwrap();
    assert!(text.starts_with("items,dims,") && text.contains("\nno gpu    "), "{text}");
}

#[test]
fn links_stay_and_their_targets_are_replaced() {
    let folder = Folder::new();
    fs::create_dir(folder.path("there")).unwrap();
    folder.write("there/old.csv", "old");
    fs::set_permissions(folder.path("there/old.csv"), PermissionsExt::from_mode(0o640)).unwrap();
    symlink("there/old.csv", folder.path("one.csv")).unwrap();
    symlink("one.csv", folder.path("two.csv")).unwrap();
    symlink("there/new.csv", folder.path("new.csv")).unwrap();
    for (link, target) in [("two.csv", "there/old.csv"), ("new.csv", "there/new.csv")] {
        folder.text(&format!("{BENCH} --csv {link}"));
        assert!(folder.path(link).is_symlink() && begins_with(&folder.path(target), b"items,"), "{link}");
    }
    assert!(folder.path("one.csv").is_symlink());
    let mode = fs::metadata(folder.path("there/old.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    symlink("gone/new.csv", folder.path("lost.csv")).unwrap();
    symlink("circle.csv", folder.path("circle.csv")).unwrap();
    folder.refuses(&format!("{BENCH} --csv lost.csv"), 2, &["lost.csv", "no such folder"]);
    folder.refuses(&format!("{BENCH} --csv circle.csv"), 2, &["circle.csv", "the table"]);
    assert_eq!(fs::read_dir(folder.path("there")).unwrap().count(), 2);
}

#[test]
fn folders_and_sockets_are_refused_before_the_work() {
    let folder = Folder::new();
    fs::create_dir(folder.path("folder.png")).unwrap();
    let _socket = UnixListener::bind(folder.path("socket.png")).unwrap();
    for (name, kind) in [("folder.png", "folder"), ("socket.png", "socket")] {
        // The input would be refused, too, but later.
        let arguments = format!("sample --features gone.csv --k 2 --plot {name}");
        folder.refuses(&arguments, 2, &[name, "the plot cannot be written", kind]);
    }
    folder.refuses("reproduce map-debates --out features.csv", 2, &["features.csv", "not a folder"]);
    folder.refuses("reproduce map-debates --out /dev/null", 2, &["/dev/null", "not a folder"]);
}

#[test]
fn pipes_are_written_to() {
    let folder = Folder::new();
    make_fifo(&folder.path("pipe.png"));
    let read = reader(&folder.path("pipe.png"), u64::MAX);
    let output = finish(start(&folder, &format!("{SAMPLE} --plot pipe.png"), Stdio::piped()));
    assert!(output.status.success() && !output.stdout.is_empty());
    let bytes = read.recv_timeout(DEAD_LINE).unwrap();
    assert!(bytes.starts_with(PNG) && bytes.len() > 1000, "{}", bytes.len());
    // A reader may stop early, before the end of more bytes than a pipe holds.
    let read = reader(&folder.path("pipe.png"), 8);
    let output = finish(start(&folder, "sample --dataset digits --k 2 --plot pipe.png", Stdio::piped()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(read.recv_timeout(DEAD_LINE).unwrap(), PNG);
    assert!(fs::symlink_metadata(folder.path("pipe.png")).unwrap().file_type().is_fifo());
    assert_eq!(folder.files(), ["features.csv", "labels.csv", "pipe.png"]);
}

#[test]
fn ctrl_c_ends_the_wait_for_a_reader() {
    let folder = Folder::new();
    make_fifo(&folder.path("pipe.png"));
    for command in ["sample --dataset digits --k 2", "map --dataset digits --k 2 --time-limit 0"] {
        let arguments = format!("{command} --plot pipe.png");
        let child = start(&folder, &arguments, Stdio::piped());
        // The plot is larger than a pipe: once its writing has begun, it waits for this reader.
        let mut reader = File::open(folder.path("pipe.png")).unwrap();
        reader.read_exact(&mut [0; 8]).unwrap();
        let mut kill = Command::new("kill");
        assert!(kill.args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = finish(child);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0), "{arguments}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: interrupted: nothing is printed\n");
    }
}

#[test]
fn a_full_standard_output_is_told() {
    let folder = Folder::new();
    for arguments in [
        SAMPLE,
        "sample --features features.csv --k 2 --json",
        "map --features features.csv --k 2",
        "--help",
        "devices",
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = finish(start(&folder, arguments, full));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {stderr}");
        assert!(stderr.starts_with("error: standard output: ") && stderr.lines().count() == 1, "{stderr}");
    }
}

#[test]
fn readers_of_standard_output_may_leave() {
    let folder = Folder::new();
    for arguments in ["sample --features features.csv --k 2 --samples 200000 --json", "--help"] {
        let mut child = start(&folder, arguments, Stdio::piped());
        let mut first = [0; 8];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = finish(child);
        assert!(output.status.success() && output.stderr.is_empty(), "{arguments}");
    }
}

/// Simulates a full disk: `ulimit -f` counts blocks of 512 or 1024 bytes.
#[test]
fn nothing_is_left_of_what_does_not_fit() {
    let folder = Folder::new();
    folder.write("plot.png", "old");
    let limited = |arguments: &str| {
        let script = format!("ulimit -f 8 && exec \"$0\" {arguments}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_pdpp")]);
        command.current_dir(folder.path(".")).env("WGPU_BACKEND", "gl").output().unwrap()
    };
    let before = folder.files();
    for (arguments, culprit) in [
        ("sample --dataset digits --k 2 --plot plot.png", "error: plot.png: the plot cannot be written: "),
        ("sample --dataset digits --k 2 --plot new.svg", "error: new.svg: the plot cannot be written: "),
    ] {
        let output = limited(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments}: {stderr}");
        assert!(stderr.starts_with(culprit) && stderr.lines().count() == 1, "{stderr}");
        assert_eq!(folder.files(), before);
    }
    assert_eq!(fs::read(folder.path("plot.png")).unwrap(), b"old");
    // The first files of a report would fit.
    let output = limited("reproduce yale --out report --quiet");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_dir(folder.path("report")).unwrap().count(), 0);
}

#[test]
fn files_that_must_not_be_written_are_not_replaced() {
    let folder = Folder::new();
    folder.write("mine.csv", "mine");
    fs::set_permissions(folder.path("mine.csv"), PermissionsExt::from_mode(0o444)).unwrap();
    if File::options().write(true).open(folder.path("mine.csv")).is_ok() {
        // The superuser may write anything.
        return;
    }
    folder.refuses(&format!("{BENCH} --csv mine.csv"), 2, &["mine.csv", "denied"]);
    assert_eq!(fs::read(folder.path("mine.csv")).unwrap(), b"mine");
}

/// Runs `pdpp` from a shell that redirects its standard output.
fn redirected(folder: &Folder, arguments: &str, redirection: &str) -> Output {
    let script = format!("exec \"$0\" {arguments} {redirection}");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_pdpp")]).current_dir(folder.path("."));
    command.env("WGPU_BACKEND", "gl").output().unwrap()
}

#[test]
fn a_standard_output_that_takes_nothing_is_told() {
    let folder = Folder::new();
    for arguments in [SAMPLE, "map --features features.csv --k 2 --json", "--help", "devices"] {
        for (redirection, problem) in
            [(">&-", "it is closed; redirect it to /dev/null"), ("1<features.csv", "Bad file descriptor")]
        {
            let output = redirected(&folder, arguments, redirection);
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{arguments} {redirection}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{arguments} {redirection}: {stderr}");
            assert!(stderr.starts_with("error: standard output: ") && stderr.contains(problem), "{stderr}");
        }
        // Without a request for an answer there is none, in whatever mode the device is open.
        for redirection in [">/dev/null", "1<>/dev/null"] {
            let output = redirected(&folder, arguments, redirection);
            assert!(output.status.success() && output.stderr.is_empty(), "{arguments} {redirection}");
        }
    }
    // Nothing is started without an output.
    let output = redirected(&folder, &format!("{SAMPLE} --plot plot.png"), ">&-");
    assert!(!output.status.success() && !folder.path("plot.png").exists());
}

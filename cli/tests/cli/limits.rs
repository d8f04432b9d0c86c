//! Requests that are too large are refused by arithmetic, before anything is read or drawn.

use std::fs::{self, File};

use super::support::{Folder, npy};

/// A .npy file of zeros that takes no room on the disk.
fn sparse(folder: &Folder, name: &str, descr: &str, shape: [u64; 2]) {
    folder.write(name, npy(descr, &format!("({}, {})", shape[0], shape[1]), &[]));
    let file = File::options().append(true).open(folder.path(name)).unwrap();
    let begins = fs::metadata(folder.path(name)).unwrap().len();
    let size: u64 = descr[2..].parse().unwrap();
    file.set_len(begins + size * shape[0] * shape[1]).unwrap();
}

#[test]
fn sizes_that_do_not_fit_are_refused_unread() {
    let folder = Folder::new();
    sparse(&folder, "square.npy", "<f8", [1_000_000, 1_000_000]);
    sparse(&folder, "wide.npy", "<f4", [1000, 1_000_000_000]);
    sparse(&folder, "integers.npy", "<i8", [400_000_000, 2000]);
    sparse(&folder, "oblong.npy", "<f8", [1_000_000, 1_000_001]);
    // Reading any of these files would take hours.
    for command in
        ["sample --k 2", "sample", "infer --k 2", "counts --k 2 --labels labels.csv", "map --k 2", "map"]
    {
        for name in ["square.npy", "wide.npy", "integers.npy"] {
            // Only rows can be used in place.
            if (command, name) != ("map --k 2", "square.npy") {
                folder.refuses(
                    &format!("{command} --features {name}"),
                    4,
                    &[name, "GB of memory are needed", "free"],
                );
            }
        }
        folder.refuses(
            &format!("{command} --kernel square.npy"),
            4,
            &["square.npy", "24000.0 GB", "1000000 items"],
        );
        folder.refuses(&format!("{command} --kernel oblong.npy"), 2, &["oblong.npy", "square"]);
    }
    folder.refuses("sample --features square.npy --memory 1GB", 4, &["1000.0 MB are allowed by --memory"]);
}

#[test]
fn labels_are_no_more_than_items() {
    let folder = Folder::new();
    sparse(&folder, "matrix.npy", "<i8", [1 << 40, 1]);
    let labels = npy("<i8", "(1099511627776,)", &[]);
    folder.write("labels.npy", &labels);
    let file = File::options().append(true).open(folder.path("labels.npy")).unwrap();
    file.set_len(labels.len() as u64 + (8 << 40)).unwrap();
    let refuse = |name: &str, culprits: &[&str]| {
        folder.refuses(&format!("sample --features features.csv --labels {name} --quota 1"), 2, culprits);
    };
    refuse("labels.npy", &["labels.npy", "1099511627776 labels", "9 items"]);
    refuse("matrix.npy", &["matrix.npy", "2 dimensions"]);
}

#[test]
fn lists_of_sets() {
    let folder = Folder::with_pairs();
    let refuse = |name: &str, culprits: &[&str]| {
        folder.refuses(&format!("infer --features pairs.csv --sets {name}"), 2, culprits);
    };
    folder.write("large.json", "[");
    File::options().append(true).open(folder.path("large.json")).unwrap().set_len(1 << 40).unwrap();
    refuse("large.json", &["large.json", "more than 100 000 000 bytes"]);
    folder.write("many.json", format!("[[{}0]]", "0,".repeat(10_000_000)));
    refuse("many.json", &["many.json", "about 10 000 001 indices", "at most 10 000 000"]);
    if cfg!(unix) {
        refuse("/dev/zero", &["/dev/zero", "100 000 000 bytes"]);
    }
}

#[test]
fn chains() {
    let folder = Folder::with_pairs();
    let refuse = |rest: &str, status: i32, culprits: &[&str]| {
        let input = "sample --features pairs.csv --labels ab.csv --quota 1,1 --method mcmc";
        folder.refuses(&format!("{input} {rest}"), status, culprits);
    };
    let most = "at most 1000000000";
    for huge in ["1000000001", "18446744073709551615", "99999999999999999999999"] {
        refuse(&format!("--burn-in {huge}"), 2, &["--burn-in", huge, most]);
        refuse(&format!("--thin {huge}"), 2, &["--thin", huge, most]);
        refuse(&format!("--samples {huge}"), 2, &["--samples", huge, "1000000000"]);
        refuse(&format!("--chains {huge}"), 2, &["--chains", huge, "1024"]);
    }
    refuse("--burn-in -1", 2, &["-1"]);
    refuse("--burn-in x", 2, &["'x' is not a number of sweeps"]);
    // Each number is within its limit, but together they take years.
    refuse("--burn-in 1000000000 --chains 1024", 4, &["--burn-in", "2.0e12 moves", "1e12"]);
    refuse("--thin 1000000000 --samples 1000000", 4, &["--thin", "2.0e15 moves"]);
}

#[test]
fn draws_are_counted_as_memory() {
    let folder = Folder::with_pairs();
    let law = "sample --features pairs.csv --k 2 --memory 10MB";
    folder.refuses(&format!("{law} --samples 1000000"), 4, &["of memory are needed", "draws 80.0 MB"]);
    let plan = folder.json(&format!("{law} --samples 1000 --plan"));
    assert_eq!(plan["memory"]["uses"]["draws"], 80_000);
}

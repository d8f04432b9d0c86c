//! No option replaces a file that is read, under any name or link.
#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::support::{Folder, LABELS, feature_values, npy};

/// The ways to refer to a file by another path.
const NAMINGS: [fn(&Path, &Path); 5] = [
    |file, name| symlink(file.file_name().unwrap(), name).unwrap(),
    |file, name| symlink(file, name).unwrap(),
    |file, name| {
        let other = name.with_extension("other");
        symlink(file, &other).unwrap();
        symlink(other.file_name().unwrap(), name).unwrap();
    },
    |file, name| {
        // Through a folder that is a link.
        let folder = name.with_extension("folder");
        symlink(".", &folder).unwrap();
        symlink(folder.join(file.file_name().unwrap()), name).unwrap();
    },
    |file, name| fs::hard_link(file, name).unwrap(),
];

/// Makes every file that the commands of these tests read.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("f.npy", npy("|u1", "(9, 3)", &feature_values()));
    folder.write("kernel.csv", "2,0,0\n0,2,0\n0,0,2\n");
    folder.write("scores.csv", "score\n1\n2\n3\n1\n2\n3\n1\n2\n3\n");
    folder.write("ids.csv", "id\na\nb\nc\nd\ne\nf\ng\nh\ni\n");
    folder.write("sets.json", "[[0, 1]]");
    folder
}

fn files(folder: &Folder) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = folder.files().into_iter().map(|name| folder.path(&name)).filter(|path| path.is_file());
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Checks that a command is refused and leaves all files as they are.
fn spares(folder: &Folder, arguments: &str, culprits: &[&str]) {
    let before = files(folder);
    folder.refuses(arguments, 2, culprits);
    assert!(files(folder) == before, "{arguments}: a file was changed");
}

/// Checks that a command whose last word is a new name for any of some files spares them.
fn spares_by_all_names(arguments: &str, inputs: &[&str]) {
    let (command, name) = arguments.rsplit_once(' ').unwrap();
    let option = command.rsplit_once(' ').unwrap().1;
    for input in inputs {
        for naming in NAMINGS {
            let folder = folder();
            naming(&folder.path(input), &folder.path(name));
            spares(&folder, arguments, &[name, input, option]);
        }
    }
}

const TABLES: &str = "--features f.npy --labels labels.csv --scores scores.csv --ids ids.csv --quota 1,1,1";
const TABLE_FILES: [&str; 4] = ["f.npy", "labels.csv", "scores.csv", "ids.csv"];
const RBF: &str = "--features f.npy --similarity rbf --bandwidth 1.3 --landmarks 2";

#[test]
fn plots_replace_no_input() {
    for command in ["sample", "map"] {
        spares_by_all_names(&format!("{command} {TABLES} --plot plot.png"), &TABLE_FILES);
        spares_by_all_names(&format!("{command} --kernel kernel.csv --k 2 --plot p.svg"), &["kernel.csv"]);
    }
    let folder = folder();
    // These paths are refused as inputs later, since their names are names of plots.
    spares(&folder, "sample --features p.png --k 2 --plot p.png", &["p.png"]);
    fs::copy(folder.path("f.npy"), folder.path("p.png")).unwrap();
    for input in ["p.png", "./p.png"] {
        spares(&folder, &format!("map --features {input} --k 2 --plot p.png"), &["p.png", "--plot"]);
    }
}

#[test]
fn rows_replace_no_input() {
    for command in ["sample", "map"] {
        spares_by_all_names(&format!("{command} {TABLES} --output rows.csv"), &TABLE_FILES);
        let kernel = format!("{command} --kernel kernel.csv --k 2 --output rows.parquet");
        spares_by_all_names(&kernel, &["kernel.csv"]);
    }
    for name in ["labels.csv", "./labels.csv", "../FOLDER/labels.csv"] {
        let folder = folder();
        let own = folder.path("labels.csv");
        let parent = own.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let name = name.replace("FOLDER", parent);
        spares(&folder, &format!("sample {TABLES} --output {name}"), &["labels.csv", "--output"]);
        let by = "map --features f.npy --labels labels.csv --by tone --k 1";
        spares(&folder, &format!("{by} --output {name}"), &["labels.csv", "--output"]);
    }
}

#[test]
fn caches_replace_no_input() {
    for command in ["sample", "map", "infer"] {
        let own = format!("{command} {RBF} --labels labels.csv --quota 1,1,1 --cache rbf.npy");
        spares_by_all_names(&own, &["f.npy", "labels.csv"]);
    }
    spares_by_all_names(&format!("counts {RBF} --labels labels.csv --k 2 --cache rbf.npy"), &["f.npy"]);
    let infer = format!("infer {RBF} --k 2 --sets sets.json");
    spares_by_all_names(&format!("{infer} --cache rbf.npy"), &["sets.json"]);
    let folder = folder();
    spares(&folder, &format!("map {RBF} --k 2 --cache f.npy"), &["f.npy", "--cache"]);
    // The description next to the cache is also a file, even before there is a cache.
    fs::copy(folder.path("sets.json"), folder.path("rbf.npy.json")).unwrap();
    let described = infer.replace("sets.json", "rbf.npy.json");
    spares(&folder, &format!("{described} --cache rbf.npy"), &["rbf.npy.json", "--cache"]);
    symlink(folder.path("gone.npy.json"), folder.path("link.json")).unwrap();
    let missing = infer.replace("sets.json", "link.json");
    spares(&folder, &format!("{missing} --cache gone.npy"), &["gone.npy.json", "link.json", "--cache"]);
}

#[test]
fn outputs_do_not_replace_each_other() {
    let folder = folder();
    folder.text(&format!("map {RBF} --k 2 --cache rbf.npy"));
    symlink("rbf.npy", folder.path("plot.png")).unwrap();
    fs::hard_link(folder.path("rbf.npy.json"), folder.path("rows.csv")).unwrap();
    for option in ["--plot plot.png", "--output rows.csv"] {
        let name = option.split_once(' ').unwrap().0;
        spares(&folder, &format!("map {RBF} --k 2 --cache rbf.npy {option}"), &[name, "--cache"]);
    }
    symlink("new.csv", folder.path("new.svg")).unwrap();
    spares(&folder, "sample --features f.npy --k 2 --plot new.svg --output new.csv", &["--plot", "--output"]);
    let bench = "bench --items 40 --dims 3 --k 2 --quiet --csv new.csv --plot new.svg";
    spares(&folder, bench, &["--csv", "--plot"]);
}

#[test]
fn reports_replace_no_data() {
    let folder = folder();
    fs::create_dir_all(folder.path("data/debates2012")).unwrap();
    fs::create_dir(folder.path("out")).unwrap();
    let input = folder.path("data/debates2012/labels.csv");
    fs::write(&input, LABELS).unwrap();
    let refuse = |arguments: &str, culprits: &[&str]| {
        folder.refuses(&format!("reproduce map-debates --data data {arguments}"), 2, culprits);
        assert_eq!(fs::read_to_string(&input).unwrap(), LABELS, "{arguments}");
    };
    let linking: [fn(&Path, &Path); 3] = [
        |_, name| symlink("../data/debates2012/labels.csv", name).unwrap(),
        |file, name| symlink(file, name).unwrap(),
        |file, name| fs::hard_link(file, name).unwrap(),
    ];
    for (link, name) in linking.into_iter().zip(["report.html", "map-debates.csv", "figure.svg"]) {
        link(&input, &folder.path("out").join(name));
        refuse("--out out", &[name, "labels.csv", "--out"]);
        fs::remove_file(folder.path("out").join(name)).unwrap();
    }
    refuse("--out data/debates2012", &["labels.csv", "--out"]);
}

#[test]
fn other_files_and_devices_are_written() {
    let folder = folder();
    fs::copy(folder.path("f.npy"), folder.path("copy.png")).unwrap();
    folder.text("sample --features f.npy --k 2 --plot copy.png");
    folder.text("sample --features f.npy --k 2 --plot copy.png");
    symlink("/dev/null", folder.path("null.png")).unwrap();
    symlink("/dev/null", folder.path("null.csv")).unwrap();
    folder.text("sample --features f.npy --k 2 --plot null.png --output null.csv");
}

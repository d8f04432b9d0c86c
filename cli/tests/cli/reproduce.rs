//! The paper, reproduced: the files that are written, and their correctness.

use std::{collections::BTreeMap, fs, path::PathBuf};

use approx::abs_diff_eq;

use super::support::Folder;
#[cfg(unix)]
use super::terminal::counted;

/// Returns the folder of a data set, if it exists.
fn data(set: &str) -> Option<PathBuf> {
    let root = std::env::var_os("PDPP_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")),
        PathBuf::from,
    );
    root.join(set).is_dir().then_some(root)
}

/// Reads a .csv file: its header, and the values of every row.
fn table(path: &std::path::Path) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().iter().map(String::from).collect();
    let rows = reader.records().map(|row| row.unwrap().iter().map(String::from).collect()).collect();
    (header, rows)
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// Checks that a page is self-contained and has its parts.
fn check_page(page: &str, parts: &[&str]) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"), "{}", &page[..80]);
    // Names of XML namespaces are not addresses to load.
    let addresses = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "<script", "<link", "url(", "@import", "src=\"/", "src=\"."] {
        assert!(!addresses.contains(outside), "{outside}");
    }
    assert!(page.contains("What the paper says, and what was found"));
    for part in parts {
        assert!(page.contains(&format!("<section id=\"{part}\">")), "{part}");
        assert!(page.contains(&format!("<a href=\"#{part}\">")), "{part}");
    }
    for tag in ["table", "figure", "section", "svg", "tr", "td"] {
        let (opened, closed) =
            (page.matches(&format!("<{tag}")).count(), page.matches(&format!("</{tag}>")).count());
        assert!(closed <= opened && closed > 0, "{tag}: {opened} {closed}");
    }
}

#[test]
fn without_data_digits_stand_in() {
    let folder = Folder::new();
    for (part, files) in [
        (
            "yale",
            &["yale-part-counts.csv", "yale-part-counts.svg", "yale-repeats.csv", "yale-samples.csv"][..],
        ),
        ("corel", &["corel-duplicates.csv", "corel-duplicates.svg", "digits-odd-prime-large.csv"][..]),
    ] {
        let out = folder.path(part);
        let text = folder.text(&format!("reproduce {part} --out {part}"));
        assert!(text.contains("digits") && text.contains("holds") && text.contains("report.html"), "{text}");
        let page = fs::read_to_string(out.join("report.html")).unwrap();
        check_page(&page, &[part]);
        assert!(page.contains("stand in"), "{part}");
        for file in files {
            assert!(fs::metadata(out.join(file)).unwrap().len() > 100, "{file}");
        }
    }
    let page = fs::read_to_string(folder.path("yale").join("report.html")).unwrap();
    assert!(page.matches("data:image/png;base64,").count() >= 8 * 3 * 6);
    let text = folder.text("reproduce map-debates --out none");
    assert!(text.contains("skipped: the statements (folder debates2012) are missing"), "{text}");
    assert!(
        fs::read_to_string(folder.path("none").join("report.html"))
            .unwrap()
            .contains("Skipped: the statements")
    );
}

#[test]
fn what_is_refused() {
    let folder = Folder::new();
    folder.refuses("reproduce everything --out o", 2, &["everything", "timing", "map-debates"]);
    folder.refuses("reproduce yale", 2, &["--out"]);
    folder.refuses("reproduce yale --data nowhere --out o", 2, &["nowhere"]);
    folder.refuses("reproduce yale --out features.csv", 2, &["features.csv"]);
    fs::create_dir_all(folder.path("data/yaleb")).unwrap();
    folder.write("data/yaleb/labels.csv", "item,set,group\n0,A,0\n");
    let output = folder.pdpp("reproduce yale --data data --out o").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("labels.csv") && stderr.contains("there is no column light"), "{stderr}");
    assert!(fs::read_dir(folder.path("o")).unwrap().next().is_none(), "files were left behind");
}

#[test]
fn faces_are_counted_as_elsewhere() {
    let Some(data) = data("yaleb") else { return };
    let folder = Folder::new();
    folder.text(&format!("reproduce yale --data {} --out o", data.display()));
    check_page(&fs::read_to_string(folder.path("o/report.html")).unwrap(), &["yale"]);
    let golden = |file: &str| table(&data.join("yaleb").join(file));

    let (header, rows) = golden("golden_partcounts_6dpp.csv");
    assert_eq!(header, ["set", "group", "n_light", "n_medium", "n_dark", "prob"]);
    let key = |name: &str, counts: &[String]| format!("{name}: {}", counts.join(","));
    let expected: BTreeMap<String, f64> = rows
        .iter()
        .map(|row| (key(&format!("set {}, group {}", row[0], row[1]), &row[2..5]), number(&row[5])))
        .collect();
    let (header, rows) = table(&folder.path("o/yale-part-counts.csv"));
    assert_eq!(header, ["experiment", "count light", "count medium", "count dark", "probability"]);
    let found: BTreeMap<String, f64> =
        rows.iter().map(|row| (key(&row[0], &row[1..4]), number(&row[4]))).collect();
    assert_eq!((expected.len(), found.len()), (4 * 28, 8 * 28));
    for (name, probability) in &expected {
        assert!(
            abs_diff_eq!(found[name], *probability, epsilon = 1e-12),
            "{name}: {} {probability}",
            found[name]
        );
    }

    let (_, rows) = golden("golden_bruteforce.csv");
    let (_, skew) = table(&folder.path("o/yale-skew.csv"));
    for golden in &rows {
        let own =
            skew.iter().find(|row| row[0] == format!("set {}, group {}", golden[0], golden[1])).unwrap();
        // P(2,2,2), and the expected counts.
        for (found, expected) in [(1, 4), (3, 5), (4, 6), (5, 7)] {
            let (found, expected) = (number(&own[found]), number(&golden[expected]));
            assert!(abs_diff_eq!(found, expected, epsilon = 1e-9), "{golden:?}: {found} {expected}");
        }
    }

    let (header, rows) = table(&folder.path("o/yale-repeats.csv"));
    assert_eq!(header[2], "6-DPP: (2,2,2)");
    assert_eq!(rows.len(), 8);
    for (row, skew) in rows.iter().zip(&skew) {
        // Within five standard deviations of the exact probability, and exactly 1 where it must be.
        assert!((number(&row[2]) - number(&skew[1])).abs() < 5.0 * (0.25_f64 / 1e4).sqrt(), "{row:?}");
        assert_eq!((number(&row[4]), number(&row[6])), (1.0, 1.0), "{row:?}");
    }
}

#[test]
fn no_solver_is_worse_than_its_start_nor_better_than_a_bound() {
    let folder = Folder::new();
    let text = folder.text("reproduce map-synthetic --instances 1 --out o");
    assert!(text.contains("Theorem 4.1") && !text.contains("SOMETIMES"), "{text}");
    check_page(&fs::read_to_string(folder.path("o/report.html")).unwrap(), &["map-synthetic"]);
    for (file, sizes) in [
        ("map-synthetic-50x40.csv", &[4, 10, 20, 25, 35, 39, 40][..]),
        ("map-synthetic-200x200.csv", &[5, 10, 20, 50, 100, 150][..]),
    ] {
        let (header, rows) = table(&folder.path("o").join(file));
        let column = |name: &str| header.iter().position(|column| column == name).unwrap();
        let columns = ["k", "gain of local search", "of 8 restarts", "of the optimum", "gap", "theorem 4.1"]
            .map(column);
        let mut found = Vec::new();
        for row in &rows {
            let [size, climbed, restarted, optimum, gap, guarantee] = columns.map(|at| &row[at]);
            let (climbed, restarted) = (number(climbed), number(restarted));
            assert!(climbed >= -1e-9 && restarted >= climbed - 1e-9, "{file}: {row:?}");
            // Of the same instance.
            assert!(
                number(gap) >= 0.0 && restarted + number(gap) <= climbed + number(guarantee),
                "{file}: {row:?}"
            );
            if !optimum.is_empty() {
                let optimum = number(optimum);
                assert!(
                    optimum >= restarted - 1e-9 && optimum <= restarted + number(gap) + 1e-6,
                    "{file}: {row:?}"
                );
            }
            found.push(size.parse::<usize>().unwrap());
        }
        assert_eq!(found, sizes, "{file}");
        assert_eq!(rows.iter().filter(|row| !row[columns[3]].is_empty()).count(), usize::from(sizes[0] == 4));
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing_half_done() {
    let folder = Folder::new();
    let output = folder.interrupted("reproduce map-synthetic --out o", |shown| counted(shown, "/", 0));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert_eq!(stderr, "error: interrupted: 0 of 1 parts are in the report\n");
    assert!(output.stdout.is_empty() && fs::read_dir(folder.path("o")).unwrap().next().is_none());
}

/// Returns the determinant of a small matrix, by elimination.
fn determinant(mut rows: Vec<Vec<f64>>) -> f64 {
    let mut det = 1.0;
    for k in 0..rows.len() {
        let largest = (k..rows.len()).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).unwrap();
        if largest != k {
            rows.swap(k, largest);
            det = -det;
        }
        det *= rows[k][k];
        if rows[k][k] == 0.0 {
            return 0.0;
        }
        let pivot = rows[k].clone();
        for row in &mut rows[k + 1..] {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    det
}

/// Reads images of Corel16k in the paper's pattern: their dot products, and the images of each label.
fn nine_images(data: &std::path::Path) -> (Vec<Vec<f64>>, Vec<Vec<usize>>) {
    let folder = data.join("corel16k");
    let (_, rows) = table(&folder.join("paper_like_9images.csv"));
    let bytes = fs::read(folder.join("features.npy")).unwrap();
    let start = bytes.len() - 1744 * 500;
    let features: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let at = start + 500 * row[2].parse::<usize>().unwrap();
            bytes[at..at + 500].iter().map(|&byte| f64::from(byte)).collect()
        })
        .collect();
    let dot = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).map(|(x, y)| x * y).sum();
    let kernel = features.iter().map(|a| features.iter().map(|b| dot(a, b)).collect()).collect();
    let labels =
        (3..6).map(|column| (0..rows.len()).filter(|&image| rows[image][column] == "1").collect()).collect();
    (kernel, labels)
}

/// Returns all sets of `count` of these images, with their probabilities under the k-DPP on them.
fn law(kernel: &[Vec<f64>], images: &[usize], count: usize) -> Vec<(u32, f64)> {
    let sets = (0_u32..1 << kernel.len()).filter(|set| {
        set.count_ones() as usize == count
            && (0..kernel.len()).all(|i| set >> i & 1 == 0 || images.contains(&i))
    });
    let weighted: Vec<(u32, f64)> = sets
        .map(|set| {
            let chosen: Vec<usize> = (0..kernel.len()).filter(|i| set >> i & 1 == 1).collect();
            (
                set,
                determinant(chosen.iter().map(|&i| chosen.iter().map(|&j| kernel[i][j]).collect()).collect()),
            )
        })
        .collect();
    let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    weighted.into_iter().map(|(set, weight)| (set, weight / total)).collect()
}

#[test]
fn duplicates_are_as_likely_as_enumeration_says() {
    let Some(data) = data("corel16k") else { return };
    let folder = Folder::new();
    for out in ["one", "again"] {
        folder.text(&format!("reproduce corel --data {} --out {out}", data.display()));
    }
    check_page(&fs::read_to_string(folder.path("one/report.html")).unwrap(), &["corel"]);
    let (_, rows) = table(&folder.path("one/corel-duplicates.csv"));
    let (kernel, labels) = nine_images(&data);
    // The paper's pattern, counted from 0.
    assert_eq!(labels, [vec![0, 3, 5, 6, 7], (0..7).collect(), vec![4, 5, 6, 7, 8]]);
    for (name, quota) in [("(3, 3, 3)", [3, 3, 3]), ("(2, 3, 2)", [2, 3, 2])] {
        let laws: Vec<_> = (0..3).map(|part| law(&kernel, &labels[part], quota[part])).collect();
        let mut apart = 0.0;
        for (sky, p) in &laws[0] {
            for (sun, q) in laws[1].iter().filter(|(sun, _)| sun & sky == 0) {
                let trees = laws[2].iter().filter(|(tree, _)| tree & (sky | sun) == 0);
                apart += p * q * trees.map(|(_, r)| r).sum::<f64>();
            }
        }
        let row = rows.iter().find(|row| row[0] == format!("Corel16k: sky, sun, tree {name}")).unwrap();
        assert!(abs_diff_eq!(number(&row[1]), 1.0 - apart, epsilon = 1e-12), "{row:?}: {}", 1.0 - apart);
    }
    for row in &rows {
        let (exact, seen) = (number(&row[1]), number(&row[2]));
        let deviation = (exact * (1.0 - exact) / 1e4).sqrt();
        assert!((seen - exact).abs() < 5.0 * deviation + 1e-12, "{row:?}");
        // The other methods never do, if there is a set at all.
        assert!(row[3..].iter().all(|share| share.is_empty() || number(share) == 0.0), "{row:?}");
    }
    assert!(rows.iter().any(|row| !row[4].is_empty()));
    // The same seed gives the same tables.
    for file in ["corel-duplicates.csv", "corel16k-sky-sun-tree.csv"] {
        let read = |out: &str| fs::read(folder.path(out).join(file)).unwrap();
        assert!(read("one") == read("again"), "{file}");
    }
}

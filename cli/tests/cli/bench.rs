//! `pdpp bench`: every time of a device stands beside a checked answer.

use crate::support::Folder;

const SIZES: &str = "bench --items 300,600 --dims 8 --k 4 --quiet";

#[test]
fn without_a_device_the_processor_is_timed() {
    let folder = Folder::new();
    let text = folder.text(&format!("{SIZES} --csv times.csv --plot times.svg"));
    assert!(text.contains("no graphics adapter") && text.contains("greedy"), "{text}");
    let csv = std::fs::read_to_string(folder.path("times.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 2 * 7, "{csv}");
    assert!(csv.lines().nth(1).unwrap().starts_with("300,8,4,2,row norms,"), "{csv}");
    assert!(std::fs::read_to_string(folder.path("times.svg")).unwrap().contains("Seconds against items"));
}

#[test]
fn a_device_is_timed_where_it_is_right() {
    let folder = Folder::new();
    for precision in ["f32", "f64"] {
        let arguments = format!("{SIZES} --precision {precision} --csv times.csv --plot times.png");
        let output = folder.pdpp_with_adapters(&arguments).output().unwrap();
        if output.status.code() == Some(3) {
            assert!(
                std::env::var_os("PDPP_REQUIRE_GPU").is_none(),
                "PDPP_REQUIRE_GPU is set, but there is none"
            );
            return;
        }
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("wrong by"), "{text}");
        let csv = std::fs::read_to_string(folder.path("times.csv")).unwrap();
        assert_eq!(csv.matches(",true,").count(), 2 * 7, "{csv}");
    }
}

#[test]
fn bad_sizes_are_refused() {
    let folder = Folder::new();
    folder.refuses("bench --items 10 --k 30", 2, &["part 0"]);
    folder.refuses("bench --parts 2,0", 2, &["--parts 0"]);
    folder.refuses("bench --csv gone/times.csv", 2, &["gone/times.csv", "the table"]);
    folder.refuses("bench --plot gone/plot.png", 2, &["gone/plot.png"]);
}

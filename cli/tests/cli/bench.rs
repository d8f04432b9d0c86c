//! `pdpp bench`: every time of a device comes with a checked answer.

use crate::support::Folder;

const SIZES: &str = "bench --items 300,600 --dims 8 --k 4 --repeat 2 --quiet";
/// The number of tasks per size.
const TASKS: usize = 10;

#[test]
fn without_a_device_the_processor_is_timed() {
    let folder = Folder::new();
    let text = folder.text(&format!("{SIZES} --csv times.csv --plot times.svg"));
    assert!(text.contains("no graphics adapter") && text.contains("greedy"), "{text}");
    let csv = std::fs::read_to_string(folder.path("times.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 2 * TASKS, "{csv}");
    assert!(csv.lines().nth(1).unwrap().starts_with("300,8,4,2,norms,cpu,"), "{csv}");
    assert!(std::fs::read_to_string(folder.path("times.svg")).unwrap().contains("Seconds against items"));
}

#[test]
fn json_names_the_machine_and_states_every_run() {
    let folder = Folder::new();
    let arguments =
        "bench --items 300 --dims 8 --k 4 --repeat 3 --task greedy,inference --values f16 --json --quiet";
    let answer: serde_json::Value = serde_json::from_str(&folder.text(arguments)).unwrap();
    assert_eq!(answer["version"], env!("CARGO_PKG_VERSION"));
    assert!(answer["cpu"].is_string() && answer["engines"][0]["peaks"]["read_bytes_per_second"].is_number());
    let measured = answer["measured"].as_array().unwrap();
    assert_eq!(
        measured.iter().map(|one| one["task"].as_str().unwrap()).collect::<Vec<_>>(),
        ["greedy", "inference"]
    );
    for one in measured {
        let number = |name: &str| one[name].as_f64().unwrap_or_else(|| panic!("{name}: {one}"));
        assert!(number("best_seconds") <= number("mean_seconds"), "{one}");
        assert!(number("deviation_seconds") >= 0.0 && number("predicted_seconds") > 0.0, "{one}");
    }
}

#[test]
fn a_device_is_timed_where_it_is_right() {
    let folder = Folder::new();
    for precision in ["f32", "f64"] {
        let arguments = format!(
            "bench --items 400 --dims 8 --k 4 --repeat 1 --quiet --precision {precision} --csv times.csv --plot times.svg"
        );
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
        let (header, device) =
            (csv.lines().next().unwrap(), csv.lines().find(|line| line.contains(",gpu ")).unwrap());
        let time = device.rsplit(',').next().unwrap();
        assert!(
            header.ends_with(",device_seconds") && (time.is_empty() || time.parse::<f64>().unwrap() > 0.0),
            "{csv}"
        );
        // Single precision is not accurate enough for some laws, and the answer says so.
        let refused = csv.matches(",interpolation,gpu f32,").count();
        let right = csv.matches(",true,").count();
        assert!((2 * TASKS - refused..=2 * TASKS).contains(&right), "{csv}");
        if text.contains("SOFTWARE") {
            assert!(std::fs::read_to_string(folder.path("times.svg")).unwrap().contains("SOFTWARE"));
        }
    }
}

#[test]
fn what_a_task_cannot_do_costs_no_other_times() {
    let text = Folder::new()
        .text("bench --items 400 --dims 60 --k 40 --parts 10 --repeat 1 --quiet --task norms,inference");
    assert!(
        text.contains("refused   log Z, marginals on cpu (m = 400, n = 60): ") && text.contains("GB/s"),
        "{text}"
    );
}

#[test]
fn bad_sizes_are_refused() {
    let folder = Folder::new();
    folder.refuses("bench --items 10 --k 30", 2, &["part 0"]);
    folder.refuses("bench --parts 2,0", 2, &["--parts 0"]);
    folder.refuses("bench --task sorting", 2, &["sorting", "local-search"]);
    folder.refuses("bench --csv gone/times.csv", 2, &["gone/times.csv", "the table"]);
    folder.refuses("bench --plot gone/plot.png", 2, &["gone/plot.png"]);
}

//! `--by`: one problem for every value of a column.

use std::{fmt::Write, fs, sync::Arc};

use arrow_array::{Float64Array, Int64Array};
use serde_json::{Value, json};

use super::{
    parquet::{lists, text, write},
    support::Folder,
};

const USERS: usize = 7;
const ITEMS: usize = 24;
const DIMS: usize = 5;

/// Interleaved items of several users: user 30 comes first, then 10 and the others. User 4 has no tone c.
struct Feed {
    rows: Vec<Vec<f32>>,
    users: Vec<i64>,
    tones: Vec<&'static str>,
    scores: Vec<f64>,
}

impl Feed {
    fn new() -> Self {
        let value = |at: usize| (0.3 + 0.61 * at as f32 + 0.017 * (at * at % 97) as f32).sin();
        let rows = (0..USERS * ITEMS).map(|row| (0..DIMS).map(|j| value(row * DIMS + j)).collect()).collect();
        let names = [30, 10, 4, 77, 2, 51, 6];
        let users: Vec<i64> = (0..USERS * ITEMS).map(|row| names[(row * 3 + row / 11) % USERS]).collect();
        let tone = |row: usize| ["a", "b", "c"][(row / 2 + row % 5) % if users[row] == 4 { 2 } else { 3 }];
        let tones = (0..USERS * ITEMS).map(tone).collect();
        let scores = (0..USERS * ITEMS).map(|row| (row as f64 * 1.3).cos()).collect();
        Self { rows, users, tones, scores }
    }

    /// Writes `all.parquet`, `all.csv` and `table.csv`.
    fn write(&self, folder: &Folder) {
        write(
            folder,
            "all.parquet",
            vec![
                ("embedding", lists(&self.rows)),
                ("user", Arc::new(Int64Array::from(self.users.clone()))),
                ("tone", text(&self.tones)),
                ("score", Arc::new(Float64Array::from(self.scores.clone()))),
            ],
        );
        self.write_csv(folder, "all", |_| true);
    }

    fn write_csv(&self, folder: &Folder, name: &str, keep: impl Fn(usize) -> bool) {
        let (mut rows, mut table) = (String::new(), "user,tone,score\n".to_owned());
        for row in (0..self.rows.len()).filter(|&row| keep(row)) {
            let cells: Vec<String> = self.rows[row].iter().map(|&x| f64::from(x).to_string()).collect();
            writeln!(rows, "{}", cells.join(",")).unwrap();
            writeln!(table, "{},{},{}", self.users[row], self.tones[row], self.scores[row]).unwrap();
        }
        folder.write(&format!("{name}.csv"), rows);
        folder.write(&format!("{name}-table.csv"), table);
    }

    fn order(&self) -> Vec<i64> {
        let mut order = Vec::new();
        for &user in &self.users {
            if !order.contains(&user) {
                order.push(user);
            }
        }
        order
    }

    fn items_of(&self, user: i64) -> Vec<usize> {
        (0..self.users.len()).filter(|&row| self.users[row] == user).collect()
    }
}

const PARQUET: &str = "--features all.parquet --label-column tone --by user";
const CSV: &str = "--features all.csv --labels all-table.csv --label-column tone --by user";

/// Every value has the set of its own items.
#[test]
fn sets_are_those_of_the_items_alone() {
    let (folder, feed) = (Folder::new(), Feed::new());
    feed.write(&folder);
    for user in feed.order() {
        feed.write_csv(&folder, &format!("u{user}"), |row| feed.users[row] == user);
    }
    let ways = [
        "--quota 2,1,1 --solver greedy",
        "--quota 2,1,1 --time-limit 0",
        "--quota ..2,1..,.. --k 4 --solver greedy",
        "--quota ..2,1..,.. --k 4 --solver exact",
        "--quota 1..2,1,1.. --solver greedy",
        "--k 3 --solver greedy --similarity cosine",
        "--quota 2,1,1 --independent --time-limit 0",
        "--quota 2,1,1 --ridge 0.3 --solver greedy",
        "--quota 2,1,1 --similarity rbf --bandwidth 2 --solver greedy",
        "--solver symmetric-greedy",
    ];
    for way in ways {
        let scored = way.contains("--k");
        let scores = if scored { " --scores all-table.csv --score-column score --diversity 0.7" } else { "" };
        let all = folder.json(&format!("map {CSV} {way}{scores}"));
        assert_eq!(all["by"], json!(feed.order()), "{way}");
        for (at, user) in feed.order().into_iter().enumerate() {
            let scores = scores.replace("all-", &format!("u{user}-"));
            let law = if way.contains("--quota") {
                format!("--labels u{user}-table.csv --label-column tone")
            } else {
                String::new()
            };
            // User 4 has no part c.
            let way = if user == 4 { way.replace(",1..,..", ",1..") } else { way.to_owned() };
            if user == 4 && ["2,1,1", "1..2,1,1.."].iter().any(|quota| way.contains(quota)) {
                assert!(all["sets"][at].is_null(), "{way}");
                let refused =
                    all["errors"].as_array().unwrap().iter().find(|error| error["by"] == 4).unwrap();
                assert!(refused["error"].as_str().unwrap().contains("part c, which has 0"), "{refused}");
                continue;
            }
            let one = folder.json(&format!("map --features u{user}.csv {law} {way}{scores}"));
            let own = feed.items_of(user);
            let set: Vec<usize> = serde_json::from_value(one["set"].clone()).unwrap();
            let set: Vec<usize> = set.into_iter().map(|item| own[item]).collect();
            assert_eq!(all["sets"][at], json!(set), "{way}, user {user}");
            let log_det = |value: &Value| value.as_f64().unwrap();
            let off = log_det(&all["log_dets"][at]) - log_det(&one["log_det"]);
            assert!(off.abs() < 1e-9, "{way}, user {user}: {off:e}");
            if scored {
                assert_eq!(all["worths"][at]["score_total"], one["score_total"]);
            }
        }
    }
}

#[test]
fn parquet_answers_as_csv_does() {
    let (folder, feed) = (Folder::new(), Feed::new());
    feed.write(&folder);
    for way in ["map --quota 2,1,1 --solver greedy", "sample --quota 2,1,1 --samples 5 --seed 3", "map --k 4"]
    {
        let answer = |source: &str| {
            let mut answer = folder.json(&format!("{way} {source}"));
            answer["seconds"].take();
            answer
        };
        assert_eq!(answer(PARQUET), answer(CSV), "{way}");
    }
}

/// By proposals, and by one sampler per value.
#[test]
fn samples_are_of_their_value() {
    let (folder, feed) = (Folder::new(), Feed::new());
    feed.write(&folder);
    for way in ["--quota ..2,1..,.. --k 4", "--k 3", "--k 3 --ridge 0.5", "--quota ..1,1..2,..1"] {
        let answer = folder.sample(&format!("{PARQUET} {way} --samples 20 --seed 5"));
        assert_eq!((&answer["by"], &answer["exactness"]), (&json!(feed.order()), &json!("exact")));
        assert!(answer["law_error"].as_f64().unwrap() < 1e-9);
        for (at, user) in feed.order().into_iter().enumerate() {
            let own = feed.items_of(user);
            let samples: Vec<Vec<usize>> = serde_json::from_value(answer["samples"][at].clone()).unwrap();
            assert_eq!(samples.len(), 20);
            let size = if way.contains("--k 4") {
                4..=4
            } else if way.contains("--k 3") {
                3..=3
            } else {
                1..=4
            };
            assert!(samples.iter().all(|sample| size.contains(&sample.len())), "{way}");
            if way.contains("..2,1..,..") {
                let of_tone =
                    |sample: &[usize], tone| sample.iter().filter(|&&item| feed.tones[item] == tone).count();
                assert!(samples.iter().all(|sample| of_tone(sample, "a") <= 2 && of_tone(sample, "b") >= 1));
            }
            assert!(samples.iter().flatten().all(|item| own.contains(item)), "{way}");
            assert!(samples.iter().any(|sample| *sample != samples[0]), "{way}");
        }
        // Fewer samples are the first of more, for any number of threads.
        let fewer = folder.sample(&format!("{PARQUET} {way} --samples 3 --seed 5 --threads 1"));
        for at in 0..USERS {
            assert_eq!(fewer["samples"][at], json!(answer["samples"][at].as_array().unwrap()[..3]), "{way}");
        }
    }
}

#[test]
fn conditions_hold_where_their_items_are() {
    let (folder, feed) = (Folder::new(), Feed::new());
    feed.write(&folder);
    let [mine, other] = [feed.items_of(10), feed.items_of(77)];
    let conditions = format!("--include {},{} --exclude {}", mine[3], other[0], mine[4]);
    for way in
        ["map --k 4 --solver greedy", "map --k 4 --time-limit 0", "sample --k 4", "sample --ridge 1 --k 4"]
    {
        let answer = folder.json(&format!("{way} {PARQUET} {conditions}"));
        for (at, user) in feed.order().into_iter().enumerate() {
            let set = if way.starts_with("map") { &answer["sets"][at] } else { &answer["samples"][at][0] };
            let set: Vec<usize> = serde_json::from_value(set.clone()).unwrap();
            assert_eq!(set.contains(&mine[3]), user == 10, "{way}");
            assert_eq!(set.contains(&other[0]), user == 77, "{way}");
            assert!(!set.contains(&mine[4]), "{way}");
        }
    }
}

#[test]
fn the_rows_of_all_sets_go_to_one_file() {
    let (folder, feed) = (Folder::new(), Feed::new());
    feed.write(&folder);
    let answer = folder.json(&format!("map {PARQUET} --quota 2,1,1 --solver greedy --output rows.csv"));
    let rows = fs::read_to_string(folder.path("rows.csv")).unwrap();
    let mut lines = rows.lines();
    assert_eq!(lines.next(), Some("sample,item,user,tone,score"));
    for (at, set) in answer["sets"].as_array().unwrap().iter().enumerate() {
        for item in set.as_array().into_iter().flatten() {
            let item = item.as_u64().unwrap();
            let start = format!("{at},{item},{},", feed.users[usize::try_from(item).unwrap()]);
            assert!(lines.next().unwrap().starts_with(&start));
        }
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn tables_name_the_values_without_an_answer() {
    let (folder, feed) = (Folder::new(), Feed::new());
    feed.write(&folder);
    let text = folder.text(&format!("map {PARQUET} --quota 2,1,1"));
    for part in ["log det", "no answer 4: the quota asks for 1 item of part c", "problems  7", "reading,"] {
        assert!(text.contains(part), "'{part}' is missing in:\n{text}");
    }
    let text = folder.text(&format!("sample {PARQUET} --quota 2,1,1 --samples 4 --quiet"));
    assert!(text.contains("… and 5 more") && !text.contains("problems"), "{text}");
}

/// On a GPU, the sets are the same as on the CPU. Other solvers and open sizes are not available there.
#[test]
fn greedy_sets_on_a_gpu() {
    let folder = Folder::new();
    Feed::new().write(&folder);
    folder.refuses(&format!("map {PARQUET} --k 2 --solver greedy --engine gpu"), 3, &["graphics adapter"]);
    if crate::devices::adapters().is_empty() {
        return;
    }
    let answer = |engine: &str| -> Value {
        let arguments = format!("map {PARQUET} --quota 2,1,1 --solver greedy --json --engine {engine}");
        let output = folder.pdpp_with_adapters(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (on_gpu, on_cpu) = (answer("gpu"), answer("cpu"));
    for field in ["by", "sets", "log_dets", "errors", "terminations"] {
        assert_eq!(on_gpu[field], on_cpu[field], "{field}");
    }
    assert_eq!([&on_gpu["engine"], &on_cpu["engine"]], [&json!("gpu"), &json!("cpu")]);
    let problems = on_gpu["by"].as_array().unwrap().len() as u64;
    assert!(on_gpu["left_to_cpu"].as_u64().unwrap() < problems, "{}", on_gpu["left_to_cpu"]);
    assert!(on_cpu.get("left_to_cpu").is_none());
    let arguments = format!("map {PARQUET} --quota 2,1,1 --solver greedy --engine gpu");
    let shown = folder.pdpp_with_adapters(&arguments).output().unwrap().stdout;
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("by the CPU)"), "{shown}");
}

#[test]
fn what_many_problems_do_not_have() {
    let folder = Folder::new();
    Feed::new().write(&folder);
    let none = ["none of the 7 values of --by has an answer; the first, 30: ", "part a"];
    folder.refuses(&format!("map {PARQUET} --quota 20,1,1 --solver greedy"), 2, &none);
    folder.refuses(&format!("sample {CSV} --quota 20,1,1"), 2, &none);
    folder.refuses("map --features all.parquet --k 2 --by usr", 2, &["no column 'usr'", "user"]);
    folder.refuses("map --features all.csv --k 2 --by user", 2, &["--by needs a column"]);
    folder.refuses(&format!("map {PARQUET} --k 2 --certify"), 2, &["--certify", "--by"]);
    for (law, reason) in [
        ("map --k 2", "only --solver greedy;"),
        ("map --solver greedy --quota 1..2,1,1", "only sets of a fixed size;"),
        ("sample --k 2", "sample --by does not draw on a GPU"),
    ] {
        let (command, law) = law.split_once(' ').unwrap();
        let arguments = format!("{command} {PARQUET} {law} --engine gpu");
        folder.refuses(&arguments, 2, &["--engine gpu", reason, "--by"]);
    }
    folder.refuses(&format!("map {PARQUET} --k 2 --include 500"), 2, &["item 500 does not exist"]);
    folder.refuses(&format!("sample {PARQUET} --quota 1,1,1 --plan"), 2, &["--plan", "--by"]);
    folder.refuses(&format!("sample {PARQUET} --quota 1,1,1 --method mcmc"), 2, &["--method mcmc", "--by"]);
    folder.refuses(&format!("sample {PARQUET} --k 1 --plot p.png"), 2, &["--by", "--plot"]);
    folder.refuses(&format!("sample {PARQUET} --k 1 --time-limit 0"), 4, &["the time limit passed"]);
    folder.refuses(&format!("map {PARQUET} --k 2 --include 3 --exclude 3"), 2, &["item 3", "both"]);
    folder.refuses(&format!("sample {PARQUET} --k 4 --memory 1KB"), 4, &["memory"]);
}

/// An id found in several groups selects all its items.
#[test]
fn ids_may_be_shared_by_values() {
    let folder = Folder::new();
    folder.write("rows.csv", "1,0\n0,1\n1,1\n1,0\n0,1\n1,2\n");
    folder.write("table.csv", "user,film\n07,a\n07,b\n07,c\n7,a\n7,b\n7,c\n");
    let columns =
        "--features rows.csv --labels table.csv --label-column film --ids table.csv --id-column film";
    let answer = folder.json(&format!("map {columns} --by user --k 2 --solver greedy --exclude-ids c"));
    assert_eq!(answer["by"], json!(["07", "7"]));
    assert_eq!(answer["ids"], json!([["a", "b"], ["a", "b"]]));
    assert_eq!((&answer["engine"], &answer["adapter"]), (&json!("cpu"), &Value::Null));
    let answer = folder.json(&format!("sample {columns} --by user --k 1 --include-ids b --samples 2"));
    assert_eq!(answer["ids"], json!([[["b"], ["b"]], [["b"], ["b"]]]));
    let refused = ["no item has the id 'z'"];
    folder.refuses(&format!("map {columns} --by user --k 2 --exclude-ids z"), 2, &refused);
}

/// Errors name items of the whole input, for every solver.
#[test]
fn items_at_fault_are_named_as_in_the_input() {
    let folder = Folder::new();
    folder.write("rows.csv", "1,0\n0,1\n1,1\n1,0\n0,1\n2,0\n");
    folder.write("table.csv", "user\nu\nu\nu\nv\nv\nv\n");
    for solver in ["greedy", "local-search"] {
        let way = format!(
            "map --features rows.csv --labels table.csv --by user --k 2 --solver {solver} --include 3,5"
        );
        let answer = folder.json(&way);
        let reason = answer["errors"][0]["error"].as_str().unwrap();
        assert!(answer["errors"][0]["by"] == "v" && reason.contains("item 5"), "{solver}: {answer}");
    }
}

/// A user with enough items, except that a tone has a maximum.
#[test]
fn maxima_that_bind_are_named() {
    let folder = Folder::new();
    Feed::new().write(&folder);
    let quota = "--features all.parquet --label-column tone --by user --quota ..2,..2,..2 --k 5";
    for command in ["map --solver greedy", "map", "sample"] {
        let answer = folder.json(&format!("{command} {quota}"));
        let [error] = &answer["errors"].as_array().unwrap()[..] else { panic!("{answer}") };
        let reason = "the total is 5 items in all, but the ranges of the parts allow 0 to 4";
        assert_eq!((&error["by"], &error["error"]), (&json!(4), &json!(reason)), "{command}");
    }
}

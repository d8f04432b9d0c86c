//! `--represent`: sets that represent the other items.

use approx::assert_abs_diff_eq;
use partition_dpp::{Engine, Features, Partition, Subset, similarity::Representation};
use serde_json::{Value, json};

use super::support::Folder;

const ITEMS: usize = 12;
const DIMS: usize = 3;
const INPUT: &str = "--features rows.csv --labels parts.csv";

/// Returns twelve rows without a pattern, in three parts.
fn rows() -> Vec<f64> {
    (0..ITEMS * DIMS).map(|at| 0.4 + (12.9898 * (at + 1) as f64).sin()).collect()
}

fn parts() -> Vec<usize> {
    (0..ITEMS).map(|item| item % 3).collect()
}

fn features() -> Features {
    Features::from_rows(ITEMS, DIMS, rows()).unwrap()
}

fn csv(features: &Features) -> String {
    let line =
        |item: usize| features.row(item).iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    (0..features.items()).map(line).collect()
}

/// Makes a folder with `rows.csv`, `parts.csv` and `scores.csv`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("rows.csv", csv(&features()));
    let label = |part: &usize| format!("{part}\n");
    folder.write("parts.csv", format!("part\n{}", parts().iter().map(label).collect::<String>()));
    let score = |item: usize| format!("{}\n", (1.1 * item as f64).sin());
    folder.write("scores.csv", format!("score\n{}", (0..ITEMS).map(score).collect::<String>()));
    folder
}

/// Writes rows that the library has mapped.
fn write_mapped(folder: &Folder, features: &Features, groups: &[usize], rho: f64, excluded: &[usize]) {
    let (partition, engine) = (Partition::from_labels(groups).unwrap(), Engine::cpu());
    let representation = Representation::without(features, &partition, excluded, &engine).unwrap();
    let mapped = representation.features(rho, &engine).unwrap();
    // Weighted rows are written with their weight.
    let weighted = (0..mapped.items()).flat_map(|item| {
        let row = features.row(item);
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let is_unit =
            (features.log_det(&Subset::new(vec![item], ITEMS).unwrap()).unwrap().value).abs() < 1e-12;
        let weight = if is_unit { length.recip() } else { 1.0 };
        mapped.row(item).into_iter().map(move |x| weight * x)
    });
    let weighted = Features::from_rows(mapped.items(), mapped.dims(), weighted.collect::<Vec<_>>()).unwrap();
    folder.write("mapped.csv", csv(&weighted));
}

fn assert_alike(found: &Value, expected: &Value, what: &str) {
    match (found, expected) {
        (Value::Number(x), Value::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            assert!((x - y).abs() <= 1e-9 * (1.0 + y.abs()), "{what}: {x}, not {y}");
        }
        (Value::Array(x), Value::Array(y)) => {
            assert_eq!(x.len(), y.len(), "{what}");
            x.iter().zip(y).for_each(|(x, y)| assert_alike(x, y, what));
        }
        (Value::Object(x), Value::Object(y)) => {
            assert_eq!(x.len(), y.len(), "{what}");
            x.iter().for_each(|(key, x)| assert_alike(x, &y[key], what));
        }
        _ => panic!("{what}: {found}, not {expected}"),
    }
}

/// Every command gives the same answers as for rows that were mapped before.
#[test]
fn answers_are_those_of_mapped_rows() {
    let folder = folder();
    let all = vec![0; ITEMS];
    let cases = [
        ("--represent parts", parts(), 1.0, ""),
        ("--represent parts --representation 2.5", parts(), 2.5, ""),
        ("--represent all --representation 2", all.clone(), 2.0, ""),
        ("--represent all", all, 1.0, "--scores scores.csv"),
        ("--represent parts", parts(), 1.0, "--ridge 0.3"),
        ("--represent parts", parts(), 1.0, "--ridge 0.3 --scores scores.csv --diversity 0.4"),
    ];
    for (options, groups, rho, rest) in cases {
        write_mapped(&folder, &features(), &groups, rho, &[]);
        for (command, fields) in [
            ("infer --quota 1,1,1", &["log_z", "marginals"][..]),
            ("infer --k 2 --exclude 3 --include 0", &["log_z", "marginals"]),
            ("infer --quota 0..1,0..1,0..2", &["log_z"]),
            ("sample --quota 1,1,1 --samples 3", &["samples"]),
            ("map --quota 1,1,1", &["set", "log_det"]),
            ("map --solver exact --k 3", &["set", "log_det"]),
            ("counts --k 2", &["counts"]),
        ] {
            let (name, law) = command.split_once(' ').unwrap();
            let found = folder.json(&format!("{name} {INPUT} {options} {law} {rest}"));
            let by_hand =
                folder.json(&format!("{name} --features mapped.csv --labels parts.csv {law} {rest}"));
            for field in fields {
                assert_alike(
                    &found[*field],
                    &by_hand[*field],
                    &format!("{command} {options} {rest}: {field}"),
                );
            }
        }
    }
}

/// A ridge for many items is kept separate from the mapped rows.
#[test]
fn ridges_of_many_items_come_after_the_map() {
    let folder = Folder::new();
    let items = 1010;
    let values: Vec<f64> = (0..2 * items).map(|at| 0.3 + (12.9898 * (at + 1) as f64).sin()).collect();
    let features = Features::from_rows(items, 2, values).unwrap();
    folder.write("many.csv", csv(&features));
    let (all, engine) = (Partition::of(vec![0; items]).unwrap(), Engine::cpu());
    let mapped = Representation::new(&features, &all, &engine).unwrap().features(1.0, &engine).unwrap();
    folder.write("mapped.csv", csv(&mapped));
    for (command, fields) in [("infer", ["log_z", "marginals"]), ("map --solver greedy", ["set", "log_det"])]
    {
        let law = "--k 5 --ridge 0.2";
        let found = folder.json(&format!("{command} --features many.csv --represent all {law}"));
        let by_hand = folder.json(&format!("{command} --features mapped.csv {law}"));
        fields.iter().for_each(|field| assert_alike(&found[*field], &by_hand[*field], field));
    }
}

#[test]
fn similarities_come_first() {
    let folder = folder();
    write_mapped(&folder, &features().with_unit_rows().unwrap(), &parts(), 1.0, &[]);
    let found = folder.json(&format!("infer {INPUT} --similarity cosine --represent parts --quota 1,1,1"));
    let by_hand = folder.json("infer --features mapped.csv --labels parts.csv --quota 1,1,1");
    assert_alike(&found["marginals"], &by_hand["marginals"], "cosine");
    assert_alike(&found["log_z"], &by_hand["log_z"], "cosine");
    // Uses features of the Gaussian kernel, though a search could do without them.
    let best = folder.json(&format!("map {INPUT} --similarity rbf --represent parts --quota 1,1,1"));
    assert!(best["explained"].as_f64().unwrap() > 0.3 && best["kernel"] == "exact", "{best}");
}

#[test]
fn excluded_items_are_stood_for_unless_told_otherwise() {
    let folder = folder();
    for (excluded, option) in [(&[][..], ""), (&[0, 4, 7], "--represent-excluded no")] {
        write_mapped(&folder, &features(), &parts(), 1.0, excluded);
        let rest = "--quota 1,1,1 --exclude 0,4,7";
        let found = folder.json(&format!("infer {INPUT} --represent parts {option} {rest}"));
        let by_hand = folder.json(&format!("infer --features mapped.csv --labels parts.csv {rest}"));
        assert_alike(&found["marginals"], &by_hand["marginals"], option);
    }
}

/// The sets of a value of --by represent the items of that value.
#[test]
fn every_value_is_by_itself() {
    let folder = folder();
    let users = |item: usize| if item < 6 { "ann" } else { "bob" };
    let line = |item: usize| format!("{},{}\n", item % 3, users(item));
    folder.write("both.csv", format!("part,user\n{}", (0..ITEMS).map(line).collect::<String>()));
    let input = "--features rows.csv --labels both.csv --label-column part --by user";
    let law = "--represent parts --quota 1,1,1";
    let found = folder.json(&format!("map {input} {law} --solver greedy"));
    let drawn = folder.json(&format!("sample {input} {law} --samples 2"));
    assert_eq!(drawn["samples"].as_array().unwrap().len(), 2);
    for (value, first) in [(0, 0), (1, 6)] {
        let own: Vec<f64> = rows()[first * DIMS..(first + 6) * DIMS].to_vec();
        folder.write("own.csv", csv(&Features::from_rows(6, DIMS, own).unwrap()));
        folder.write("own-parts.csv", "part\n0\n1\n2\n0\n1\n2\n");
        let alone =
            folder.json(&format!("map --features own.csv --labels own-parts.csv {law} --solver greedy"));
        let set: Vec<u64> =
            alone["set"].as_array().unwrap().iter().map(|i| i.as_u64().unwrap() + first as u64).collect();
        assert_eq!(found["sets"][value], json!(set));
        assert_alike(&found["log_dets"][value], &alone["log_det"], "by");
    }
}

/// The answer refers to the rows of the similarity, before any later step.
#[test]
fn answers_say_how_well_sets_stand_for_the_rest() {
    let folder = folder();
    let partition = Partition::from_labels(&parts()).unwrap();
    let explained = |set: &Value| {
        let set: Vec<usize> = serde_json::from_value(set.clone()).unwrap();
        features().explained(&Subset::new(set, ITEMS).unwrap(), &partition, &Engine::cpu()).unwrap()
    };
    for rest in ["", "--represent parts", "--scores scores.csv", "--ridge 0.5"] {
        let best = folder.json(&format!("map {INPUT} --k 2 {rest}"));
        let expected = explained(&best["set"]);
        assert_abs_diff_eq!(best["explained"].as_f64().unwrap(), expected.total, epsilon = 1e-12);
        assert_alike(&best["explained_by_part"], &json!(expected.by_part), rest);
        let drawn = folder.json(&format!("sample {INPUT} --k 2 --samples 4 --explained {rest}"));
        for (set, at) in drawn["samples"].as_array().unwrap().iter().zip(0..) {
            assert_alike(&drawn["explained"][at], &json!(explained(set).total), rest);
            assert_alike(&drawn["explained_by_part"][at], &json!(explained(set).by_part), rest);
        }
    }
    let drawn = folder.json(&format!("sample {INPUT} --k 2 --represent all"));
    assert!(drawn["explained"][0].is_number() && drawn["explained_by_part"].is_null());
    assert!(folder.json(&format!("sample {INPUT} --k 2"))["explained"].is_null());
    folder.write("sets.json", "[[0,1],[2,3,5]]");
    let found = folder.json(&format!("infer {INPUT} --k 2 --sets sets.json"));
    assert_alike(&found["explained"][0], &json!(explained(&json!([0, 1])).total), "infer");
    assert_alike(&found["explained_by_part"][1], &json!(explained(&json!([2, 3, 5])).by_part), "infer");
    // A kernel of pairs explains the same as features of the whole kernel.
    let greedy = format!("map {INPUT} --quota 1,1,1 --similarity rbf --solver greedy --include 0,7,8");
    let pairs = folder.json(&format!("{greedy} --explained"));
    let rows = folder.json(&format!("{greedy} --landmarks 12"));
    assert_eq!(pairs["set"], rows["set"]);
    assert_alike(&pairs["explained"], &rows["explained"], "rbf");
    assert_alike(&pairs["explained_by_part"], &rows["explained_by_part"], "rbf");
    let set: Vec<usize> = serde_json::from_value(pairs["set"].clone()).unwrap();
    let set = Subset::new(set, ITEMS).unwrap();
    let mean = features().mean_distance_to(&set, &Engine::cpu()).unwrap();
    assert_alike(&pairs["mean_distance"], &json!(mean), "distance");
    assert!(rows["mean_distance"].is_null());
    let drawn = folder.json(&format!("sample {INPUT} --k 2 --samples 3 --similarity rbf --explained"));
    assert!(drawn["mean_distance"].as_array().unwrap().iter().all(|mean| mean.as_f64().unwrap() > 0.1));
    let text = folder.text(&format!("map {INPUT} --quota 1,1,1 --similarity rbf --explained"));
    assert!(text.contains("on average to the nearest chosen item"), "{text}");
    let text = folder.text(&format!("map {INPUT} --quota 1,1,1 --represent parts"));
    for words in ["explains", "of the squared length of all rows", "representing parts with exponent 1"] {
        assert!(text.contains(words), "'{words}' is missing in {text}");
    }
}

/// The bandwidth is stated. By default it is a third of the median distance.
#[test]
fn bandwidths_and_ridges_are_stated() {
    let folder = folder();
    let stated = |options: &str, field: &str| {
        folder.json(&format!("infer {INPUT} --k 2 {options}"))[field].as_f64().unwrap()
    };
    let median = stated("--similarity rbf", "bandwidth");
    for (options, factor) in [
        ("--bandwidth median", 1.0),
        ("--bandwidth median/2.5", 0.4),
        ("--represent parts", 1.0 / 3.0),
        ("--represent all --bandwidth median", 1.0),
    ] {
        let found = stated(&format!("--similarity rbf {options}"), "bandwidth");
        assert_abs_diff_eq!(found, factor * median, epsilon = 1e-12);
    }
    assert_abs_diff_eq!(stated("--similarity rbf --bandwidth 2", "bandwidth"), 2.0);
    folder.refuses(&format!("infer {INPUT} --k 2 --similarity rbf --bandwidth median/0"), 2, &["median/0"]);
    for (options, delta) in [("", 0.01), ("--similarity cosine", 0.01), ("--represent all", 0.01)] {
        assert_abs_diff_eq!(stated(&format!("{options} --ridge auto"), "ridge"), delta);
    }
    let text = folder.text(&format!("map {INPUT} --k 2 --similarity rbf --ridge auto"));
    assert!(text.contains(&format!("rbf similarity of bandwidth {median:.4}, ridge 0.01")), "{text}");
    folder.write("long.csv", csv(&Features::from_rows(3, 1, vec![1000.0, 2000.0, 3000.0]).unwrap()));
    let long = folder.json("sample --features long.csv --k 2 --ridge auto");
    assert_abs_diff_eq!(long["ridge"].as_f64().unwrap(), 10_000.0);
}

#[test]
fn refusals_name_the_way_out() {
    let folder = folder();
    folder.refuses(&format!("sample {INPUT} --k 2 --representation 2"), 2, &["--represent"]);
    for exponent in ["-1", "nan", "much"] {
        let command = format!("sample {INPUT} --k 2 --represent all --representation {exponent}");
        folder.refuses(&command, 2, &["--representation", exponent]);
    }
    folder.refuses(&format!("sample {INPUT} --k 4 --represent all"), 2, &["a smaller --representation"]);
    folder.write("table.csv", "a,b\n1,1\n1,0\n0,1\n1,0\n1,0\n0,1\n0,1\n1,0\n0,1\n1,0\n1,0\n1,0\n");
    let labelled = "sample --features rows.csv --labels table.csv --multi-label --quota 1,1";
    folder.refuses(
        &format!("{labelled} --represent parts"),
        2,
        &["--represent all", "several of its labels"],
    );
    folder.json(&format!("{labelled} --represent all"));
}

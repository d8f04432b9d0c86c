//! `pdpp map --design`, and exact searches that start at a set and resume from a file.

use serde_json::{Value, json};

use crate::support::Folder;

fn number(answer: &Value, name: &str) -> f64 {
    answer[name].as_f64().unwrap_or_else(|| panic!("{name}: {answer}"))
}

/// A full quadratic model in three factors at three levels.
fn quadratic() -> Folder {
    let folder = Folder::new();
    let mut rows = String::from("one,a,b,c,aa,bb,cc,ab,ac,bc\n");
    let mut blocks = String::from("block\n");
    for a in -1..=1 {
        for b in -1..=1 {
            for c in -1..=1 {
                let row = [1, a, b, c, a * a, b * b, c * c, a * b, a * c, b * c];
                rows.push_str(&(row.map(|x| x.to_string()).join(",") + "\n"));
                blocks.push_str(if a < 1 { "early\n" } else { "late\n" });
            }
        }
    }
    folder.write("quadratic.csv", rows);
    folder.write("blocks.csv", blocks);
    folder
}

#[test]
fn the_best_design_of_a_quadratic_model() {
    let folder = quadratic();
    let answer = folder.json("map --features quadratic.csv --k 14 --design --solver exact");
    // Two thirds of the corners and centres, as found by enumeration with other programs.
    assert!((number(&answer, "log_det") - 18.691_257_349).abs() < 1e-8, "{answer}");
    assert_eq!(answer["termination"], json!("optimal"));
    let (distinct, repeated) = (number(&answer, "efficiency"), number(&answer, "efficiency_repeated"));
    assert!((0.97..1.0).contains(&distinct) && (0.97..1.0).contains(&repeated), "{answer}");
    assert!(answer["history"].as_array().unwrap().len() > 1, "{answer}");
    let text = folder.text("map --features quadratic.csv --k 14 --design --solver exact");
    for part in [
        "proven optimal",
        "efficient at least 0.97",
        "law       D-optimal design of 14 rows, from 27 items of 10 dimensions",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // Local search finds it, too, and states its efficiency.
    let found = folder.json("map --features quadratic.csv --k 14 --design");
    assert!((number(&found, "log_det") - number(&answer, "log_det")).abs() < 1e-9, "{found}");
    assert!((number(&found, "efficiency") - distinct).abs() < 1e-5, "{found}");
}

#[test]
fn designs_have_blocks_and_given_trials() {
    let folder = quadratic();
    let blocks = "map --features quadratic.csv --labels blocks.csv --design --solver exact";
    let answer = folder.json(&format!("{blocks} --quota early=9,late=4 --include 13 --exclude 0"));
    let set: Vec<u64> = answer["set"].as_array().unwrap().iter().map(|item| item.as_u64().unwrap()).collect();
    assert_eq!(set.iter().filter(|&&item| item < 18).count(), 9, "{answer}");
    assert!(set.len() == 13 && set.contains(&13) && !set.contains(&0), "{answer}");
    let text = folder.text(&format!("{blocks} --quota early=9,late=4"));
    assert!(text.contains("D-optimal design of 13 rows over 2 parts"), "{text}");
}

#[test]
fn what_a_design_cannot_be_is_refused() {
    let folder = quadratic();
    let design = "map --features quadratic.csv --design";
    for (rest, part) in [
        ("--k 9", "rows of rank 9 cannot estimate 10 coefficients"),
        ("--k 28", "more than the 27 items"),
        ("", "--design needs --k or --quota"),
        ("--k 12 --solver greedy", "--solver local-search or exact"),
        ("--k 12 --similarity cosine", "takes rows as they are"),
        ("--k 12 --solver exact --resume tree", "--resume is for --solver exact, without --design"),
        ("--k 12 --plot-search search.png", "--plot-search is for --solver exact"),
    ] {
        folder.refuses(&format!("{design} {rest}"), 2, &[part]);
    }
}

#[test]
fn a_search_goes_on_from_its_file() {
    let folder = quadratic();
    let search = "map --features quadratic.csv --labels blocks.csv --quota early=4,late=3 --solver exact";
    let whole = folder.json(search);
    let resumed = format!("{search} --resume tree --plot-search search.svg");
    let cut = folder.json(&format!("{resumed} --time-limit 0"));
    assert_eq!(cut["termination"], json!("time-limit"));
    let answer = folder.json(&resumed);
    assert_eq!((&answer["set"], &answer["termination"]), (&whole["set"], &json!("optimal")));
    let again = folder.json(&resumed);
    assert_eq!((&again["set"], &again["termination"]), (&whole["set"], &json!("optimal")));
    assert!(std::fs::read_to_string(folder.path("search.svg")).unwrap().contains("no set is above"));
    let other = search.replace("early=4", "early=3");
    folder.refuses(
        &format!("{other} --resume tree"),
        2,
        &["tree: these bytes are not a search of these rows"],
    );
    folder.write("tree", "nothing");
    folder.refuses(&format!("{search} --resume tree"), 2, &["tree: these bytes are not a search"]);
}

#[test]
fn a_search_begins_at_an_answer() {
    let folder = quadratic();
    let question = "map --features quadratic.csv --k 6";
    let found: Value = folder.json(question);
    folder.write("found.json", found.to_string());
    folder.write("list.txt", "0 2, 6\n8 18 20\n");
    let whole = folder.json(&format!("{question} --solver exact"));
    for file in ["found.json", "list.txt"] {
        let warm = folder.json(&format!("{question} --solver exact --warm {file}"));
        assert_eq!((&warm["set"], &warm["termination"]), (&whole["set"], &json!("optimal")));
    }
    folder.write("bad.txt", "1 2 many");
    folder.refuses(&format!("{question} --solver exact --warm bad.txt"), 2, &["nor a list of items"]);
    folder.write("bad.txt", "1 2 99");
    folder.refuses(&format!("{question} --solver exact --warm bad.txt"), 2, &["item 99 does not exist"]);
    folder.refuses(&format!("{question} --warm list.txt"), 2, &["--warm is for --solver exact"]);
}

#[test]
fn a_certificate_uses_its_time() {
    let folder = quadratic();
    let question = "map --features quadratic.csv --k 7 --solver greedy --certify";
    let (bounded, searched) = (folder.json(question), folder.json(&format!("{question} --time-limit 100")));
    assert!(number(&searched, "gap") < 1e-8 && number(&bounded, "gap") > 1e-3, "{bounded} {searched}");
    assert_eq!(searched["termination"], json!("optimal"));
}

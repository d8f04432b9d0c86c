//! Inputs that once got a wrong answer, a false error, a panic or no answer: under every law, they are now answered
//! correctly or refused.
//!
//! `PDPP_CASE_LAW='Size(2)'` restricts the search to laws whose description contains a text.

use std::{collections::BTreeSet, fs, ops::RangeInclusive, path::PathBuf};

use approx::{abs_diff_eq, assert_abs_diff_eq};
use oracles::{
    Constraint::{self, Any, Quota, Ranges, Size},
    Data, Problem, Storage,
    checked::{DEADLINE, Effort, examine, with_deadline},
};
use partition_dpp::{Engine, Features};

/// The effort for the law of the original report, which gets more draws than the others.
const NAMED: Effort = Effort { draws: 20_000, draws_by_nodes: 20_000, paths: 60, solvers: true };
const SWEPT: Effort = Effort { draws: 2_000, draws_by_nodes: 2_000, paths: 10, solvers: true };
/// The most laws of one kind.
const MOST: usize = 24;

fn folder(case: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/hard-cases")).join(case)
}

/// Reads the rows of a .npy file, of several in sequence, or of a .csv file without quotes or marks.
fn rows(case: &str, names: &[&str]) -> Vec<Vec<f64>> {
    let mut rows = Vec::new();
    for name in names {
        let path = folder(case).join(name);
        if path.extension().unwrap() == "npy" {
            let features = Features::open_npy(&path).unwrap();
            rows.extend((0..features.items()).map(|item| features.row(item)));
        } else {
            let numbers =
                |line: &String| line.split(',').map(|x| x.trim().parse::<f64>()).collect::<Result<_, _>>();
            rows.extend(lines(&path).iter().filter_map(|line| numbers(line).ok()));
        }
    }
    rows
}

fn lines(path: &PathBuf) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap().replace(['\u{feff}', '"'], "");
    text.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect()
}

/// Reads the first column below the header, by the order of the labels: as numbers if they all are numbers.
fn labels(case: &str, name: &str) -> Vec<usize> {
    let path = folder(case).join(name);
    let texts: Vec<String> = if path.extension().unwrap() == "npy" {
        // One row of integers: its bytes follow the header.
        let bytes = fs::read(&path).unwrap();
        let data = &bytes[10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))..];
        let header = String::from_utf8_lossy(&bytes[10..80]).into_owned();
        if header.contains(">i4") {
            data.chunks_exact(4).map(|x| i32::from_be_bytes(x.try_into().unwrap()).to_string()).collect()
        } else {
            assert!(header.contains("<i8"));
            data.chunks_exact(8).map(|x| i64::from_le_bytes(x.try_into().unwrap()).to_string()).collect()
        }
    } else {
        let first = |line: &String| line.split(',').next().unwrap().trim().to_owned();
        lines(&path)[1..].iter().map(first).collect()
    };
    ranks(&texts)
}

fn ranks(texts: &[String]) -> Vec<usize> {
    let numbers: Result<Vec<i64>, _> = texts.iter().map(|text| text.parse()).collect();
    let rank = |at: usize| match &numbers {
        Ok(numbers) => numbers.iter().collect::<BTreeSet<_>>().iter().position(|x| **x == numbers[at]),
        Err(_) => texts.iter().collect::<BTreeSet<_>>().iter().position(|x| **x == texts[at]),
    };
    (0..texts.len()).map(|at| rank(at).unwrap()).collect()
}

/// Returns every law over the data, thinned out evenly if there are too many of a kind.
fn laws(problem: &Problem) -> Vec<Constraint> {
    let sizes: Vec<usize> = (0..problem.parts())
        .map(|part| problem.labels.iter().filter(|label| **label == part).count())
        .collect();
    let rank = problem.minors().rank((1 << problem.items()) - 1);
    let mut laws = vec![Any];
    laws.extend((1..=rank).map(Size));
    let quotas = product(&sizes.iter().map(|size| (0..=*size).collect::<Vec<_>>()).collect::<Vec<_>>());
    let met = quotas.into_iter().filter(|quota| (1..=rank).contains(&quota.iter().sum()));
    laws.extend(thinned(met.map(Quota).collect()));
    let ranges = |size: &usize| -> Vec<RangeInclusive<usize>> {
        let (most, middle) = (*size, size.div_ceil(2));
        vec![0..=most, 1..=most, 0..=1, 1..=middle.max(1), 0..=middle]
    };
    let ranges = product(&sizes.iter().map(ranges).collect::<Vec<_>>());
    laws.extend(thinned(ranges.iter().map(|ranges| Ranges(ranges.clone(), None)).collect()));
    let fixed = ranges.iter().enumerate().filter_map(|(at, ranges)| {
        let (low, high): (usize, usize) =
            ranges.iter().fold((0, 0), |(low, high), range| (low + range.start(), high + range.end()));
        let total = (low.max(1) + at % 3).min(rank).min(high);
        (total >= low).then(|| Ranges(ranges.clone(), Some(total)))
    });
    laws.extend(thinned(fixed.collect()));
    laws
}

fn product<T: Clone>(choices: &[Vec<T>]) -> Vec<Vec<T>> {
    choices.iter().fold(vec![Vec::new()], |all, choices| {
        all.iter()
            .flat_map(|one| choices.iter().map(|next| [&one[..], std::slice::from_ref(next)].concat()))
            .collect()
    })
}

fn thinned<T: Clone>(all: Vec<T>) -> Vec<T> {
    let step = all.len().div_ceil(MOST).max(1);
    all.into_iter().step_by(step).collect()
}

/// Returns what is wrong with the answers to a problem.
fn look(problem: &Problem, effort: Effort) -> Vec<String> {
    let wanted = std::env::var("PDPP_CASE_LAW").unwrap_or_default();
    if !format!("{problem}").contains(&wanted) {
        return Vec::new();
    }
    let asked = problem.clone();
    with_deadline(DEADLINE, move || examine(&asked, &Engine::cpu(), effort, 1)).into_report().wrong()
}

/// Checks the law of the original report, and all others.
fn check(base: &Problem, named: &[Constraint]) {
    let of = |constraint| Problem { constraint, ..base.clone() };
    let named = named.iter().map(|law| (of(law.clone()), NAMED));
    let swept = laws(base).into_iter().map(|law| (of(law), SWEPT));
    let (mut asked, mut wrong) = (0, Vec::new());
    for (problem, effort) in named.chain(swept) {
        asked += 1;
        let found = look(&problem, effort);
        if !found.is_empty() {
            wrong.push((problem, found));
        }
    }
    println!("{asked} laws, {} wrong", wrong.len());
    for (problem, found) in &wrong {
        println!("{problem}");
        found.iter().take(6).for_each(|fault| println!("    {fault}"));
    }
    assert!(wrong.is_empty(), "{} of {asked} laws have a wrong answer", wrong.len());
}

fn features(case: &str, names: &[&str], labels_in: &str) -> Problem {
    Problem::new(rows(case, names), labels(case, labels_in), Any)
}

fn in_single_precision(problem: Problem) -> Problem {
    Problem { storage: Storage::F32, ..problem }
}

fn kernel(case: &str) -> Problem {
    Problem { data: Data::Kernel, ..features(case, &["k.npy"], "l.csv") }
}

macro_rules! cases {
    ($($name:ident: $problem:expr, [$($law:expr),*];)*) => {
        $(#[test]
        fn $name() {
            check(&$problem, &[$($law),*]);
        })*
    };
}

cases! {
    outlier_row_1_575: features("1_575", &["a.npy"], "l.csv"), [Any];
    groups_of_other_scales_1_980: features("1_980", &["a.npy"], "l.csv"), [Any];
    several_files_2_722: features("2_722", &["a0.npy", "a1.npy", "a2.npy"], "l.csv"), [Any];
    large_ranges_3_1406: features("3_1406", &["a.csv"], "l.csv"), [Any];
    conditions_on_3_1406: conditioned(features("3_1406", &["a.csv"], "l.csv")), [Any, Size(2)];
    large_ranges_3_618: features("3_618", &["a.csv"], "l.csv"), [Any];
    conditions_on_3_618: conditioned(features("3_618", &["a.csv"], "l.csv")), [Any, Size(2)];
    no_convergence_2_1096: features("2_1096", &["a.csv"], "l.csv"), [Ranges(vec![0..=3, 0..=2, 0..=2], None)];
    near_columns_1_454: features("1_454", &["a.npy"], "l.csv"), [Quota(vec![2, 0, 0])];
    per_candidate_1_937: features("1_937", &["a.npy"], "l.csv"), [Any];
    interpolation_1_424: features("1_424", &["a.npy"], "l.csv"), [Any];
    panic: features("panic", &["a.npy"], "l.csv"), [Quota(vec![1, 1, 0])];
    bound_below_its_set: features("ub", &["ub.csv"], "ubl.csv"), [Ranges(vec![2..=4], None)];
    hang: features("hang", &["a.npy"], "l.csv"), [Ranges(vec![3..=5], None)];
    dense_1_342: kernel("1_342"), [Any];
    dense_1_397: kernel("1_397"), [Any];
    near_columns_1_952: features("1_952", &["a.npy"], "l.csv"), [Size(2)];
    conditioned_badly_3_484: in_single_precision(features("3_484", &["a.npy"], "l.npy")), [Size(2)];
    conditioned_badly_1_441: features("1_441", &["a.npy"], "l.csv"), [Size(2)];
    conditioned_badly_1_485: features("1_485", &["a.npy"], "l.csv"), [Size(2)];
    conditioned_badly_1_911: features("1_911", &["a.npy"], "l.csv"), [Size(2)];
    conditioned_badly_1_986: features("1_986", &["a.npy"], "l.csv"), [Size(2)];
    conditioned_badly_3_1746: in_single_precision(features("3_1746", &["a.npy"], "l.csv")), [Size(2)];
    conditioned_badly_3_2132: in_single_precision(features("3_2132", &["a.npy"], "l.npy")), [Size(2)];
    by_hand_1e24: by_hand(
        &[&[1e24, 2e24, 5e23], &[3e23, 1e24, 2e24], &[-1e24, 2e23, 7e23], &[-1e24, 2e23, 7e23]],
        &[0, 0, 1, 1]
    ), [Ranges(vec![1..=2, 0..=2], None)];
    by_hand_1e20: by_hand(
        &[&[1e20, 2e20, 5e19], &[3e19, 1e20, 2e20], &[0.0; 3], &[0.0; 3], &[-1e20, 2e19, 7e19]],
        &[0, 0, 0, 1, 1]
    ), [Ranges(vec![1..=3, 0..=2], None)];
    by_hand_1e16: by_hand(&[&[1e16, 1e16, 0.0], &[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.5, 0.5, 1.0]], &[0; 4]), [Any];
    by_hand_1e14: by_hand(&[&[1e14, 1e14, 0.0], &[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.5, 0.5, 1.0]], &[0; 4]), [Any];
}

fn by_hand(rows: &[&[f64]], labels: &[usize]) -> Problem {
    Problem::new(rows.iter().map(|row| row.to_vec()).collect(), labels.to_vec(), Any)
}

/// Adds the conditions `--include 1 --exclude 4,3`.
fn conditioned(problem: Problem) -> Problem {
    Problem { include: vec![1], exclude: vec![3, 4], ..problem }
}

/// The oracle agrees with values computed by pen and paper.
#[test]
fn exact_laws_by_hand() {
    let rows = [[1e16, 1e16, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 1.0]].map(Vec::from);
    let problem = Problem::new(rows.to_vec(), vec![0; 4], Any);
    let marginals = problem.minors().law(|_| true).unwrap().marginals(4);
    for (found, expected) in marginals.iter().zip([1.0, 0.25, 0.25, 0.5]) {
        assert!(abs_diff_eq!(*found, expected, epsilon = 1e-12), "{marginals:?}");
    }
    let rows =
        [[1e24, 2e24, 5e23], [3e23, 1e24, 2e24], [-1e24, 2e23, 7e23], [-1e24, 2e23, 7e23]].map(Vec::from);
    let problem = Problem::new(rows.to_vec(), vec![0, 0, 1, 1], Ranges(vec![1..=2, 0..=2], None));
    let law = problem.minors().law(|set| problem.allows(set)).unwrap();
    assert_abs_diff_eq!(law.log_z(), 334.82, epsilon = 0.01);
    for (found, expected) in law.marginals(4).iter().zip([1.0, 1.0, 0.5, 0.5]) {
        assert_abs_diff_eq!(*found, expected, epsilon = 1e-12);
    }
}

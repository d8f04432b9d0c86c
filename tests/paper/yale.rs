//! Yale faces: probabilities that were computed independently, by summing over all sets of six.

use oracles::{faces::read_group, real_data, table::Table};
use partition_dpp::{Engine, Features, KDpp, Partition, PartitionDpp, Quota};

const GROUPS: [&str; 4] = ["0", "1", "2", "3"];
const TOLERANCE: f64 = 1e-9;

/// Reads one group: 24 unit rows in 5376 dimensions, and the lighting of each.
fn group(folder: &std::path::Path, group: &str) -> (Features, Partition) {
    let (rows, lights) = read_group(folder, group);
    let features = Features::from_rows(24, rows[0].len(), rows.concat()).unwrap();
    (features, Partition::from_labels(&lights).unwrap())
}

/// Returns the positions of the records of a group of set A.
fn records(table: &Table, group: &str) -> Vec<usize> {
    let (sets, groups) = (table.column("set"), table.column("group"));
    (0..sets.len()).filter(|&at| sets[at] == "A" && groups[at] == group).collect()
}

/// Returns a number from the file.
fn number(table: &Table, column: &str, at: usize) -> f64 {
    table.column(column)[at].parse().unwrap()
}

#[test]
fn normalisers_and_expected_counts() {
    let Some(folder) = real_data("yaleb") else { return };
    let golden = Table::read(&folder.join("golden_bruteforce.csv"));
    for name in GROUPS {
        let (features, partition) = group(&folder, name);
        let [at] = records(&golden, name)[..] else { panic!("one record per group") };
        let quota = Quota::each(&partition, 2).unwrap();
        let six = KDpp::new(&features, 6).unwrap();
        let inference = six.inference(&Engine::cpu()).unwrap();
        let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();

        let mut found = vec![
            ("log_e6", inference.log_partition_function().value),
            ("log_Z_222", dpp.inference(&Engine::cpu()).unwrap().log_partition_function().value),
            ("P_222_under_6dpp", six.probability_of(&partition, &quota, &Engine::cpu()).unwrap().value),
        ];
        let marginals = inference.inclusion_probabilities().unwrap().value;
        for (part, light) in partition.names().iter().enumerate() {
            let expected: f64 = partition.members(part).iter().map(|&item| marginals[item as usize]).sum();
            found.push((&*format!("E_{light}_6dpp").leak(), expected));
        }
        assert_eq!(found.len(), 6);
        let mut worst = 0.0;
        for (column, value) in found {
            let off = (value - number(&golden, column, at)).abs();
            assert!(off <= TOLERANCE, "group {name}, {column}: {value} is off by {off:e}");
            worst = f64::max(worst, off);
        }
        println!("Yale faces, set A, group {name}: off by {worst:.1e}");
    }
}

#[test]
fn part_counts_of_six_faces() {
    let Some(folder) = real_data("yaleb") else { return };
    let golden = Table::read(&folder.join("golden_partcounts_6dpp.csv"));
    for name in GROUPS {
        let (features, partition) = group(&folder, name);
        let law = KDpp::new(&features, 6).unwrap().part_counts(&partition, &Engine::cpu()).unwrap();
        let records = records(&golden, name);
        // The number of ways to write 6 as an ordered sum of three.
        assert_eq!((records.len(), law.entries().len()), (28, 28));
        let mut worst = 0.0;
        for at in records {
            let count = |light: &String| golden.column(&format!("n_{light}"))[at].parse().unwrap();
            let counts: Vec<usize> = partition.names().iter().map(count).collect();
            let expected = number(&golden, "prob", at);
            let off = (law.probability(&counts) - expected).abs();
            assert!(off <= TOLERANCE, "group {name}, {counts:?}: off by {off:e} of {expected}");
            worst = f64::max(worst, off);
        }
        println!("Yale faces, set A, group {name}: counts off by {worst:.1e}, said {:.1e}", law.error());
    }
}

#[test]
fn another_group_is_far_off() {
    let Some(folder) = real_data("yaleb") else { return };
    let golden = Table::read(&folder.join("golden_bruteforce.csv"));
    let counts = Table::read(&folder.join("golden_partcounts_6dpp.csv"));
    let (features, partition) = group(&folder, "0");
    let six = KDpp::new(&features, 6).unwrap();
    let log_z = six.inference(&Engine::cpu()).unwrap().log_partition_function().value;
    assert!((log_z - number(&golden, "log_e6", records(&golden, "1")[0])).abs() > 0.01);
    let law = six.part_counts(&partition, &Engine::cpu()).unwrap();
    let of_first = |name: &str| number(&counts, "prob", records(&counts, name)[0]);
    let first = law.probability(&[6, 0, 0]);
    assert!((first - of_first("0")).abs() <= TOLERANCE && (first - of_first("1")).abs() > 1e-6);
}

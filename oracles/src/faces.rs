//! Groups of Yale faces: eight people, each in three lighting conditions.

use std::path::Path;

use partition_dpp::Features;

use crate::table::Table;

/// Reads the 24 faces of a group of set A, as defined in its SOURCE.md. Returns unit rows and the lighting of each
/// face.
pub fn read_group(folder: &Path, group: &str) -> (Vec<Vec<f64>>, Vec<String>) {
    let all = Features::open_npy(folder.join("features.npy")).unwrap();
    let table = Table::read(&folder.join("labels.csv"));
    let (sets, groups, lights) = (table.column("set"), table.column("group"), table.column("light"));
    let items: Vec<usize> = (0..sets.len()).filter(|&i| sets[i] == "A" && groups[i] == group).collect();
    assert_eq!(items.len(), 24);
    let unit = |&item: &usize| {
        let row = all.row(item);
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.into_iter().map(|x| x / norm).collect()
    };
    (items.iter().map(unit).collect(), items.iter().map(|&item| lights[item].to_owned()).collect())
}

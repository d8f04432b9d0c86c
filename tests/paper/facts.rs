//! Facts from the paper's appendix, as programs (Kathuria and Deshpande 2016).

use approx::{assert_abs_diff_eq, assert_relative_eq, relative_eq};
use oracles::{assert_error, oracle::Determinants};
use partition_dpp::{Engine, Error, Features, Kernel, Partition, PartitionDpp, Quota};

/// Returns Z_κ from the library.
fn z(features: &Features, partition: &Partition, quota: &[usize]) -> f64 {
    let quota = Quota::new(partition, quota).unwrap();
    let dpp = PartitionDpp::new(features, partition, &quota).unwrap();
    dpp.inference(&Engine::cpu()).unwrap().log_partition_function().value.exp()
}

#[test]
fn the_mixture_formula_is_not_the_partition_function() {
    // Items 1 to 4 of the paper are 0 to 3 here; parts {0, 1} and {2, 3}, one of each.
    let rows = [vec![2.0, 0.5, 0.25], vec![0.5, 1.0, 0.0], vec![0.25, 0.75, 1.5], vec![1.0, 0.0, 1.0]];
    let features = Features::from_rows(4, 3, rows.concat()).unwrap();
    let partition = Partition::from_sets(4, [("P1", [0, 1]), ("P2", [2, 3])]).unwrap();
    let oracle = Determinants::of_features(rows.to_vec());
    let f = |set: &[usize]| oracle.det(set);

    let mixture = (f(&[0]) + f(&[1])) + (f(&[2]) + f(&[3]));
    let true_z = f(&[0, 2]) + f(&[0, 3]) + f(&[1, 2]) + f(&[1, 3]);
    let found = z(&features, &partition, &[1, 1]);
    println!("Z = {true_z:.6}, library {found:.6}, mixture formula {mixture:.6}");
    assert_relative_eq!(found, true_z, epsilon = 0.0, max_relative = 1e-13);
    assert!((mixture / true_z - 1.0).abs() > 0.25, "{mixture} {true_z}");
    // For K = I both are 4; for K = 2I the formula gives 8.
    let scaled = |scale: f64| {
        let mut kernel = [0.0; 16];
        (0..4).for_each(|i| kernel[5 * i] = scale);
        let kernel = Kernel::from_dense(4, &kernel).unwrap();
        z(kernel.features(), &partition, &[1, 1])
    };
    assert_abs_diff_eq!(scaled(1.0), 4.0, epsilon = 1e-12);
    assert_abs_diff_eq!(scaled(2.0), 16.0, epsilon = 1e-11);
}

/// Returns the permanent by Ryser's formula, or with more columns than rows, the sum over all injections of rows.
fn permanent(matrix: &[Vec<i64>]) -> i64 {
    let columns = matrix[0].len();
    let mut square = matrix.to_vec();
    // Rows of ones: every injection is counted (columns − rows)! times.
    square.resize(columns, vec![1; columns]);
    let repeats: i64 = (1..).take(columns - matrix.len()).product();
    let mut total = 0;
    for mask in 1_u32..1 << columns {
        let sums = square.iter().map(|row| (0..columns).filter(|j| mask >> j & 1 == 1).map(|j| row[j]).sum());
        let product: i64 = sums.map(|sum: i64| sum).product();
        let odd = (columns - mask.count_ones() as usize) % 2 == 1;
        total += if odd { -product } else { product };
    }
    assert_eq!(total % repeats, 0);
    total / repeats
}

/// Returns the number of ways to choose a different member of every set, by enumeration.
fn representatives(matrix: &[Vec<i64>], row: usize, taken: u32) -> i64 {
    if row == matrix.len() {
        return 1;
    }
    (0..matrix[row].len())
        .filter(|j| matrix[row][*j] == 1 && taken >> j & 1 == 0)
        .map(|j| representatives(matrix, row + 1, taken | 1 << j))
        .sum()
}

/// Returns the number of subsets of `items` items that meet every set exactly once: with K = I, each has determinant
/// 1.
fn sets_meeting_each_once(items: usize, sets: &[Vec<usize>]) -> i64 {
    let masks: Vec<u32> = sets.iter().map(|set| set.iter().fold(0, |mask, item| mask | 1 << item)).collect();
    let meets = |set: &u32| masks.iter().all(|mask| (set & mask).is_power_of_two());
    i64::try_from((0_u32..1 << items).filter(meets).count()).unwrap()
}

/// Returns a bipartite graph as a matrix of zeros and ones.
fn graph(rows: &[&str]) -> Vec<Vec<i64>> {
    rows.iter().map(|row| row.bytes().map(|byte| i64::from(byte == b'1')).collect()).collect()
}

/// Returns the number of edges, and for every vertex the list of its edges. These sets overlap, since an edge has two
/// ends.
fn stars(matrix: &[Vec<i64>]) -> (usize, Vec<Vec<usize>>) {
    let (rows, columns) = (matrix.len(), matrix[0].len());
    let mut stars = vec![Vec::new(); rows + columns];
    let ends = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    let edges = ends.filter(|&(i, j)| matrix[i][j] == 1);
    let mut count = 0;
    for (edge, (i, j)) in edges.enumerate() {
        stars[i].push(edge);
        stars[rows + j].push(edge);
        count = edge + 1;
    }
    (count, stars)
}

#[test]
fn overlapping_parts_count_perfect_matchings() {
    let graphs = [
        (graph(&["11", "11"]), 2),
        (graph(&["110", "011", "101"]), 2),
        (graph(&["111", "111", "111"]), 6),
        (graph(&["1110", "0111", "1011", "1101"]), 9),
        (graph(&["1111", "1111", "1111", "1111"]), 24),
        // Two sets with a single member between them.
        (graph(&["100", "100", "111"]), 0),
        (graph(&["11000", "01100", "00110", "00011", "10001"]), 2),
    ];
    for (matrix, expected) in graphs {
        let (edges, stars) = stars(&matrix);
        assert_eq!(permanent(&matrix), expected, "{matrix:?}");
        assert_eq!(representatives(&matrix, 0, 0), expected, "{matrix:?}");
        // The partition function of K = I with one edge at every vertex.
        assert_eq!(sets_meeting_each_once(edges, &stars), expected, "{matrix:?}");
        let named = stars.iter().enumerate().map(|(vertex, star)| (format!("vertex {vertex}"), star));
        assert_error!(
            Partition::from_sets(edges, named),
            Error::OverlappingParts { item: 0, ref first, .. } if first == "vertex 0",
            ["item 0 is in part vertex 0", "must not overlap", "perfect matchings", "#P-hard"]
        );
    }
    // Negative control: a graph with one edge less.
    let (edges, less) = stars(&graph(&["110", "111", "111"]));
    assert!(sets_meeting_each_once(edges, &less) != permanent(&graph(&["111", "111", "111"])));
}

#[test]
fn items_must_be_edges_for_sets_to_be_matchings() {
    // If vertices are the items, the appendix's constraint |S∩S_i| = 1 does not count matchings: if each of three
    // sets has
    // all three items, one item meets all sets at once.
    let all = vec![vec![0, 1, 2]; 3];
    assert_eq!(sets_meeting_each_once(3, &all), 3);
    assert_eq!(permanent(&graph(&["111", "111", "111"])), 6);
}

#[test]
fn disjoint_parts_multiply() {
    // Rado and Ryser agree if sets do not overlap: the permanent is the product of the sizes.
    for sizes in [vec![2, 2], vec![3, 1, 2], vec![1, 4, 2], vec![2, 2, 2, 2], vec![9]] {
        let items: usize = sizes.iter().sum();
        let labels: Vec<usize> = sizes.iter().enumerate().flat_map(|(l, &size)| vec![l; size]).collect();
        let matrix: Vec<Vec<i64>> =
            (0..sizes.len()).map(|l| labels.iter().map(|&label| i64::from(label == l)).collect()).collect();
        let product = sizes.iter().product::<usize>();
        let members: Vec<Vec<usize>> =
            (0..sizes.len()).map(|l| (0..items).filter(|&i| labels[i] == l).collect()).collect();
        assert_eq!(permanent(&matrix), i64::try_from(product).unwrap());
        assert_eq!(sets_meeting_each_once(items, &members), permanent(&matrix));
        let identity: Vec<f64> =
            (0..items * items).map(|at| f64::from(u8::from(at % (items + 1) == 0))).collect();
        let features = Features::from_rows(items, items, identity).unwrap();
        let named = members.iter().enumerate().map(|(l, members)| (format!("S{l}"), members));
        let partition = Partition::from_sets(items, named).unwrap();
        let found = z(&features, &partition, &vec![1; sizes.len()]);
        assert!(
            relative_eq!(found, product as f64, epsilon = 0.0, max_relative = 1e-13),
            "{sizes:?}: {found} {product}"
        );
    }
}

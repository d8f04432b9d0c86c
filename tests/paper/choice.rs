//! The choice of interpolation by `Method::Auto`: over a grid of sizes, it never chooses it within its budgets.

use oracles::random::normals;
use partition_dpp::{Features, Method, Partition, PartitionDpp, Quota};

/// Returns counts for this number of parts: equal, one large, one small, and rising.
fn quotas(parts: usize) -> Vec<Vec<usize>> {
    let one = |count: usize, other: usize| (0..parts).map(|l| if l == 0 { count } else { other }).collect();
    let rising = (0..parts).map(|l| 1 + l % 5).collect();
    let mut quotas = vec![vec![1; parts], vec![2; parts], vec![4; parts], one(6, 1), one(1, 4), rising];
    quotas.sort_unstable();
    quotas.dedup();
    quotas
}

/// Whether a method uses interpolation for random rows, in parts with `spare` more items than needed.
fn interpolates(method: Method, dims: usize, quota: &[usize], spare: usize) -> bool {
    let labels: Vec<usize> = quota.iter().enumerate().flat_map(|(l, count)| vec![l; count + spare]).collect();
    let items = labels.len();
    let features = Features::from_rows(items, dims, normals(items * dims, 17)).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, quota.to_vec()).unwrap();
    let plan = PartitionDpp::new(&features, &partition, &quota).unwrap().plan(method).unwrap();
    plan.is_some_and(|plan| plan.method == Method::Interpolation)
}

#[test]
fn interpolation_is_seen_where_it_is_taken() {
    assert!(interpolates(Method::Interpolation, 4, &[2, 1], 2));
}

#[test]
fn rejection_is_cheaper_all_over_a_grid() {
    let (mut cells, mut taken) = (0, Vec::new());
    for parts in [1, 2, 3, 5, 8, 12] {
        for quota in quotas(parts) {
            let size: usize = quota.iter().sum();
            for dims in [size, size + 1, 2 * size, 64, 192] {
                for spare in [1, 2, 10, 60] {
                    if dims >= size && (size + parts * spare) * dims < 60_000 {
                        cells += 1;
                        if interpolates(Method::Auto, dims, &quota, spare) {
                            taken.push((dims, quota.clone(), spare));
                        }
                    }
                }
            }
        }
    }
    assert!(cells > 400, "{cells}");
    assert_eq!(taken, [], "of {cells}");
}

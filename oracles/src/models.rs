//! Small models for laws that hold for all data. Proptest makes them, so failures shrink.

use nalgebra::DMatrix;
use partition_dpp::{Features, Partition, PartitionDpp, Quota};
use proptest::{collection::vec, prelude::*, test_runner::RngSeed};

use crate::{Constraint, Problem, random::normals};

/// The same cases in every run.
pub fn config(cases: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(2016);
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

/// Features (f32 values, so that they fit either precision), labels and a quota.
#[derive(Clone, Debug)]
pub struct Model {
    pub dims: usize,
    pub values: Vec<f64>,
    pub labels: Vec<usize>,
    pub quota: Vec<usize>,
}

impl Model {
    pub fn items(&self) -> usize {
        self.labels.len()
    }

    pub fn k(&self) -> usize {
        self.quota.iter().sum()
    }

    pub fn features(&self) -> Features {
        Features::from_rows(self.items(), self.dims, &self.values).unwrap()
    }

    pub fn partition(&self) -> Partition {
        Partition::from_labels(&self.labels).unwrap()
    }

    pub fn problem(&self) -> Problem {
        let rows = self.values.chunks(self.dims).map(<[f64]>::to_vec).collect();
        Problem::new(rows, self.labels.clone(), Constraint::Quota(self.quota.clone()))
    }

    fn with_rows(&self, change: impl Fn(usize, &[f64]) -> Vec<f64>) -> Self {
        let rows = self.values.chunks_exact(self.dims).enumerate();
        Self { values: rows.flat_map(|(i, row)| change(i, row)).collect(), ..self.clone() }
    }

    pub fn scaled(&self, factor: impl Fn(usize) -> f64) -> Self {
        self.with_rows(|i, row| row.iter().map(|x| x * factor(i)).collect())
    }

    pub fn rotated(&self, seed: u64) -> Self {
        let random = normals(self.dims * self.dims, seed);
        let rotation = DMatrix::from_vec(self.dims, self.dims, random).qr().q();
        self.with_rows(|_, row| (DMatrix::from_row_slice(1, row.len(), row) * &rotation).as_slice().to_vec())
    }

    pub fn permuted(&self, order: &[usize]) -> Self {
        let rows: Vec<&[f64]> = self.values.chunks_exact(self.dims).collect();
        Self {
            values: order.iter().flat_map(|&i| rows[i].to_vec()).collect(),
            labels: order.iter().map(|&i| self.labels[i]).collect(),
            ..self.clone()
        }
    }

    fn is_feasible(&self) -> bool {
        let (features, partition) = (self.features(), self.partition());
        let quota = Quota::new(&partition, &self.quota).unwrap();
        PartitionDpp::new(&features, &partition, &quota).is_ok()
    }
}

/// Parts of one to five items, quotas of at most three; every quota can be met.
pub fn models() -> impl Strategy<Value = Model> {
    let sizes = vec((1..=5_usize, 0..=3_usize), 1..=3);
    let labels = sizes.prop_flat_map(|parts| {
        let labels: Vec<usize> = parts.iter().enumerate().flat_map(|(l, &(size, _))| vec![l; size]).collect();
        let mut quota: Vec<usize> = parts.iter().map(|&(size, quota)| quota.min(size)).collect();
        if quota.iter().all(|&count| count == 0) {
            quota[0] = 1;
        }
        (Just(labels).prop_shuffle(), Just(quota), 0..=6_usize)
    });
    let models = labels.prop_flat_map(|(labels, quota, more)| {
        let dims = quota.iter().sum::<usize>() + more;
        let value = (-1.0_f32..1.0).prop_map(f64::from);
        let values = vec(value, labels.len() * dims);
        (Just(labels), Just(quota), values).prop_map(move |(labels, quota, values)| Model {
            dims,
            values,
            labels,
            quota,
        })
    });
    models.prop_filter("the quota can be met", Model::is_feasible)
}

/// Models, and their items in another order.
pub fn permutations() -> impl Strategy<Value = (Model, Vec<usize>)> {
    models().prop_flat_map(|model| {
        let order: Vec<usize> = (0..model.items()).collect();
        (Just(model), Just(order).prop_shuffle())
    })
}

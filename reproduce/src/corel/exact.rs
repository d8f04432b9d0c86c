//! The exact probability that independent k-DPPs choose an image twice, by enumeration.

use partition_dpp::{Engine, Features, KDpp, Quota, Subset, data::LabelCopies};

use crate::failure::Failure;

/// A set of images as bits.
type Images = u64;

/// Returns the probability that two parts choose the same image.
pub(super) fn repeated(features: &Features, copies: &LabelCopies, quota: &Quota) -> Result<f64, Failure> {
    let mut distinct: Vec<(Images, f64)> = vec![(0, 1.0)];
    for part in 0..copies.partition().parts() {
        let law = sets_of_part(features, copies, part, quota.low()[part])?;
        distinct = distinct
            .iter()
            .flat_map(|&(taken, probability)| {
                let disjoint = law.iter().filter(move |(images, _)| images & taken == 0);
                disjoint.map(move |&(images, more)| (taken | images, probability * more))
            })
            .collect();
    }
    Ok(1.0 - distinct.iter().map(|(_, probability)| probability).sum::<f64>())
}

/// Returns every set that a part's k-DPP can draw, with its probability.
fn sets_of_part(
    features: &Features,
    copies: &LabelCopies,
    part: usize,
    count: usize,
) -> Result<Vec<(Images, f64)>, Failure> {
    let items: Vec<usize> =
        copies.partition().members(part).iter().map(|&copy| copies.item_of(copy as usize)).collect();
    let rows: Vec<f64> = items.iter().flat_map(|&item| features.row(item)).collect();
    let own = Features::from_rows(items.len(), features.dims(), rows)?;
    let k_dpp = KDpp::new(&own, count)?;
    let law = k_dpp.inference(&Engine::cpu())?;
    let mut sets = Vec::new();
    for chosen in (0_u64..1 << items.len()).filter(|chosen| chosen.count_ones() as usize == count) {
        let members: Vec<usize> = (0..items.len()).filter(|at| chosen >> at & 1 == 1).collect();
        let images = members.iter().fold(0, |images, &at| images | 1 << items[at]);
        sets.push((images, law.log_probability(&Subset::new(members, items.len())?)?.value.exp()));
    }
    Ok(sets)
}

//! Images with several labels: independent k-DPPs choose some of them twice.

mod exact;
mod experiments;
mod methods;

use crate::{context::Context, failure::Failure, outcome::Outcome, report::Section};

pub(super) const STEPS: u64 = experiments::MOST as u64 * methods::QUOTAS.len() as u64;

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let (experiments, stand_in) = experiments::read(context)?;
    let mut section = Section::new("Labelled images: nine images, three labels, some with several");
    section.text(
        "An image with several labels is replaced by one copy per label, and every label is a part. Independent \
         k_i-DPPs are blind across parts and may take two copies of one image. Two copies have the same features, so a \
         set with both has determinant zero: neither the Partition-DPP nor the k-DPP ever draws it.",
    );
    if stand_in.is_none() {
        section.text(
            "The data are not the paper's own: it used 46 region features of the first release of Corel16k, which are \
             no longer available; here they are 500 (Corel16k) and 499 (Corel5k) binary features of the same \
             images' regions, K = AAᵀ. The nine images have the paper's pattern of sky, sun and tree; for prop, plane \
             and formation, a label set that only Corel5k has, the paper does not print the pattern.",
        );
    }
    section.stand_in = stand_in;
    methods::run(context, &experiments, &mut section)?;
    Ok(Outcome::Done(Box::new(section)))
}

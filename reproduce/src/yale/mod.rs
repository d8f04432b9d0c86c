//! Faces in three lighting conditions: k-DPPs are skewed, Partition-DPPs are not.

mod counts;
mod experiments;
mod methods;

use crate::{context::Context, failure::Failure, outcome::Outcome, report::Section};

/// The number of items to choose, in total and per part.
const TOTAL: usize = 6;
const EACH: usize = 2;

pub(super) const STEPS: u64 = 16;

pub(super) fn run(context: &Context<'_>) -> Result<Outcome, Failure> {
    let experiments = experiments::read(context)?;
    let mut section = Section::new("Faces: six of 24, in three lights");
    section.stand_in.clone_from(&experiments.stand_in);
    section.text(
        "Eight experiments of 24 images: eight people, each light, medium and dark. A 6-DPP chooses whatever is \
         diverse; independent 2-DPPs and the Partition-DPP take two images of each light.",
    );
    if experiments.stand_in.is_none() {
        section.text(
            "The data are not the paper's own: the cropped Extended Yale B faces have one pose, so two sets of three \
             light directions (A, B) stand for its two poses; four random groups of eight people; dense SIFT \
             descriptors, unit rows, K = XXᵀ. Faces: Georghiades, Belhumeur and Kriegman, From Few to Many (2001); \
             Lee, Ho and Kriegman (2005). For research only: this page is not to be published with them.",
        );
    }
    counts::run(context, &experiments.all, &mut section)?;
    methods::run(context, &experiments.all, &mut section)?;
    Ok(Outcome::Done(Box::new(section)))
}

//! The built-in handwritten digits; `data/digits/ATTRIBUTION.md` names their source.

use std::path::Path;

use npyz::NpyFile;
use partition_dpp::{Features, Partition};
use pdpp_plot::ImageShape;

use super::{Comparison, Input, labels};
use crate::failure::Failure;

const FEATURES: &[u8] = include_bytes!("../../data/digits/features.npy");
const LABELS: &[u8] = include_bytes!("../../data/digits/labels.csv");
const SIDE: usize = 8;

/// 1797 digits, with their classes as parts and their images.
pub(crate) fn read() -> Result<Input, Failure> {
    let (features, partition) = features_and_classes()?;
    let images = ImageShape { width: SIDE, height: SIDE, black: 16.0 };
    let partition = Some(partition);
    Ok(Input {
        given: features.clone(),
        features,
        partition,
        copies: None,
        images: Some(images),
        ids: None,
        scored: None,
        kernel_error: None,
        ridge: None,
        comparison: Comparison::default(),
    })
}

/// The digits and their classes alone.
pub(crate) fn features_and_classes() -> Result<(Features, Partition), Failure> {
    let name = Path::new("digits");
    let pixels = NpyFile::new(FEATURES).and_then(NpyFile::into_vec::<u8>);
    let pixels = pixels.map_err(|error| Failure::io(name, &error))?;
    let pixels: Vec<f32> = pixels.into_iter().map(f32::from).collect();
    let dims = SIDE * SIDE;
    let features = Features::from_rows(pixels.len() / dims, dims, pixels).map_err(Failure::in_file(name))?;
    Ok((features, labels::read_csv(LABELS, name, Some("class"))?))
}

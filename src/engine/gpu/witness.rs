//! Testimony of shaders: tests rewrite them to record every index that is out of bounds, and that they ran.

use super::{
    Gpu,
    context::Context,
    shaders::{SHADERS, VARIANTS},
};
use crate::{Result, engine::Precision};

/// Makes a shader, given by name and source, testify in binding [`BINDING`].
pub(super) type Rewrite = fn(&str, &str) -> String;

/// The binding of the testimony, an array with two words per variant of a shader.
const BINDING: u32 = 15;
const BYTES: u64 = 8 * (SHADERS * VARIANTS) as u64;

#[derive(Debug)]
pub(super) struct Witness {
    pub(super) rewrite: Rewrite,
    words: wgpu::Buffer,
}

impl Witness {
    pub(super) fn new(device: &wgpu::Device, rewrite: Rewrite) -> Self {
        let words = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pdpp.witness"),
            size: BYTES,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        Self { rewrite, words }
    }

    pub(super) fn entry(&self) -> wgpu::BindGroupEntry<'_> {
        wgpu::BindGroupEntry { binding: BINDING, resource: self.words.as_entire_binding() }
    }

    fn read(&self, context: &Context) -> Result<Vec<u32>> {
        let found = context.download(context.work("witness"), &[(&self.words, 0, BYTES)])?;
        Ok(bytemuck::pod_collect_to_vec(&found.concat()))
    }
}

impl Gpu {
    /// The testimony of rewritten shaders so far: two words per shader, in the order of [`Gpu::shaders`] in f64.
    #[doc(hidden)]
    pub fn testimony(&self) -> Result<Vec<u32>> {
        let context = self.context();
        context.checked("witness", || context.witness.as_ref().map_or(Ok(Vec::new()), |it| it.read(context)))
    }

    /// The names of shaders that run without run-time checks in a precision.
    #[doc(hidden)]
    #[must_use]
    pub fn trusted_shaders(precision: Precision) -> Vec<&'static str> {
        let trusted = super::trusted::TRUSTED.iter().flat_map(|shader| shader.variants(precision));
        trusted.map(super::Variant::name).collect()
    }
}

//! The shaders: their source for a precision, and their pipelines.

use std::sync::OnceLock;

use super::{buffers::size_of, context::Context};
use crate::{Error, Result, engine::Precision, error::DeviceProblem};

macro_rules! shaders {
    ($($shader:ident $stem:literal [$($shared:literal),*] $reals:literal reals $words:literal words,)*) => {
        /// One compute shader, `shaders/<stem>.wgsl`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Shader {
            $(#[doc = $stem] $shader,)*
        }

        impl Shader {
            /// All shaders, in order.
            pub(super) const ALL: &'static [Shader] = &[$(Shader::$shader,)*];

            /// The file's stem, which is the verb's name.
            pub(super) fn stem(self) -> &'static str {
                match self {
                    $(Shader::$shader => $stem,)*
                }
            }

            /// The label in GPU debuggers.
            pub(super) fn label(self) -> &'static str {
                match self {
                    $(Shader::$shader => concat!("pdpp.", $stem),)*
                }
            }

            /// Bytes that the threads of a workgroup share.
            pub(super) fn workgroup_memory(self, precision: Precision) -> u64 {
                let (reals, words) = match self {
                    $(Shader::$shader => ($reals, $words),)*
                };
                reals * size_of(precision) as u64 + 4 * words
            }

            /// Shared source, then the file's own.
            fn texts(self) -> &'static [&'static str] {
                match self {
                    $(Shader::$shader => &[
                        include_str!("../../../shaders/shared/dispatch.wgsl"),
                        $(include_str!(concat!("../../../shaders/shared/", $shared, ".wgsl")),)*
                        include_str!(concat!("../../../shaders/", $stem, ".wgsl")),
                    ],)*
                }
            }
        }
    };
}

shaders! {
    PartGrams "part_grams" [] 2048 reals 0 words,
    SumRuns "sum_runs" [] 0 reals 0 words,
    RowForms "row_forms" ["product"] 2112 reals 0 words,
    WhitenRows "whiten_rows" ["product"] 2112 reals 0 words,
    GridDeterminants "grid_determinants" ["elimination"] 64 reals 64 words,
    CandidateDeterminants "candidate_determinants" ["elimination"] 64 reals 64 words,
    ProjectRows "project_rows" ["tile", "rows"] 2560 reals 0 words,
    RowNorms "row_norms" ["tile", "rows"] 2304 reals 0 words,
    GainUpdate "gain_update" ["tile", "rows", "leading"] 2816 reals 512 words,
    SwapTable "swap_table" ["product"] 2112 reals 0 words,
    Arithmetic "arithmetic" [] 0 reals 0 words,
    RandomWords "random_words" ["philox"] 0 reals 0 words,
    Proposals "proposals" ["philox", "trials", "proposals"] 3636 reals 368 words,
    SmallProposals "small_proposals" ["philox", "trials", "proposals"] 1296 reals 308 words,
    SwapGains "swap_gains" ["tile", "leading"] 3072 reals 512 words,
}

pub(super) const SHADERS: usize = Shader::ALL.len();

impl Shader {
    /// The complete source.
    pub(super) fn source(self, precision: Precision) -> String {
        let prelude = match precision {
            Precision::F32 => include_str!("../../../shaders/shared/f32.wgsl"),
            Precision::F64 => include_str!("../../../shaders/shared/f64.wgsl"),
        };
        let mut source = prelude.to_owned();
        self.texts().iter().for_each(|text| source.push_str(text));
        source
    }
}

/// Pipelines, built on first use.
#[derive(Debug)]
pub(super) struct Pipelines([OnceLock<wgpu::ComputePipeline>; SHADERS]);

impl Default for Pipelines {
    fn default() -> Self {
        Self(std::array::from_fn(|_| OnceLock::new()))
    }
}

impl Pipelines {
    /// # Errors
    /// [`DeviceProblem::Limit`] if the shader needs more shared memory than the device has, since drivers may not
    /// report it.
    pub(super) fn get(&self, context: &Context, shader: Shader) -> Result<&wgpu::ComputePipeline> {
        let (needed, limit) = (shader.workgroup_memory(context.precision), context.workgroup_memory);
        if needed > limit {
            return Err(Error::Device(DeviceProblem::Limit {
                what: "workgroup memory, in bytes,",
                needed,
                limit,
            }));
        }
        Ok(self.0[shader as usize].get_or_init(|| build(context, shader)))
    }
}

fn build(context: &Context, shader: Shader) -> wgpu::ComputePipeline {
    let mut source = shader.source(context.precision);
    for patch in context.patches.iter().filter(|patch| patch.verb == shader.stem()) {
        assert!(source.contains(patch.from), "{} is not in {}", patch.from, patch.verb);
        source = source.replace(patch.from, patch.to);
    }
    let module = context.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(shader.label()),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    context.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(shader.label()),
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &[],
            zero_initialize_workgroup_memory: false,
        },
        cache: None,
    })
}

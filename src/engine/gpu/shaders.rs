//! The shaders: their source for a precision, and their pipelines.

use std::sync::OnceLock;

use super::{buffers::size_of, context::Context, trusted};
use crate::{Error, Result, engine::Precision, error::DeviceProblem};

macro_rules! shaders {
    ($($shader:ident $stem:literal $(of $order:literal ($single:literal, $double:literal))? [$($shared:literal),*] $reals:literal reals $words:literal words,)*) => {
        /// One compute shader, `shaders/<stem>.wgsl`; `of` the largest matrix that a variant holds in workgroup memory, in
        /// f32 and f64.
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

            /// The stem, and which variant it is.
            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Shader::$shader => concat!($stem $(, "_", $order)?),)*
                }
            }

            /// Rows of the largest matrix in workgroup memory, for shaders that have one there.
            pub(super) fn largest_matrix(self, precision: Precision) -> Option<usize> {
                let orders: &[(usize, usize)] = match self {
                    $(Shader::$shader => &[$(($single, $double))?],)*
                };
                orders.first().map(|&(single, double)| if precision == Precision::F32 { single } else { double })
            }

            /// Bytes that the threads of a workgroup share.
            pub(super) fn workgroup_memory(self, precision: Precision) -> u64 {
                let (reals, words) = match self {
                    $(Shader::$shader => ($reals, $words),)*
                };
                let matrix = self.largest_matrix(precision).map_or(0, |order| 2 * (order * order) as u64);
                (matrix + reals) * size_of(precision) as u64 + 4 * words
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
    GridDeterminants "grid_determinants" ["stored_matrix", "elimination"] 16 reals 16 words,
    GridDeterminantsOf16 "grid_determinants" of 16 (16, 16) ["shared_matrix", "elimination"] 16 reals 16 words,
    GridDeterminantsOf32 "grid_determinants" of 32 (32, 32) ["shared_matrix", "elimination"] 16 reals 16 words,
    GridDeterminantsOf45 "grid_determinants" of 45 (45, 45) ["shared_matrix", "elimination"] 16 reals 16 words,
    GridDeterminantsOf64 "grid_determinants" of 64 (64, 55) ["shared_matrix", "elimination"] 16 reals 16 words,
    CandidateDeterminants "candidate_determinants" ["stored_matrix", "elimination"] 16 reals 16 words,
    CandidateDeterminantsOf16 "candidate_determinants" of 16 (16, 16) ["shared_matrix", "elimination"] 16 reals 16 words,
    CandidateDeterminantsOf32 "candidate_determinants" of 32 (32, 32) ["shared_matrix", "elimination"] 16 reals 16 words,
    CandidateDeterminantsOf45 "candidate_determinants" of 45 (45, 45) ["shared_matrix", "elimination"] 16 reals 16 words,
    CandidateDeterminantsOf64 "candidate_determinants" of 64 (64, 55) ["shared_matrix", "elimination"] 16 reals 16 words,
    ProjectRows "project_rows" ["tile", "rows"] 2560 reals 0 words,
    RowNorms "row_norms" ["tile", "rows"] 2304 reals 0 words,
    GainUpdate "gain_update" ["tile", "rows", "leading"] 2816 reals 512 words,
    SwapTable "swap_table" ["product"] 2112 reals 0 words,
    Arithmetic "arithmetic" [] 0 reals 0 words,
    SwapGains "swap_gains" ["tile", "leading"] 3072 reals 512 words,
}

pub(super) const SHADERS: usize = Shader::ALL.len();

impl Shader {
    /// The variant of a shader for matrices of this order: in workgroup memory if they fit.
    pub(super) fn for_order(self, context: &Context, order: usize) -> Self {
        let fits = |shader: &Self| {
            shader.largest_matrix(context.precision).is_some_and(|largest| order <= largest)
                && shader.workgroup_memory(context.precision) <= context.workgroup_memory
        };
        let mut variants = Self::ALL.iter().copied().filter(|shader| shader.stem() == self.stem());
        variants.find(fits).unwrap_or(self)
    }

    /// The complete source.
    pub(super) fn source(self, precision: Precision) -> String {
        let prelude = match precision {
            Precision::F32 => include_str!("../../../shaders/shared/f32.wgsl"),
            Precision::F64 => include_str!("../../../shaders/shared/f64.wgsl"),
        };
        let mut source = prelude.to_owned();
        if let Some(order) = self.largest_matrix(precision) {
            source.push_str(&format!(
                "// Rows of the largest matrix in workgroup memory.\nconst LARGEST: u32 = {order}u;\n"
            ));
        }
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
        // A variant may lack it.
        let mut variants = Shader::ALL.iter().filter(|other| other.stem() == patch.verb);
        let is_there = variants.any(|other| other.source(context.precision).contains(patch.from));
        assert!(is_there, "{} is not in {}", patch.from, patch.verb);
        source = source.replace(patch.from, patch.to);
    }
    if let Some(witness) = &context.witness {
        source = (witness.rewrite)(shader.name(), &source);
    }
    let module = trusted::module(&context.device, shader, source, context.checks);
    context.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(shader.name()),
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

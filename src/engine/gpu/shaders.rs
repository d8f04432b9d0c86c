//! The shaders: their source for a precision, and their pipelines.

use std::sync::OnceLock;

use super::{buffers::size_of, context::Context, parameters::declared, trusted};
use crate::{Error, Result, engine::Precision, error::DeviceProblem};

macro_rules! shaders {
    ($($shader:ident $stem:literal $reads:ident [$($shared:literal),*] $reals:literal reals $words:literal words,)*) => {
        /// One compute shader, `shaders/<stem>.wgsl`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Shader {
            $(#[doc = $stem] $shader,)*
        }

        impl Shader {
            /// All shaders, in order.
            pub(super) const ALL: &'static [Shader] = &[$(Shader::$shader,)*];

            /// The stem of the file, which is the verb's name.
            pub(super) fn stem(self) -> &'static str {
                match self {
                    $(Shader::$shader => $stem,)*
                }
            }

            /// The names of its variants: the verb, then the type of the rows that it reads or its largest matrix.
            fn names(self) -> [&'static str; VARIANTS] {
                match self {
                    $(Shader::$shader => match Input::$reads {
                        Input::Rows => [concat!($stem, ".f16"), concat!($stem, ".f32"), concat!($stem, ".f64"), $stem, $stem],
                        Input::Matrix =>
                            [$stem, concat!($stem, ".16"), concat!($stem, ".32"), concat!($stem, ".48"), concat!($stem, ".64")],
                        Input::Own => [$stem; VARIANTS],
                    },)*
                }
            }

            fn input(self) -> Input {
                match self {
                    $(Shader::$shader => Input::$reads,)*
                }
            }

            /// The label in GPU debuggers.
            pub(super) fn label(self) -> &'static str {
                match self {
                    $(Shader::$shader => concat!("pdpp.", $stem),)*
                }
            }

            /// The number of values and words that the threads of a workgroup share, if no matrix is in registers.
            fn shared(self) -> (u64, u64) {
                match self {
                    $(Shader::$shader => ($reals, $words),)*
                }
            }

            /// The shared source files, then the shader's own file.
            fn texts(self) -> &'static [&'static str] {
                match self {
                    $(Shader::$shader => &[
                        $(include_str!(concat!("../../../shaders/shared/", $shared, ".wgsl")),)*
                        include_str!(concat!("../../../shaders/", $stem, ".wgsl")),
                    ],)*
                }
            }
        }
    };
}

/// The input of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    /// Rows of features as they are stored, in the tiles of a verb.
    Rows,
    /// A matrix, in registers if it is small enough.
    Matrix,
    /// Neither rows of features nor a matrix.
    Own,
}

shaders! {
    PartGrams "part_grams" Rows [] 2304 reals 256 words,
    SumRuns "sum_runs" Own [] 0 reals 0 words,
    RowForms "row_forms" Rows ["product"] 2112 reals 0 words,
    WhitenRows "whiten_rows" Rows ["product"] 2112 reals 0 words,
    GridDeterminants "grid_determinants" Matrix ["complex", "determinant"] 0 reals 19 words,
    CandidateDeterminants "candidate_determinants" Matrix ["complex", "determinant"] 0 reals 19 words,
    GridForms "grid_forms" Own ["complex"] 256 reals 0 words,
    RowNorms "row_norms" Rows ["rows"] 2304 reals 0 words,
    GainUpdate "gain_update" Rows ["rows", "leading"] 2816 reals 512 words,
    Leaders "leaders" Own ["leading"] 512 reals 512 words,
    ChoosePick "choose_pick" Own ["leading"] 514 reals 515 words,
    PickDirection "pick_direction" Rows ["rows", "orthonormal"] 2564 reals 0 words,
    SwapTable "swap_table" Rows ["product"] 2112 reals 0 words,
    Arithmetic "arithmetic" Own [] 0 reals 0 words,
    RandomWords "random_words" Own ["philox"] 0 reals 0 words,
    Proposals "proposals" Own ["philox", "alias", "unit_rows", "trials", "record", "proposals"] 3636 reals 368 words,
    SmallProposals "small_proposals" Own ["philox", "alias", "unit_rows", "trials", "record", "proposals"] 1296 reals 308 words,
    SequentialDraws "sequential_draws" Own ["philox", "alias", "numbered", "part_trials", "basis", "unit_rows", "row_trials", "draw_weights", "record"] 3738 reals 59 words,
    GatherPicks "gather_picks" Rows ["philox", "alias", "numbered", "part_trials"] 0 reals 8 words,
    ItemProposals "item_proposals" Own ["philox", "alias", "numbered", "record", "item_proposals"] 2632 reals 37 words,
    SmallItemProposals "small_item_proposals" Own ["philox", "alias", "numbered", "record", "item_proposals"] 852 reals 17 words,
    Slates "slates" Rows ["rows", "leading", "orthonormal"] 3074 reals 772 words,
    SwapGains "swap_gains" Rows ["leading"] 3072 reals 512 words,
    ChooseSwap "choose_swap" Own ["leading"] 514 reals 514 words,
    SwapRow "swap_row" Rows [] 0 reals 0 words,
    SwapVectors "swap_vectors" Own ["swap_state"] 256 reals 0 words,
    SwapDuals "swap_duals" Own ["swap_state"] 260 reals 0 words,
    Entrants "entrants" Own [] 0 reals 256 words,
}

pub(super) const SHADERS: usize = Shader::ALL.len();

/// The type of rows on the device: the type of the features, with f32 in place of f64 in single precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowType {
    F16,
    F32,
    F64,
}

/// Columns of a panel of a matrix that is not in registers.
pub(super) const WIDTH: usize = 16;

/// Rows of the largest matrix in registers, for every variant except the first.
const MATRICES: [usize; 4] = [16, 32, 48, 64];

/// The most variants of a shader.
pub(super) const VARIANTS: usize = MATRICES.len() + 1;

impl RowType {
    const ALL: [Self; 3] = [Self::F16, Self::F32, Self::F64];

    /// The type of rows in the device's precision.
    pub(super) fn of(precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self::F32,
            Precision::F64 => Self::F64,
        }
    }

    /// Bytes of a value.
    pub(super) fn width(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The name of the type in Rust.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::F16 => include_str!("../../../shaders/shared/stored_f16.wgsl"),
            Self::F32 => include_str!("../../../shaders/shared/stored_f32.wgsl"),
            Self::F64 => include_str!("../../../shaders/shared/stored_f64.wgsl"),
        }
    }
}

/// A shader for rows of one type, or for matrices up to some size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) shader: Shader,
    /// The type of rows, or 1 plus the index of the largest matrix in [`MATRICES`].
    number: usize,
}

impl From<Shader> for Variant {
    /// The variant of a shader that does not read rows. Its matrices are in storage buffers.
    fn from(shader: Shader) -> Self {
        debug_assert!(shader.input() != Input::Rows, "{shader:?}");
        Self { shader, number: 0 }
    }
}

impl Shader {
    /// The variant for rows of this type.
    pub(super) fn on(self, rows: RowType) -> Variant {
        Variant { shader: self, number: rows as usize }
    }

    /// The variant for matrices of this order, which holds them in registers if they fit.
    pub(super) fn of_order(self, order: usize) -> Variant {
        let number = MATRICES.iter().position(|&largest| order <= largest).map_or(0, |at| at + 1);
        Variant { shader: self, number }
    }

    /// All variants in a precision.
    pub(super) fn variants(self, precision: Precision) -> Vec<Variant> {
        match self.input() {
            Input::Own => vec![self.into()],
            Input::Matrix => (0..VARIANTS).map(|number| Variant { shader: self, number }).collect(),
            Input::Rows => {
                let types = RowType::ALL.into_iter();
                types.filter(|rows| rows.width() <= size_of(precision)).map(|rows| self.on(rows)).collect()
            }
        }
    }
}

impl Variant {
    /// The verb's name, then the type of the rows that it reads or its largest matrix, if any.
    pub(super) fn name(self) -> &'static str {
        self.shader.names()[self.number]
    }

    /// Rows of the largest matrix in registers; `None` if the variant holds no matrix there.
    pub(super) fn largest_matrix(self) -> Option<usize> {
        MATRICES.get(self.number.checked_sub(1)?).copied().filter(|_| self.shader.input() == Input::Matrix)
    }

    /// Bytes of memory that the threads of a workgroup share.
    pub(super) fn workgroup_memory(self, precision: Precision) -> u64 {
        // Three rows of complex numbers, two of words and two words more.
        let of_matrix = |order| (6 * order as u64, 2 * order as u64 + 2);
        let (reals, words) = self.largest_matrix().map_or_else(|| self.shader.shared(), of_matrix);
        reals * size_of(precision) as u64 + 4 * words
    }

    /// The complete source.
    pub(super) fn source(self, precision: Precision) -> String {
        let prelude = match precision {
            Precision::F32 => include_str!("../../../shaders/shared/f32.wgsl"),
            Precision::F64 => include_str!("../../../shaders/shared/f64.wgsl"),
        };
        let mut source = [prelude, include_str!("../../../shaders/shared/dispatch.wgsl")].concat();
        match (self.shader.input(), self.largest_matrix()) {
            (Input::Rows, _) => {
                source.push_str(RowType::ALL[self.number].text());
                source.push_str(include_str!("../../../shaders/shared/tiles.wgsl"));
            }
            (Input::Matrix, None) => {
                source.extend(["const WIDTH: u32 = ", &WIDTH.to_string(), "u;\n"]);
                source.push_str(include_str!("../../../shaders/shared/stored_elimination.wgsl"));
            }
            (Input::Matrix, Some(order)) => {
                source.push_str("// Rows of the largest matrix.\n");
                source.extend(["const LARGEST: u32 = ", &order.to_string(), "u;\n"]);
                source.push_str(include_str!("../../../shaders/shared/held_elimination.wgsl"));
            }
            (Input::Own, _) => {}
        }
        self.shader.texts().iter().for_each(|text| source.push_str(text));
        source
    }
}

/// Pipelines, built on first use.
#[derive(Debug)]
pub(super) struct Pipelines([[OnceLock<Pipeline>; VARIANTS]; SHADERS]);

/// A shader that is ready to run, with its bindings.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) compute: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
    /// The names of its parameters.
    pub(super) parameters: Vec<String>,
}

impl Default for Pipelines {
    fn default() -> Self {
        Self(std::array::from_fn(|_| std::array::from_fn(|_| OnceLock::new())))
    }
}

impl Pipelines {
    /// The pipeline of a variant, built on first use.
    ///
    /// # Errors
    /// [`DeviceProblem::Limit`] if the shader needs more shared memory than the device has, since drivers may not
    /// report it.
    pub(super) fn get(&self, context: &Context, variant: Variant) -> Result<&Pipeline> {
        let (needed, limit) = (variant.workgroup_memory(context.precision), context.workgroup_memory);
        if needed > limit {
            return Err(Error::Device(DeviceProblem::Limit {
                what: "workgroup memory, in bytes,",
                needed,
                limit,
            }));
        }
        let pipeline = &self.0[variant.shader as usize][variant.number];
        Ok(pipeline.get_or_init(|| build(context, variant)))
    }
}

/// The bindings that a source declares. Parameters have a dynamic offset into their buffer.
fn layout(device: &wgpu::Device, source: &str) -> wgpu::BindGroupLayout {
    let entry = |declared: &str| {
        let (binding, declared) = declared.split_once(';')?.0.split_once(')')?;
        let has_dynamic_offset = declared.contains("var<uniform>");
        let ty = if has_dynamic_offset {
            wgpu::BufferBindingType::Uniform
        } else {
            wgpu::BufferBindingType::Storage { read_only: !declared.contains("read_write") }
        };
        Some(wgpu::BindGroupLayoutEntry {
            binding: binding.parse().ok()?,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
            count: None,
        })
    };
    let entries: Vec<_> = source.split("@group(0) @binding(").filter_map(entry).collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries })
}

fn build(context: &Context, variant: Variant) -> Pipeline {
    let (shader, precision) = (variant.shader, context.precision);
    let mut source = variant.source(precision);
    for patch in context.patches.iter().filter(|patch| patch.verb == shader.stem()) {
        let mut variants = shader.variants(precision).into_iter();
        let is_known = variants.any(|variant| variant.source(precision).contains(patch.from));
        assert!(is_known, "{} is not in {}", patch.from, patch.verb);
        source = source.replace(patch.from, patch.to);
    }
    if let Some(witness) = &context.witness {
        source = (witness.rewrite)(variant.name(), &source);
    }
    let parameters = declared(&source);
    let layout = layout(&context.device, &source);
    let pipeline_layout = context.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(shader.label()),
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let module = trusted::module(&context.device, shader, source, context.checks);
    let compute = context.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(shader.label()),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &[],
            zero_initialize_workgroup_memory: false,
        },
        cache: None,
    });
    Pipeline { compute, layout, parameters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_named_after_their_largest_matrix() {
        for variant in Shader::GridDeterminants.variants(Precision::F32) {
            let size = variant.largest_matrix().map_or(String::new(), |size| format!(".{size}"));
            assert_eq!(variant.name(), format!("grid_determinants{size}"));
        }
    }
}

//! Shader modules: with wgpu's run-time checks, or without where a test shows that they never find anything. Beside
//! memory-mapping this is the only unsafe code of the crate.

use super::shaders::Shader;

/// Shaders whose indices a test proves to be in bounds (`tests/gpu/indices.rs`): at all sizes around the edges of tiles,
/// blocks and groups, in both precisions and however work is cut, every index into a buffer, an array or a vector is
/// compared with its length. The test asks for every shader named here. All loops are over counts.
pub(super) const TRUSTED: &[Shader] = &[
    Shader::PartGrams,
    Shader::SumRuns,
    Shader::RowForms,
    Shader::WhitenRows,
    Shader::GridDeterminants,
    Shader::CandidateDeterminants,
    Shader::GridBlocks,
    Shader::GridForms,
    Shader::ProjectRows,
    Shader::RowNorms,
    Shader::GainUpdate,
    Shader::Leaders,
    Shader::SwapTable,
    Shader::SwapGains,
];

/// Which modules have run-time checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Checks {
    /// Those that are not trusted.
    #[default]
    WhereNeeded,
    Everywhere,
}

/// The module of a shader.
pub(super) fn module(
    device: &wgpu::Device,
    shader: Shader,
    source: String,
    checks: Checks,
) -> wgpu::ShaderModule {
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(shader.label()),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    };
    if checks == Checks::Everywhere || !TRUSTED.contains(&shader) {
        return device.create_shader_module(descriptor);
    }
    // Checked divisors cost nothing here, as divisors are constants or stand outside of inner loops.
    let unchecked = wgpu::ShaderRuntimeChecks {
        bounds_checks: false,
        force_loop_bounding: false,
        ..wgpu::ShaderRuntimeChecks::checked()
    };
    // SAFETY: without these checks an index out of bounds and a loop without end are undefined behaviour. The source is
    // the crate's own, as changed sources are checked. Its indices depend on a dispatch's shape, on positions that the
    // host writes, and on those that a shader of this list found before among as many (pivots, leading tiles); they stay
    // in bounds by the proof above. Its loops run over counts, which that proof's runs end.
    #[expect(unsafe_code, reason = "run-time checks keep compilers from unrolling inner loops")]
    unsafe {
        device.create_shader_module_trusted(descriptor, unchecked)
    }
}

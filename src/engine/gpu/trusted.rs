//! Shader modules: with wgpu's run-time checks, or without them if a test shows that they never find anything. Apart
//! from memory-mapping, this is the only unsafe code of the crate.

use super::shaders::Shader;

/// Shaders whose indices a test proves to be in bounds (`tests/gpu/indices.rs`). The test compares every index into a
/// buffer, an array or a vector with its length. It covers all sizes around the edges of tiles, blocks and groups,
/// both precisions, and every way of cutting the work. It fails if it did not run a shader named here. All loops run
/// over counts.
pub(super) const TRUSTED: &[Shader] = &[
    Shader::PartGrams,
    Shader::SumRuns,
    Shader::RowForms,
    Shader::WhitenRows,
    Shader::GridDeterminants,
    Shader::CandidateDeterminants,
    Shader::GridForms,
    Shader::RowNorms,
    Shader::GainUpdate,
    Shader::Leaders,
    Shader::SwapTable,
    Shader::SwapGains,
    Shader::SequentialDraws,
    Shader::GatherPicks,
    Shader::ItemProposals,
    Shader::SmallItemProposals,
];

/// The modules that have run-time checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Checks {
    /// Modules that are not trusted.
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
    // Divisors stay checked. This costs nothing here, since divisors are constants or are computed outside inner
    // loops.
    let unchecked = wgpu::ShaderRuntimeChecks {
        bounds_checks: false,
        force_loop_bounding: false,
        ..wgpu::ShaderRuntimeChecks::checked()
    };
    // SAFETY: without these checks, an index out of bounds or an endless loop is undefined behaviour. The source is
    // the crate's own, as changed sources are checked. Its indices depend on a dispatch's shape, on positions that
    // the host writes or random words draw from its tables, and on positions that a shader of this list found before
    // among the same number (pivots, leading tiles). The proof above shows that they stay in bounds. Its loops run
    // over counts, and they end in the runs of that proof.
    #[expect(unsafe_code, reason = "run-time checks keep compilers from unrolling inner loops")]
    unsafe {
        device.create_shader_module_trusted(descriptor, unchecked)
    }
}

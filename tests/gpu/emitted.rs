//! The shaders for other compilers: their WGSL, their SPIR-V as wgpu emits it, and restrictions of other drivers.

use std::{fmt::Write, fs, path::Path};

use naga::{
    Module, ShaderStage,
    back::{glsl, hlsl, msl, spv},
    proc::{BoundsCheckPolicies, BoundsCheckPolicy},
    valid::ModuleInfo,
};
use partition_dpp::engine::{Precision, gpu::Gpu};

use crate::shaders::{each_shader, validated};

/// Writes a file to the folder that `PDPP_SHADERS` names, if it is set.
fn leave(name: &str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("PDPP_SHADERS") {
        fs::write(Path::new(&folder).join(name.to_lowercase()), bytes).unwrap();
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The checks that wgpu's Vulkan backend adds to a shader: all of them, or those that a trusted shader keeps.
#[derive(Clone, Copy, Debug)]
enum Checks {
    Checked,
    Trusted,
}

/// Returns a shader in SPIR-V, as wgpu 30 emits it for a driver with Vulkan 1.3 and robust buffer access, such as the
/// drivers of AMD, Intel and NVIDIA.
fn emitted(module: &Module, info: &ModuleInfo, checks: Checks) -> Vec<u32> {
    let options = spv::Options {
        lang_version: (1, 6),
        flags: spv::WriterFlags::LABEL_VARYINGS | spv::WriterFlags::FORCE_POINT_SIZE,
        bounds_check_policies: BoundsCheckPolicies {
            index: match checks {
                Checks::Checked => BoundsCheckPolicy::Restrict,
                Checks::Trusted => BoundsCheckPolicy::Unchecked,
            },
            buffer: BoundsCheckPolicy::Unchecked,
            ..Default::default()
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: matches!(checks, Checks::Checked),
        ..Default::default()
    };
    let entry = spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".to_owned() };
    spv::write_vec(module, info, &options, Some(&entry)).unwrap()
}

/// If `PDPP_SHADERS` names a folder, the shaders are written there in SPIR-V, for another validator and for
/// compilers.
#[test]
fn shaders_are_valid_in_both_precisions() {
    each_shader(|name, precision, module, info| {
        for checks in [Checks::Checked, Checks::Trusted] {
            let words = emitted(module, info, checks);
            assert!(words.len() > 100);
            leave(&format!("{name}.{precision}.{checks:?}.spv"), &bytes(&words));
        }
    });
}

/// Returns faults that the limits on compiled shaders (`.ci/gpu-static`) must notice, each named after the fault.
fn planted() -> [(&'static str, String); 4] {
    let shader = |threads: u32, globals: &str, body: &str| {
        format!(
            "@group(0) @binding(1) var<storage, read_write> x: array<vec4<f32>>; {globals}
            @compute @workgroup_size({threads})
            fn main(@builtin(local_invocation_index) t: u32) {{ {body} }}"
        )
    };
    let mut loads = String::new();
    let mut stores = String::new();
    for i in 0..200 {
        write!(loads, "let a{i} = x[t + {i}u];").unwrap();
        write!(stores, "x[t * {i}u] = a{};", 199 - i).unwrap();
    }
    [
        ("spill", shader(1024, "", &format!("{loads} storageBarrier(); {stores}"))),
        (
            "scratch",
            shader(
                64,
                "",
                "var y: array<vec4<f32>, 256>; for (var i = 0u; i < 256u; i++) { y[i] = x[i + t]; }
                x[t] = y[u32(x[t].x) % 256u];",
            ),
        ),
        (
            "occupancy",
            shader(64, "var<workgroup> y: array<vec4<f32>, 2000>;", "y[t] = x[t]; x[t + 1u] = y[t * 31u];"),
        ),
        (
            "instructions",
            shader(
                64,
                "var<workgroup> y: array<vec4<f32>, 256>;",
                "y[t] = x[t]; workgroupBarrier(); var a = x[0]; var b = a; var c = a; var d = a;
                for (var i = 0u; i < u32(x[t].x); i++) {
                  let l = y[i]; let r = y[i + 64u]; a += l.x * r; b += l.y * r; c += l.z * r; d += l.w * r;
                }
                x[t] = a + b + c + d;",
            ),
        ),
    ]
}

#[test]
fn planted_shaders_are_valid() {
    for (fault, source) in planted() {
        let name = format!("planted_{fault}");
        let (module, info) = validated(&name, &source, Precision::F32);
        leave(&format!("{name}.f32.trusted.spv"), &bytes(&emitted(&module, &info, Checks::Trusted)));
    }
}

/// Texts that naga accepts although WGSL does not allow them, each named after the fault. Another compiler
/// (`.ci/wgsl`)
/// must notice them.
const NOT_WGSL: [(&str, &str); 3] = [
    ("parentheses", "if t > 1u || t == 1u && x[t] > 2u { x[t] = 0u; }"),
    ("barrier", "if x[0] > 2u { workgroupBarrier(); } x[t] = 1u;"),
    (
        "barrier_after_loop",
        "for (var i = 0u; i < x[0]; i++) { if x[i] > 2u { return; } } storageBarrier(); x[t] = 1u;",
    ),
];

/// WGSL has no f64.
#[test]
fn shaders_are_left_as_they_are() {
    for (name, source) in Gpu::shaders(Precision::F32) {
        leave(&format!("{name}.wgsl"), source.as_bytes());
    }
    for (fault, body) in NOT_WGSL {
        let name = format!("planted_{fault}");
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
            @compute @workgroup_size(64)
            fn main(@builtin(local_invocation_index) t: u32) {{ {body} }}"
        );
        validated(&name, &source, Precision::F32);
        leave(&format!("{name}.wgsl"), source.as_bytes());
    }
}

#[test]
fn shaders_are_translated_to_every_language() {
    each_shader(|name, precision, module, info| {
        let of = |language: &str| format!("{name} {precision} in {language}");
        let mut text = String::new();
        let entry = hlsl::PipelineOptions { entry_point: None };
        let options = hlsl::Options { shader_model: hlsl::ShaderModel::V6_0, ..Default::default() };
        hlsl::Writer::new(&mut text, &options, &entry)
            .write(module, info, None)
            .unwrap_or_else(|error| panic!("{}: {error}", of("HLSL")));
        assert!(text.contains("numthreads"), "{}", of("HLSL"));
        if precision == Precision::F64 {
            // Metal and GLSL ES have no f64.
            return;
        }
        let options = msl::Options { lang_version: (2, 4), ..Default::default() };
        let (text, _) = msl::write_string(module, info, &options, &msl::PipelineOptions::default())
            .unwrap_or_else(|error| panic!("{}: {error}", of("MSL")));
        assert!(text.contains("kernel void"), "{}", of("MSL"));
        let mut text = String::new();
        let options = glsl::Options {
            version: glsl::Version::Embedded { version: 320, is_webgl: false },
            ..Default::default()
        };
        let entry = glsl::PipelineOptions {
            shader_stage: ShaderStage::Compute,
            entry_point: "main".to_owned(),
            multiview: None,
        };
        glsl::Writer::new(&mut text, module, info, &options, &entry, BoundsCheckPolicies::default())
            .and_then(|mut writer| writer.write())
            .unwrap_or_else(|error| panic!("{}: {error}", of("GLSL")));
        assert!(text.contains("local_size_x"), "{}", of("GLSL"));
    });
}

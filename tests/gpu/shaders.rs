//! The shaders as texts: they are valid in both precisions, use only arithmetic that f64 has, and match their host
//! code.

use std::{collections::BTreeSet, fs, path::Path};

use naga::{
    AddressSpace, Expression, MathFunction, Module,
    proc::Layouter,
    valid::{Capabilities, ModuleInfo, ValidationFlags, Validator},
};
use partition_dpp::engine::{Precision, gpu::Gpu};

const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

pub(crate) fn validated(name: &str, source: &str, precision: Precision) -> (Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|error| panic!("{name} {precision}: {}", error.emit_to_string(source)));
    let capabilities = match precision {
        Precision::F64 => Capabilities::FLOAT64,
        _ => Capabilities::empty(),
    };
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .unwrap_or_else(|error| panic!("{name} {precision}: {}", error.emit_to_string(source)));
    (module, info)
}

/// Calls `check` with every shader in both precisions.
pub(crate) fn each_shader(check: impl Fn(&str, Precision, &Module, &ModuleInfo)) {
    for precision in PRECISIONS {
        for (name, source) in Gpu::shaders(precision) {
            let (module, info) = validated(name, &source, precision);
            check(name, precision, &module, &info);
        }
    }
}

/// Whether naga accepts a function in f64 that SPIR-V does not have: results would be garbage without an error.
fn is_transcendental(function: MathFunction) -> bool {
    use MathFunction as F;
    matches!(
        function,
        F::Exp
            | F::Exp2
            | F::Log
            | F::Log2
            | F::Pow
            | F::Sin
            | F::Cos
            | F::Tan
            | F::Asin
            | F::Acos
            | F::Atan
            | F::Atan2
            | F::Sinh
            | F::Cosh
            | F::Tanh
            | F::Asinh
            | F::Acosh
            | F::Atanh
            | F::Radians
            | F::Degrees
            | F::Frexp
    )
}

fn transcendentals(module: &Module) -> usize {
    let functions = module.functions.iter().map(|(_, function)| function);
    let functions = functions.chain(module.entry_points.iter().map(|entry| &entry.function));
    let found = |expression: &Expression| matches!(expression, Expression::Math { fun, .. } if is_transcendental(*fun));
    functions.map(|function| function.expressions.iter().filter(|(_, e)| found(e)).count()).sum()
}

#[test]
fn shaders_use_no_transcendental_functions() {
    each_shader(|name, precision, module, _| assert_eq!(transcendentals(module), 0, "{name} {precision}"));
    let (planted, _) = validated(
        "planted",
        "@compute @workgroup_size(1) fn main() { var x = 1.0; x = exp(x); }",
        Precision::F32,
    );
    assert_eq!(transcendentals(&planted), 1);
}

/// Whether a shader tests for NaN, by a negated comparison or by a comparison of something with itself.
///
/// For numbers, a negated comparison is the same as its opposite. Compilers may assume that NaN never occurs.
fn asks_for_nan(source: &str, module: &Module) -> bool {
    use naga::BinaryOperator as B;
    let functions = module.functions.iter().map(|(_, function)| function);
    let mut functions = functions.chain(module.entry_points.iter().map(|entry| &entry.function));
    let itself = |expression: &Expression| {
        matches!(expression,
        Expression::Binary { op: B::Equal | B::NotEqual, left, right } if left == right)
    };
    source.contains("!(") || functions.any(|function| function.expressions.iter().any(|(_, e)| itself(e)))
}

#[test]
fn no_guard_rests_on_what_is_no_number() {
    for precision in PRECISIONS {
        for (name, source) in Gpu::shaders(precision) {
            let (module, _) = validated(name, &source, precision);
            assert!(!asks_for_nan(&source, &module), "{name} {precision}");
        }
    }
    for guard in ["!(x > 2.0)", "x != x"] {
        let source = format!(
            "@compute @workgroup_size(1) fn main() {{ let x = vec2(1.0).y; if {guard} {{ return; }} }}"
        );
        let (planted, _) = validated("planted", &source, Precision::F32);
        assert!(asks_for_nan(&source, &planted), "{guard}");
    }
}

#[test]
fn shared_memory_is_what_the_host_says() {
    let stated: Vec<_> = PRECISIONS.map(Gpu::workgroup_memory).into();
    each_shader(|name, precision, module, _| {
        let mut layouter = Layouter::default();
        layouter.update(module.to_ctx()).unwrap();
        let shared = module.global_variables.iter().filter(|(_, v)| v.space == AddressSpace::WorkGroup);
        let bytes: u64 = shared.map(|(_, variable)| u64::from(layouter[variable.ty].size)).sum();
        let at = PRECISIONS.iter().position(|&known| known == precision).unwrap();
        let known = stated[at].iter().find(|(known, _)| *known == name).unwrap().1;
        assert_eq!(bytes, known, "{name} {precision}");
        // Every Vulkan device has this much in single precision, and most have twice that.
        let most = match precision {
            Precision::F64 => 32_768,
            _ => 16_384,
        };
        assert!(bytes <= most, "{name} {precision}: {bytes}");
    });
}

#[test]
fn binding_0_is_the_parameters_and_the_others_follow() {
    each_shader(|name, precision, module, _| {
        let bindings: Vec<(u32, AddressSpace)> = module
            .global_variables
            .iter()
            .filter_map(|(_, variable)| variable.binding.as_ref().map(|at| (at.binding, variable.space)))
            .collect();
        let mut numbers: Vec<u32> = bindings.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..).take(bindings.len()).collect::<Vec<u32>>(), "{name} {precision}");
        let uniform =
            |(number, space): &(u32, AddressSpace)| (*number == 0) == (*space == AddressSpace::Uniform);
        assert!(bindings.iter().all(uniform), "{name} {precision}");
        // Every device has eight storage buffers.
        assert!(bindings.len() <= 9, "{name} {precision}");
    });
}

/// Returns the verb of a shader, which may exist for several types of rows.
fn verb(name: &str) -> &str {
    name.split('.').next().unwrap()
}

fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_shader_has_its_twins_and_its_conformance() {
    let shaders = stems("shaders", "wgsl");
    let listed: BTreeSet<String> =
        Gpu::shaders(Precision::F32).iter().map(|(name, _)| verb(name).to_owned()).collect();
    assert_eq!(shaders, listed);
    // Verbs that share a table share a file: gains with their norms, exchanges with theirs.
    let host = |name: &str, folder: &str| {
        let files = stems(folder, "rs");
        let texts: String = files
            .iter()
            .map(|stem| {
                fs::read_to_string(
                    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(format!("{stem}.rs")),
                )
                .unwrap()
            })
            .collect();
        ["(", "<"].iter().any(|end| texts.contains(&format!("fn {name}{end}")))
    };
    // The update of a table is a separate method.
    let method = |name: &str| match name {
        "swap_gains" | "choose_swap" | "swap_row" | "swap_vectors" | "swap_duals" => "gains".to_owned(),
        // Part of the same verb.
        "sum_runs" => "part_grams".to_owned(),
        "gain_update" | "leaders" | "choose_pick" | "pick_direction" => "update".to_owned(),
        verb => verb.to_owned(),
    };
    let tests = [
        "conformance",
        "conformance_entrants",
        "conformance_forms",
        "conformance_gains",
        "conformance_swaps",
        "conformance_determinants",
        "conformance_tables",
    ];
    let conformance: String = tests
        .iter()
        .map(|test| {
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/gpu/{test}.rs")))
                .unwrap()
        })
        .collect();
    // These are not verbs. The host knows the expected results of the arithmetic; `proposals.rs`, `sequential.rs` and
    // `independent.rs` test proposals, and `slates.rs` tests slates.
    let others = [
        "arithmetic",
        "random_words",
        "proposals",
        "small_proposals",
        "sequential_draws",
        "gather_picks",
        "item_proposals",
        "small_item_proposals",
        "slates",
    ];
    for name in shaders.iter().filter(|name| !others.contains(&name.as_str())) {
        let verb = method(name);
        assert!(host(&verb, "src/engine/cpu"), "{name} has no twin on the CPU");
        assert!(host(&verb, "src/engine/gpu"), "{name} has no host");
        assert!(conformance.contains(&format!(".{verb}(")), "{name} has no conformance case");
    }
}

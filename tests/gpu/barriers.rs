//! Barriers in the shaders: an elimination has few of them per step and per panel, each for the right memory.

use naga::{Block, Function, Handle, Module, Statement};
use partition_dpp::engine::{Precision, gpu::Gpu};

/// The barriers of every loop that has any, in sequence: W for workgroup memory, S for storage.
struct Barriers<'a> {
    module: &'a Module,
    loops: Vec<String>,
}

impl Barriers<'_> {
    fn of(source: &str) -> Vec<String> {
        let module = naga::front::wgsl::parse_str(source).unwrap();
        let mut barriers = Barriers { module: &module, loops: Vec::new() };
        barriers.block(&module.entry_points[0].function.body);
        barriers.loops
    }

    fn called(&mut self, function: Handle<Function>) -> String {
        let module = self.module;
        self.block(&module.functions[function].body)
    }

    /// Returns the barriers outside loops, of the longer branch of every condition.
    fn block(&mut self, block: &Block) -> String {
        let mut all = String::new();
        for statement in block {
            all += &match statement {
                Statement::ControlBarrier(memory) if memory.contains(naga::Barrier::STORAGE) => "S".into(),
                Statement::ControlBarrier(_) | Statement::WorkGroupUniformLoad { .. } => "W".into(),
                Statement::Block(inner) => self.block(inner),
                Statement::If { accept, reject, .. } => {
                    let branches = [self.block(accept), self.block(reject)];
                    branches.into_iter().max_by_key(String::len).unwrap()
                }
                Statement::Switch { cases, .. } => cases.iter().map(|case| self.block(&case.body)).collect(),
                Statement::Loop { body, continuing, .. } => {
                    let own = self.block(body) + &self.block(continuing);
                    if !own.is_empty() {
                        self.loops.push(own);
                    }
                    String::new()
                }
                Statement::Call { function, .. } => self.called(*function),
                _ => String::new(),
            };
        }
        all
    }
}

/// Returns the barriers of every loop of an elimination: per step, and per panel of a stored matrix.
fn expected(source: &str) -> &'static [&'static str] {
    if source.contains("fn exchange(") { &["WSS", "WSSS"] } else { &["WW"] }
}

fn eliminations() -> impl Iterator<Item = (String, String)> {
    [Precision::F32, Precision::F64].into_iter().flat_map(|precision| {
        let shaders =
            Gpu::shaders(precision).into_iter().filter(|(_, source)| source.contains("fn eliminate("));
        shaders.map(move |(name, source)| (format!("{name} {precision}"), source))
    })
}

#[test]
fn a_step_of_an_elimination_has_few_barriers() {
    let mut seen = 0;
    for (name, source) in eliminations() {
        assert_eq!(Barriers::of(&source), expected(&source), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 20, "two verbs, five variants, two precisions");
}

#[test]
fn wrong_barriers_are_noticed() {
    for (name, source) in eliminations() {
        // In the step itself, in a function that it calls, and in an inner loop, which may have any number.
        let is_held = source.contains("fn share_row(");
        let called = if is_held { "let inverse = reciprocal(" } else { "let entry = times(" };
        let inner = if is_held { "let multiple = " } else { "let x = -times(" };
        for (from, is_inner) in [("let pivot = ", false), (called, false), (inner, true)] {
            assert_eq!(source.matches(from).count(), 1, "{name}: {from}");
            let more = format!("workgroupBarrier(); storageBarrier(); workgroupBarrier(); {from}");
            let mut counts: Vec<usize> = expected(&source).iter().map(|loops| loops.len()).collect();
            if is_inner {
                counts.insert(0, 3);
            } else {
                counts[0] += 3;
            }
            let found = Barriers::of(&source.replace(from, &more));
            assert_eq!(found.iter().map(String::len).collect::<Vec<_>>(), counts, "{name}: {from}");
        }
        let others = source.replace("workgroupBarrier()", "storageBarrier()");
        assert_ne!(Barriers::of(&others), expected(&source), "{name}");
    }
}

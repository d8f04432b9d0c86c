//! Counts of barriers in the shaders: an elimination has few barriers per step.

use naga::{Block, Function, Handle, Module, Statement};
use partition_dpp::engine::{Precision, gpu::Gpu};

/// The barriers of a function's statements in sequence, and of every loop that has any.
struct Barriers<'a> {
    module: &'a Module,
    loops: Vec<usize>,
}

impl Barriers<'_> {
    /// Returns the barriers of the entry point outside loops, and those inside each loop.
    fn of(module: &Module) -> (usize, Vec<usize>) {
        let mut barriers = Barriers { module, loops: Vec::new() };
        let outside = barriers.block(&module.entry_points[0].function.body);
        (outside, barriers.loops)
    }

    fn called(&mut self, function: Handle<Function>) -> usize {
        let module = self.module;
        self.block(&module.functions[function].body)
    }

    /// Returns the most barriers that a thread may meet outside loops.
    fn block(&mut self, block: &Block) -> usize {
        let mut count = 0;
        for statement in block {
            count += match statement {
                // Each counts once, even for two kinds of memory.
                Statement::ControlBarrier(_) | Statement::WorkGroupUniformLoad { .. } => 1,
                Statement::Block(inner) => self.block(inner),
                Statement::If { accept, reject, .. } => self.block(accept).max(self.block(reject)),
                Statement::Switch { cases, .. } => cases.iter().map(|case| self.block(&case.body)).sum(),
                Statement::Loop { body, continuing, .. } => {
                    let before = self.loops.len();
                    let own = self.block(body) + self.block(continuing);
                    assert!(own == 0 || self.loops.len() == before, "loops with barriers within each other");
                    if own > 0 {
                        self.loops.push(own);
                    }
                    0
                }
                Statement::Call { function, .. } => self.called(*function),
                _ => 0,
            };
        }
        count
    }
}

/// Returns the barriers per step of an elimination: one more if rows are exchanged.
fn barriers_per_step(source: &str) -> usize {
    if source.contains("fn exchange(") { 3 } else { 2 }
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
        let (_, loops) = Barriers::of(&naga::front::wgsl::parse_str(&source).unwrap());
        assert_eq!(loops, [barriers_per_step(&source)], "{name}");
        seen += 1;
    }
    assert_eq!(seen, 20, "two verbs, five variants, two precisions");
}

#[test]
fn more_barriers_are_noticed() {
    for (name, source) in eliminations() {
        // In the step itself, and in a function that it calls.
        let is_held = source.contains("fn share_row(");
        let called = if is_held { "let inverse = reciprocal(" } else { "let first_row = " };
        for from in ["let pivot = ", called] {
            assert!(source.contains(from), "{name}: {from}");
            let more = format!("workgroupBarrier(); storageBarrier(); workgroupBarrier(); {from}");
            let module = naga::front::wgsl::parse_str(&source.replace(from, &more)).unwrap();
            assert_eq!(Barriers::of(&module).1, [barriers_per_step(&source) + 3], "{name}: {from}");
        }
        // In an inner loop, which may have any number.
        let from = "let multiple = ";
        assert!(source.contains(from), "{name}");
        let module =
            naga::front::wgsl::parse_str(&source.replace(from, &format!("workgroupBarrier(); {from}")));
        assert!(std::panic::catch_unwind(|| Barriers::of(module.as_ref().unwrap())).is_err(), "{name}");
    }
}

//! Counts of barriers in the shaders: an elimination has few barriers per step and per panel.

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
                    let own = self.block(body) + self.block(continuing);
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

/// Returns the barriers of every loop of an elimination: per step, and per panel of a stored matrix.
fn expected(source: &str) -> Vec<usize> {
    if source.contains("fn exchange(") { vec![3, 4] } else { vec![2] }
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
        assert_eq!(loops, expected(&source), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 20, "two verbs, five variants, two precisions");
}

#[test]
fn more_barriers_are_noticed() {
    for (name, source) in eliminations() {
        // In the step itself, in a function that it calls, and in an inner loop, which may have any number.
        let is_held = source.contains("fn share_row(");
        let called = if is_held { "let inverse = reciprocal(" } else { "let entry = times(" };
        let inner = if is_held { "let multiple = " } else { "let x = -times(" };
        for (from, is_inner) in [("let pivot = ", false), (called, false), (inner, true)] {
            assert_eq!(source.matches(from).count(), 1, "{name}: {from}");
            let more = format!("workgroupBarrier(); storageBarrier(); workgroupBarrier(); {from}");
            let module = naga::front::wgsl::parse_str(&source.replace(from, &more)).unwrap();
            let mut counts = expected(&source);
            if is_inner {
                counts.insert(0, 3);
            } else {
                counts[0] += 3;
            }
            assert_eq!(Barriers::of(&module).1, counts, "{name}: {from}");
        }
    }
}

//! Rewrites shaders so that they record every index into a buffer, an array, a vector or a matrix that is out of
//! bounds,
//! by its place in the shader, before it is used.

use naga::{
    Arena, ArraySize, BinaryOperator, Block, Expression, Function, GlobalVariable, Handle, Literal, Module,
    ResourceBinding, ScalarKind, Span, Statement, StorageAccess, Type, TypeInner, VectorSize,
    back::wgsl,
    proc::TypeResolution,
    valid::{Capabilities, FunctionInfo, ValidationFlags, Validator},
};
use partition_dpp::engine::{Precision, gpu::Gpu};

/// The binding of the records.
const BINDING: u32 = 15;

/// Returns the place of a shader in the lists of shaders.
pub(crate) fn place(name: &str) -> usize {
    Gpu::shaders(Precision::F64).iter().position(|(known, _)| *known == name).unwrap()
}

/// Returns a shader that records that it ran, and where an index was out of bounds.
pub(crate) fn testifying(name: &str, source: &str) -> String {
    let mut module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(source)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).unwrap();
    let words = words(&mut module);
    let mut places = 0;
    let Module { types, functions, entry_points, .. } = &mut module;
    let types: &naga::UniqueArena<Type> = types;
    let first_word = 2 * u32::try_from(place(name)).unwrap();
    for (handle, function) in functions.iter_mut() {
        Rewriter { types, info: &info[handle], words, first_word, places: &mut places }.rewrite(function);
    }
    let function = &mut entry_points[0].function;
    Rewriter { types, info: info.get_entry_point(0), words, first_word, places: &mut places }
        .rewrite(function);
    ran(function, words, first_word);
    let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).unwrap();
    wgsl::write_string(&module, &info, wgsl::WriterFlags::empty()).unwrap()
}

/// Adds the records, an array of words.
fn words(module: &mut Module) -> Handle<GlobalVariable> {
    let scalar = TypeInner::Scalar(naga::Scalar::U32);
    let word = module.types.insert(Type { name: None, inner: scalar }, Span::UNDEFINED);
    let array = TypeInner::Array { base: word, size: ArraySize::Dynamic, stride: 4 };
    let array = module.types.insert(Type { name: None, inner: array }, Span::UNDEFINED);
    let variable = GlobalVariable {
        name: Some("testimony".to_owned()),
        space: naga::AddressSpace::Storage { access: StorageAccess::LOAD | StorageAccess::STORE },
        binding: Some(ResourceBinding { group: 0, binding: BINDING }),
        ty: array,
        init: None,
        memory_decorations: naga::MemoryDecorations::empty(),
    };
    module.global_variables.append(variable, Span::UNDEFINED)
}

fn append(expressions: &mut Arena<Expression>, expression: Expression) -> Handle<Expression> {
    expressions.append(expression, Span::UNDEFINED)
}

/// Returns statements that set a word.
fn set(
    expressions: &mut Arena<Expression>,
    words: Handle<GlobalVariable>,
    at: u32,
    value: u32,
) -> Vec<Statement> {
    let base = append(expressions, Expression::GlobalVariable(words));
    let value = append(expressions, Expression::Literal(Literal::U32(value)));
    let before = expressions.len();
    let pointer = append(expressions, Expression::AccessIndex { base, index: at });
    vec![Statement::Emit(expressions.range_from(before)), Statement::Store { pointer, value }]
}

/// Records, before anything else, that the shader ran.
fn ran(function: &mut Function, words: Handle<GlobalVariable>, first_word: u32) {
    let mut body = set(&mut function.expressions, words, first_word, 1);
    body.extend(std::mem::take(&mut function.body).iter().cloned());
    function.body = Block::from_vec(body);
}

struct Rewriter<'a> {
    types: &'a naga::UniqueArena<Type>,
    info: &'a FunctionInfo,
    words: Handle<GlobalVariable>,
    first_word: u32,
    /// The number of indices so far.
    places: &'a mut u32,
}

/// A number of elements.
enum Length {
    Known(u32),
    /// The length of a buffer, known when the shader runs.
    Buffer,
}

impl Rewriter<'_> {
    fn rewrite(&mut self, function: &mut Function) {
        let body = std::mem::take(&mut function.body);
        function.body = self.block(&body, &mut function.expressions);
    }

    fn block(&mut self, block: &Block, expressions: &mut Arena<Expression>) -> Block {
        let mut statements = Vec::with_capacity(block.len());
        for statement in block {
            let mut statement = statement.clone();
            match &mut statement {
                Statement::Block(inner) => *inner = self.block(inner, expressions),
                Statement::If { accept, reject, .. } => {
                    *accept = self.block(accept, expressions);
                    *reject = self.block(reject, expressions);
                }
                Statement::Switch { cases, .. } => {
                    cases.iter_mut().for_each(|case| case.body = self.block(&case.body, expressions));
                }
                Statement::Loop { body, continuing, .. } => {
                    *body = self.block(body, expressions);
                    *continuing = self.block(continuing, expressions);
                }
                _ => {}
            }
            let emitted = match &statement {
                Statement::Emit(range) => range.clone().collect(),
                _ => Vec::new(),
            };
            statements.push(statement);
            for handle in emitted {
                statements.extend(self.check(handle, expressions));
            }
        }
        Block::from_vec(statements)
    }

    /// Returns statements that record an index out of bounds, if this expression accesses an element.
    fn check(&mut self, handle: Handle<Expression>, expressions: &mut Arena<Expression>) -> Vec<Statement> {
        let (base, index) = match expressions[handle] {
            Expression::Access { base, index } => (base, Some(index)),
            // In bounds by its type, unless it accesses a buffer.
            Expression::AccessIndex { base, .. } if matches!(self.length(base), Some(Length::Buffer)) => {
                (base, None)
            }
            _ => return Vec::new(),
        };
        let length = self.length(base).unwrap_or_else(|| panic!("elements of {:?}", self.info[base].ty));
        let mut index = match (index, &expressions[handle]) {
            (Some(index), _) => index,
            (None, &Expression::AccessIndex { index, .. }) => {
                append(expressions, Expression::Literal(Literal::U32(index)))
            }
            _ => unreachable!(),
        };
        let known = match length {
            Length::Known(count) => Some(append(expressions, Expression::Literal(Literal::U32(count)))),
            Length::Buffer => None,
        };
        let before = expressions.len();
        // Negative numbers become large ones.
        if matches!(expressions[handle], Expression::Access { .. }) && self.is_signed(index) {
            index =
                append(expressions, Expression::As { expr: index, kind: ScalarKind::Uint, convert: Some(4) });
        }
        let length = known.unwrap_or_else(|| append(expressions, Expression::ArrayLength(base)));
        let op = BinaryOperator::GreaterEqual;
        let condition = append(expressions, Expression::Binary { op, left: index, right: length });
        let emit = Statement::Emit(expressions.range_from(before));
        *self.places += 1;
        let noted = set(expressions, self.words, self.first_word + 1, *self.places);
        vec![emit, Statement::If { condition, accept: Block::from_vec(noted), reject: Block::new() }]
    }

    fn is_signed(&self, index: Handle<Expression>) -> bool {
        self.info[index].ty.inner_with(self.types).scalar_kind() == Some(ScalarKind::Sint)
    }

    fn length(&self, base: Handle<Expression>) -> Option<Length> {
        let of = |inner: &TypeInner| match *inner {
            TypeInner::Array { size: ArraySize::Dynamic, .. } => Some(Length::Buffer),
            TypeInner::Array { size: ArraySize::Constant(count), .. } => Some(Length::Known(count.get())),
            TypeInner::Vector { size, .. }
            | TypeInner::ValuePointer { size: Some(size), .. }
            | TypeInner::Matrix { columns: size, .. } => Some(Length::Known(count(size))),
            _ => None,
        };
        let resolution: &TypeResolution = &self.info[base].ty;
        match *resolution.inner_with(self.types) {
            TypeInner::Pointer { base, .. } => of(&self.types[base].inner),
            ref inner => of(inner),
        }
    }
}

fn count(size: VectorSize) -> u32 {
    match size {
        VectorSize::Bi => 2,
        VectorSize::Tri => 3,
        VectorSize::Quad => 4,
    }
}

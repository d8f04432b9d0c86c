//! The answers of this machine to the questions that `tests/wasm/run` asks on wasm32: both are compared with one
//! file.
//!
//! A change of subsets is value-breaking, as in `value_stability.rs`.

#[path = "../wasm/src/questions.rs"]
mod questions;

use approx::abs_diff_eq;
use questions::{QUESTIONS, answered};

/// Whether texts agree word by word, with decimal numbers to nine digits or 1e-12.
fn agree(found: &str, expected: &str) -> bool {
    let words = |text: &str| -> Vec<String> { text.split([' ', ',', ';']).map(str::to_owned).collect() };
    let (found, expected) = (words(found), words(expected));
    let alike = |(a, b): (&String, &String)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) if a.contains('.') && b.contains('.') => {
            abs_diff_eq!(x, y, epsilon = 1e-9 * y.abs() + 1e-12)
        }
        _ => a == b,
    };
    found.len() == expected.len() && found.iter().zip(&expected).all(alike)
}

#[test]
fn this_machine_answers_as_wasm() {
    let expected = include_str!("../wasm/answers.txt");
    let found: Vec<String> = QUESTIONS.iter().map(|&question| answered(question)).collect();
    println!("what tests/wasm/answers.txt should be, if a change is meant:\n{}", found.join("\n"));
    assert_eq!(found.len(), expected.lines().count(), "as many answers as questions");
    for (found, expected) in found.iter().zip(expected.lines()) {
        assert!(agree(found, expected), "found    {found}\nexpected {expected}");
    }
}

#[test]
fn other_answers_do_not_agree() {
    assert!(agree("a: 1 2, ln Z 1.000000000000e0", "a: 1 2, ln Z 1.000000000100e0"));
    for other in ["a: 1 2, ln Z 1.00000001e0", "a: 1 3, ln Z 1.0e0", "b: 1 2, ln Z 1.0e0", "a: 1 2", ""] {
        assert!(!agree(other, "a: 1 2, ln Z 1.0e0"), "{other}");
    }
}

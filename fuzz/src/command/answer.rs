//! Checks that every answer must pass.

use serde_json::Value;

use crate::common::check_sentence;

/// The largest error of sums of probabilities.
const ROUNDING: f64 = 1e-6;

pub(super) fn check(status: u8, out: &str, messages: &str) {
    match status {
        0 => {
            assert!(messages.is_empty(), "status 0, and {messages}");
            assert!(!out.is_empty(), "status 0, and no answer");
        }
        2 | 4 => check_refusal(out, messages),
        // There is no GPU, and no interrupt.
        other => panic!("status {other}: {messages}"),
    }
    if out.starts_with('{') {
        assert_eq!(out.lines().count(), 1, "{out}");
        check_numbers(&serde_json::from_str(out).expect("JSON"), out);
    }
}

fn check_refusal(out: &str, messages: &str) {
    let text = messages.strip_prefix("error: ").and_then(|rest| rest.strip_suffix('\n'));
    let text = text.unwrap_or_else(|| panic!("{messages:?} is no error"));
    // Ways out follow, one per line.
    let mut lines = text.split("\n  ");
    let sentence = lines.next().unwrap_or_default();
    for line in std::iter::once(sentence).chain(lines) {
        assert!(!line.chars().any(char::is_control), "{line:?}");
        check_sentence(line);
    }
    assert!(
        out.is_empty() || sentence.ends_with("samples were drawn"),
        "an answer besides {sentence}: {out}"
    );
}

/// Checks that probabilities are probabilities and bounds are bounds.
fn check_numbers(answer: &Value, out: &str) {
    let numbers = |name: &str| -> Vec<f64> {
        let list = answer.get(name).and_then(Value::as_array).into_iter().flatten();
        list.map(|value| value.as_f64().unwrap_or_else(|| panic!("{name}: {out}"))).collect()
    };
    let marginals = numbers("marginals");
    assert!(marginals.iter().all(|p| (-ROUNDING..=1.0 + ROUNDING).contains(p)), "{out}");
    for name in ["log_z", "log_det", "acceptance_bound"] {
        assert!(answer.get(name).is_none_or(Value::is_number), "{name}: {out}");
    }
    if let Some(engine) = answer.get("engine") {
        // A plan is made before any engine is opened, and there is no GPU here.
        assert!(engine == "cpu" && answer["adapter"].is_null() && answer["backend"].is_null(), "{out}");
    }
    let number = |name: &str| answer.get(name).and_then(Value::as_f64);
    if let (Some(bound), Some(found)) = (number("upper_bound"), number("log_det")) {
        assert!(bound >= found - ROUNDING * found.abs().max(1.0), "{out}");
    }
    if let Some(counts) = answer.get("counts").and_then(Value::as_array) {
        let probs = counts.iter().map(|count| count["prob"].as_f64().unwrap_or_else(|| panic!("{out}")));
        let total: f64 = probs.sum();
        assert!((1.0 - total).abs() < ROUNDING, "{total}: {out}");
    }
    if let Some(samples) = answer.get("samples").and_then(Value::as_array) {
        let is_ascending = |sample: &Value| {
            sample.as_array().expect("a list").windows(2).all(|pair| pair[0].as_u64() <= pair[1].as_u64())
        };
        assert!(samples.iter().all(is_ascending), "{out}");
    }
}

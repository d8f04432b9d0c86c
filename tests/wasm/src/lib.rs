//! The questions of [`questions`] for JavaScript: numbers and one text, no generated glue.

mod questions;

use std::{
    fmt::Display,
    panic,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use questions::QUESTIONS;

/// What was answered last, or why there is no answer.
static TEXT: Mutex<String> = Mutex::new(String::new());

fn locked() -> MutexGuard<'static, String> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write(text: &impl Display) {
    *locked() = text.to_string();
}

/// How many questions there are. A panic is a trap without words, so they are left in the text.
#[expect(unsafe_code, reason = "an export")]
#[unsafe(no_mangle)]
pub extern "C" fn questions() -> usize {
    panic::set_hook(Box::new(|panic| write(panic)));
    QUESTIONS.len()
}

/// Answers this question: the text is then its name and the answer.
#[expect(unsafe_code, reason = "an export")]
#[unsafe(no_mangle)]
pub extern "C" fn answer(question: usize) {
    write(&questions::answered(QUESTIONS[question]));
}

/// Reads a clock, which there is none of: what the answers must do without.
#[expect(unsafe_code, reason = "an export")]
#[unsafe(no_mangle)]
pub extern "C" fn read_clock() {
    write(&format!("{:?}", Instant::now()));
}

/// Where the text is.
#[expect(unsafe_code, reason = "an export")]
#[unsafe(no_mangle)]
pub extern "C" fn text() -> *const u8 {
    locked().as_ptr()
}

/// Its bytes.
#[expect(unsafe_code, reason = "an export")]
#[unsafe(no_mangle)]
pub extern "C" fn text_len() -> usize {
    locked().len()
}

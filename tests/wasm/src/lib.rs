//! The questions of [`questions`] for JavaScript: numbers and one text, without generated glue code.

mod questions;

use std::{
    fmt::Display,
    panic,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use questions::QUESTIONS;

/// The latest answer, or the reason why there is none.
static TEXT: Mutex<String> = Mutex::new(String::new());

fn locked() -> MutexGuard<'static, String> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write(text: &impl Display) {
    *locked() = text.to_string();
}

/// Returns the number of questions. A panic is a trap without a message, so its message is left in the text.
#[expect(unsafe_code, reason = "an export")]
#[unsafe(no_mangle)]
pub extern "C" fn questions() -> usize {
    panic::set_hook(Box::new(|panic| write(panic)));
    QUESTIONS.len()
}

/// Answers a question. The text is then its name and the answer.
#[expect(unsafe_code, reason = "an export")]
#[unsafe(no_mangle)]
pub extern "C" fn answer(question: usize) {
    write(&questions::answered(QUESTIONS[question]));
}

/// Reads a clock, which does not exist here: the answers must do without it.
#[expect(unsafe_code, reason = "an export")]
#[unsafe(no_mangle)]
pub extern "C" fn read_clock() {
    write(&format!("{:?}", Instant::now()));
}

/// Returns the address of the text.
#[expect(unsafe_code, reason = "an export")]
#[unsafe(no_mangle)]
pub extern "C" fn text() -> *const u8 {
    locked().as_ptr()
}

/// Returns the length of the text in bytes.
#[expect(unsafe_code, reason = "an export")]
#[unsafe(no_mangle)]
pub extern "C" fn text_len() -> usize {
    locked().len()
}

//! The command line from outside: arguments and files in, text and exit statuses out.

#![allow(clippy::unwrap_used, reason = "a test may panic, and so may its helpers")]

mod errors;
mod formats;
mod laws;
mod plots;
mod support;

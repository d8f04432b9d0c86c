//! The command line from outside: arguments and files in, text and exit statuses out.

mod errors;
mod formats;
mod laws;
mod plots;
mod support;

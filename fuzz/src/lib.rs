//! What the fuzz targets do: each `run` takes bytes, or a case made of bytes, and panics where an answer cannot be right.
//!
//! Everything is small, in one thread, and in one folder that is removed in the end.

#![forbid(unsafe_code)]

pub mod command;
mod common;
pub mod csv;
mod files;
pub mod npy;
pub mod problem;
pub mod quota;
mod values;

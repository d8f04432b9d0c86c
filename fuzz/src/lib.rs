//! The bodies of the fuzz targets: each `run` takes bytes, or a case made of bytes, and panics if an answer is wrong.
//!
//! All inputs are small. Each run uses one thread and one temporary folder.

#![forbid(unsafe_code)]

pub mod command;
mod common;
pub mod csv;
mod files;
pub mod npy;
pub mod problem;
pub mod quota;
mod values;

//! The command line from outside: arguments and files in, text and exit statuses out.

#![allow(clippy::unwrap_used, reason = "a test may panic, and so may its helpers")]

mod bench;
mod budgets;
mod by;
mod cache;
mod chains;
mod conditions;
mod counts;
mod covering;
mod csv_lines;
mod designs;
mod devices;
mod errors;
mod estimated;
mod files;
mod formats;
mod gaussian;
mod gaussian_search;
mod help;
mod infer;
mod interrupts;
mod kernels;
mod laws;
mod limits;
mod map;
mod map_ends;
mod methods;
mod multi_label;
mod parquet;
mod parquet_cells;
mod parquet_pages;
mod plots;
mod ranges;
mod replacing;
mod representing;
mod reproduce;
mod ridge;
mod rows;
mod scores;
mod shards;
mod support;
#[cfg(unix)]
mod terminal;

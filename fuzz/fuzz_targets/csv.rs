#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pdpp_fuzz::csv::run(bytes));

#![no_main]

use pdpp_fuzz::problem;

libfuzzer_sys::fuzz_target!(|case: problem::Case| problem::run(&case));

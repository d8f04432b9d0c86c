#![no_main]

use pdpp_fuzz::quota;

libfuzzer_sys::fuzz_target!(|case: quota::Case| quota::run(&case));

#![no_main]

use pdpp_fuzz::command;

libfuzzer_sys::fuzz_target!(|case: command::Case| command::run(&case));

#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| crosswind_fuzz::target::history(input));

//! The target that `TWINSET_FUZZ` names, driven by libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(init: twinset_fuzz::begin(), |data: &[u8]| twinset_fuzz::chosen().try_on(data));

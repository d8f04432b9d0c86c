//! Work that must happen before `main`. Afterwards Rust's runtime has opened /dev/null in place of a closed standard output,
//! and threads run, so that the environment must not change.
//!
//! This is the only unsafe code of the command line.

#![allow(unsafe_code, reason = "there is no safe way to run before main, and to change the environment")]

use std::{
    env, io,
    os::fd::AsFd,
    sync::atomic::{AtomicBool, Ordering},
};

/// A folder that does not exist, and so holds no sockets.
const NOWHERE: &str = "/nonexistent";

static OUTPUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the C runtime calls each function whose address lies in this section once, before main; it may pass arguments,
// which functions of the C convention may ignore.
#[used]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    OUTPUT_IS_CLOSED.store(io::stdout().as_fd().try_clone_to_owned().is_err(), Ordering::Relaxed);
    // Without this folder, a layer of Mesa that looks for a Wayland compositor while adapters are listed prints an error
    // for each of its attempts.
    if env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no other thread reads the environment; the process has this one only.
        unsafe { env::set_var("XDG_RUNTIME_DIR", NOWHERE) };
    }
}

/// Whether the process began without a standard output.
pub(crate) fn output_is_closed() -> bool {
    OUTPUT_IS_CLOSED.load(Ordering::Relaxed)
}

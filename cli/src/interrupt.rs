//! Ctrl-C.

use std::{
    process,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::failure::{Failure, INTERRUPTED};

static FLAG: AtomicBool = AtomicBool::new(false);

/// A flag that the first Ctrl-C sets. The second ends the program at once.
pub(crate) fn flag() -> Result<&'static AtomicBool, Failure> {
    let handler = || {
        if FLAG.swap(true, Ordering::Relaxed) {
            process::exit(INTERRUPTED.into());
        }
    };
    ctrlc::set_handler(handler).map_err(Failure::Signal)?;
    Ok(&FLAG)
}

/// The same flag, once Ctrl-C is caught.
pub(crate) fn raised_flag() -> &'static AtomicBool {
    &FLAG
}

/// Whether somebody has pressed Ctrl-C.
pub(crate) fn raised() -> bool {
    FLAG.load(Ordering::Relaxed)
}

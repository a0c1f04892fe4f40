//! SIGTERM and SIGINT as values that a thread waits for, so that no code runs inside a signal handler.

use std::sync::Arc;

use crate::exit;
use crate::stop::{Stop, StopReason};

/// Blocks SIGTERM and SIGINT, so that they do not end the process. Call it before the first thread is started.
pub fn block() {
    let set = ending_signals();
    // SAFETY: `set` is initialised; the old mask is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) };
}

/// Waits for SIGTERM or SIGINT and returns its number.
pub fn wait() -> u8 {
    let set = ending_signals();
    let mut number = 0;
    // SAFETY: both arguments are valid; `sigwait` writes the number of the signal that it took.
    while unsafe { libc::sigwait(&set, &mut number) } != 0 {}
    number as u8
}

/// Makes the first SIGTERM or SIGINT a request to stop. The waiting thread ends with the process.
pub fn stop_on_signal(stop: &Arc<Stop>) {
    let stop = Arc::clone(stop);
    std::thread::spawn(move || stop.request(StopReason::Signal(wait())));
}

/// Makes the first SIGTERM or SIGINT the end of the process, for one that has nothing to save.
pub fn exit_on_signal() {
    std::thread::spawn(|| std::process::exit(i32::from(exit::after_signal(wait()))));
}

fn ending_signals() -> libc::sigset_t {
    // SAFETY: `sigset_t` is plain data that `sigemptyset` initialises before anything reads it.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGTERM);
        libc::sigaddset(&mut set, libc::SIGINT);
        set
    }
}

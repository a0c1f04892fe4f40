//! Threads, and the error text when the machine cannot start another.

use std::io;

/// The failed step, the kernel's reason, and the remedy where the reason is a limit on processes, which also counts
/// threads.
pub fn refused(what: &str, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EAGAIN) => format!("{what}: {error}; {NONE_TO_SPARE}"),
        _ => format!("{what}: {error}"),
    }
}

/// The remedy when the kernel refused a process or thread with EAGAIN.
pub const NONE_TO_SPARE: &str =
    "this user may have no more processes and threads: end some, or raise the limit \
(`ulimit -u`, pids.max of the control group, `sysctl kernel.threads-max`)";

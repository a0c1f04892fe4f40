//! Threads, and what to say where the machine has none to spare.

use std::io;

/// What failed, the kernel's reason, and the remedy where that is a limit on processes, which counts threads, too.
pub fn refused(what: &str, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EAGAIN) => format!("{what}: {error}; {NONE_TO_SPARE}"),
        _ => format!("{what}: {error}"),
    }
}

/// The remedy for a process or thread that the kernel refused with EAGAIN.
pub const NONE_TO_SPARE: &str =
    "this user may have no more processes and threads: end some, or raise the limit \
(`ulimit -u`, pids.max of the control group, `sysctl kernel.threads-max`)";

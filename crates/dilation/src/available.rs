//! Whether this machine can dilate.

use std::fs;

/// Kernels from this version on let no signal end the wait for a supervisor (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV).
const KERNEL: (u32, u32) = (5, 19);

/// # Errors
/// One sentence with the reason and the remedy.
pub fn available() -> Result<(), String> {
    if !cfg!(target_arch = "x86_64") {
        return Err(format!(
            "the image that slows a process exists for x86-64 only, and this is {}; use an x86-64 machine",
            std::env::consts::ARCH
        ));
    }
    let action = libc::SECCOMP_RET_USER_NOTIF;
    // SAFETY: the call reads one live integer.
    let known =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) };
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if known != 0 || version(&release) < KERNEL {
        return Err(format!(
            "the kernel ({}) has no seccomp notification that signals cannot end; use Linux 5.19 or newer with CONFIG_SECCOMP_FILTER",
            release.trim()
        ));
    }
    let yama = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    if yama.trim() == "3" {
        return Err(
            "kernel.yama.ptrace_scope is 3, which forbids ptrace to everybody; restart with 2 or less".into(),
        );
    }
    Ok(())
}

fn version(release: &str) -> (u32, u32) {
    let mut numbers =
        release.split(|letter: char| !letter.is_ascii_digit()).map_while(|part| part.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_as_numbers() {
        assert!(version("6.18.44-fc") > KERNEL && version("5.19.0-50-generic") >= KERNEL);
        assert!(version("4.19.0") < KERNEL && version("5.15.0-150-generic") < KERNEL && version("") < KERNEL);
    }
}

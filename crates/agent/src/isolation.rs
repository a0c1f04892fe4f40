//! Namespaces of the agent itself: nothing that it makes has a name in the host's.
//!
//! Without root, the agent takes a user namespace in which the user's own id is mapped to itself; it has every
//! capability there and none outside. With or without, each fabric gets a network namespace that nobody used before.
//! It does not make the nodes' namespaces (see `init`).

use std::fs;

use nix::errno::Errno;
use nix::sched::{unshare, CloneFlags};
use nix::unistd::{getegid, geteuid};

use crate::failure::Failure;

/// Makes the user namespace, when not root. Must be called before the process has a second thread.
pub fn enter_user_namespace() -> Result<(), Failure> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| refused("user namespace", error))?;
    // Group lists must be given up before a group can be mapped without privileges: user_namespaces(7).
    let maps = [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ];
    for (file, text) in maps {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| {
            Failure::preflight(format!(
                "write /proc/self/{file}: {error}; a security module restricts user namespaces: {REMEDIES}"
            ))
        })?;
    }
    keep_capabilities_across_exec().map_err(|error| {
        Failure::preflight(format!("raise capabilities in a user namespace of our own: {error}; a security module restricts it: {REMEDIES}"))
    })
}

/// Takes a new network namespace for the fabric side of all nodes.
pub fn enter_network_namespace() -> Result<(), Failure> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|error| refused("network namespace", error))
}

const REMEDIES: &str = "run as root (in a container: with CAP_SYS_ADMIN and CAP_NET_ADMIN), or allow user namespaces with \
`sysctl kernel.unprivileged_userns_clone=1` (Debian), `sysctl kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu) \
or `sysctl user.max_user_namespaces=10000`";

fn refused(what: &str, error: Errno) -> Failure {
    Failure::preflight(format!("make a {what}: {}; {REMEDIES}", error.desc()))
}

/// A process whose user is not root loses its capabilities at exec unless they are ambient. The only programs that the
/// agent executes are the nodes' inits, which need them; applications give them up (see `init::credentials`).
fn keep_capabilities_across_exec() -> Result<(), Errno> {
    let last = (0..64).take_while(|&capability| is_known(capability)).last().unwrap_or(0);
    let all = u64::MAX >> (63 - last);
    set_capabilities(all, all)?;
    for capability in 0..=last {
        // SAFETY: prctl with these arguments touches no memory.
        Errno::result(unsafe {
            libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, capability, 0, 0)
        })?;
    }
    Ok(())
}

fn is_known(capability: u64) -> bool {
    // SAFETY: prctl with these arguments touches no memory.
    unsafe { libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) >= 0 }
}

/// Sets the permitted and effective sets to `own` and the inheritable set to `inheritable`, one bit per capability.
pub fn set_capabilities(own: u64, inheritable: u64) -> Result<(), Errno> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    #[repr(C)]
    struct Word {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    // _LINUX_CAPABILITY_VERSION_3: two words of 32 capabilities each, the low one first.
    let header = Header { version: 0x2008_0522, pid: 0 };
    let word = |shift: u32| Word {
        effective: (own >> shift) as u32,
        permitted: (own >> shift) as u32,
        inheritable: (inheritable >> shift) as u32,
    };
    let words = [word(0), word(32)];
    // SAFETY: both structures are laid out as capset(2) says and live until it returns.
    Errno::result(unsafe { libc::syscall(libc::SYS_capset, &raw const header, words.as_ptr()) }).map(drop)
}

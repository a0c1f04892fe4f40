//! Namespaces of the agent itself, so that nothing that it makes has a name in the host's namespaces.
//!
//! Without root, the agent enters a new user namespace in which the user's own id is mapped to itself. There it has
//! every capability, outside none. With or without root, each fabric gets a new network namespace. The nodes'
//! namespaces are made by `init`.

use std::fs;

use nix::errno::Errno;
use nix::sched::{unshare, CloneFlags};
use nix::unistd::{getegid, geteuid};

use crate::failure::Failure;

/// Makes the user namespace, when not root. Must run before the process has a second thread.
pub fn enter_user_namespace() -> Result<(), Failure> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| refused("user namespace", error))?;
    // The right to set group lists must be given up before a group can be mapped without privileges:
    // user_namespaces(7).
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
    Ok(())
}

/// Enters a new network namespace for the fabric side of all nodes.
pub fn enter_network_namespace() -> Result<(), Failure> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|error| refused("network namespace", error))
}

const REMEDIES: &str = "run as root (in a container: with CAP_SYS_ADMIN and CAP_NET_ADMIN), or allow user namespaces with \
`sysctl kernel.unprivileged_userns_clone=1` (Debian), `sysctl kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu) \
or `sysctl user.max_user_namespaces=10000`";

fn refused(what: &str, error: Errno) -> Failure {
    Failure::preflight(format!("make a {what}: {}; {REMEDIES}", error.desc()))
}

//! Gives up privileges permanently, or keeps them, between fork and exec of a process.

use nix::errno::Errno;
use nix::sys::prctl;
use nix::unistd::{geteuid, setgroups, setresgid, setresuid};

use crate::account::Account;

/// Becomes `account`, without capabilities and without a way to gain any by executing another program.
pub fn give_up(account: Account) -> Result<(), Errno> {
    if geteuid().is_root() {
        let (user, group) = (account.user(), account.group());
        setgroups(&[])?;
        setresgid(group, group, group)?;
        setresuid(user, user, user)?;
    }
    // Without root the process has every capability in its user namespace (see `isolation`), and its user stays the
    // same.
    drop_capabilities()?;
    prctl::set_no_new_privs()
}

/// Keeps every capability across the exec. Root keeps them anyway; without root only ambient ones survive.
pub fn keep() -> Result<(), Errno> {
    if geteuid().is_root() {
        return Ok(());
    }
    let mut sets = [0_u32; 6];
    let header = Header { version: VERSION_3, pid: 0 };
    // SAFETY: both structures have the layout of capget(2) and live until it returns.
    Errno::result(unsafe { libc::syscall(libc::SYS_capget, &raw const header, sets.as_mut_ptr()) })?;
    // Each block of three words is effective, permitted, inheritable.
    (sets[2], sets[5]) = (sets[1], sets[4]);
    // SAFETY: as above, for capset(2).
    Errno::result(unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) })?;
    let permitted = u64::from(sets[4]) << 32 | u64::from(sets[1]);
    for capability in (0..64_u32).filter(|bit| permitted >> bit & 1 == 1) {
        // SAFETY: this call takes no pointers.
        Errno::result(unsafe {
            libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, capability, 0, 0)
        })?;
    }
    Ok(())
}

/// _LINUX_CAPABILITY_VERSION_3: two times three words of 32 capabilities each.
const VERSION_3: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

/// Empties the permitted, the effective and the inheritable set. An empty inheritable set also empties the ambient
/// one: capabilities(7).
fn drop_capabilities() -> Result<(), Errno> {
    let header = Header { version: VERSION_3, pid: 0 };
    let none = [0_u32; 6];
    // SAFETY: both structures have the layout of capset(2) and live until it returns.
    Errno::result(unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) }).map(drop)
}

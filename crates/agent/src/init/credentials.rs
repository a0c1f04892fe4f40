//! Gives up privileges permanently, between fork and exec of an application.

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

/// Empties the permitted, the effective and the inheritable set. An empty inheritable set also empties the ambient
/// one: capabilities(7).
fn drop_capabilities() -> Result<(), Errno> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    // _LINUX_CAPABILITY_VERSION_3: two times three words of 32 capabilities each.
    let header = Header { version: 0x2008_0522, pid: 0 };
    let none = [0_u32; 6];
    // SAFETY: both structures have the layout of capset(2) and live until it returns.
    Errno::result(unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) }).map(drop)
}

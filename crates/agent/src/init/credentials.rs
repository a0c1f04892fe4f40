//! Giving up privileges for good, between fork and exec of an application.

use nix::errno::Errno;
use nix::sys::prctl;
use nix::unistd::{geteuid, setgroups, setresgid, setresuid};

use crate::account::Account;
use crate::isolation::set_capabilities;

/// Becomes `account`, without capabilities and without a way to gain any by executing another program.
pub fn give_up(account: Account) -> Result<(), Errno> {
    if geteuid().is_root() {
        let (user, group) = (account.user(), account.group());
        setgroups(&[])?;
        setresgid(group, group, group)?;
        setresuid(user, user, user)?;
    }
    // A process whose user is not root has ambient capabilities here (see `isolation`); an empty inheritable set
    // empties the ambient one with it: capabilities(7).
    set_capabilities(0, 0)?;
    prctl::set_no_new_privs()
}

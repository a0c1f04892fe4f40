//! The account that application processes run under: `nobody` when the agent is root, otherwise the user's own.
//!
//! Applications never run as root: several servers refuse to, and nothing an application does needs it.

use nix::unistd::{getegid, geteuid, Gid, Uid};
use serde::{Deserialize, Serialize};

/// The usual number of `nobody`; used when /etc/passwd does not name that user.
const NOBODY: u32 = 65_534;

/// A user and a group, as numbers in the agent's user namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    pub uid: u32,
    pub gid: u32,
}

impl Account {
    /// The account for applications of an agent that runs as the current user.
    pub fn for_applications() -> Self {
        if geteuid().is_root() {
            nobody_in(&std::fs::read_to_string("/etc/passwd").unwrap_or_default())
        } else {
            Self { uid: geteuid().as_raw(), gid: getegid().as_raw() }
        }
    }

    pub fn user(self) -> Uid {
        Uid::from_raw(self.uid)
    }

    pub fn group(self) -> Gid {
        Gid::from_raw(self.gid)
    }
}

/// Parses the file directly: the C library's resolver may query services over the network, which an agent should not
/// do.
fn nobody_in(passwd: &str) -> Account {
    passwd
        .lines()
        .find_map(|line| {
            let mut fields = line.split(':');
            (fields.next()? == "nobody").then_some(())?;
            let uid = fields.nth(1)?.parse().ok()?;
            let gid = fields.next()?.parse().ok()?;
            // An account with user or group 0 is root under another name and is rejected.
            (uid != 0 && gid != 0).then_some(Account { uid, gid })
        })
        .unwrap_or(Account { uid: NOBODY, gid: NOBODY })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_taken_from_passwd() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nnobody:x:99:98:nobody:/:/sbin/nologin\n";
        assert_eq!(nobody_in(passwd), Account { uid: 99, gid: 98 });
    }

    #[test]
    fn a_missing_damaged_or_root_nobody_becomes_65534() {
        for passwd in ["", "nobody", "nobody:x:many:98::/:", "nobody:x:0:0::/:", "nobodyelse:x:1:1::/:"] {
            assert_eq!(nobody_in(passwd), Account { uid: NOBODY, gid: NOBODY }, "{passwd:?}");
        }
    }
}

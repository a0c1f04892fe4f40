//! The first timeout of a SYN, and of the answer to one, for programs whose clocks are slower: as much longer, so that
//! programs perceive it unchanged.
//!
//! No sysctl and no route sets it; the kernel asks a program of the socket's control group (BPF_SOCK_OPS_TIMEOUT_INIT).
//! The kernel bounds every timeout by 120 s, so above a factor of 120 the first one is perceived shorter.
//!
//! Source: RFC 6298, section 2.1; kernel, `tcp_timeout_init` (include/net/tcp.h).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use nix::time::{clock_getres, ClockId};

use super::assembly::{end, load, set, skip_unless, store, Instruction};
use super::{attach, load_program};

/// BPF_PROG_TYPE_SOCK_OPS and BPF_CGROUP_SOCK_OPS.
const KIND: u32 = 13;
const ATTACH_KIND: u32 = 3;
/// TCP_TIMEOUT_INIT and TCP_RTO_MAX, in seconds.
const FIRST_S: u64 = 1;
const LONGEST_S: u64 = 120;

/// Longer timeouts of the sockets that processes of a control group make, and those of groups below it; as long as
/// this value exists.
pub struct Longer {
    _link: OwnedFd,
}

impl Longer {
    /// For a group of version 2. Fails without privileges (CAP_BPF, CAP_NET_ADMIN), or where the kernel lacks
    /// CONFIG_CGROUP_BPF.
    pub fn times(slower: u64, group: &Path) -> io::Result<Self> {
        let tick_ns = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE)?;
        let ticks = ticks(slower, tick_ns.tv_nsec() as u64);
        let program = load_program(KIND, ATTACH_KIND, b"first_timeout", &program(ticks))?;
        Ok(Self { _link: attach(&program, File::open(group)?.as_fd(), ATTACH_KIND)? })
    }
}

/// The first timeout in ticks of the kernel; the coarse clocks advance once a tick.
fn ticks(slower: u64, tick_ns: u64) -> i32 {
    let ticks_per_s = (1_000_000_000 + tick_ns / 2) / tick_ns.max(1);
    ((FIRST_S * slower).min(LONGEST_S) * ticks_per_s) as i32
}

/// Answers one question of the kernel's TCP with a number, and the others as if there were no program.
const fn program(ticks: i32) -> [Instruction; 7] {
    const OP: i16 = 0; // Offsets in struct bpf_sock_ops.
    const REPLY: i16 = 4;
    const TIMEOUT_INIT: i32 = 1;
    [
        load(2, 1, OP), // r2 = which question it is
        set(3, -1),     // r3 = no answer
        skip_unless(2, TIMEOUT_INIT, 1),
        set(3, ticks),
        store(1, REPLY, 3),
        set(0, 1), // go on
        end(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_timeout_is_longer_up_to_what_the_kernel_allows() {
        assert_eq!(ticks(10, 4_000_000), 10 * 250);
        // At 300 Hz a tick has no whole number of nanoseconds.
        assert_eq!(ticks(2, 3_333_333), 2 * 300);
        assert_eq!(ticks(1000, 1_000_000), 120 * 1000);
    }
}

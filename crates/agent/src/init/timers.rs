//! Timers of the kernel's TCP that a node can set, for programs whose clocks are slower: as much longer, so that
//! programs perceive them unchanged. The smallest retransmission timeout is set by the route (`link`), and the first one
//! by a program in the kernel (`bpf::handshake`).
//!
//! Not settable: delayed acknowledgements, the longest retransmission timeout, and TIME_WAIT. CUBIC is `bpf::cubic`.

use std::fs;
use std::io::ErrorKind;

use super::namespaces::OrRefuse;
use crate::failure::Failure;

/// Each below net.ipv4, with the largest value that the kernel accepts.
const TIMERS: [(&str, u64); 7] = [
    // Seconds, stored as up to 1000 ticks each in 31 bits.
    ("tcp_keepalive_time", 2_147_483),
    ("tcp_keepalive_intvl", 2_147_483),
    ("tcp_fin_timeout", 2_147_483),
    // Milliseconds; since Linux 6.14.
    ("tcp_tw_reuse_delay", 60_000),
    ("tcp_comp_sack_delay_ns", u64::MAX),
    ("tcp_comp_sack_slack_ns", u64::MAX),
    // Seconds, at most a day.
    ("tcp_min_rtt_wlen", 86_400),
];

/// Multiplies the timers of this network namespace.
pub fn lengthen(times: u64) -> Result<(), Failure> {
    if times == 1 {
        return Ok(());
    }
    let remedy = "/proc/sys must be writable; run without dilation";
    for (name, most) in TIMERS {
        let path = format!("/proc/sys/net/ipv4/{name}");
        let now = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            now => now.or_refuse(&format!("read net.ipv4.{name}"), remedy)?,
        };
        if let Some(longer) = longer(&now, times, most) {
            fs::write(&path, longer.to_string()).or_refuse(&format!("set net.ipv4.{name}"), remedy)?;
        }
    }
    Ok(())
}

fn longer(now: &str, times: u64, most: u64) -> Option<u64> {
    let now: u64 = now.trim().parse().ok()?;
    Some(now.saturating_mul(times).min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_are_longer_up_to_what_the_kernel_accepts() {
        assert_eq!(longer("7200\n", 10, 2_147_483), Some(72_000));
        assert_eq!(longer("7200\n", 1_000, 2_147_483), Some(2_147_483));
        assert_eq!(longer("off\n", 10, 2_147_483), None);
    }
}

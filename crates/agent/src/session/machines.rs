//! Other machines that carry a fabric together with this one: the socket to them, who they are, and their clocks.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crosswind_emulator::Part;
use crosswind_tunnel::{native, udp, Bound, ClockReport, Membership, Network, RunKey, Tunnel};
use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::socket::AddressFamily;
use nix::time::{clock_gettime, ClockId};
use serde_json::{json, Value};

use super::Session;
use crate::failure::Failure;
use crate::protocol::{Binding, Join};

/// A request waits for its instant, and others wait for it.
const AHEAD_MAX: Duration = Duration::from_secs(10);

/// While machines meet, between datagrams of the largest size.
const BETWEEN_LONGEST: Duration = Duration::from_millis(20);

/// The way to other machines.
pub struct Machines {
    /// Opened in the network namespace that the agent was started in; one of each version of IP that the kernel has.
    unbound: [Option<udp::Unbound>; 2],
    /// Likewise, of raw Ethernet.
    ethernet: Option<io::Result<native::Unbound>>,
    bound: Option<Bound>,
    domain: Option<u16>,
    /// With the emulator while a fabric is up.
    tunnel: Option<Tunnel>,
}

impl Machines {
    /// Call it before the agent leaves the network namespace that it was started in.
    pub fn here() -> Self {
        let unbound =
            [AddressFamily::Inet, AddressFamily::Inet6].map(|family| udp::Unbound::open(family).ok());
        let ethernet = Some(native::Unbound::open());
        Self { unbound, ethernet, bound: None, domain: None, tunnel: None }
    }

    fn bind(&mut self, binding: &Binding) -> Result<Bound, Failure> {
        match (binding.network, &binding.interface, binding.port) {
            (Network::Udp, None, port) => self.bind_udp(binding, port.unwrap_or_default()),
            (Network::Native, interface, None) => self.bind_ethernet(binding, interface.as_deref()),
            (Network::Udp, Some(_), _) => Err(Failure::invalid("bind: interface: UDP takes the one that routes say; request \"network\": \"native\", or leave it out")),
            (Network::Native, _, Some(_)) => Err(Failure::invalid("bind: port: raw Ethernet has none; leave it out")),
        }
    }

    fn bind_udp(&mut self, binding: &Binding, port: u16) -> Result<Bound, Failure> {
        let address = binding.address;
        let unbound = self.unbound[usize::from(address.is_ipv6())].take();
        let unbound = unbound.ok_or_else(|| {
            Failure::invalid(format!("bind {address}: this agent has used its socket, or the kernel lacks this version of IP; start another agent"))
        })?;
        unbound.bind(address, port).map_err(|error| {
            let remedy = if error.kind() == io::ErrorKind::AddrInUse {
                "another process has this UDP port; write another `port`, or none"
            } else {
                "write as `address` one of this machine, at which the others reach it"
            };
            Failure::preflight(format!(
                "bind {}: {error}; {remedy}",
                std::net::SocketAddr::new(address, port)
            ))
        })
    }

    fn bind_ethernet(&mut self, binding: &Binding, named: Option<&str>) -> Result<Bound, Failure> {
        let address = binding.address;
        let unbound = self.ethernet.take();
        let unbound = unbound.ok_or_else(|| {
            Failure::invalid("bind: this agent has used its socket of raw Ethernet; start another agent")
        })?;
        let unbound = unbound.map_err(|error| {
            Failure::preflight(format!("bind: raw Ethernet: {error}; the agent needs CAP_NET_RAW: let ssh log in as root, or use `network: udp`"))
        })?;
        let name = named.or_else(|| unbound.interface_at(address)).map(str::to_owned).ok_or_else(|| {
            Failure::preflight(format!("bind: no interface of this machine has the address {address}; write `interface` with the one that leads to the others"))
        })?;
        unbound.bind(&name).map_err(|error| {
            let remedy = match error.raw_os_error().map(Errno::from_raw) {
                Some(Errno::ENODEV) => "write one that `ip link` shows there",
                Some(Errno::ENETDOWN) => "set it up there with `ip link set up`",
                _ => "write one of Ethernet, which leads to the others",
            };
            Failure::preflight(format!("bind: interface {name}: {error}; {remedy}"))
        })
    }

    /// The domain of this machine for a fabric that machines share.
    pub fn domain(&self, generation: Option<u32>) -> Result<Option<usize>, Failure> {
        if generation.is_none() {
            return Ok(None);
        }
        let domain = self.domain.filter(|_| self.tunnel.is_some()).map(usize::from);
        domain.map(Some).ok_or_else(|| {
            Failure::invalid("up: generation: no other machines are known, or an emulator died with the way to them; request `bind` and `join` of a new agent first")
        })
    }

    /// The part of the next fabric.
    pub fn part(&mut self, generation: u32) -> Option<Part> {
        self.tunnel.take().map(|tunnel| Part { tunnel, generation })
    }

    /// The fabric is down.
    pub fn give_back(&mut self, tunnel: Option<Tunnel>) {
        self.tunnel = tunnel.or(self.tunnel.take());
    }
}

impl Session {
    pub(super) fn bind(&mut self, binding: &Binding) -> Result<Value, Failure> {
        let bound = self.machines.bind(binding)?;
        let mut at = json!({ "address": bound.address().to_string() });
        if let Some((interface, mtu_bytes)) = bound.interface() {
            at["interface"] = json!(interface);
            at["mtu_bytes"] = json!(mtu_bytes);
        }
        self.machines.bound = Some(bound);
        Ok(at)
    }

    pub(super) fn join(&mut self, join: &Join) -> Result<Value, Failure> {
        let key = key_of(&join.key)?;
        if join.peers.iter().any(|peer| peer.domain == join.domain) {
            return Err(Failure::invalid(format!(
                "join: domain {} is this machine's own; leave it out of peers",
                join.domain
            )));
        }
        let bound = self.machines.bound.take();
        let bound = bound.ok_or_else(|| Failure::invalid("join: no socket is open; request `bind` first"))?;
        let own = Membership { domain: join.domain, run: join.run, key };
        let peers = join.peers.iter().map(|peer| (peer.domain, peer.address));
        let tunnel =
            Tunnel::new(bound, own, peers).map_err(|error| Failure::preflight(format!("join: {error}")))?;
        self.machines.domain = Some(join.domain);
        self.machines.tunnel = Some(tunnel);
        Ok(json!({}))
    }

    /// Exchanges datagrams, also of the largest size, until the time is over: the others may begin later.
    pub(super) fn meet(&mut self, for_ns: u64) -> Result<Value, Failure> {
        let length = Duration::from_nanos(for_ns);
        if length > AHEAD_MAX {
            return Err(Failure::invalid(format!("meet: for_ns is more than {} s", AHEAD_MAX.as_secs())));
        }
        let tunnel = self.machines.tunnel.as_mut().ok_or_else(|| {
            Failure::invalid("meet: no other machines are known, or a fabric is up; request `bind` and `join` before, or `down`")
        })?;
        let (began, mut sizes, mut next) = (Instant::now(), Vec::new(), Duration::ZERO);
        while began.elapsed() < length {
            if began.elapsed() >= next {
                next += BETWEEN_LONGEST;
                sizes = tunnel.send_longest();
            }
            tunnel.take_in(own_ns);
            tunnel.flush(own_ns);
            let wait_ns = tunnel.next_ns().saturating_sub(own_ns());
            let wait = Duration::from_nanos(wait_ns).min(BETWEEN_LONGEST);
            let timeout = PollTimeout::try_from(wait).unwrap_or(PollTimeout::ZERO);
            // A signal ends the wait early, and nothing else does.
            let _ = poll(&mut [PollFd::new(tunnel.as_fd(), PollFlags::POLLIN)], timeout);
        }
        let report = tunnel.report(own_ns());
        let peers = report.peers.iter().zip(sizes).map(|(peer, size)| {
            json!({
                "domain": peer.domain,
                "received_datagrams": peer.received_datagrams,
                "longest_datagram": peer.longest_datagram,
                "largest_size": size,
                "round_trip_ns": peer.clock.round_trip_ns,
            })
        });
        Ok(json!({ "peers": peers.collect::<Vec<_>>() }))
    }

    pub(super) fn clocks(&mut self) -> Result<Value, Failure> {
        let (now_ns, peers) = self.emulator("clocks")?.clocks().map_err(Failure::internal)?;
        let peers = peers.iter().map(|(domain, clock): &(usize, ClockReport)| {
            let mut peer = serde_json::to_value(clock).unwrap_or_default();
            peer["domain"] = json!(domain);
            peer
        });
        Ok(json!({ "now_ns": now_ns, "peers": peers.collect::<Vec<_>>() }))
    }
}

/// The same for a tunnel; every kernel has this clock.
fn own_ns() -> u64 {
    now_ns().unwrap_or_default()
}

/// The present on CLOCK_MONOTONIC.
pub fn now_ns() -> Result<u64, Failure> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from);
    now.map(|now| now.as_nanos() as u64)
        .map_err(|error| Failure::internal(format!("read the clock: {error}")))
}

/// Refuses an instant for which others would wait too long.
pub fn check_instant(request: &str, at_ns: Option<u64>) -> Result<(), Failure> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
    let ahead = Duration::from_nanos(at_ns.unwrap_or_default()).saturating_sub(now);
    if ahead > AHEAD_MAX {
        return Err(Failure::invalid(format!(
            "{request}: at_ns is {:.1} s ahead; name an instant within {} s",
            ahead.as_secs_f64(),
            AHEAD_MAX.as_secs()
        )));
    }
    Ok(())
}

/// The key in 64 hexadecimal digits.
pub fn key_of(text: &str) -> Result<RunKey, Failure> {
    let refused = || Failure::invalid("key: write 32 bytes as 64 hexadecimal digits");
    let mut key = RunKey::default();
    if text.len() != 2 * key.len() || !text.is_ascii() {
        return Err(refused());
    }
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| refused())?;
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_64_digits() {
        assert_eq!(key_of(&"0f".repeat(32)).unwrap(), [15; 32]);
        for wrong in ["", "0f", &"0g".repeat(32), &"\u{e9}".repeat(32)] {
            assert!(key_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_instant_far_ahead_is_refused() {
        assert!(check_instant("set", None).is_ok());
        assert!(check_instant("set", Some(0)).is_ok());
        assert!(check_instant("set", Some(u64::MAX)).unwrap_err().message.contains("within 10 s"));
    }
}

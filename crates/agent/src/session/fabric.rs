//! Brings a fabric up and down.
//!
//! Inits prepare themselves in parallel while the agent makes the veth pairs of those that are ready. To take a fabric
//! down, the agent kills the inits. It does not wait for the kernel to clear the rest away, because the next fabric
//! gets a new network namespace.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Instant;

use crosswind_emulator::{CaptureLimits, Emulator, Files, Kept, PortOpener, NONE_TO_SPARE};
use crosswind_fabric::Fabric;
use nix::sys::memfd::{memfd_create, MFdFlags};
use serde_json::{json, Value};

use super::disk::check as check_disks;
use super::switch::SWITCH;
use super::{about, unreachable, Session, Step};
use crate::address;
use crate::bpf::cubic::SlowedCubic;
use crate::cgroup::{Groups, Limits};
use crate::channel::{Connect, FromInit, OverlayOrder, ToInit};
use crate::failure::Failure;
use crate::isolation;
use crate::link;
use crate::netlink::Netlink;
use crate::node::{self, Node};
use crate::offloads::Offloads;
use crate::protocol::Capture;

impl Session {
    pub(super) fn up(
        &mut self,
        fabric: &Fabric,
        generation: Option<u32>,
        (record, capture): (Option<&Path>, Option<&Capture>),
        limits: &BTreeMap<String, Limits>,
        switch: bool,
    ) -> Result<Value, Failure> {
        let began = Instant::now();
        if self.is_up() {
            return Err(Failure::invalid("up: a fabric is up already; request `down` first"));
        }
        if switch && (generation.is_some() || record.is_some() || capture.is_some()) {
            return Err(Failure::invalid(
                "up: switch: an emulator shares fabrics, records and captures; leave out `switch`, or generation, record and capture",
            ));
        }
        if self.slowed.is_some() && (switch || generation.is_some()) {
            return Err(Failure::invalid(
                "up: dilation: a switch and other machines are in real time; leave out `dilation`, or switch and generation",
            ));
        }
        fabric.check().map_err(|error| Failure::invalid(error.to_string()))?;
        check_limits(fabric, limits, self.slower())?;
        if limits.values().any(|limits| limits.disk) {
            check_disks(limits.values().any(|limits| limits.disk_rate))?;
        }
        let rto_min_ms = rto_min_ms(fabric.tcp.rto_min_us, self.slower())?;
        let domain = self.machines.domain(generation)?;
        let here = crosswind_emulator::nodes_here(fabric, domain).map_err(Failure::invalid)?;
        let files = files(record, capture)?;
        let built = self.build(fabric, &here, generation, rto_min_ms, files, limits, switch);
        if built.is_err() {
            self.undo();
            // Nothing was written; a second attempt may use the names. The first error is the one to show.
            let _ = record.map(std::fs::remove_file);
            let _ = capture.map(|capture| std::fs::remove_file(&capture.to));
        }
        built?;
        let described = |node: &Node| json!({"name": node.name, "host": node.host, "address": self.address(node.number), "pid": node.init.as_raw(), "memory_limit": node.kept.memory_limit(), "cpus_limit": node.kept.cpus_limit()});
        let nodes: Vec<_> = self.nodes.iter().filter(|node| node.name != SWITCH).map(described).collect();
        let mut answer = json!({"nodes": nodes, "took_ns": nanoseconds_since(began)});
        if let Some(slowed) = &self.slowed {
            answer["dilation"] = slowed.shown(self.groups.slows_handshakes(), self.cubic.is_some());
        }
        if let Some(pid) = self.switch() {
            answer["switch"] = json!({"name": SWITCH, "pid": pid});
            return Ok(answer);
        }
        let emulator = self.emulator("up")?;
        answer["wait_mode"] = json!(emulator.wait_mode());
        answer["domains"] = json!(emulator.domains());
        Ok(answer)
    }

    /// How many times slower the clocks of programs are.
    pub(super) fn slower(&self) -> u64 {
        self.slowed.map_or(1, |slowed| slowed.factor())
    }

    /// The address at which applications reach the node at `position`.
    fn address(&self, position: u16) -> Ipv4Addr {
        if self.overlay.is_some() {
            address::overlay_ip(position)
        } else {
            address::ip(position)
        }
    }

    pub(super) fn down(&mut self) -> Value {
        let began = Instant::now();
        let kept = self.undo();
        let recording = kept.recording.map(
            |written| json!({"records": written.items, "lost_records": written.lost, "error": written.error}),
        );
        let capture = kept.capture.map(
            |written| json!({"packets": written.items, "left_out_packets": written.lost, "error": written.error}),
        );
        json!({"took_ns": nanoseconds_since(began), "recording": recording, "capture": capture})
    }

    /// Ends the emulator first, which would otherwise report the end of its ports as a fault.
    pub(super) fn undo(&mut self) -> Kept {
        let mut kept = self.emulator.take().map(Emulator::stop).unwrap_or_default();
        self.machines.give_back(kept.tunnel.take());
        node::end_all(std::mem::take(&mut self.nodes));
        self.reports_at = None;
        self.groups = Groups::default();
        self.cubic = None;
        self.used_before.clear();
        self.processes.clear();
        self.inbox.forget_fabric();
        kept
    }

    #[expect(clippy::too_many_arguments, reason = "they are those of `up`, checked")]
    fn build(
        &mut self,
        fabric: &Fabric,
        here: &[usize],
        generation: Option<u32>,
        rto_min_ms: u32,
        files: Files,
        limits: &BTreeMap<String, Limits>,
        switch: bool,
    ) -> Result<(), Failure> {
        isolation::enter_network_namespace()?;
        link::disable_ipv6().map_err(|error| {
            Failure::preflight(format!("switch IPv6 off for the ports: {error}; /proc/sys must be writable"))
        })?;
        let mut netlink = Netlink::open().map_err(|error| {
            Failure::preflight(format!("open a netlink socket: {error}; the kernel needs CONFIG_NET"))
        })?;
        netlink
            .request([link::loopback_up()])
            .map_err(|error| Failure::preflight(format!("bring the fabric's own lo up: {error}")))?;
        self.launch_all(fabric, here, limits)?;
        if self.slower() > 1 && fabric.tcp.congestion_control == "cubic" {
            // Without privileges, or in another kernel, the real one serves.
            self.cubic = SlowedCubic::times(self.slower()).ok();
        }
        if switch {
            self.launch_switch()?;
            return self.connect_to_switch(fabric, rto_min_ms, &mut netlink);
        }
        let ports = PortOpener::start(here.len()).map_err(|error| {
            Failure::preflight(format!("threads that open ports: {error}; {NONE_TO_SPARE}"))
        })?;
        let mut unprepared = vec![true; self.nodes.len()];
        let mut unconnected = self.nodes.len();
        while unconnected > 0 {
            if let Some(lost) = self.nodes.iter().find(|node| node.lost) {
                return Err(unreachable(&lost.name));
            }
            let Step::Answer(position, answer) = self.wait(None)? else {
                continue;
            };
            if let FromInit::Refused(failure) = answer {
                return Err(about(&format!("node {}", self.nodes[position].name), failure));
            }
            if std::mem::take(&mut unprepared[position]) {
                self.connect(fabric, position, rto_min_ms, &mut netlink)?;
                ports.open(position, link::port_index(self.nodes[position].number) as i32);
            } else {
                let Node { name, number, .. } = &self.nodes[position];
                let settled = netlink.request([link::settle_port(*number)]);
                settled.map_err(|error| {
                    Failure::preflight(format!("node {name}: see its port's carrier: {error}"))
                })?;
                unconnected -= 1;
            }
        }
        self.leave_a_cpu_to_the_emulator(fabric, generation.is_some())?;
        let fault = self
            .inbox
            .fault_reporter()
            .map_err(|error| Failure::internal(format!("report faults: {error}")))?;
        let part = generation.and_then(|generation| self.machines.part(generation));
        let emulator = Emulator::start(fabric, part, ports, files, self.pace(), fault);
        self.emulator = Some(emulator.map_err(Failure::preflight)?);
        Ok(())
    }

    fn launch_all(
        &mut self,
        fabric: &Fabric,
        here: &[usize],
        limits: &BTreeMap<String, Limits>,
    ) -> Result<(), Failure> {
        self.groups = Groups::make(limits.values().copied(), self.slower());
        let hosts = hosts_file(fabric, |position| self.address(position))
            .map_err(|error| Failure::internal(format!("write the names of nodes: {error}")))?;
        for &number in here {
            let node = &fabric.nodes[number];
            // SAFETY: the session's thread is the only one while there is no emulator; `build` starts the emulator
            // last.
            let launched = unsafe { Node::launch(&self.launcher, number as u16, &node.name, &node.host) };
            let mut launched = launched.map_err(|error| {
                let remedy = match error.raw_os_error() {
                    Some(libc::EAGAIN) => NONE_TO_SPARE,
                    _ => "see `ulimit -n` and `sysctl user.max_pid_namespaces`",
                };
                Failure::preflight(format!("node {}: make its init: {error}; {remedy}", node.name))
            })?;
            // Before its first order, so before it has a child.
            if let Some(&limits) = limits.get(&node.name) {
                launched.kept = self.groups.limit(&node.name, limits, self.slower(), launched.init);
            }
            if self.slower() > 1 {
                self.groups.slow_handshakes(&node.name, launched.init);
            }
            let order = ToInit::Prepare {
                hostname: node.name.clone(),
                application: self.application,
                clocks: self.slowed.map(|slowed| slowed.clocks),
            };
            let sent = launched.send(&order, &[hosts.as_fd()]);
            self.nodes.push(launched);
            sent.map_err(|_| unreachable(&node.name))?;
        }
        Ok(())
    }

    /// Runs this late because nodes come up on all CPUs until the emulator starts, in three quarters of the time.
    fn leave_a_cpu_to_the_emulator(&self, fabric: &Fabric, one_domain: bool) -> Result<(), Failure> {
        let cpus = crosswind_emulator::application_cpus(fabric, self.pace(), one_domain)
            .map_err(Failure::preflight)?;
        for node in &self.nodes {
            node.restrict_to(&cpus).map_err(|error| {
                Failure::preflight(format!(
                    "node {}: restrict it to CPUs other than the emulator's: {error}; a security module forbids sched_setaffinity",
                    node.name
                ))
            })?;
        }
        Ok(())
    }

    pub(super) fn connect(
        &mut self,
        fabric: &Fabric,
        position: usize,
        rto_min_ms: u32,
        netlink: &mut Netlink,
    ) -> Result<(), Failure> {
        let node = &self.nodes[position];
        let number = node.number;
        let (init, switch) = (node.init.as_raw() as u32, self.switch());
        netlink.request([link::veth_pair(number, init, switch, fabric.mtu_bytes)]).map_err(|error| {
            Failure::preflight(format!(
                "node {}: make its veth pair: {error}; the kernel needs CONFIG_VETH (modprobe veth)",
                node.name
            ))
        })?;
        let connect = Connect {
            position: number,
            congestion_control: match &self.cubic {
                Some(cubic) => cubic.name().to_owned(),
                None => fabric.tcp.congestion_control.clone(),
            },
            rto_min_ms,
            slower: self.slower(),
            ecn: fabric.tcp.ecn,
            socket_buffer_bytes: fabric.tcp.socket_buffer_bytes,
            offloads: if switch.is_some() { Offloads::None } else { Offloads::OutsideTunnels },
            overlay: self
                .overlay
                .map(|_| OverlayOrder { nodes: fabric.nodes.len() as u16, mtu_bytes: fabric.mtu_bytes }),
        };
        node.send(&ToInit::Connect(connect), &[]).map_err(|_| unreachable(&node.name))
    }
}

fn check_limits(fabric: &Fabric, limits: &BTreeMap<String, Limits>, slower: u64) -> Result<(), Failure> {
    for (name, limits) in limits {
        if !fabric.nodes.iter().any(|node| node.name == *name) {
            return Err(Failure::invalid(format!(
                "limits: no node is called {name:?}; name one of the fabric's"
            )));
        }
        limits.check(name, slower)?;
    }
    Ok(())
}

/// Routes carry the smallest retransmission timeout in whole milliseconds, of the kernel's time.
fn rto_min_ms(rto_min_us: u32, slower: u64) -> Result<u32, Failure> {
    if rto_min_us == 0 || rto_min_us % 1000 != 0 {
        return Err(Failure::invalid(format!(
            "tcp: rto_min_us {rto_min_us}: routes carry it in whole milliseconds, at least 1; write a multiple of 1000"
        )));
    }
    Ok((u64::from(rto_min_us / 1000) * slower).try_into().unwrap_or(u32::MAX))
}

fn files(record: Option<&Path>, capture: Option<&Capture>) -> Result<Files, Failure> {
    let record = record.map(|path| new_file("record", path)).transpose()?;
    let capture = capture
        .map(|Capture { to, snap_bytes, limit_bytes }| {
            if *snap_bytes < 14 {
                return Err(Failure::invalid(format!(
                    "up: capture: snap_bytes {snap_bytes} is less than an Ethernet header; keep at least 14"
                )));
            }
            let limits = CaptureLimits { snap_bytes: *snap_bytes, limit_bytes: *limit_bytes };
            Ok((new_file("capture", to)?, limits))
        })
        .transpose()?;
    Ok(Files { record, capture })
}

/// Makes a file that must not exist yet, so that no earlier measurement is overwritten.
fn new_file(key: &str, path: &Path) -> Result<File, Failure> {
    if !path.is_absolute() {
        return Err(Failure::invalid(format!("up: {key} {}: write an absolute path", path.display())));
    }
    File::create_new(path).map_err(|error| {
        Failure::invalid(format!(
            "up: {key} {}: {error}; name a file that does not exist, in a folder that does",
            path.display()
        ))
    })
}

/// The text of /etc/hosts, as a file for every init.
fn hosts_file(fabric: &Fabric, address: impl Fn(u16) -> Ipv4Addr) -> io::Result<File> {
    let mut text = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n".to_owned();
    for (position, node) in (0..).zip(&fabric.nodes) {
        text.push_str(&format!("{} {}\n", address(position), node.name));
    }
    let mut file = File::from(memfd_create("hosts", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(text.as_bytes())?;
    Ok(file)
}

fn nanoseconds_since(began: Instant) -> u64 {
    began.elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_that_a_route_cannot_carry_is_refused() {
        assert_eq!(rto_min_ms(200_000, 1).unwrap(), 200);
        assert_eq!(rto_min_ms(200_000, 10).unwrap(), 2_000, "perceived as 200 ms");
        assert!(rto_min_ms(1_500, 1).unwrap_err().message.contains("1500"));
        assert!(rto_min_ms(0, 1).is_err());
    }
}

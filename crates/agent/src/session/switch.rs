//! The switch of a fabric without an emulator: an init whose network namespace has the ports of all nodes.
//!
//! The caller starts programs in it that carry the packets, such as Open vSwitch or `ip` and `tc`. It is a node in all
//! that is not visible: it dies with the agent, and its processes and its network with it. Its processes have all
//! privileges, unlike those of applications.

use std::os::fd::AsFd;

use crosswind_emulator::NONE_TO_SPARE;
use crosswind_fabric::Fabric;
use nix::sys::memfd::{memfd_create, MFdFlags};

use super::{about, unreachable, Session, Step};
use crate::channel::{FromInit, ToInit};
use crate::failure::Failure;
use crate::netlink::Netlink;
use crate::node::Node;

/// Its name in requests; no node can have it.
pub const SWITCH: &str = "(switch)";
const HOST_NAME: &str = "switch";

impl Session {
    /// Launches the switch, behind all nodes.
    pub(super) fn launch_switch(&mut self) -> Result<(), Failure> {
        let system =
            |error: std::io::Error| Failure::preflight(format!("make the switch: {error}; {NONE_TO_SPARE}"));
        let number = self.nodes.len() as u16;
        // SAFETY: there is no emulator, so the session's thread is the only one.
        let launched = unsafe { Node::launch(&self.launcher, number, SWITCH, "") }.map_err(system)?;
        let order =
            ToInit::Prepare { hostname: HOST_NAME.to_owned(), application: self.application, clocks: None };
        let names = memfd_create("hosts", MFdFlags::MFD_CLOEXEC).map_err(|error| system(error.into()))?;
        let sent = launched.send(&order, &[names.as_fd()]);
        self.nodes.push(launched);
        sent.map_err(|_| unreachable(SWITCH))
    }

    /// Connects all nodes to the switch once its network namespace is there.
    pub(super) fn connect_to_switch(
        &mut self,
        fabric: &Fabric,
        rto_min_ms: u32,
        netlink: &mut Netlink,
    ) -> Result<(), Failure> {
        self.await_answers(self.nodes.len())?;
        let nodes = self.nodes.len() - 1;
        for position in 0..nodes {
            self.connect(fabric, position, rto_min_ms, netlink)?;
        }
        self.await_answers(nodes)
    }

    /// Waits for an answer of this many inits.
    fn await_answers(&mut self, inits: usize) -> Result<(), Failure> {
        let mut answers = 0;
        while answers < inits {
            if let Some(lost) = self.nodes.iter().find(|node| node.lost) {
                return Err(unreachable(&lost.name));
            }
            match self.wait(None)? {
                Step::Answer(position, FromInit::Refused(failure)) => {
                    return Err(about(&format!("node {}", self.nodes[position].name), failure))
                }
                Step::Answer(..) => answers += 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// Process id of the switch's init, where there is one.
    pub(super) fn switch(&self) -> Option<u32> {
        self.nodes.last().filter(|last| last.name == SWITCH).map(|switch| switch.init.as_raw() as u32)
    }
}

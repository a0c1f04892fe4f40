//! Rejecting: where a cut answers with a reset, the sender of a TCP segment gets one at once, as from a firewall.
//!
//! The segment itself goes its way and is dropped at the receiver's gate. The reset is the emulator's own frame: it
//! passes no element and is in no count.

use crosswind_wire::{reset, Cut, Train, VnetHeader};

use super::Forwarder;
use crate::port::Port;

impl<P: Port> Forwarder<P> {
    /// Answers a frame of a port, if it is a TCP segment.
    #[cold]
    pub(super) fn reject(&mut self, port: usize, slot: &P::Slot, train: &Train) {
        let Some(answer) = reset(&train.headers, self.ports[port].bytes(slot)) else { return };
        let vnet = VnetHeader::default().bytes();
        // A sender that has no room for it sends its segment again, and is answered then.
        let _ = self.ports[port].send(&Cut { vnet, headers: &[], rest: &answer });
    }
}

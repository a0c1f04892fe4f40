//! Input and output of frames.
//!
//! A port stores received frames in its own slots until the forwarder releases them, so short stays cost no copy. A
//! slot is a token that only its port makes and that cannot be copied. Releasing consumes it, so memory that the
//! kernel has again cannot be read.

mod long_frames;
mod memory;
mod opener;
mod packet_ring;
mod socket;
mod socket_queue;
mod veth;

use std::fmt::Debug;
use std::io;

use crosswind_wire::{Cut, VnetHeader};

pub use memory::MemoryPort;
pub use opener::PortOpener;
pub use socket::{PacketSocket, Takes};
pub use veth::Veth;

/// Closing a packet socket waits, several times, until every CPU has passed through the scheduler: some idle
/// milliseconds. Sockets that are closed together wait together. A thousand ports, 32 at a time: 1.3 s; 256 at a time:
/// 0.3 s.
const CLOSED_AT_ONCE: usize = 256;

/// Closes ports.
pub fn close_all(mut ports: Vec<Veth>) {
    while !ports.is_empty() {
        let group = ports.split_off(ports.len().saturating_sub(CLOSED_AT_ONCE));
        std::thread::scope(|scope| {
            for port in group {
                // If no thread can be started, the port is dropped here, together with the closure.
                let _ = std::thread::Builder::new().spawn_scoped(scope, move || drop(port));
            }
        });
    }
}

/// Why slots should be released early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// More than half are taken: new frames may soon find no free slot.
    Room,
    /// The caller is about to wait, and a ring that contains a frame would wake it at once.
    Rest,
}

/// A frame that arrived.
#[derive(Debug)]
pub struct Arrival<S> {
    /// The port's slot of the frame.
    pub slot: S,
    /// CLOCK_REALTIME nanoseconds, the earliest stamp that the kernel provides.
    pub stamped_realtime_ns: u64,
    /// How to segment it.
    pub vnet: VnetHeader,
}

impl<S> Arrival<S> {
    /// Converts the slot, for a port that stores frames in several ways.
    fn with_slot<T>(self, slot: impl FnOnce(S) -> T) -> Arrival<T> {
        let Self { slot: inner, stamped_realtime_ns, vnet } = self;
        Arrival { slot: slot(inner), stamped_realtime_ns, vnet }
    }
}

/// One node's connection to the emulator.
///
/// ```
/// use crosswind_emulator::port::{MemoryPort, Port};
/// let mut port = MemoryPort::default();
/// port.arrive(0, Default::default(), vec![1, 2, 3]);
/// let arrival = port.receive().unwrap();
/// assert_eq!(port.bytes(&arrival.slot), [1, 2, 3]);
/// port.release(arrival.slot);
/// ```
///
/// A frame cannot be read after its slot was released:
///
/// ```compile_fail,E0382
/// use crosswind_emulator::port::{MemoryPort, Port};
/// let mut port = MemoryPort::default();
/// port.arrive(0, Default::default(), vec![1, 2, 3]);
/// let arrival = port.receive().unwrap();
/// port.release(arrival.slot);
/// assert_eq!(port.bytes(&arrival.slot), [1, 2, 3]);
/// ```
pub trait Port {
    /// A frame that this port stores.
    type Slot: Debug;
    /// The next frame, in the order of arrival; its slot stays taken until released.
    fn receive(&mut self) -> Option<Arrival<Self::Slot>>;
    /// The bytes of a slot, from the Ethernet header on.
    fn bytes(&self, slot: &Self::Slot) -> &[u8];
    /// The number of the slot; below [`Port::slots`].
    fn number(&self, slot: &Self::Slot) -> u32;
    /// Releases a slot.
    fn release(&mut self, slot: Self::Slot);
    /// The number of the oldest taken slot that should be released, because of `need`.
    fn pressed(&self, need: Need) -> Option<u32>;
    /// Number of slots.
    fn slots(&self) -> u32;
    /// Hands a frame to the node. `WouldBlock` when the kernel cannot take it at present.
    fn send(&mut self, cut: &Cut<'_>) -> io::Result<()>;
    /// The same, and returns the nanoseconds that the kernel took to hand it over, where it reports them.
    fn send_watched(&mut self, cut: &Cut<'_>) -> io::Result<Option<u64>> {
        self.send(cut).map(|()| None)
    }
    /// Loads what sending from here needs into the caches; sends nothing.
    fn warm(&self) {}
    /// Frames lost since the last call because no slot was free.
    fn overruns(&mut self) -> u64;
}

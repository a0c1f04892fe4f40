//! How frames come in and go out.
//!
//! A port keeps what it received in slots of its own until the forwarder releases them: short stays cost no copy. A slot is
//! a token that only its port makes and that cannot be copied: releasing takes it away, so nobody reads what the kernel has
//! got back.

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

/// Closing a packet socket waits, several times, until every processor has passed through the scheduler: for some milliseconds of
/// doing nothing. Those who wait together wait once. A thousand ports, 32 at a time: 1.3 s; 256 at a time: 0.3 s.
const CLOSED_AT_ONCE: usize = 256;

/// Closes ports.
pub fn close_all(mut ports: Vec<Veth>) {
    while !ports.is_empty() {
        let group = ports.split_off(ports.len().saturating_sub(CLOSED_AT_ONCE));
        std::thread::scope(|scope| {
            for port in group {
                // Without a thread to spare, the port is dropped here, together with what the thread was to do.
                let _ = std::thread::Builder::new().spawn_scoped(scope, move || drop(port));
            }
        });
    }
}

/// Why slots should be given back early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// More than half are taken: new frames may soon find none.
    Room,
    /// The caller is about to wait, and a ring that holds a frame would wake it at once.
    Rest,
}

/// A frame that arrived.
#[derive(Debug)]
pub struct Arrival<S> {
    /// Where the port keeps it.
    pub slot: S,
    /// CLOCK_REALTIME nanoseconds, as early as the kernel can tell.
    pub stamped_realtime_ns: u64,
    /// How it is to be segmented.
    pub vnet: VnetHeader,
}

impl<S> Arrival<S> {
    /// The same arrival as a port sees it that keeps frames in several ways.
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
    /// A frame that this port keeps.
    type Slot: Debug;
    /// The next frame, in the order of arrival; its slot stays taken until released.
    fn receive(&mut self) -> Option<Arrival<Self::Slot>>;
    /// The bytes of a slot, from the Ethernet header on.
    fn bytes(&self, slot: &Self::Slot) -> &[u8];
    /// Which slot it is; below [`Port::slots`].
    fn number(&self, slot: &Self::Slot) -> u32;
    /// Gives a slot back.
    fn release(&mut self, slot: Self::Slot);
    /// The number of the oldest taken slot that should be given back, because of `need`.
    fn pressed(&self, need: Need) -> Option<u32>;
    /// Slots there are.
    fn slots(&self) -> u32;
    /// Hands a frame to the node. `WouldBlock` when the kernel cannot take it just now.
    fn send(&mut self, cut: &Cut<'_>) -> io::Result<()>;
    /// The same, and how many nanoseconds the kernel took to hand it over, where it tells.
    fn send_watched(&mut self, cut: &Cut<'_>) -> io::Result<Option<u64>> {
        self.send(cut).map(|()| None)
    }
    /// Brings back into the caches what sending here needs, and sends nothing.
    fn warm(&self) {}
    /// Frames lost since the last call because no slot was free.
    fn overruns(&mut self) -> u64;
}

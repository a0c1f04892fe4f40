//! Super-packets taken from the receive queue of a socket, one `recvmsg` each.
//!
//! The queue refers to the sender's own pages, so the emulator's CPU makes the copy here. A ring (the
//! [alternative](super::packet_ring)) is filled by the CPU that sends, which is the application's: on two CPUs that
//! costs a fifth of a TCP stream's throughput. But a queue as deep as a ring must exceed the machine's limit for
//! receive buffers (`net.core.rmem_max`, by default six super-packets), which only root may do.
//!
//! Reading an empty queue costs a system call; the caller knows from the heads of frames when the queue has one.

use std::io;
use std::os::fd::BorrowedFd;

use crosswind_wire::VnetHeader;

use super::socket::PacketSocket;
use super::Arrival;

/// The longest frame: 64 KiB of IP and its Ethernet header with VLAN tags, rounded up to pages.
const FRAME_BYTES: usize = 69_632;
/// Largest number of frames inside at the same time: 10 Gbit/s for 100 ms. Memory is used only for the largest number
/// so far.
const FRAMES: usize = 2_048;
/// Limit of what waits in the kernel, in bytes as the kernel counts them, which it doubles.
const WAITING_BYTES: i32 = 8 << 20;

/// A frame taken from a queue.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    /// Length of the frame.
    length: u32,
}

impl Slot {
    /// The number of the slot; below [`SocketQueue::slots`].
    pub fn number(&self) -> u32 {
        self.number
    }
}

/// The queue and the memory for frames taken from it.
#[derive(Debug)]
pub struct SocketQueue {
    socket: PacketSocket,
    /// Untouched pages cost nothing: the allocator gets them from the kernel at the first write.
    memory: Vec<u8>,
    /// The slot released last is taken next, because its memory is still in the cache.
    free: Vec<u32>,
}

impl SocketQueue {
    /// Takes ownership of a socket; an error if its queue cannot be made deep enough.
    pub fn new(socket: PacketSocket) -> io::Result<Self> {
        socket.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &WAITING_BYTES, "SO_RCVBUFFORCE")?;
        Ok(Self { socket, memory: vec![0; FRAMES * FRAME_BYTES], free: (0..FRAMES as u32).rev().collect() })
    }

    /// Number of slots.
    pub fn slots() -> usize {
        FRAMES
    }

    /// A descriptor to wait on for frames.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.descriptor()
    }

    /// Starts to receive.
    pub fn bind(&self, ifindex: i32) -> io::Result<()> {
        self.socket.bind(ifindex)
    }

    /// Takes the next frame; its slot stays taken until released.
    pub fn receive(&mut self) -> Option<Arrival<Slot>> {
        let number = *self.free.last()?;
        let mut vnet = [0u8; VnetHeader::LEN];
        let start = number as usize * FRAME_BYTES;
        let frame = &mut self.memory[start..start + FRAME_BYTES];
        let (length, stamped_realtime_ns) = self.socket.receive(&mut vnet, frame)?;
        self.free.pop();
        let slot = Slot { number, length: length as u32 };
        Some(Arrival { slot, stamped_realtime_ns, vnet: VnetHeader::read(&vnet) })
    }

    /// The bytes of a slot, from the Ethernet header on.
    pub fn bytes(&self, slot: &Slot) -> &[u8] {
        let start = slot.number as usize * FRAME_BYTES;
        &self.memory[start..start + slot.length as usize]
    }

    /// Releases a slot.
    pub fn release(&mut self, slot: Slot) {
        self.free.push(slot.number);
    }
}

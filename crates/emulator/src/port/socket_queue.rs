//! Super-packets taken from the receive queue of a socket, one `recvmsg` each.
//!
//! The queue holds references to the sender's own pages, so the copy is made here, by the emulator's processor. A ring
//! (the [other](super::packet_ring) way) is filled by the processor that sends, which is the application's: on two
//! processors that costs a fifth of a TCP stream's throughput. But a queue as deep as a ring needs the right to exceed the
//! machine's limit for receive buffers (`net.core.rmem_max`, by default six super-packets), which only root has.
//!
//! Reading an empty queue costs a system call; the caller knows from the heads of frames when there is something.

use std::io;
use std::os::fd::BorrowedFd;

use crosswind_wire::VnetHeader;

use super::socket::PacketSocket;
use super::Arrival;

/// The longest frame: 64 KiB of IP and its Ethernet header with VLAN tags, rounded up to pages.
const FRAME_BYTES: usize = 69_632;
/// Frames that can be inside at a time: 10 Gbit/s for 100 ms. Memory is used only for as many as ever were.
const FRAMES: usize = 2_048;
/// What may wait in the kernel, in bytes of its own accounting, which the kernel doubles.
const WAITING_BYTES: i32 = 8 << 20;

/// A frame taken from a queue.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    /// Of the frame.
    length: u32,
}

impl Slot {
    /// Which slot it is; below [`SocketQueue::slots`].
    pub fn number(&self) -> u32 {
        self.number
    }
}

/// The queue and the memory for frames taken from it.
#[derive(Debug)]
pub struct SocketQueue {
    socket: PacketSocket,
    /// Untouched pages cost nothing: the allocator gets them from the kernel when they are first written.
    memory: Vec<u8>,
    /// The last one released is taken next: its memory is still in the cache.
    free: Vec<u32>,
}

impl SocketQueue {
    /// Takes over a socket; an error where its queue cannot be made deep enough.
    pub fn new(socket: PacketSocket) -> io::Result<Self> {
        socket.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &WAITING_BYTES, "SO_RCVBUFFORCE")?;
        Ok(Self { socket, memory: vec![0; FRAMES * FRAME_BYTES], free: (0..FRAMES as u32).rev().collect() })
    }

    /// Slots there are.
    pub fn slots() -> usize {
        FRAMES
    }

    /// To wait for frames.
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

    /// Gives a slot back.
    pub fn release(&mut self, slot: Slot) {
        self.free.push(slot.number);
    }
}

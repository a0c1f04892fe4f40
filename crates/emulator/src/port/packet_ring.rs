//! A packet socket's ring of received frames (TPACKET_V2), mapped into memory: taking a frame costs no system call.
//!
//! TPACKET_V2 rather than V3: V3 hands over blocks on a timer, which adds 150 to 750 us.
//!
//! Source: Linux Documentation/networking/packet_mmap.rst; linux/if_packet.h.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use crosswind_wire::{Cut, VnetHeader};

use super::socket::PacketSocket;
use super::{Arrival, Need};

const TPACKET_V2: libc::c_int = 1;
const TP_STATUS_KERNEL: u32 = 0;
const TP_STATUS_USER: u32 = 1;

/// How many frames a ring has room for.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bytes of a slot: the frame and about 90 bytes of the ring's own; a multiple of 16.
    pub slot_bytes: usize,
    /// Memory is allocated in blocks of this many bytes; a power of two of pages.
    pub block_bytes: usize,
    /// How many blocks.
    pub blocks: usize,
}

impl Shape {
    fn slots_per_block(&self) -> usize {
        self.block_bytes / self.slot_bytes
    }

    fn bytes(&self) -> usize {
        self.block_bytes * self.blocks
    }

    fn slots(&self) -> usize {
        self.slots_per_block() * self.blocks
    }
}

/// The kernel's ring of received frames, mapped.
#[derive(Debug)]
pub struct PacketRing {
    socket: PacketSocket,
    shape: Shape,
    map: *mut u8,
    /// Next slot to read.
    head: usize,
    /// Oldest slot not yet given back, `taken` slots behind `head`.
    tail: usize,
    taken: usize,
    /// Whether a slot between tail and head has been given back already.
    released: Vec<bool>,
}

// SAFETY: the mapping belongs to this value alone and is shared with the kernel only through the status words.
unsafe impl Send for PacketRing {}

impl PacketRing {
    /// Takes over a socket that is not bound yet.
    pub fn new(socket: PacketSocket, shape: Shape) -> io::Result<Self> {
        socket.set(libc::SOL_PACKET, libc::PACKET_VERSION, &TPACKET_V2, "PACKET_VERSION")?;
        // Room for super-packets on their way out. Root may exceed the machine's limit; others get the limit.
        if socket.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &(8i32 << 20), "SO_SNDBUFFORCE").is_err() {
            socket.set(libc::SOL_SOCKET, libc::SO_SNDBUF, &(8i32 << 20), "SO_SNDBUF")?;
        }
        let request = libc::tpacket_req {
            tp_block_size: shape.block_bytes as u32,
            tp_block_nr: shape.blocks as u32,
            tp_frame_size: shape.slot_bytes as u32,
            tp_frame_nr: shape.slots() as u32,
        };
        socket.set(libc::SOL_PACKET, libc::PACKET_RX_RING, &request, "PACKET_RX_RING")?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh shared mapping of the ring, of the size just requested.
        let map = unsafe {
            libc::mmap(ptr::null_mut(), shape.bytes(), protection, libc::MAP_SHARED, socket.descriptor(), 0)
        };
        if map == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            return Err(io::Error::new(error.kind(), format!("mmap of the packet ring: {error}")));
        }
        let released = vec![false; shape.slots()];
        Ok(Self { socket, shape, map: map.cast(), head: 0, tail: 0, taken: 0, released })
    }

    /// Slots there are.
    pub fn slots(&self) -> usize {
        self.released.len()
    }

    /// Starts to receive.
    pub fn bind(&self, ifindex: i32) -> io::Result<()> {
        self.socket.bind(ifindex)
    }

    /// To wait for frames.
    pub fn descriptor(&self) -> RawFd {
        self.socket.descriptor()
    }

    fn slot(&self, index: usize) -> *mut u8 {
        let per_block = self.shape.slots_per_block();
        let offset = index / per_block * self.shape.block_bytes + index % per_block * self.shape.slot_bytes;
        // SAFETY: `index` is below the number of slots, so the offset lies inside the mapping.
        unsafe { self.map.add(offset) }
    }

    fn header(&self, index: usize) -> libc::tpacket2_hdr {
        // SAFETY: every slot starts with a tpacket2_hdr, and the kernel has finished writing a slot in USER state.
        unsafe { ptr::read_volatile(self.slot(index).cast()) }
    }

    fn status(&self, index: usize) -> &AtomicU32 {
        // SAFETY: the first word of a slot is its status, shared with the kernel and aligned.
        unsafe { &*self.slot(index).cast::<AtomicU32>() }
    }

    /// Takes the next frame; its slot stays taken until released.
    pub fn receive(&mut self) -> Option<Arrival> {
        let full = self.taken == self.released.len();
        if full || self.status(self.head).load(Ordering::Acquire) & TP_STATUS_USER == 0 {
            return None;
        }
        let slot = self.head;
        self.head = (self.head + 1) % self.released.len();
        self.taken += 1;
        self.released[slot] = false;
        let header = self.header(slot);
        let stamped_realtime_ns = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
        // SAFETY: with PACKET_VNET_HDR the ten bytes in front of the frame are its virtio-net header.
        let vnet = unsafe {
            let at = self.slot(slot).add(usize::from(header.tp_mac) - VnetHeader::LEN);
            VnetHeader::read(&*at.cast::<[u8; VnetHeader::LEN]>())
        };
        Some(Arrival { slot: slot as u32, stamped_realtime_ns, vnet })
    }

    /// Whether a taken slot has all of its frame, or only the head that the socket's filter let through.
    pub fn is_whole(&self, slot: u32) -> bool {
        let header = self.header(slot as usize);
        header.tp_snaplen == header.tp_len
    }

    /// The bytes of a taken slot, from the Ethernet header on.
    pub fn bytes(&self, slot: u32) -> &[u8] {
        let header = self.header(slot as usize);
        let start = usize::from(header.tp_mac);
        let length = (header.tp_snaplen as usize).min(self.shape.slot_bytes - start);
        // SAFETY: the kernel wrote `tp_snaplen` bytes from `tp_mac` on and leaves the slot alone until it is given back.
        unsafe { std::slice::from_raw_parts(self.slot(slot as usize).add(start), length) }
    }

    /// Gives a slot back.
    pub fn release(&mut self, slot: u32) {
        self.status(slot as usize).store(TP_STATUS_KERNEL, Ordering::Release);
        self.released[slot as usize] = true;
        while self.taken > 0 && self.released[self.tail] {
            self.tail = (self.tail + 1) % self.released.len();
            self.taken -= 1;
        }
    }

    /// The oldest taken slot, when more are taken than `need` tolerates.
    pub fn pressed(&self, need: Need) -> Option<u32> {
        let tolerated = match need {
            Need::Room => self.released.len() / 2,
            Need::Rest => 0,
        };
        (self.taken > tolerated).then_some(self.tail as u32)
    }

    /// Hands a frame to the other end of the veth pair.
    pub fn send(&self, cut: &Cut<'_>) -> io::Result<()> {
        self.socket.send(cut)
    }

    /// The same, and how many nanoseconds the kernel took to hand it over, where it tells.
    pub fn send_watched(&self, cut: &Cut<'_>) -> io::Result<Option<u64>> {
        self.socket.send_watched(cut)
    }

    /// Brings back into the caches what sending here needs, and sends nothing.
    pub fn warm(&self) {
        self.socket.warm();
    }

    /// Frames lost since the last call because no slot was free.
    pub fn overruns(&mut self) -> u64 {
        // SAFETY: all-zero is a valid tpacket_stats.
        let mut statistics: libc::tpacket_stats = unsafe { zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        let into = ptr::from_mut(&mut statistics).cast();
        let socket = self.socket.descriptor();
        // SAFETY: the buffer and its length describe `statistics`.
        let result = unsafe {
            libc::getsockopt(socket, libc::SOL_PACKET, libc::PACKET_STATISTICS, into, &raw mut length)
        };
        if result == 0 {
            u64::from(statistics.tp_drops)
        } else {
            0
        }
    }
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `open` and is not used afterwards.
        unsafe { libc::munmap(self.map.cast(), self.shape.bytes()) };
    }
}

//! A packet socket's ring of received frames (TPACKET_V2), mapped into memory: taking a frame costs no system call.
//!
//! TPACKET_V2 rather than V3: V3 hands over blocks on a timer, which adds 150 to 750 us.
//!
//! Source: Linux Documentation/networking/packet_mmap.rst; linux/if_packet.h.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use crosswind_wire::{Cut, VnetHeader};

use super::socket::PacketSocket;
use super::{Arrival, Need};

const TPACKET_V2: libc::c_int = 1;
const TP_STATUS_KERNEL: u32 = 0;
const TP_STATUS_USER: u32 = 1;

/// The size of a ring.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bytes of a slot: the frame and about 90 bytes of the ring's headers; a multiple of 16.
    pub slot_bytes: usize,
    /// Memory is allocated in blocks of this many bytes; a power of two of pages.
    pub block_bytes: usize,
    /// Number of blocks.
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

/// A frame in a ring; its position was checked when it was received.
#[derive(Debug)]
pub struct Slot {
    /// Id of its ring.
    ring: u32,
    number: u32,
    /// Offset of the frame in the mapping; the frame lies completely inside its slot.
    start: u32,
    length: u32,
    is_whole: bool,
}

impl Slot {
    /// The number of the slot; below [`PacketRing::slots`].
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether the slot has the whole frame, or only the head that the socket's filter passed.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// The kernel's ring of received frames, mapped.
#[derive(Debug)]
pub struct PacketRing {
    socket: PacketSocket,
    shape: Shape,
    /// Unique among all rings of this process, past ones included.
    id: u32,
    map: *mut u8,
    /// Next slot to read.
    head: usize,
    /// Its offset, stored because every check for a frame reads it.
    head_offset: usize,
    /// Oldest slot not yet released, `taken` slots behind `head`.
    tail: usize,
    taken: usize,
    /// Whether a slot between tail and head has been released already.
    released: Vec<bool>,
}

// SAFETY: only this value owns the mapping, which is shared with the kernel only through the status words.
unsafe impl Send for PacketRing {}

impl PacketRing {
    /// Takes ownership of a socket that is not bound yet.
    pub fn new(socket: PacketSocket, shape: Shape) -> io::Result<Self> {
        static RINGS: AtomicU32 = AtomicU32::new(0);
        socket.set(libc::SOL_PACKET, libc::PACKET_VERSION, &TPACKET_V2, "PACKET_VERSION")?;
        // Room for outgoing super-packets. Root may exceed the machine's limit; others get the limit.
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
            libc::mmap(
                ptr::null_mut(),
                shape.bytes(),
                protection,
                libc::MAP_SHARED,
                socket.descriptor().as_raw_fd(),
                0,
            )
        };
        if map == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            return Err(io::Error::new(error.kind(), format!("mmap of the packet ring: {error}")));
        }
        let released = vec![false; shape.slots()];
        let id = RINGS.fetch_add(1, Ordering::Relaxed);
        Ok(Self { socket, shape, id, map: map.cast(), head: 0, head_offset: 0, tail: 0, taken: 0, released })
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.released.len()
    }

    /// Starts to receive.
    pub fn bind(&self, ifindex: i32) -> io::Result<()> {
        self.socket.bind(ifindex)
    }

    /// A descriptor to wait on for frames.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.descriptor()
    }

    /// Offset of a slot in the mapping.
    fn offset(&self, number: usize) -> usize {
        assert!(number < self.slots(), "slot {number} of {}", self.slots());
        let per_block = self.shape.slots_per_block();
        number / per_block * self.shape.block_bytes + number % per_block * self.shape.slot_bytes
    }

    /// The status of the slot at `offset`.
    ///
    /// # Safety
    /// `offset` must be a value that [`PacketRing::offset`] has returned.
    unsafe fn status(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: the slot lies inside the mapping, and its first word is its status, shared with the kernel and aligned.
        unsafe { &*self.map.add(offset).cast::<AtomicU32>() }
    }

    /// Takes the next frame; its slot stays taken until released.
    pub fn receive(&mut self) -> Option<Arrival<Slot>> {
        let full = self.taken == self.released.len();
        // SAFETY: this is the offset of the slot `head`.
        let status = unsafe { self.status(self.head_offset) };
        if full || status.load(Ordering::Acquire) & TP_STATUS_USER == 0 {
            return None;
        }
        let (number, offset) = (self.head, self.head_offset);
        self.head = (self.head + 1) % self.released.len();
        self.head_offset = self.offset(self.head);
        self.taken += 1;
        self.released[number] = false;
        // SAFETY: every slot starts with a tpacket2_hdr, and the kernel no longer writes to a slot in USER state.
        let header: libc::tpacket2_hdr = unsafe { ptr::read_volatile(self.map.add(offset).cast()) };
        // Values from the kernel are clamped to the slot.
        let place = usize::from(header.tp_mac).clamp(VnetHeader::LEN, self.shape.slot_bytes);
        let length = (header.tp_snaplen as usize).min(self.shape.slot_bytes - place);
        // SAFETY: with PACKET_VNET_HDR the ten bytes before the frame are its virtio-net header; they lie inside the
        // slot.
        let vnet = unsafe {
            let at = self.map.add(offset + place - VnetHeader::LEN);
            VnetHeader::read(&*at.cast::<[u8; VnetHeader::LEN]>())
        };
        let slot = Slot {
            ring: self.id,
            number: number as u32,
            start: (offset + place) as u32,
            length: length as u32,
            is_whole: header.tp_snaplen == header.tp_len,
        };
        let stamped_realtime_ns = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
        Some(Arrival { slot, stamped_realtime_ns, vnet })
    }

    /// The bytes of a slot, from the Ethernet header on.
    pub fn bytes(&self, slot: &Slot) -> &[u8] {
        assert_eq!(slot.ring, self.id, "{slot:?} is not a slot of this ring");
        // SAFETY: a slot of this ring lies inside the mapping and has been written. The kernel does not touch it until
        // it is released, which consumes the slot.
        unsafe { std::slice::from_raw_parts(self.map.add(slot.start as usize), slot.length as usize) }
    }

    /// Releases a slot.
    pub fn release(&mut self, slot: Slot) {
        assert_eq!(slot.ring, self.id, "{slot:?} is not a slot of this ring");
        let number = slot.number as usize;
        // SAFETY: this is the offset of a slot.
        unsafe { self.status(self.offset(number)) }.store(TP_STATUS_KERNEL, Ordering::Release);
        self.released[number] = true;
        while self.taken > 0 && self.released[self.tail] {
            self.tail = (self.tail + 1) % self.released.len();
            self.taken -= 1;
        }
    }

    /// The number of the oldest taken slot, when more are taken than `need` allows.
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

    /// The same, and returns the nanoseconds that the kernel took to hand it over, where it reports them.
    pub fn send_watched(&self, cut: &Cut<'_>) -> io::Result<Option<u64>> {
        self.socket.send_watched(cut)
    }

    /// Loads what sending from here needs into the caches; sends nothing.
    pub fn warm(&self) {
        self.socket.warm();
    }

    /// Frames lost since the last call because no slot was free.
    pub fn overruns(&mut self) -> u64 {
        // SAFETY: all-zero is a valid tpacket_stats.
        let mut statistics: libc::tpacket_stats = unsafe { zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        let into = ptr::from_mut(&mut statistics).cast();
        let socket = self.socket.descriptor().as_raw_fd();
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

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, AssertUnwindSafe};

    use super::*;
    use crate::port::Takes;
    use crate::warmth::{FRAME, LOOPBACK_INDEX};

    const SHAPE: Shape = Shape { slot_bytes: 2_048, block_bytes: 1 << 16, blocks: 2 };

    /// A ring on lo; `None` where this user may not have one.
    fn ring() -> Option<PacketRing> {
        match PacketSocket::open(Takes::Above(0)) {
            Ok(socket) => {
                let ring = PacketRing::new(socket, SHAPE).unwrap();
                ring.bind(LOOPBACK_INDEX).unwrap();
                Some(ring)
            }
            Err(error) => {
                println!("SKIPPED: {error}");
                None
            }
        }
    }

    /// A frame with this mark. `sender` sends it until `ring` has it, because other frames on a busy lo may have
    /// filled the ring.
    fn received(ring: &mut PacketRing, sender: &PacketSocket, mark: u8) -> Slot {
        loop {
            let Some(Arrival { slot, .. }) = ring.receive() else {
                let cut = Cut { vnet: [0; VnetHeader::LEN], headers: &[], rest: &frame(mark) };
                sender.send(&cut).unwrap();
                continue;
            };
            if ring.bytes(&slot) == frame(mark) {
                return slot;
            }
            ring.release(slot);
        }
    }

    /// A frame that no other program sends.
    fn frame(mark: u8) -> [u8; 60] {
        let mut frame = FRAME;
        frame[14..18].copy_from_slice(&std::process::id().to_le_bytes());
        frame[18] = mark;
        frame
    }

    #[test]
    fn frames_stay_readable_until_their_slots_are_released_in_any_order() {
        let (Some(sender), Some(mut ring)) = (ring(), ring()) else { return };
        // More than one round through the ring.
        for round in 0..SHAPE.slots() {
            let [first, second, third] = [0, 1, 2].map(|mark| received(&mut ring, &sender.socket, mark));
            assert!(first.is_whole());
            ring.release(second);
            assert_eq!(ring.bytes(&first), frame(0), "round {round}");
            assert_eq!(ring.pressed(Need::Rest), Some(first.number()));
            ring.release(first);
            assert_eq!(ring.bytes(&third), frame(2), "round {round}");
            assert_eq!(ring.pressed(Need::Rest), Some(third.number()));
            ring.release(third);
            assert_eq!(ring.pressed(Need::Rest), None);
        }
    }

    #[test]
    fn a_slot_of_another_ring_is_refused_before_anything_is_read_or_written() {
        let (Some(mut one), Some(mut other)) = (ring(), ring()) else { return };
        let slot = received(&mut one, &other.socket, 9);
        let offset = other.offset(slot.number() as usize);
        // SAFETY: this is the offset of a slot.
        unsafe { other.status(offset) }.store(TP_STATUS_USER, Ordering::Release);
        assert!(catch_unwind(AssertUnwindSafe(|| other.bytes(&slot).len())).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| other.release(slot))).is_err());
        // SAFETY: as above.
        assert_eq!(unsafe { other.status(offset) }.load(Ordering::Acquire), TP_STATUS_USER);
    }
}

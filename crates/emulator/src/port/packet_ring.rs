//! One AF_PACKET socket with its ring of received frames (TPACKET_V2), virtio-net headers and kernel ingress timestamps.
//!
//! TPACKET_V2 rather than V3: V3 hands over blocks on a timer, which adds 150 to 750 us. A port has two of these, one for
//! short frames and one for super-packets (see [`super::Veth`]).
//!
//! Source: Linux Documentation/networking/packet_mmap.rst; linux/if_packet.h, linux/filter.h.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use crosswind_wire::{Cut, VnetHeader};

use super::Arrival;

const PACKET_VNET_HDR: libc::c_int = 15;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const PACKET_QDISC_BYPASS: libc::c_int = 20;
const TPACKET_V2: libc::c_int = 1;
const TP_STATUS_KERNEL: u32 = 0;
const TP_STATUS_USER: u32 = 1;

/// Which frames a ring takes, and how many it has room for.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bytes of a slot: the frame and about 90 bytes of the ring's own; a multiple of 16.
    pub slot_bytes: usize,
    /// Memory is allocated in blocks of this many bytes; a power of two of pages.
    pub block_bytes: usize,
    /// How many blocks.
    pub blocks: usize,
    /// Which frames, by length.
    pub takes: Takes,
}

/// Selects frames by their length.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Up to so many bytes.
    UpTo(u32),
    /// More than so many bytes.
    Above(u32),
}

impl Shape {
    fn slots_per_block(&self) -> usize {
        self.block_bytes / self.slot_bytes
    }

    fn bytes(&self) -> usize {
        self.block_bytes * self.blocks
    }

    /// How many slots there are.
    pub fn slots(&self) -> usize {
        self.slots_per_block() * self.blocks
    }
}

/// The kernel's ring of received frames, mapped.
#[derive(Debug)]
pub struct PacketRing {
    socket: OwnedFd,
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

fn check(result: libc::c_int, what: &str) -> io::Result<libc::c_int> {
    if result < 0 {
        let error = io::Error::last_os_error();
        return Err(io::Error::new(error.kind(), format!("{what}: {error}")));
    }
    Ok(result)
}

fn set<T>(socket: &OwnedFd, level: libc::c_int, name: libc::c_int, value: &T, what: &str) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` is a live reference and its size is passed along.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, ptr::from_ref(value).cast(), length) };
    check(result, what).map(drop)
}

/// Lets the socket see only the frames of its ring (classic BPF: load the length, compare, accept or refuse).
fn filter(socket: &OwnedFd, takes: Takes) -> io::Result<()> {
    let (limit, above, otherwise) = match takes {
        Takes::UpTo(limit) => (limit, 1, 0),
        Takes::Above(limit) => (limit, 0, 1),
    };
    let statement = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_LEN, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, above, otherwise, limit),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, u32::MAX),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program, "SO_ATTACH_FILTER")
}

impl PacketRing {
    /// Opens a ring on an interface of the calling thread's network namespace.
    pub fn open(ifindex: i32, shape: Shape) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // The protocol is given at bind, when everything else is set up, so that no frame arrives before.
        // SAFETY: plain system call; the descriptor is owned right after.
        let socket = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        let socket = check(socket, "AF_PACKET socket (needs CAP_NET_RAW in its user namespace)")?;
        // SAFETY: `socket` is a fresh descriptor that nobody else owns.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        set(&socket, libc::SOL_PACKET, libc::PACKET_VERSION, &TPACKET_V2, "PACKET_VERSION")?;
        set(&socket, libc::SOL_PACKET, PACKET_VNET_HDR, &1i32, "PACKET_VNET_HDR")?;
        set(&socket, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1i32, "PACKET_IGNORE_OUTGOING")?;
        set(&socket, libc::SOL_PACKET, PACKET_QDISC_BYPASS, &1i32, "PACKET_QDISC_BYPASS")?;
        // Makes the kernel stamp packets where they enter the device rather than where the ring is filled.
        set(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1i32, "SO_TIMESTAMPNS")?;
        // Room for super-packets on their way out. Root may exceed the machine's limit; others get the limit.
        if set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &(8i32 << 20), "SO_SNDBUFFORCE").is_err() {
            set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &(8i32 << 20), "SO_SNDBUF")?;
        }
        filter(&socket, shape.takes)?;
        let request = libc::tpacket_req {
            tp_block_size: shape.block_bytes as u32,
            tp_block_nr: shape.blocks as u32,
            tp_frame_size: shape.slot_bytes as u32,
            tp_frame_nr: shape.slots() as u32,
        };
        set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request, "PACKET_RX_RING")?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh shared mapping of the ring, of the size just requested.
        let map = unsafe {
            libc::mmap(ptr::null_mut(), shape.bytes(), protection, libc::MAP_SHARED, socket.as_raw_fd(), 0)
        };
        if map == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            return Err(io::Error::new(error.kind(), format!("mmap of the packet ring: {error}")));
        }
        let released = vec![false; shape.slots()];
        let ring = Self { socket, shape, map: map.cast(), head: 0, tail: 0, taken: 0, released };
        ring.bind(ifindex)?;
        Ok(ring)
    }

    fn bind(&self, ifindex: i32) -> io::Result<()> {
        // SAFETY: all-zero is a valid sockaddr_ll.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = ifindex;
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: `address` is a valid sockaddr_ll and its size is passed along.
        let bound = unsafe { libc::bind(self.socket.as_raw_fd(), ptr::from_ref(&address).cast(), length) };
        check(bound, "bind of the packet socket").map(drop)
    }

    /// To wait for frames.
    pub fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
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

    /// The stamp of the next frame, CLOCK_REALTIME nanoseconds, if there is one.
    pub fn peek(&self) -> Option<u64> {
        let full = self.taken == self.released.len();
        if full || self.status(self.head).load(Ordering::Acquire) & TP_STATUS_USER == 0 {
            return None;
        }
        let header = self.header(self.head);
        Some(u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec))
    }

    /// Takes the next frame; its slot stays taken until released.
    pub fn receive(&mut self) -> Option<Arrival> {
        let stamped_realtime_ns = self.peek()?;
        let slot = self.head;
        self.head = (self.head + 1) % self.released.len();
        self.taken += 1;
        self.released[slot] = false;
        let header = self.header(slot);
        // SAFETY: with PACKET_VNET_HDR the ten bytes in front of the frame are its virtio-net header.
        let vnet = unsafe {
            let at = self.slot(slot).add(usize::from(header.tp_mac) - VnetHeader::LEN);
            VnetHeader::read(&*at.cast::<[u8; VnetHeader::LEN]>())
        };
        Some(Arrival { slot: slot as u32, stamped_realtime_ns, vnet })
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

    /// The oldest taken slot, when more than half are taken.
    pub fn pressed(&self) -> Option<u32> {
        (self.taken > self.released.len() / 2).then_some(self.tail as u32)
    }

    /// Hands a frame to the other end of the veth pair.
    pub fn send(&mut self, cut: &Cut<'_>) -> io::Result<()> {
        let piece =
            |bytes: &[u8]| libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut pieces = [piece(&cut.vnet), piece(cut.headers), piece(cut.rest)];
        // SAFETY: all-zero is a valid msghdr.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = pieces.as_mut_ptr();
        message.msg_iovlen = pieces.len();
        // SAFETY: the three pieces outlive the call, which only reads them.
        let sent = unsafe { libc::sendmsg(self.socket.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT) };
        if sent < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// Frames lost since the last call because no slot was free.
    pub fn overruns(&mut self) -> u64 {
        // SAFETY: all-zero is a valid tpacket_stats.
        let mut statistics: libc::tpacket_stats = unsafe { zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        let into = ptr::from_mut(&mut statistics).cast();
        let socket = self.socket.as_raw_fd();
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

//! A veth end read through an AF_PACKET ring (TPACKET_V2) with virtio-net headers and kernel ingress timestamps.
//!
//! The stamp is taken when the sender's packet enters the veth pair, so that a late wake-up of the emulator is repaid
//! (the due instant counts from the stamp) rather than added. TPACKET_V2 rather than V3: V3 hands over blocks on a timer,
//! which adds 150 to 750 us. Super-packets of up to 64 KiB pass whole. Sending needs no ring: one system call carries
//! a whole super-packet.
//!
//! Source: Linux Documentation/networking/packet_mmap.rst; linux/if_packet.h.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use crosswind_wire::{Cut, VnetHeader};

use super::{Arrival, Port};

const PACKET_VNET_HDR: libc::c_int = 15;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const PACKET_QDISC_BYPASS: libc::c_int = 20;
const TPACKET_V2: libc::c_int = 1;
const TP_STATUS_KERNEL: u32 = 0;
const TP_STATUS_USER: u32 = 1;

/// A frame's slot: 64 KiB of packet and the ring's own headers.
const FRAME_BYTES: usize = 69_632;
/// Fifteen frames; a power of two, so that the kernel's allocator wastes nothing.
const BLOCK_BYTES: usize = 1 << 20;
const FRAMES_PER_BLOCK: usize = BLOCK_BYTES / FRAME_BYTES;
/// Ring memory of all ports together; filling it takes the kernel about 0.2 ms a MiB when a fabric comes up.
const RING_BYTES_TOTAL: usize = 192 << 20;
/// Ring memory of one port: at 100 000 small packets a second this rides out a pause of about 7 ms.
const RING_BYTES_MAX: usize = 48 << 20;

/// The kernel's ring of received frames, mapped.
#[derive(Debug)]
pub struct PacketRing {
    socket: OwnedFd,
    map: *mut u8,
    map_bytes: usize,
    frames: usize,
    /// Next frame to read.
    head: usize,
    /// Oldest frame not yet given back, `taken` frames behind `head`.
    tail: usize,
    taken: usize,
    /// Whether a frame between tail and head has been given back already.
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
    // SAFETY: `value` is a live reference and its size is passed along.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    check(result, what).map(drop)
}

impl PacketRing {
    /// Opens a ring on an interface of the calling thread's network namespace; `ports` share the memory budget.
    pub fn open(ifindex: i32, ports: usize) -> io::Result<Self> {
        let protocol = (libc::ETH_P_ALL as u16).to_be();
        // The protocol is given at bind, when everything else is set up, so that no frame arrives before.
        // SAFETY: plain system call; the descriptor is owned right after.
        let socket = unsafe {
            libc::socket(
                libc::AF_PACKET,
                libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK,
                0,
            )
        };
        let socket = check(
            socket,
            "AF_PACKET socket (needs CAP_NET_RAW in its user namespace)",
        )?;
        // SAFETY: `socket` is a fresh descriptor that nobody else owns.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        set(
            &socket,
            libc::SOL_PACKET,
            libc::PACKET_VERSION,
            &TPACKET_V2,
            "PACKET_VERSION",
        )?;
        set(
            &socket,
            libc::SOL_PACKET,
            PACKET_VNET_HDR,
            &1i32,
            "PACKET_VNET_HDR",
        )?;
        set(
            &socket,
            libc::SOL_PACKET,
            PACKET_IGNORE_OUTGOING,
            &1i32,
            "PACKET_IGNORE_OUTGOING",
        )?;
        set(
            &socket,
            libc::SOL_PACKET,
            PACKET_QDISC_BYPASS,
            &1i32,
            "PACKET_QDISC_BYPASS",
        )?;
        // Makes the kernel stamp packets where they enter the device rather than where the ring is filled.
        set(
            &socket,
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            &1i32,
            "SO_TIMESTAMPNS",
        )?;
        // Room for super-packets on their way to the receiver. Root may exceed the machine's limit; others get the limit.
        if set(
            &socket,
            libc::SOL_SOCKET,
            libc::SO_SNDBUFFORCE,
            &(8i32 << 20),
            "SO_SNDBUFFORCE",
        )
        .is_err()
        {
            set(
                &socket,
                libc::SOL_SOCKET,
                libc::SO_SNDBUF,
                &(8i32 << 20),
                "SO_SNDBUF",
            )?;
        }
        let budget = (RING_BYTES_TOTAL / ports.max(1)).min(RING_BYTES_MAX);
        let blocks = (budget / BLOCK_BYTES).max(1);
        let frames = blocks * FRAMES_PER_BLOCK;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: FRAME_BYTES as u32,
            tp_frame_nr: frames as u32,
        };
        set(
            &socket,
            libc::SOL_PACKET,
            libc::PACKET_RX_RING,
            &request,
            "PACKET_RX_RING",
        )?;
        let map_bytes = blocks * BLOCK_BYTES;
        // SAFETY: a fresh shared mapping of the ring, of the size just requested.
        let map = unsafe {
            libc::mmap(
                ptr::null_mut(),
                map_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return check(-1, "mmap of the packet ring").map(|_| unreachable!("check(-1) is an error"));
        }
        let ring = Self {
            socket,
            map: map.cast(),
            map_bytes,
            frames,
            head: 0,
            tail: 0,
            taken: 0,
            released: vec![false; frames],
        };
        // SAFETY: all-zero is a valid sockaddr_ll.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = ifindex;
        // SAFETY: `address` is a valid sockaddr_ll and its size is passed along.
        let bound = unsafe {
            libc::bind(
                ring.socket.as_raw_fd(),
                ptr::from_ref(&address).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
        check(bound, "bind of the packet socket")?;
        Ok(ring)
    }

    /// To wait for frames.
    pub fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn frame(&self, index: usize) -> *mut u8 {
        let offset = index / FRAMES_PER_BLOCK * BLOCK_BYTES + index % FRAMES_PER_BLOCK * FRAME_BYTES;
        // SAFETY: `index` is below `frames`, so the offset lies inside the mapping.
        unsafe { self.map.add(offset) }
    }

    fn header(&self, index: usize) -> libc::tpacket2_hdr {
        // SAFETY: every frame starts with a tpacket2_hdr, and the kernel has finished writing a frame in USER state.
        unsafe { ptr::read_volatile(self.frame(index).cast()) }
    }

    fn status(&self, index: usize) -> &AtomicU32 {
        // SAFETY: the first word of a frame is its status, shared with the kernel and aligned.
        unsafe { &*self.frame(index).cast::<AtomicU32>() }
    }
}

impl Port for PacketRing {
    fn receive(&mut self) -> Option<Arrival> {
        if self.taken == self.frames || self.status(self.head).load(Ordering::Acquire) & TP_STATUS_USER == 0 {
            return None;
        }
        let slot = self.head;
        self.head = (self.head + 1) % self.frames;
        self.taken += 1;
        self.released[slot] = false;
        let header = self.header(slot);
        // SAFETY: with PACKET_VNET_HDR the ten bytes in front of the frame are its virtio-net header.
        let vnet = unsafe {
            let at = self.frame(slot).add(usize::from(header.tp_mac) - VnetHeader::LEN);
            VnetHeader::read(&*at.cast::<[u8; VnetHeader::LEN]>())
        };
        let stamped_realtime_ns = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
        Some(Arrival {
            slot: slot as u32,
            stamped_realtime_ns,
            vnet,
        })
    }

    fn bytes(&self, slot: u32) -> &[u8] {
        let header = self.header(slot as usize);
        let length = (header.tp_snaplen as usize).min(FRAME_BYTES - usize::from(header.tp_mac));
        // SAFETY: the kernel wrote `tp_snaplen` bytes from `tp_mac` on and leaves the frame alone until it is given back.
        unsafe {
            std::slice::from_raw_parts(self.frame(slot as usize).add(usize::from(header.tp_mac)), length)
        }
    }

    fn release(&mut self, slot: u32) {
        self.status(slot as usize)
            .store(TP_STATUS_KERNEL, Ordering::Release);
        self.released[slot as usize] = true;
        while self.taken > 0 && self.released[self.tail] {
            self.tail = (self.tail + 1) % self.frames;
            self.taken -= 1;
        }
    }

    fn pressed(&self) -> Option<u32> {
        (self.taken > self.frames / 2).then_some(self.tail as u32)
    }

    fn slots(&self) -> u32 {
        self.frames as u32
    }

    fn send(&mut self, cut: &Cut<'_>) -> io::Result<()> {
        let piece = |bytes: &[u8]| libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
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

    fn overruns(&mut self) -> u64 {
        // SAFETY: all-zero is a valid tpacket_stats.
        let mut statistics: libc::tpacket_stats = unsafe { zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: the buffer and its length describe `statistics`.
        let result = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                ptr::from_mut(&mut statistics).cast(),
                &raw mut length,
            )
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
        unsafe { libc::munmap(self.map.cast(), self.map_bytes) };
    }
}

//! What a host's TCP is set to: sizes, timers and buffers, with Linux's names.

use crosswind_engine::Duration;
use serde::{Deserialize, Serialize};

/// IPv4 and TCP headers with timestamps.
pub const HEADER_BYTES: u32 = 20 + 20 + 12;

/// The congestion control of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// RFC 5681.
    Reno,
    /// RFC 9438, with HyStart as Linux has it.
    Cubic,
}

/// Sizes of a socket buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Of a new connection.
    pub initial_bytes: u64,
    /// The most that autotuning gives it.
    pub most_bytes: u64,
}

/// TCP of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// IP bytes of the largest packet, at least 576.
    pub mtu_bytes: u32,
    /// The sender's.
    pub congestion: Algorithm,
    /// The smallest retransmission timeout (`rto_min` of a route; Linux: 200 ms).
    pub rto_min: Duration,
    /// Whether connections use explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// `tcp_rmem`: counts memory, of which about a third is payload (`receive_buffer`).
    pub receive_buffer: Buffer,
    /// `tcp_wmem`: counts memory (`send_queue`).
    pub send_buffer: Buffer,
    /// The period of the kernel's timer interrupt, 1 / CONFIG_HZ: timers expire at its multiples.
    pub tick: Duration,
    /// When the first tick is after the origin of time; below `tick`.
    pub tick_phase: Duration,
}

impl Settings {
    /// The payload of a full packet.
    pub fn payload_bytes(&self) -> u32 {
        self.mtu_bytes - HEADER_BYTES
    }
}

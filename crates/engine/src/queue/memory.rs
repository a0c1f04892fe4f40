//! Shared memory with a dynamic threshold, as in switch chips. Queues, also of several links, share one memory, and
//! each may hold at most `alpha` times the free part.
//!
//! `memory`: total bytes, as the queues count them. `alpha`: of each queue, above 0. A packet is refused
//! (`queue-full`) if its queue holds at least alpha x (memory - used), or if the memory has no room for it. The
//! queue's own `buffer`, if it has one, applies as well. So one busy queue takes alpha / (1 + alpha) of the memory,
//! and n busy ones alpha / (1 + n alpha) each; 1 / (1 + n alpha) stays free for queues that become busy. Packets on a
//! transmitter are not in the memory. A queue that pushes out its own oldest packets (`head`) cannot share one.
//!
//! A smaller memory or alpha never drops packets that already wait.
//!
//! Source: Choudhury and Hahne 1998, "Dynamic queue length thresholds for shared-memory packet switches", section II.

/// A memory of one engine.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MemoryId(pub(crate) u32);

impl MemoryId {
    /// The memory that was added as number `number`, from 0.
    pub fn nth(number: usize) -> MemoryId {
        MemoryId(u32::try_from(number).expect("fewer than 2^32 memories"))
    }

    /// The memory's position in the order of adding, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A queue's part in a memory.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct MemoryShare {
    /// The memory.
    pub memory: MemoryId,
    /// Bytes that the queue may hold for each free byte, in parts per billion; above 0.
    pub alpha_ppb: u64,
}

/// A memory in operation.
pub(crate) struct Memory {
    bytes: u64,
    /// May exceed `bytes` after it was reduced, and while a packet is on its way to an idle transmitter.
    used_bytes: u64,
}

impl Memory {
    pub(crate) fn new(bytes: u64) -> Memory {
        Memory { bytes, used_bytes: 0 }
    }

    pub(crate) fn resize(&mut self, bytes: u64) {
        self.bytes = bytes;
    }

    /// Whether a queue that holds this number of bytes may take a packet.
    pub(super) fn admits(&self, queue_bytes: u64, packet_bytes: u64, alpha_ppb: u64) -> bool {
        let free_bytes = self.bytes.saturating_sub(self.used_bytes);
        let threshold = u128::from(alpha_ppb) * u128::from(free_bytes);
        packet_bytes <= free_bytes && u128::from(queue_bytes) * 1_000_000_000 < threshold
    }

    /// The content of a queue has changed from `before` to `after` bytes.
    pub(super) fn account(&mut self, before: u64, after: u64) {
        self.used_bytes = self.used_bytes + after - before;
    }
}

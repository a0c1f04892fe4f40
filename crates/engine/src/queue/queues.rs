//! The queues of one link at work: classifies by DSCP, buffers, and asks the scheduler who goes first.

use alloc::vec::Vec;

use super::{Buffer, Measure, Queueing};
use crate::outcome::DropReason;
use crate::packet::Class;
use crate::scheduler::Scheduler;
use crate::slab::{Slab, SlotId};

pub(crate) struct Queues {
    buffers: Vec<Buffer>,
    scheduler: Scheduler,
    /// The queue of each DSCP; at most 65 queues exist, one per DSCP and one for the others.
    queue_of: [u8; 64],
    waiting_packets: u32,
}

impl Queues {
    /// `spec` has been checked.
    pub(crate) fn new(spec: &Queueing) -> Queues {
        let buffers = spec.queues.iter().map(|queue| Buffer::new(queue.buffer, Measure::WireBytes)).collect();
        let mut queue_of = [0; 64];
        let indexed = || (0u8..).zip(&spec.queues);
        if let Some((others, _)) = indexed().find(|(_, queue)| queue.dscp.is_none()) {
            queue_of.fill(others);
        }
        for (index, queue) in indexed() {
            for &dscp in queue.dscp.as_deref().unwrap_or_default() {
                queue_of[usize::from(dscp)] = index;
            }
        }
        Queues { buffers, scheduler: Scheduler::new(spec), queue_of, waiting_packets: 0 }
    }

    /// Takes new parameters. Packets that wait are sorted into the new queues in the order in which they came, whatever
    /// their buffers hold; the scheduler goes on where it was unless its rule or a weight has changed.
    pub(crate) fn reconfigure(&mut self, spec: &Queueing, slab: &mut Slab) {
        let mut waiting = Vec::new();
        for buffer in &mut self.buffers {
            while let Some(slot) = buffer.pop(slab) {
                waiting.push(slot);
            }
        }
        waiting.sort_by_key(|&slot| slab[slot].ticket);
        let before = core::mem::replace(self, Queues::new(spec));
        if before.scheduler.has_same_rule(&self.scheduler) {
            self.scheduler = before.scheduler;
        }
        for slot in waiting {
            self.push(slot, slab);
        }
    }

    /// Lets a packet wait, or says why it cannot. Its slot's ticket must tell when it came.
    pub(crate) fn offer(&mut self, slot: SlotId, slab: &mut Slab) -> Result<(), DropReason> {
        let packet = &slab[slot].packet;
        if !self.buffers[self.queue_for(packet.dscp)].has_room(packet) {
            return Err(DropReason::QueueFull);
        }
        self.push(slot, slab);
        Ok(())
    }

    /// Lets a packet in whatever the buffer holds: the transmitter is idle and takes it at once.
    pub(crate) fn push(&mut self, slot: SlotId, slab: &mut Slab) {
        let queue = self.queue_for(slab[slot].packet.dscp);
        self.buffers[queue].push(slot, slab);
        self.waiting_packets += 1;
    }

    /// The packet whose turn it is.
    pub(crate) fn pop(&mut self, slab: &Slab) -> Option<SlotId> {
        if self.waiting_packets == 0 {
            return None;
        }
        let queue = self.scheduler.choose(&self.buffers, slab);
        self.waiting_packets -= 1;
        self.buffers[queue].pop(slab)
    }

    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        self.buffers.iter().map(|buffer| buffer.queued_bytes(class)).sum()
    }

    fn queue_for(&self, dscp: u8) -> usize {
        usize::from(self.queue_of[usize::from(dscp & 63)])
    }
}

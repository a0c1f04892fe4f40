//! Link: waits, is serialised, propagates. The transmitter serves one packet at a time and never rests while one waits.
//!
//! `rate`: wire bits per second (preamble and gap count), or unlimited: then packets pass the transmitter at once.
//! `delay`: propagation, after the last bit has left. `queueing`: what waits where (by DSCP), how much, and who goes first.
//!
//! A packet that finds the transmitter idle is sent whatever the buffer; otherwise it waits, unless its wire bytes and
//! those waiting in its queue exceed that queue's buffer: then it is dropped (`queue-full`). The packet on the transmitter
//! has left the buffer and does not count. (Linux counts likewise: a byte FIFO's backlog is what has not been dequeued.)
//! A departure and an arrival at one instant happen in the order of scheduling (crate documentation).
//!
//! New parameters: the packet on the transmitter finishes at its old rate, what waits keeps its place, packets under way
//! keep their instants, and later ones do not overtake them.
//!
//! Source: Lindley 1952 (waiting times of a single server); RFC 7567, section 2 (tail drop).

mod serialiser;

use crate::agenda::Target;
use crate::delay::Line;
use crate::element::{Context, Verdict};
use crate::packet::Class;
use crate::queue::{Queueing, Queues};
use crate::slab::SlotId;
use crate::units::{Duration, Rate};
pub(crate) use serialiser::Serialiser;

pub(crate) struct Link {
    queues: Queues,
    serialiser: Serialiser,
    /// The packet on the transmitter; while there is none, nothing waits.
    sending: Option<SlotId>,
    delay: Duration,
    line: Line,
}

impl Link {
    /// `queueing` has been checked.
    pub(crate) fn new(rate: Rate, delay: Duration, queueing: &Queueing) -> Link {
        Link {
            queues: Queues::new(queueing),
            serialiser: Serialiser::new(rate),
            sending: None,
            delay,
            line: Line::new(),
        }
    }

    pub(crate) fn reconfigure(
        &mut self,
        rate: Rate,
        delay: Duration,
        queueing: &Queueing,
        context: &mut Context<'_>,
    ) {
        self.serialiser.set_rate(rate);
        self.delay = delay;
        self.queues.reconfigure(queueing, context.slab);
    }

    /// Whether packets pass the transmitter at once.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.sending.is_none() && self.serialiser.is_unlimited()
    }

    #[inline]
    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        if self.is_unlimited() {
            return self.line.enter(slot, self.delay, context);
        }
        context.slab[slot].at = context.now;
        context.slab[slot].ticket = context.agenda.ticket();
        if self.sending.is_some() {
            return match self.queues.offer(slot, context.slab) {
                Ok(()) => Verdict::Held,
                Err(reason) => Verdict::Dropped(reason),
            };
        }
        self.queues.push(slot, context.slab);
        self.send_next(context);
        Verdict::Held
    }

    /// The transmitter has sent the last bit: the packet is under way, and the next one's turn has come.
    pub(crate) fn transmitted(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        let sent = self.sending.take()?;
        self.send_next(context);
        let verdict = self.line.enter(sent, self.delay, context);
        Some((sent, verdict))
    }

    /// A packet has reached the other end.
    pub(crate) fn propagated(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        self.line.wake(context)
    }

    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        self.queues.queued_bytes(class)
    }

    fn send_next(&mut self, context: &mut Context<'_>) {
        self.sending = self.queues.pop(context.slab);
        if let Some(slot) = self.sending {
            let waiting_since = context.slab[slot].at;
            let sent = self.serialiser.send(context.slab[slot].packet.wire_bytes, waiting_since);
            context.agenda.schedule(sent, Target::Service(context.element));
        }
    }
}

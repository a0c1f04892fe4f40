//! Link: waits, is serialised, propagates. The transmitter serves one packet at a time and never rests while one waits.
//!
//! `rate`: wire bits per second (preamble and gap count), or unlimited: then packets pass the transmitter at once.
//! `delay`: propagation, after the last bit has left. `queueing`: what waits where (by DSCP), how much, and who goes first.
//!
//! A packet that finds the transmitter idle is sent whatever the buffer; otherwise it waits, unless its wire bytes and
//! those waiting in its queue exceed that queue's buffer: then its drop policy decides who is lost. The packet on the transmitter
//! has left the buffer and does not count. (Linux counts likewise: a byte FIFO's backlog is what has not been dequeued.)
//! A departure and an arrival at one instant happen in the order of scheduling (crate documentation).
//!
//! New parameters: the packet on the transmitter finishes at its old rate, what waits keeps its place, packets under way
//! keep their instants, and later ones do not overtake them.
//!
//! A process (`process/mod.rs`) that drives the link takes the place of `rate`: its changes take effect at once, in the middle of
//! a packet too (`link/transmitter.rs`). While the capacity is nothing, packets wait in the queue as far as the buffer goes.
//! A buffer that is a time follows the capacity, and stays as it is during an outage. A new `rate` takes effect when the process
//! stops.
//!
//! Source: Lindley 1952 (waiting times of a single server); RFC 7567, section 2 (tail drop).

mod serialiser;
mod transmitter;

use crate::agenda::Target;
use crate::delay::Line;
use crate::element::{Context, Verdict};
use crate::packet::Class;
use crate::process::Change;
use crate::queue::{Queueing, Queues, Server};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Capacity, Duration, Instant, Rate};
pub(crate) use serialiser::Serialiser;
use transmitter::Transmitter;

/// In the order in which it lies in memory: what every packet touches comes first (see `engine::Station`).
#[repr(C)]
pub(crate) struct Link {
    transmitter: Transmitter,
    line: Line,
    delay: Duration,
    /// The packet on the transmitter; while there is none and the transmitter takes packets, nothing waits.
    sending: Option<SlotId>,
    /// Whether a packet that finds the transmitter free may pass the queues by ([`Queues::can_be_passed`]).
    passes_queues: bool,
    driven: bool,
    /// The link's own rate, which a process takes the place of.
    rate: Rate,
    /// The rate that empties the queues, or did before an outage.
    draining: Rate,
    queues: Queues,
}

impl Link {
    /// `queueing` has been checked; `random` is for its drop policies.
    pub(crate) fn new(rate: Rate, delay: Duration, queueing: &Queueing, random: Stream) -> Link {
        let queues = Queues::new(queueing, rate, random);
        Link {
            passes_queues: queues.can_be_passed(),
            queues,
            transmitter: Transmitter::Rate(Serialiser::new(rate)),
            sending: None,
            rate,
            driven: false,
            draining: rate,
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
        self.rate = rate;
        if let (Transmitter::Rate(serialiser), false) = (&mut self.transmitter, self.driven) {
            serialiser.set_rate(rate);
        }
        self.delay = delay;
        if !self.driven {
            self.draining = rate;
        }
        self.queues.reconfigure(queueing, self.draining, context);
        self.passes_queues = self.queues.can_be_passed();
    }

    /// Whether packets pass the transmitter at once now.
    fn is_unlimited(&self) -> bool {
        self.sending.is_none() && self.transmitter.is_unlimited()
    }

    /// Whether packets pass the transmitter at once, now and until new parameters come.
    pub(crate) fn treats_alike(&self) -> bool {
        self.is_unlimited() && !self.driven
    }

    /// Begins to follow a process; false where one drives the link already.
    pub(crate) fn take_drive(&mut self) -> bool {
        !core::mem::replace(&mut self.driven, true)
    }

    /// The process has stopped: the link has its own rate again, from now on.
    pub(crate) fn end_drive(&mut self, context: &mut Context<'_>) {
        self.driven = false;
        self.follow(Change::Level(Capacity::Rate(self.rate)), context);
    }

    /// Whether the packet on the transmitter leaves now: its event is due, and a process comes after it.
    pub(crate) fn is_finishing(&self, now: Instant) -> bool {
        self.sending.is_some() && self.transmitter.left_nano_bits(now) == 0
    }

    /// Does what the process that drives the link says; nothing is finishing.
    pub(crate) fn follow(&mut self, change: Change, context: &mut Context<'_>) {
        let left_nano_bits = self.transmitter.left_nano_bits(context.now);
        match change {
            Change::Level(capacity) => {
                if let Capacity::Rate(rate) = capacity {
                    self.queues.set_rate(rate);
                    self.draining = rate;
                }
                self.transmitter.change(capacity, context.now);
            }
            Change::Opportunity { ip_bytes } => self.transmitter.grant(ip_bytes),
        }
        if self.sending.is_none() {
            self.send_next(context);
        } else {
            context.agenda.cancel(Target::Service(context.element));
            let sent = self.transmitter.carry_on(left_nano_bits, context.now);
            self.expect(sent, context);
        }
    }

    #[inline]
    pub(crate) fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        if self.is_unlimited() {
            return self.line.enter(slot, self.delay, context);
        }
        let ready = self.sending.is_none() && self.transmitter.takes_next();
        if ready && self.passes_queues {
            self.begin(slot, context.now, context);
            return Verdict::Held;
        }
        let transmitter = if ready { Server::Free } else { Server::Busy };
        if let Err(reason) = self.queues.offer(slot, transmitter, context) {
            return Verdict::Dropped(reason);
        }
        if transmitter == Server::Free {
            self.send_next(context);
        }
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

    /// The packet on the transmitter.
    pub(crate) fn serving(&self) -> Option<SlotId> {
        self.sending
    }

    pub(crate) fn queued_bytes(&self, class: Class) -> u64 {
        self.queues.queued_bytes(class)
    }

    fn send_next(&mut self, context: &mut Context<'_>) {
        if !self.transmitter.takes_next() {
            return;
        }
        match self.queues.take(context) {
            Some(slot) => self.begin(slot, context.slab[slot].at, context),
            None => self.transmitter.lapse(),
        }
    }

    /// Puts a packet on the transmitter that has waited since `since`.
    fn begin(&mut self, slot: SlotId, since: Instant, context: &mut Context<'_>) {
        self.sending = Some(slot);
        let sent = self.transmitter.send(&context.slab[slot].packet, since, context.now);
        self.expect(sent, context);
    }

    /// Lets the engine wake the link when the last bit leaves; where the instant is not known, the process will tell it.
    fn expect(&self, sent: Option<Instant>, context: &mut Context<'_>) {
        if let Some(sent) = sent {
            context.agenda.schedule(sent, Target::Service(context.element));
        }
    }
}

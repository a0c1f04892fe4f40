//! Link: queues, serialises and propagates packets. The transmitter serves one packet at a time and is never idle
//! while a packet waits.
//!
//! `rate`: wire bits per second (including preamble and gap), or unlimited: then packets pass the transmitter at once.
//! `delay`: propagation, after the last bit has left. `queueing`: which packets wait in which queue (by DSCP), the
//! buffers, and the order of service.
//!
//! A packet that finds the transmitter idle is sent whatever the buffer. Otherwise it waits, unless its wire bytes
//! plus those waiting in its queue exceed that queue's buffer; then its drop policy chooses which packet is lost. The
//! packet on the transmitter has left the buffer and does not count. (Linux counts in the same way: a byte FIFO's
//! backlog is what has not been dequeued.) If one packet leaves the transmitter at the instant at which another
//! arrives, it leaves first (crate documentation).
//!
//! New parameters: the packet on the transmitter finishes at its old rate and waiting packets stay in their queues.
//! Packets in flight arrive at their scheduled instants, and later ones do not overtake them.
//!
//! A process (`process/mod.rs`) that drives the link replaces `rate`: its changes take effect at once, even in the
//! middle of a packet (`link/transmitter.rs`). While the capacity is zero, packets wait in the queue up to the buffer.
//! A buffer given as a time follows the capacity, and does not change during an outage. A new `rate` takes effect when
//! the process stops.
//!
//! A log (`process/log.rs`) also adds a delay to `delay`, for packets whose last bit leaves after its time. When the
//! process stops, or another one follows, that delay is gone.
//!
//! A departure that only the link itself uses has no event: the link catches up with it when the next packet arrives
//! or has reached the other end. There is an event if a monitor, a process, a shared memory, or a policy with memory
//! needs it.
//!
//! Source: Lindley 1952 (waiting times of a single server); RFC 7567, section 2 (tail drop).

mod serialiser;
mod transmitter;

use alloc::vec::Vec;

use crate::agenda::Target;
use crate::delay::Line;
use crate::describe::Problem;
use crate::element::{Behaviour, Context, Spec, Verdict};
use crate::packet::Class;
use crate::process::Change;
use crate::queue::{Queueing, Queues, Server};
use crate::random::Stream;
use crate::slab::{Slab, SlotId};
use crate::units::{Capacity, Duration, Instant, Rate};
pub(crate) use serialiser::Serialiser;
use transmitter::Transmitter;

/// The parameters of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkSpec {
    /// Wire bits per second.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Which packets wait in which queue, and the order of service.
    pub queueing: Queueing,
}

impl Spec for LinkSpec {
    const KIND: &'static str = "link";
    const QUEUES: bool = true;

    fn problems(&self) -> Vec<Problem> {
        self.queueing.problems()
    }
}

/// Fields in the order of their position in memory: those that every packet touches come first (see
/// `engine::Station`).
#[repr(C)]
pub(crate) struct Link {
    transmitter: Transmitter,
    line: Line,
    delay: Duration,
    /// The packet on the transmitter; if there is none and the transmitter accepts packets, none waits.
    sending: Option<SlotId>,
    /// When its last bit leaves, if known.
    sent_at: Option<Instant>,
    /// Whether a packet that finds the transmitter free may bypass the queues ([`Queues::can_be_passed`]).
    passes_queues: bool,
    driven: bool,
    /// Whether a monitor watches the queue.
    watched: bool,
    /// Whether each departure is an event.
    schedules_departures: bool,
    /// Whether the head of the line, or else the packet on the transmitter, has an event at the other end.
    awaits: bool,
    /// Whether packets from the transmitter are handed out instead of reaching the other end here.
    is_cut: bool,
    /// The link's own rate, which a process replaces.
    rate: Rate,
    /// The delay that a process adds to the link's own.
    added: Duration,
    /// The rate that empties the queues, or emptied them before an outage.
    draining: Rate,
    queues: Queues,
}

impl Behaviour for Link {
    type Spec = LinkSpec;

    /// `random` is for its drop policies.
    fn new(spec: &LinkSpec, random: Stream) -> Link {
        let LinkSpec { rate, delay, ref queueing } = *spec;
        let queues = Queues::new(queueing, rate, random);
        let mut link = Link {
            passes_queues: queues.can_be_passed(),
            queues,
            transmitter: Transmitter::Rate(Serialiser::new(rate)),
            sending: None,
            sent_at: None,
            rate,
            driven: false,
            watched: false,
            schedules_departures: false,
            awaits: false,
            is_cut: false,
            draining: rate,
            added: Duration::ZERO,
            delay,
            line: Line::new(),
        };
        link.schedules_departures = link.must_schedule_departures();
        link
    }

    fn reconfigure(&mut self, spec: &LinkSpec, context: &mut Context<'_>) {
        let LinkSpec { rate, delay, ref queueing } = *spec;
        self.catch_up(context);
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
        self.await_next_again(context);
        self.update_scheduling(context);
    }

    /// Whether packets pass the transmitter at once, from now until new parameters come.
    fn treats_alike(&self, now: Instant) -> bool {
        let is_free = self.sending.is_none() || self.sent_at.is_some_and(|sent| sent <= now);
        self.transmitter.is_unlimited() && is_free && !self.driven
    }

    /// Once it is handed out, another engine holds it.
    fn holds_at_least(&self) -> Duration {
        if self.is_cut {
            Duration::ZERO
        } else {
            self.delay
        }
    }

    #[inline]
    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        self.catch_up(context);
        if self.is_unlimited() {
            let delay = self.present_delay();
            if self.line.is_passed_at_once(delay, context.shared.now) {
                return Verdict::Passed;
            }
            self.line.join(slot, self.line.due(context.shared.now, delay), context);
            self.await_next(context);
            return Verdict::Held;
        }
        let ready = self.sending.is_none() && self.transmitter.takes_next();
        if ready && self.passes_queues {
            self.begin(slot, context.shared.now, context);
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

    /// If the transmitter has sent the last bit by now, the packet is in flight, and the next one is served.
    #[inline]
    fn wake_transmitter(&mut self, context: &mut Context<'_>) {
        if let Some(sent) = self.sent_at.filter(|&sent| sent <= context.shared.now) {
            self.hand_over(sent, context);
        }
    }

    /// A packet has reached the other end.
    #[inline]
    fn wake_line(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        self.catch_up(context);
        // The event may have been scheduled for a packet that is now due at another instant.
        self.line.next(&context.shared.slab).filter(|&(due, _)| due <= context.shared.now)?;
        self.awaits = false;
        let slot = self.line.leave(&context.shared.slab);
        self.await_next(context);
        slot
    }

    /// Processes what the transmitter has done until now.
    #[inline]
    fn catch_up(&mut self, context: &mut Context<'_>) {
        while let Some(sent) = self.sent_at.filter(|&sent| sent <= context.shared.now) {
            self.hand_over(sent, context);
        }
    }

    fn set_watched(&mut self, watched: bool, context: &mut Context<'_>) {
        self.catch_up(context);
        self.watched = watched;
        self.update_scheduling(context);
    }

    /// The packet on the transmitter.
    fn serving(&self) -> Option<SlotId> {
        self.sending
    }

    fn queued_bytes(&self, class: Class) -> u64 {
        self.queues.queued_bytes(class)
    }

    fn waits(&self) -> bool {
        // Without a rate it holds packets only while they propagate.
        self.sending.is_some()
    }

    fn link(&self) -> Option<&Link> {
        Some(self)
    }

    fn link_mut(&mut self) -> Option<&mut Link> {
        Some(self)
    }
}

impl Link {
    fn must_schedule_departures(&self) -> bool {
        self.watched || self.driven || !self.passes_queues || !self.queues.stand_alone()
    }

    /// Call it after one of its conditions has changed, when the link has caught up.
    fn update_scheduling(&mut self, context: &mut Context<'_>) {
        let scheduled = self.schedules_departures;
        self.schedules_departures = self.must_schedule_departures();
        if !scheduled {
            self.schedule_departure(context);
        }
    }

    /// Whether packets pass the transmitter at once now.
    fn is_unlimited(&self) -> bool {
        self.sending.is_none() && self.transmitter.is_unlimited()
    }

    /// The least: a process only adds to it.
    pub(crate) fn delay(&self) -> Duration {
        self.delay
    }

    fn present_delay(&self) -> Duration {
        Duration::from_nanos(self.delay.as_nanos().saturating_add(self.added.as_nanos()))
    }

    /// From now on packets that leave the transmitter are handed out ([`Link::hand_out`]); the other end has no event
    /// for them.
    pub(crate) fn set_cut(&mut self) {
        assert!(self.sending.is_none() && !self.awaits, "a link is cut before packets arrive");
        self.is_cut = true;
        self.awaits = true;
    }

    /// Hands out the next packet that has left the transmitter of a cut link; its slot has the instant at which it is
    /// due.
    pub(crate) fn hand_out(&mut self, slab: &Slab) -> Option<SlotId> {
        self.line.leave(slab)
    }

    /// Takes in a packet that has left the transmitter of this link in another engine.
    pub(crate) fn take_in(&mut self, slot: SlotId, due: Instant, context: &mut Context<'_>) {
        self.line.join(slot, self.line.due(due, Duration::ZERO), context);
        self.await_next(context);
    }

    pub(crate) fn is_driven(&self) -> bool {
        self.driven
    }

    /// Starts to follow a process.
    pub(crate) fn take_drive(&mut self, context: &mut Context<'_>) {
        self.catch_up(context);
        self.driven = true;
        self.await_next_again(context);
        self.update_scheduling(context);
    }

    /// The process has stopped: the link has its own rate again, from now on.
    pub(crate) fn end_drive(&mut self, context: &mut Context<'_>) {
        self.driven = false;
        self.follow(Change::Level(Capacity::Rate(self.rate)), context);
        self.update_scheduling(context);
    }

    /// Carries out a change of the process that drives the link.
    pub(crate) fn follow(&mut self, change: Change, context: &mut Context<'_>) {
        let left_nano_bits = self.transmitter.left_nano_bits(context.shared.now);
        self.added = match change {
            Change::Logged { delay, .. } => delay,
            Change::Level(_) | Change::Opportunity { .. } => Duration::ZERO,
        };
        match change {
            Change::Level(capacity) => self.take_level(capacity, context.shared.now),
            Change::Logged { level, .. } => {
                self.take_level(level.unwrap_or(Capacity::Rate(self.rate)), context.shared.now);
            }
            Change::Opportunity { ip_bytes } => self.transmitter.grant(ip_bytes),
        }
        if self.sending.is_none() {
            self.send_next(context);
        } else {
            self.sent_at = self.transmitter.carry_on(left_nano_bits, context.shared.now);
            self.schedule_departure(context);
        }
        self.await_next(context);
    }

    fn take_level(&mut self, capacity: Capacity, now: Instant) {
        if let Capacity::Rate(rate) = capacity {
            self.queues.set_rate(rate);
            self.draining = rate;
        }
        self.transmitter.change(capacity, now);
    }

    /// The last bit left at `sent`.
    fn hand_over(&mut self, sent: Instant, context: &mut Context<'_>) {
        self.sent_at = None;
        if let Some(slot) = self.sending.take() {
            self.line.join(slot, self.line.due(sent, self.present_delay()), context);
        }
        self.await_next(context);
        self.send_next(context);
    }

    fn send_next(&mut self, context: &mut Context<'_>) {
        if !self.transmitter.takes_next() {
            return;
        }
        match self.queues.take(context) {
            Some(slot) => self.begin(slot, context.shared.slab[slot].at, context),
            None => self.transmitter.lapse(),
        }
    }

    /// Puts a packet that has waited since `since` on the transmitter.
    fn begin(&mut self, slot: SlotId, since: Instant, context: &mut Context<'_>) {
        self.sending = Some(slot);
        self.sent_at = self.transmitter.send(&context.shared.slab[slot].packet, since, context.shared.now);
        self.schedule_departure(context);
        self.await_next(context);
    }

    /// Schedules the link's event when the last bit leaves; if the instant is unknown, the process will wake the link.
    #[inline]
    fn schedule_departure(&self, context: &mut Context<'_>) {
        if let (true, Some(sent)) = (self.schedules_departures, self.sent_at) {
            context.shared.agenda.schedule(sent, Target::Transmitter(context.element));
        }
    }

    /// Schedules the link's event when the next packet reaches the other end. If a process may change that instant,
    /// the packet must be in flight already.
    #[inline]
    fn await_next(&mut self, context: &mut Context<'_>) {
        if self.awaits {
            return;
        }
        let in_line = self.line.next(&context.shared.slab).map(|(due, _)| due);
        let on_transmitter =
            || self.sent_at.filter(|_| !self.driven).map(|sent| self.line.due(sent, self.delay));
        if let Some(due) = in_line.or_else(on_transmitter) {
            context.shared.agenda.schedule(due, Target::Line(context.element));
            self.awaits = true;
        }
    }

    /// As [`Link::await_next`], after the delay of the packet on the transmitter, or the process that drives it, has
    /// changed.
    fn await_next_again(&mut self, context: &mut Context<'_>) {
        if self.line.next(&context.shared.slab).is_none() {
            // Its old event remains without effect. A cut link has no event and needs none.
            self.awaits = self.is_cut;
        }
        self.await_next(context);
    }
}

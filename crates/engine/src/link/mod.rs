//! Link: waits, is serialised, propagates. The transmitter serves one packet at a time and never rests while one waits.
//!
//! `rate`: wire bits per second (preamble and gap count), or unlimited: then packets pass the transmitter at once.
//! `delay`: propagation, after the last bit has left. `queueing`: what waits where (by DSCP), how much, and who goes first.
//!
//! A packet that finds the transmitter idle is sent whatever the buffer; otherwise it waits, unless its wire bytes and
//! those waiting in its queue exceed that queue's buffer: then its drop policy decides who is lost. The packet on the transmitter
//! has left the buffer and does not count. (Linux counts likewise: a byte FIFO's backlog is what has not been dequeued.)
//! What leaves the transmitter at the instant at which another packet comes leaves before (crate documentation).
//!
//! New parameters: the packet on the transmitter finishes at its old rate, what waits keeps its place, packets under way
//! keep their instants, and later ones do not overtake them.
//!
//! A process (`process/mod.rs`) that drives the link takes the place of `rate`: its changes take effect at once, in the middle of
//! a packet too (`link/transmitter.rs`). While the capacity is nothing, packets wait in the queue as far as the buffer goes.
//! A buffer that is a time follows the capacity, and stays as it is during an outage. A new `rate` takes effect when the process
//! stops.
//!
//! A departure has no event where only the link itself knows of it: it is caught up on when the next packet comes or has reached
//! the other end. There is one where a monitor, a process, a shared memory, or a policy that remembers has to know.
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
    /// What waits where, and who goes first.
    pub queueing: Queueing,
}

impl Spec for LinkSpec {
    const KIND: &'static str = "link";
    const QUEUES: bool = true;

    fn problems(&self) -> Vec<Problem> {
        self.queueing.problems()
    }
}

/// In the order in which it lies in memory: what every packet touches comes first (see `engine::Station`).
#[repr(C)]
pub(crate) struct Link {
    transmitter: Transmitter,
    line: Line,
    delay: Duration,
    /// The packet on the transmitter; while there is none and the transmitter takes packets, nothing waits.
    sending: Option<SlotId>,
    /// When its last bit leaves, where that is known.
    sent_at: Option<Instant>,
    /// Whether a packet that finds the transmitter free may pass the queues by ([`Queues::can_be_passed`]).
    passes_queues: bool,
    driven: bool,
    /// Whether a monitor looks at the queue.
    watched: bool,
    /// Whether each departure is an event.
    tells: bool,
    /// Whether the head of the line, or else the packet on the transmitter, has an event at the other end.
    awaits: bool,
    /// Whether what leaves the transmitter is handed out instead of reaching the other end here.
    leads_away: bool,
    /// The link's own rate, which a process takes the place of.
    rate: Rate,
    /// The rate that empties the queues, or did before an outage.
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
            tells: false,
            awaits: false,
            leads_away: false,
            draining: rate,
            delay,
            line: Line::new(),
        };
        link.tells = link.has_to_tell();
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
        self.await_anew(context);
        self.update_telling(context);
    }

    /// Whether packets pass the transmitter at once, now and until new parameters come.
    fn treats_alike(&self, now: Instant) -> bool {
        let is_free = self.sending.is_none() || self.sent_at.is_some_and(|sent| sent <= now);
        self.transmitter.is_unlimited() && is_free && !self.driven
    }

    /// Once it is handed out, another engine holds it.
    fn holds_at_least(&self) -> Duration {
        if self.leads_away {
            Duration::ZERO
        } else {
            self.delay
        }
    }

    #[inline]
    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        self.catch_up(context);
        if self.is_unlimited() {
            if self.line.is_passed_at_once(self.delay, context.shared.now) {
                return Verdict::Passed;
            }
            self.line.join(slot, self.line.due(context.shared.now, self.delay), context);
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

    /// If the transmitter has sent the last bit until now, the packet is under way, and the next one's turn has come.
    #[inline]
    fn wake_transmitter(&mut self, context: &mut Context<'_>) {
        if let Some(sent) = self.sent_at.filter(|&sent| sent <= context.shared.now) {
            self.hand_over(sent, context);
        }
    }

    /// A packet has reached the other end.
    fn wake_line(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        self.catch_up(context);
        // An event that was meant for a packet which is due at another instant by now.
        self.line.next(&context.shared.slab).filter(|&(due, _)| due <= context.shared.now)?;
        self.awaits = false;
        let slot = self.line.leave(&context.shared.slab);
        self.await_next(context);
        slot
    }

    /// Does what the transmitter has done until now.
    #[inline]
    fn catch_up(&mut self, context: &mut Context<'_>) {
        while let Some(sent) = self.sent_at.filter(|&sent| sent <= context.shared.now) {
            self.hand_over(sent, context);
        }
    }

    fn set_watched(&mut self, watched: bool, context: &mut Context<'_>) {
        self.catch_up(context);
        self.watched = watched;
        self.update_telling(context);
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
    fn has_to_tell(&self) -> bool {
        self.watched || self.driven || !self.passes_queues || !self.queues.stand_alone()
    }

    /// After what decides it has changed, and the link has caught up.
    fn update_telling(&mut self, context: &mut Context<'_>) {
        let told = self.tells;
        self.tells = self.has_to_tell();
        if !told {
            self.tell(context);
        }
    }

    /// Whether packets pass the transmitter at once now.
    fn is_unlimited(&self) -> bool {
        self.sending.is_none() && self.transmitter.is_unlimited()
    }

    pub(crate) fn delay(&self) -> Duration {
        self.delay
    }

    /// From now on what leaves the transmitter is handed out ([`Link::hand_out`]); nobody waits for it at the other end.
    pub(crate) fn lead_away(&mut self) {
        assert!(self.sending.is_none() && !self.awaits, "a link is cut before packets come");
        self.leads_away = true;
        self.awaits = true;
    }

    /// Hands out the next packet that has left the transmitter of a link that leads away; when it is due lies in its slot.
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

    /// Begins to follow a process.
    pub(crate) fn take_drive(&mut self, context: &mut Context<'_>) {
        self.catch_up(context);
        self.driven = true;
        self.await_anew(context);
        self.update_telling(context);
    }

    /// The process has stopped: the link has its own rate again, from now on.
    pub(crate) fn end_drive(&mut self, context: &mut Context<'_>) {
        self.driven = false;
        self.follow(Change::Level(Capacity::Rate(self.rate)), context);
        self.update_telling(context);
    }

    /// Does what the process that drives the link says.
    pub(crate) fn follow(&mut self, change: Change, context: &mut Context<'_>) {
        let left_nano_bits = self.transmitter.left_nano_bits(context.shared.now);
        match change {
            Change::Level(capacity) => {
                if let Capacity::Rate(rate) = capacity {
                    self.queues.set_rate(rate);
                    self.draining = rate;
                }
                self.transmitter.change(capacity, context.shared.now);
            }
            Change::Opportunity { ip_bytes } => self.transmitter.grant(ip_bytes),
        }
        if self.sending.is_none() {
            self.send_next(context);
        } else {
            self.sent_at = self.transmitter.carry_on(left_nano_bits, context.shared.now);
            self.tell(context);
        }
        self.await_next(context);
    }

    /// The last bit left at `sent`.
    fn hand_over(&mut self, sent: Instant, context: &mut Context<'_>) {
        self.sent_at = None;
        if let Some(slot) = self.sending.take() {
            self.line.join(slot, self.line.due(sent, self.delay), context);
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

    /// Puts a packet on the transmitter that has waited since `since`.
    fn begin(&mut self, slot: SlotId, since: Instant, context: &mut Context<'_>) {
        self.sending = Some(slot);
        self.sent_at = self.transmitter.send(&context.shared.slab[slot].packet, since, context.shared.now);
        self.tell(context);
        self.await_next(context);
    }

    /// Lets the engine wake the link when the last bit leaves; where the instant is not known, the process will tell it.
    #[inline]
    fn tell(&self, context: &mut Context<'_>) {
        if let (true, Some(sent)) = (self.tells, self.sent_at) {
            context.shared.agenda.schedule(sent, Target::Transmitter(context.element));
        }
    }

    /// Lets the engine wake the link when the next packet reaches the other end. Where a process may change when that is, it must
    /// be under way already.
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

    /// As [`Link::await_next`], after the delay of the packet on the transmitter, or who drives it, has changed.
    fn await_anew(&mut self, context: &mut Context<'_>) {
        if self.line.next(&context.shared.slab).is_none() {
            // Its event is still to come, for nothing. Where it leads away there is none, and none is wanted.
            self.awaits = self.leads_away;
        }
        self.await_next(context);
    }
}

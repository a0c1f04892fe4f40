//! CoDel (controlled delay). Drops a packet when it leaves the queue, once packets have waited longer than `target`
//! for at least `interval`; then again after interval / sqrt(1), interval / sqrt(2), ..., until one has waited less.
//!
//! `target`: the accepted wait, default 5 ms; more than the wire time of a full packet. `interval`: about the longest
//! round trip of the connections, default 100 ms; at least `target`. With ECN, packets whose transport reacts to marks
//! are marked instead of dropped. Drop reason: `codel`. In addition, the buffer's limit refuses new packets
//! (`queue-full`).
//!
//! It decides about packets, not flows; for a fair share of each class use several queues (`schedule`). FQ-CoDel (RFC
//! 8290), which hashes flows into separate queues, is not implemented.
//!
//! Source: RFC 8289, section 5 (the pseudo-code, quoted above the lines that implement it). Exceptions: time is exact,
//! in whole nanoseconds, and the square root is the integer one, rounded up, so that no drop is early. The largest
//! packet is the largest that the queue has seen, where the RFC proposes the interface's MTU. Marks are as in Linux (a
//! marked packet is delivered and counts as a drop), because the RFC's pseudo-code has none.

use crate::describe::{page, parameters, Page, Parameter, Rule};
use crate::ecn::Signal;
use crate::element::Context;
use crate::outcome::DropReason;
use crate::packet::Packet;
use crate::queue::drop::policy::DropPolicy;
use crate::queue::managed::marked;
use crate::queue::Buffer;
use crate::slab::SlotId;
use crate::units::{Duration, Instant, Rate};

parameters! {
    /// Drops leaving packets once packets have waited longer than the target for an interval (RFC 8289).
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
    pub struct CodelSpec {
        /// The accepted wait; 5ms when absent.
        target: Duration = [Parameter::time("target", "target_ns").or("5ms", 5_000_000)],
        /// How long it may be exceeded, about the longest round trip; 100ms when absent.
        interval: Duration = [
            // Sixteen of them are added to an instant.
            Parameter::time("interval", "interval_ns").within(1, u64::MAX / 16).or("100ms", 100_000_000)
        ],
    }
    rules: [Rule::AtMost {
        key: "target",
        other: "interval",
        message: "{target} is above interval {interval}; give at most that: a target is usually 5% of it",
    }]
}

/// The state of one queue; its fields are the RFC's variables (section 5.2, `codel_queue_t`).
pub(crate) struct Codel {
    spec: CodelSpec,
    /// "Time to declare sojourn time above TARGET"; `None` while it is below.
    first_above_time: Option<Instant>,
    /// "Time to drop next packet".
    drop_next: Instant,
    /// "Packets dropped in drop state".
    count: u64,
    /// "Count from previous iteration".
    lastcount: u64,
    /// "Set to true if in drop state".
    dropping: bool,
    /// The largest packet seen, in the buffer's measure.
    largest_bytes: u64,
}

impl DropPolicy for Codel {
    type Spec = CodelSpec;

    const PAGE: Option<Page> = Some(page!("codel.rs"));
    const REASON: DropReason = DropReason::Codel;

    fn new(spec: &CodelSpec, _: &Buffer, _: Rate) -> Codel {
        Codel {
            spec: *spec,
            first_above_time: None,
            drop_next: Instant::ZERO,
            count: 0,
            lastcount: 0,
            dropping: false,
            largest_bytes: 0,
        }
    }

    fn entered(&mut self, packet: &Packet, buffer: &Buffer) {
        self.largest_bytes = self.largest_bytes.max(buffer.measure().of(packet));
    }

    fn take(&mut self, buffer: &mut Buffer, signal: Signal, context: &mut Context<'_>) -> Option<SlotId> {
        let now = context.shared.now;
        let (mut packet, mut ok_to_drop) = self.dodequeue(buffer, context);
        if self.dropping {
            // "sojourn time below TARGET - leave drop state"
            self.dropping = ok_to_drop;
            // "Time for the next drop. Drop current packet and dequeue next. If the dequeue doesn't take us out of dropping
            // state, schedule the next drop. A large backlog might result in drop rates so high that the next drop should
            // happen now, hence the 'while' loop."
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                let Some(slot) = packet else { break };
                if marked(slot, signal, context) {
                    self.drop_next = self.control_law(self.drop_next);
                    return packet;
                }
                context.shared.discarded.push((slot, DropReason::Codel));
                (packet, ok_to_drop) = self.dodequeue(buffer, context);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if let (Some(slot), true) = (packet, ok_to_drop) {
            // "If we get here, we're not in drop state. The 'ok_to_drop' return from dodequeue means that the sojourn time
            // has been above 'TARGET' for 'INTERVAL', so enter drop state."
            if !marked(slot, signal, context) {
                context.shared.discarded.push((slot, DropReason::Codel));
                (packet, _) = self.dodequeue(buffer, context);
            }
            self.dropping = true;
            // "If min went above TARGET close to when it last went below, assume that the drop rate that controlled the
            // queue on the last cycle is a good starting point to control it now."
            let delta = self.count - self.lastcount;
            let recently =
                now.as_nanos().saturating_sub(self.drop_next.as_nanos()) < 16 * self.spec.interval.as_nanos();
            self.count = if delta > 1 && recently { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        packet
    }
}

impl Codel {
    /// The next packet, and whether its wait justifies dropping it.
    fn dodequeue(&mut self, buffer: &mut Buffer, context: &Context<'_>) -> (Option<SlotId>, bool) {
        let Some(slot) = buffer.pop(&context.shared.slab) else {
            // "queue is empty - we can't be above TARGET"
            self.first_above_time = None;
            return (None, false);
        };
        let now = context.shared.now;
        // "To span a large range of bandwidths, CoDel runs two different AQMs in parallel. One is based on sojourn time and
        // takes effect when the time to send an MTU-sized packet is less than TARGET. [...] The other is based on backlog
        // and takes effect when the time to send an MTU-sized packet is >= TARGET."
        let sojourn_time = now - context.shared.slab[slot].at;
        if sojourn_time < self.spec.target || buffer.held_bytes() <= self.largest_bytes {
            // "went below - stay below for at least INTERVAL"
            self.first_above_time = None;
            return (Some(slot), false);
        }
        match self.first_above_time {
            None => {
                // "just went above from below. if still above at first_above_time, will say it's ok to drop."
                self.first_above_time = Some(now.saturating_add(self.spec.interval));
                (Some(slot), false)
            }
            Some(first_above_time) => (Some(slot), now >= first_above_time),
        }
    }

    /// "return t + INTERVAL / sqrt(count)", rounded up.
    fn control_law(&self, since: Instant) -> Instant {
        let interval = u128::from(self.spec.interval.as_nanos());
        let square = (interval * interval).div_ceil(u128::from(self.count));
        let root = square.isqrt();
        let root = if root * root < square { root + 1 } else { root };
        since.saturating_add(Duration::from_nanos(u64::try_from(root).expect("at most the interval")))
    }
}

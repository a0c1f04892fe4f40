//! Packets in flight, ordered only by when they are due: later ones may overtake.
//!
//! Each has its own event in the agenda, because any new packet may be the first to be due. Packets due at one instant
//! leave in the order in which they arrived.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use crate::agenda::{Target, Ticket};
use crate::element::{Context, Verdict};
use crate::slab::SlotId;
use crate::units::{Duration, Instant};

pub(super) struct Crowd {
    under_way: BinaryHeap<Reverse<(Instant, Ticket, SlotId)>>,
    last_due: Instant,
}

impl Crowd {
    pub(super) fn new() -> Crowd {
        Crowd { under_way: BinaryHeap::new(), last_due: Instant::ZERO }
    }

    /// Adds a packet; without a delay it has passed at once.
    pub(super) fn enter(&mut self, slot: SlotId, delay: Duration, context: &mut Context<'_>) -> Verdict {
        if delay == Duration::ZERO {
            return Verdict::Passed;
        }
        let due = context.shared.now.saturating_add(delay);
        self.last_due = self.last_due.max(due);
        let ticket = context.shared.agenda.ticket();
        self.under_way.push(Reverse((due, ticket, slot)));
        context.shared.agenda.schedule(due, Target::Line(context.element));
        Verdict::Held
    }

    /// When the latest of all packets so far is or was due.
    pub(super) fn last_due(&self) -> Instant {
        self.last_due
    }

    /// When the next packet is due, and its position in the order of arrival.
    pub(super) fn next(&self) -> Option<(Instant, Ticket)> {
        self.under_way.peek().map(|&Reverse((due, ticket, _))| (due, ticket))
    }

    /// The next packet is due.
    pub(super) fn wake(&mut self) -> Option<SlotId> {
        self.under_way.pop().map(|Reverse((_, _, slot))| slot)
    }
}

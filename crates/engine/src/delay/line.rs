//! Delay line: packets under way, in the order in which they entered. Shared by delays that keep the order and by links.
//!
//! A packet never overtakes another: where a later one would be due earlier (the delay was made shorter), it is due with
//! the one before it. Only the head is in the agenda, with the place in the order of events that it took on entering.

use crate::agenda::{Target, Ticket};
use crate::element::{Context, Verdict};
use crate::list::List;
use crate::slab::{Slab, SlotId};
use crate::units::{Duration, Instant};

pub(crate) struct Line {
    under_way: List,
    last_due: Instant,
}

impl Line {
    pub(crate) fn new() -> Line {
        Line { under_way: List::new(), last_due: Instant::ZERO }
    }

    /// Sends a packet on its way; with no delay and nothing before it, it has passed at once.
    pub(crate) fn enter(&mut self, slot: SlotId, delay: Duration, context: &mut Context<'_>) -> Verdict {
        let idle = self.under_way.is_empty();
        if idle && delay == Duration::ZERO && self.last_due <= context.now {
            return Verdict::Passed;
        }
        let due = context.now.saturating_add(delay).max(self.last_due);
        self.last_due = due;
        let ticket = context.agenda.ticket();
        context.slab[slot].at = due;
        context.slab[slot].ticket = ticket;
        self.under_way.push_back(slot, context.slab);
        if idle {
            context.agenda.schedule_in_place(due, ticket, Target::Line(context.element));
        }
        Verdict::Held
    }

    /// No later packet leaves before `instant`: others, outside the line, are under way until then.
    pub(crate) fn not_before(&mut self, instant: Instant) {
        self.last_due = self.last_due.max(instant);
    }

    /// When the head is due, and its place among events at that instant.
    pub(crate) fn next(&self, slab: &Slab) -> Option<(Instant, Ticket)> {
        self.under_way.front().map(|head| (slab[head].at, slab[head].ticket))
    }

    /// The head is due.
    pub(crate) fn wake(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        let slot = self.under_way.pop_front(context.slab)?;
        if let Some(head) = self.under_way.front() {
            let head = &context.slab[head];
            context.agenda.schedule_in_place(head.at, head.ticket, Target::Line(context.element));
        }
        Some((slot, Verdict::Passed))
    }
}

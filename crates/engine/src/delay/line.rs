//! Delay line: packets in flight, in the order in which they entered. Shared by links and by delays that preserve the
//! order.
//!
//! A packet never overtakes another: if a later one would be due earlier (the delay became shorter), it is due with
//! the one before it. Only the head is in the agenda.

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

    /// Adds a packet; without a delay and with nothing before it, it has passed at once.
    pub(crate) fn enter(&mut self, slot: SlotId, delay: Duration, context: &mut Context<'_>) -> Verdict {
        if self.is_passed_at_once(delay, context.shared.now) {
            return Verdict::Passed;
        }
        let idle = self.under_way.is_empty();
        self.join(slot, self.due(context.shared.now, delay), context);
        if idle {
            self.await_head(context);
        }
        Verdict::Held
    }

    /// Whether a packet that arrives now would pass now.
    pub(crate) fn is_passed_at_once(&self, delay: Duration, now: Instant) -> bool {
        self.under_way.is_empty() && delay == Duration::ZERO && self.last_due <= now
    }

    /// When a packet that enters at `at` is due.
    pub(crate) fn due(&self, at: Instant, delay: Duration) -> Instant {
        at.saturating_add(delay).max(self.last_due)
    }

    /// Adds a packet to those in flight, due at [`Line::due`]. A caller that uses this instead of `enter` schedules
    /// its own event.
    #[inline]
    pub(crate) fn join(&mut self, slot: SlotId, due: Instant, context: &mut Context<'_>) {
        self.last_due = due;
        let joins = &mut context.shared.slab[slot];
        joins.at = due;
        joins.ticket = context.shared.agenda.ticket();
        self.under_way.push_back(slot, &mut context.shared.slab);
    }

    /// No later packet leaves before `instant`, because packets outside the line are in flight until then.
    pub(crate) fn not_before(&mut self, instant: Instant) {
        self.last_due = self.last_due.max(instant);
    }

    /// When the head is due, and its position in the order of arrival.
    pub(crate) fn next(&self, slab: &Slab) -> Option<(Instant, Ticket)> {
        self.under_way.front().map(|head| (slab[head].at, slab[head].ticket))
    }

    /// The head is due.
    pub(crate) fn wake(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        let slot = self.leave(&context.shared.slab)?;
        self.await_head(context);
        Some(slot)
    }

    /// Takes the head.
    pub(crate) fn leave(&mut self, slab: &Slab) -> Option<SlotId> {
        self.under_way.pop_front(slab)
    }

    fn await_head(&self, context: &mut Context<'_>) {
        if let Some((due, _)) = self.next(&context.shared.slab) {
            context.shared.agenda.schedule(due, Target::Line(context.element));
        }
    }
}

//! Monitors that watch other elements: the queue of one, the drops of several.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Engine;
use crate::element::{ElementId, Verdict};
use crate::label::LabelSets;
use crate::monitor::Monitor;
use crate::packet::Class;
use crate::slab::SlotId;
use crate::units::{Duration, Instant};
use crate::watch::Watch;

impl Engine {
    /// Makes a monitor measure the queue of one element and count the drops of others, from `at` on, instead of those
    /// that it watched before.
    ///
    /// # Panics
    /// When `monitor` is not a monitor, or `queue` has no queue ([`Engine::has_queue`]).
    pub fn watch(&mut self, at: Instant, monitor: ElementId, queue: Option<ElementId>, drops: &[ElementId]) {
        self.advance(at);
        assert!(self.elements[monitor.index()].element.monitor().is_some(), "only a monitor can watch");
        assert!(queue.is_none_or(|queue| self.has_queue(queue)), "the watched element has a queue");
        let before = self.watches.remove(&monitor).unwrap_or_default();
        for element in &before {
            if let Some(watch) = &mut self.elements[element.index()].watch {
                watch.forget(monitor);
            }
        }
        for &element in drops {
            self.watch_of(element).drops.push(monitor);
        }
        if let Some(queue) = queue {
            self.watch_of(queue).queue.push(monitor);
            self.announce_queue(queue);
        }
        for id in before {
            if self.elements[id.index()].watch.take_if(|watch| watch.is_idle()).is_some() {
                self.with_element(id, |element, context| element.set_watched(false, context));
            }
        }
        let watched: Vec<ElementId> = drops.iter().copied().chain(queue).collect();
        if !watched.is_empty() {
            self.watches.insert(monitor, watched);
        }
    }

    pub(super) fn watch_of(&mut self, id: ElementId) -> &mut Watch {
        self.with_element(id, |element, context| element.set_watched(true, context));
        let station = &mut self.elements[id.index()];
        let serving = station.element.serving();
        station.watch.get_or_insert_with(|| Box::new(Watch { serving, ..Watch::default() }))
    }

    /// Whether packets wait in an element, so that a monitor can measure its queue.
    pub fn has_queue(&self, id: ElementId) -> bool {
        self.elements[id.index()].element.has_queue()
    }

    /// After a packet has reached a watched element: reports whether it or the packet on the transmitter waited, and
    /// whether it crosses at once.
    pub(super) fn observe_arrival(&mut self, id: ElementId, slot: SlotId, verdict: Verdict) {
        let element = &self.elements[id.index()].element;
        let now = self.shared.now;
        let wait = match verdict {
            Verdict::Held if element.line_is_queue() => Some(self.shared.slab[slot].at - now),
            Verdict::Held => (!element.waits()).then_some(Duration::ZERO),
            Verdict::Dropped(_) => None,
            _ => Some(Duration::ZERO),
        };
        if let Some(wait) = wait {
            self.announce_wait(id, slot, wait);
        }
        self.observe_transmitter(id);
        self.announce_queue(id);
        if self.is_cut(id) {
            self.hand_out(id);
        }
    }

    /// After a watched shaper was woken: reports whose wait has ended.
    pub(super) fn observe_shaper(&mut self, id: ElementId, served: Option<(SlotId, Verdict)>) {
        if let Some((slot, Verdict::Passed)) = served {
            let wait = self.shared.now - self.shared.slab[slot].at;
            self.announce_wait(id, slot, wait);
        }
        self.announce_queue(id);
    }

    /// A packet that has just reached the transmitter has waited until now.
    pub(super) fn observe_transmitter(&mut self, id: ElementId) {
        let station = &mut self.elements[id.index()];
        let serving = station.element.serving();
        let Some(watch) = &mut station.watch else { return };
        if watch.serving == serving {
            return;
        }
        watch.serving = serving;
        if let Some(slot) = serving {
            let wait = self.shared.now - self.shared.slab[slot].at;
            self.announce_wait(id, slot, wait);
        }
    }

    fn announce_wait(&mut self, id: ElementId, slot: SlotId, wait: Duration) {
        let (packet, now) = (self.shared.slab[slot].packet, self.shared.now);
        self.report(id, |watch| &watch.queue, |monitor, labels| monitor.waited(&packet, labels, wait, now));
    }

    pub(super) fn announce_queue(&mut self, id: ElementId) {
        if self.elements[id.index()].watch.is_some() {
            // The element has caught up: watched elements report each departure.
            let element = &self.elements[id.index()].element;
            let bytes = element.queued_bytes(Class::Real) + element.queued_bytes(Class::Ghost);
            let now = self.shared.now;
            self.report(id, |watch| &watch.queue, |monitor, _| monitor.queued(bytes, now));
        }
    }

    /// Reports to the monitors that watch an element.
    pub(super) fn report(
        &mut self,
        id: ElementId,
        whom: fn(&Watch) -> &Vec<ElementId>,
        what: impl Fn(&mut Monitor, &LabelSets),
    ) {
        let Some(watch) = self.elements[id.index()].watch.take() else { return };
        for monitor in whom(&watch) {
            if let Some(monitor) = self.elements[monitor.index()].element.monitor_mut() {
                what(monitor, &self.shared.labels);
            }
        }
        self.elements[id.index()].watch = Some(watch);
    }
}

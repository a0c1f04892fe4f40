//! The border of a domain: packets that leave for another packet thread, and packets that arrive from one.
//!
//! A packet crosses with its frame. The frame is copied out of its slot at the first crossing; later packets of the
//! same train share the copy. In the next domain the frame is a train with a key of its own while packets of it are
//! there.

use std::sync::Arc;

use crosswind_engine::{Class, Crossing, Instant, LabelSet, Packet};
use crosswind_fabric::{Crosses, Frame};
use crosswind_recording::{Decision, Record};

use super::{bytes_of, Forwarder};
use crosswind_tunnel::{Message, Passage};

use crate::crossings::{Crossings, Under};
use crate::port::Port;
use crate::trains::Buffer;

impl<P: Port> Forwarder<P> {
    /// Sends crossing items to other domains. Call it after all outcomes of the engine have been processed: a
    /// duplicate is entered before its original crosses.
    #[inline]
    pub fn send_crossings(&mut self) {
        if let Some(crossings) = self.crossings.take() {
            self.crossings = Some(self.send_all(crossings));
        }
    }

    #[inline(never)]
    fn send_all(&mut self, mut crossings: Box<Crossings>) -> Box<Crossings> {
        while let Some((to, crosses)) = self.network.next_out() {
            self.record_out(&crosses);
            let passage = match &crosses {
                Crosses::Packet(crossing) if crossing.packet.class == Class::Real => {
                    Some(self.cross(&crossing.packet, crossings.domain()))
                }
                _ => None,
            };
            crossings.send(to, crosses, passage);
        }
        crossings.wake();
        crossings
    }

    #[inline]
    fn record_out(&mut self, crosses: &Crosses) {
        if let (Some(recorder), Crosses::Packet(crossing)) = (&mut self.recorder, crosses) {
            Decision::crossed(crossing).into_iter().for_each(|it| recorder.write(&Record::Decided(it)));
        }
    }

    /// Records what the engine has decided and nobody has asked for, because the network ends now.
    pub fn record_rest(&mut self) {
        while let Some(outcome) = self.network.engine().pop() {
            self.record(|| Record::Decided(Decision::of(&outcome)));
        }
        while let Some((_, crosses)) = self.network.next_out() {
            self.record_out(&crosses);
        }
    }

    /// Records what the engine takes in next. Labels are left out: a replay knows a packet's sender, and the others
    /// only select packets for monitors.
    #[inline]
    fn record_in(&mut self, from: usize, crosses: &Crosses, nodes: Option<(usize, usize)>) {
        let Some(recorder) = &mut self.recorder else { return };
        let at_ns = self.network.engine_ref().now().as_nanos();
        match crosses {
            Crosses::Way(onward, elements) => {
                recorder.write(&Record::Way { at_ns, from, onward: *onward, elements: elements.clone() });
            }
            Crosses::Labels(..) => {}
            Crosses::Packet(crossing) => {
                let packet = crossing.packet.with_labels(LabelSet::NONE);
                let crossing = Crossing { packet, ..*crossing };
                recorder.write(&Record::Came { at_ns, from, crossing, nodes });
            }
        }
    }

    /// A packet has left for another domain; returns its frame.
    fn cross(&mut self, packet: &Packet, domain: usize) -> Arc<Passage> {
        let key = Frame::key_of(packet.tag);
        let passage = self.passage(key, domain);
        self.trains.get(key).inside -= 1;
        self.remove_if_done(key);
        passage
    }

    fn passage(&mut self, key: u32, domain: usize) -> Arc<Passage> {
        let entry = self.trains.get(key);
        if let Buffer::Shared(passage) = &entry.buffer {
            return Arc::clone(passage);
        }
        let place = entry.from;
        let mut bytes: Box<[u8]> = bytes_of(self.ports.get(place), entry).into();
        // The receiver's address, as the train says: another machine reads the train from these bytes.
        bytes[..6].copy_from_slice(&entry.train.headers.destination);
        let passage = Arc::new(Passage {
            name: (domain, entry.number),
            train: entry.train,
            bytes,
            from: self.nodes.number(place),
            to: self.nodes.number(entry.to),
        });
        let buffer = Buffer::Shared(Arc::clone(&passage));
        if let Some(slot) = self.trains.exchange(key, buffer) {
            self.release(place, slot);
        }
        passage
    }

    /// Exchanges datagrams with other machines; returns whether there are any.
    #[inline]
    pub fn exchange(&mut self) -> bool {
        self.crossings.as_mut().is_some_and(|crossings| crossings.exchange())
    }

    /// Receives items from other domains; returns the number of the application's packets among them. Call it before
    /// the engine processes what is due now.
    pub fn take_in_crossings(&mut self) -> usize {
        let Some(mut crossings) = self.crossings.take() else { return 0 };
        let mut real = 0;
        while let Some(message) = crossings.next() {
            if !self.network.knows(&message.crosses) {
                crossings.store(message);
                break;
            }
            real += usize::from(message.is_real());
            self.take_in_message(message);
        }
        self.crossings = Some(crossings);
        real
    }

    /// Whether an item from another domain needs a plan that has not arrived here yet.
    pub fn waits_for_a_plan(&self) -> bool {
        self.crossings.as_ref().is_some_and(|crossings| crossings.has_stored())
    }

    fn take_in_message(&mut self, message: Message) {
        let Message { from, mut crosses, passage } = message;
        let (mut due, mut nodes) = (Instant::ZERO, None);
        if let Crosses::Packet(crossing) = &mut crosses {
            due = crossing.due;
            if due <= self.network.engine_ref().now() {
                // It is late. What else is due now comes before it, in a replay as here.
                self.network.engine().advance(due);
            }
            if let Some(passage) = passage {
                let key = self.arrive(&passage, &crossing.packet);
                crossing.packet.tag = Frame::renamed(crossing.packet.tag, key);
                nodes = Some((passage.from, passage.to));
            }
        }
        self.record_in(from, &crosses, nodes);
        if let Some(used) = self.network.take_in(from, crosses).filter(|&used| used > due) {
            self.ledger.came_late(due.as_nanos(), used.as_nanos());
        }
    }

    /// A packet of a frame arrives; returns the frame's key in this domain.
    fn arrive(&mut self, passage: &Arc<Passage>, packet: &Packet) -> u32 {
        let place = self.nodes.place(passage.to);
        if place < self.ports.len() {
            self.latest_receiver = place;
        }
        // Acknowledgements show what the other direction waited for; the one in the first packet of a train counts.
        if Frame::index_of(packet.tag).is_none_or(|index| index == 0) {
            self.records.came(packet.entered.as_nanos(), &passage.train);
        }
        self.trains.come(passage, (self.nodes.place(passage.from), place))
    }

    /// Packets between domains: when the window started, and now.
    pub fn under_way(&self) -> [Under; 2] {
        let totals = self.network.engine_ref().totals();
        self.crossings.as_ref().map_or_else(Default::default, |crossings| crossings.under_way(&totals))
    }
}

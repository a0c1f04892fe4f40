//! Handing over: chooses the frame to send next, assembles its bytes, and records the result after the kernel was
//! called.
//!
//! Usually nothing else is due when the run of a train is complete. Then it is handed over in place, without a move.
//! Only a run that must wait behind others or for its receiver goes into a queue ([`crate::handovers`]).

use std::io;

use crosswind_engine::wire_bytes;
use crosswind_wire::{Cut, Scratch, Train};

use super::{bytes_of, Forwarder};
use crate::handovers::Handover;
use crate::ledger::Ledger;
use crate::port::Port;
use crate::trains::{InTransit, Run};

/// A frame that its receiver cannot take for this long is lost.
pub(super) const SEND_PATIENCE_NS: u64 = 2_000_000;

/// A frame to send: at `ask_ns` or later.
#[derive(Debug)]
pub struct Handing<'a, P> {
    /// Port of its receiver.
    pub port: &'a mut P,
    /// The frame.
    pub cut: Cut<'a>,
    /// When to call the kernel; at most [`Forwarder::ahead_ns`] away.
    pub ask_ns: u64,
    /// Whether to measure how long the kernel takes.
    pub watched: bool,
}

/// The frame that is being handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InHand {
    /// The run of this train, which is complete.
    Whole(u32),
    /// The queues' current run.
    Queued,
}

impl<P: Port> Forwarder<P> {
    /// Starts a round, in which receivers that could not take a frame are tried again.
    pub fn start_round(&mut self) {
        self.handovers.start_round();
    }

    /// Whether a frame waits for a receiver that could not take it.
    pub fn waits_for_a_receiver(&self) -> bool {
        self.handovers.are_refused()
    }

    /// The next frame to send of those that have left the engine up to `now`. Call [`Forwarder::handed_over`] before
    /// the next call.
    #[inline]
    pub fn next(&mut self, now: u64) -> Option<Handing<'_, P>> {
        while self.in_hand.is_none() {
            if !self.handovers.is_empty() && self.handovers.next(now) {
                self.in_hand = Some(InHand::Queued);
                break;
            }
            self.process_outcomes(now);
            if !self.is_something_due() && !self.close_a_run(now) {
                return None;
            }
        }
        let (entry, to, run, dues_ns) = match self.in_hand? {
            InHand::Whole(key) => {
                let entry = self.trains.get(key);
                (&*entry, entry.to, entry.run.as_ref()?, &entry.dues_ns)
            }
            InHand::Queued => {
                let Handover { key, to, run, dues_ns, .. } = &*self.handovers.tried();
                (&*self.trains.get(*key), *to, run, dues_ns)
            }
        };
        // The receiver's port is borrowed for sending while the sender's still holds the frame.
        let (source, port) = sender_and_receiver(&mut self.ports, entry.from, to);
        let cut = self.workspace.cut(source, entry, run);
        let due_ns = dues_ns.last().map_or(0, |&(due_ns, _)| due_ns);
        let watched = self.lead.watches(cut.headers.len() + cut.rest.len(), due_ns);
        Some(Handing { port, cut, ask_ns: due_ns.saturating_sub(self.lead.ns()), watched })
    }

    /// Reports that the kernel was called to send the latest frame, with the kernel's answer: the time that it took,
    /// if measured.
    #[inline]
    pub fn handed_over(&mut self, asked_ns: u64, sent: io::Result<Option<u64>>) {
        let in_hand = self.in_hand.take().expect("a frame was taken");
        if sent.as_ref().is_err_and(is_passing) && self.has_patience(in_hand, asked_ns) {
            return;
        }
        // The frame cannot have reached its receiver before this instant.
        let left_ns = asked_ns + self.lead.ns();
        let has_arrived = sent.is_ok();
        let (key, run) = match in_hand {
            InHand::Whole(key) => {
                let entry = self.trains.get(key);
                let run = entry.run.take().expect("the run is complete");
                if has_arrived {
                    let wire_bytes = wire_bytes(entry.train.ip_bytes(run.first));
                    enter(&mut self.ledger, &entry.dues_ns, left_ns, wire_bytes, self.receive_bps[entry.to]);
                }
                entry.dues_ns.clear();
                (key, run)
            }
            InHand::Queued => {
                let Handover { key, to, run, dues_ns, .. } = self.handovers.take();
                let entry = self.trains.get(key);
                entry.handovers -= 1;
                if has_arrived {
                    let wire_bytes = wire_bytes(entry.train.ip_bytes(run.first));
                    enter(&mut self.ledger, &dues_ns, left_ns, wire_bytes, self.receive_bps[to]);
                }
                self.trains.give_back_dues(dues_ns);
                (key, run)
            }
        };
        let packets = u64::from(run.last - run.first + 1);
        self.passed.held_back -= packets;
        if let Ok(way_ns) = sent {
            if let Some(way_ns) = way_ns {
                self.lead.watched(asked_ns, way_ns);
            }
            self.passed.out += packets;
            self.capture_arrived(key, &run, left_ns);
        } else {
            self.failed(key, &run, left_ns);
        }
        self.remove_if_done(key);
    }

    /// Called when the receiver could not take the frame; false if it has waited too long. Otherwise it is tried again
    /// in the next round.
    #[cold]
    fn has_patience(&mut self, in_hand: InHand, asked_ns: u64) -> bool {
        match in_hand {
            InHand::Whole(key) => {
                let handover = self.trains.take_run(key);
                self.handovers.push(Handover { waits_since_ns: Some(asked_ns), ..handover });
                self.handovers.next(asked_ns);
            }
            InHand::Queued => {
                let since_ns = *self.handovers.tried().waits_since_ns.get_or_insert(asked_ns);
                if asked_ns >= since_ns + SEND_PATIENCE_NS {
                    return false;
                }
            }
        }
        self.send_retries += 1;
        self.handovers.refuse();
        true
    }

    #[inline]
    fn capture_arrived(&mut self, key: u32, run: &Run, left_ns: u64) {
        let Some(capture) = &mut self.capture else { return };
        let entry = self.trains.get(key);
        let (source, node) = (self.ports.get(entry.from), self.nodes.number(entry.to));
        if run.first == run.last {
            let cut = self.workspace.cut(source, entry, run);
            capture.left_as(left_ns, node, [cut.headers, cut.rest]);
        } else {
            let marks = (run.dscp, run.ecn.bits());
            let frame = bytes_of(source, entry);
            capture.left(left_ns, node, &entry.train, frame, run.first..=run.last, marks);
        }
    }

    fn failed(&mut self, key: u32, run: &Run, left_ns: u64) {
        let train = self.trains.get(key).train;
        self.lose(left_ns, &train, run.first, run.last, "send-failed");
        if let Some(capture) = &mut self.capture {
            let entry = self.trains.get(key);
            let frame = bytes_of(self.ports.get(entry.from), entry);
            let why = format_args!("emulator send-failed");
            let node = self.nodes.number(entry.from);
            capture.dropped(left_ns, node, &train, frame, run.first..=run.last, why);
        }
    }

    pub(super) fn is_something_due(&self) -> bool {
        self.in_hand.is_some() || self.handovers.are_due()
    }

    /// The run of a train is complete, no other packet of the train is inside, and none will leave before this one is
    /// handed over.
    #[inline]
    pub(super) fn hand_over(&mut self, key: u32) {
        if self.in_hand.is_none() && self.handovers.is_empty() {
            self.in_hand = Some(InHand::Whole(key));
        } else {
            self.queue(key);
        }
    }

    /// The run of a train is complete, and the next run of the same train starts at once.
    pub(super) fn queue(&mut self, key: u32) {
        let handover = self.trains.take_run(key);
        self.handovers.push(handover);
    }
}

/// Buffers for changed headers and damaged packets.
#[derive(Debug)]
pub(super) struct Workspace {
    scratch: Scratch,
    damaged: Vec<u8>,
}

impl Workspace {
    pub(super) fn new() -> Self {
        Self { scratch: Train::scratch(), damaged: Vec::new() }
    }

    /// Assembles a run for its receiver; `source` is the port of its sender, if that is in this domain.
    #[inline(always)]
    fn cut<'a, P: Port>(
        &'a mut self,
        source: Option<&'a P>,
        entry: &'a InTransit<P::Slot>,
        run: &Run,
    ) -> Cut<'a> {
        let InTransit { train, .. } = entry;
        let frame = bytes_of(source, entry);
        let cut = train.cut(frame, run.first, run.last, run.dscp, run.ecn.bits(), &mut self.scratch);
        match run.damage {
            Some(damage) => train.damage(&cut, |bits| damage.bit(bits), &mut self.damaged),
            None => cut,
        }
    }
}

/// Enters the packets of a run into the ledger; the wire size of the first gives its serialisation time on a link of
/// `receive_bps`.
#[inline(always)]
fn enter(
    ledger: &mut Ledger,
    dues_ns: &[(u64, u32)],
    left_ns: u64,
    wire_bytes: u32,
    receive_bps: Option<u64>,
) {
    let serialisation_ns = || receive_bps.map_or(0, |bps| 8 * u64::from(wire_bytes) * 1_000_000_000 / bps);
    for &(due_ns, packets) in dues_ns {
        ledger.enter(due_ns, left_ns, packets.into(), serialisation_ns);
    }
}

/// Whether the error is temporary: the kernel has room again when the receiver reads.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
        || error.raw_os_error() == Some(libc::ENOBUFS)
}

/// The ports of two different nodes by place; the first may have no port here.
fn sender_and_receiver<P>(ports: &mut [P], sender: usize, receiver: usize) -> (Option<&P>, &mut P) {
    if sender < receiver {
        let (left, right) = ports.split_at_mut(receiver);
        (Some(&left[sender]), &mut right[0])
    } else {
        let (left, right) = ports.split_at_mut(sender.min(ports.len()));
        (right.first(), &mut left[receiver])
    }
}

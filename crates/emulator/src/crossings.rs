//! Between packet threads: what crosses from one domain to another, and the frames that these packets belong to.
//!
//! Every thread has one channel, to which all others send. What one thread sends to another arrives in that order. A receiver is woken as
//! for a command: a spinning thread sees a flag, a sleeping one an event ([`crate::waker`]). Nothing is lost, and nobody waits: a packet is
//! due in the other domain at least the delay of the cut link after it was sent, which is [`LEAST_CUT_NS`] or more.

use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;

use crosswind_engine::{Class, Totals};
use crosswind_fabric::{Crosses, Domains};
use crosswind_wire::Train;

use crate::commands::Inbox;
use crate::waker::Waker;

/// A link with a shorter delay is not cut: a thread that has to be woken needs 25 us, and often twice that, and what crosses must be there
/// before it is due.
pub const LEAST_CUT_NS: u64 = 100_000;

/// A frame of which packets cross.
#[derive(Debug)]
pub struct Passage {
    /// The domain in which it entered, and how many had entered there before it.
    pub name: (usize, u64),
    /// Its wire packets.
    pub train: Train,
    /// Its bytes.
    pub bytes: Box<[u8]>,
    /// The sending node, by the fabric's number.
    pub from: usize,
    /// The receiving node, likewise.
    pub to: usize,
}

/// What one thread sends to another.
#[derive(Debug)]
pub struct Message {
    /// The domain that it comes from.
    pub from: usize,
    /// What crosses.
    pub crosses: Crosses,
    /// The frame of a real packet.
    pub passage: Option<Arc<Passage>>,
}

#[derive(Debug)]
struct Neighbour {
    sender: Sender<Message>,
    waker: Waker,
    /// Something was sent since it was woken last.
    waits: bool,
}

/// Packets that have left for other domains, less those that have come: below 0 where more have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Under {
    pub real: i64,
    pub ghost: i64,
}

impl Under {
    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self { real: self.real + other.real, ghost: self.ghost + other.ghost }
    }

    fn of(totals: &Totals) -> Self {
        Self {
            real: totals.real.went as i64 - totals.real.came as i64,
            ghost: totals.ghost.went as i64 - totals.ghost.came as i64,
        }
    }
}

/// The border of one domain, as its thread has it.
#[derive(Debug)]
pub struct Crossings {
    domain: usize,
    neighbours: Vec<Neighbour>,
    inbox: Receiver<Message>,
    /// One that has come before the plan that it needs.
    early: Option<Message>,
    shortest_cut_ns: u64,
    before: Under,
}

impl Crossings {
    /// One for each domain, whose threads have these inboxes.
    pub fn between(domains: &Domains, inboxes: &[Inbox]) -> Vec<Self> {
        let shortest_cut_ns = domains.shortest_cut().map_or(u64::MAX, |cut| cut.delay_ns);
        let (senders, receivers): (Vec<_>, Vec<_>) = inboxes.iter().map(|_| channel()).unzip();
        let neighbours = || {
            let all = senders.iter().zip(inboxes);
            all.map(|(sender, inbox)| Neighbour {
                sender: sender.clone(),
                waker: inbox.waker(),
                waits: false,
            })
            .collect()
        };
        let of = |(domain, inbox)| Self {
            domain,
            neighbours: neighbours(),
            inbox,
            early: None,
            shortest_cut_ns,
            before: Under::default(),
        };
        receivers.into_iter().enumerate().map(of).collect()
    }

    /// Which domain this is.
    pub fn domain(&self) -> usize {
        self.domain
    }

    /// The least delay at a cut.
    pub fn shortest_cut_ns(&self) -> u64 {
        self.shortest_cut_ns
    }

    /// Sends something to another domain, which is woken by [`Crossings::wake`].
    pub fn send(&mut self, to: usize, crosses: Crosses, passage: Option<Arc<Passage>>) {
        let neighbour = &mut self.neighbours[to];
        neighbour.waits = true;
        // A thread that has died takes nothing more, and was reported.
        let _ = neighbour.sender.send(Message { from: self.domain, crosses, passage });
    }

    /// Wakes every domain to which something was sent.
    pub fn wake(&mut self) {
        for neighbour in &mut self.neighbours {
            if std::mem::take(&mut neighbour.waits) {
                neighbour.waker.wake();
            }
        }
    }

    /// The next thing that has come.
    pub fn next(&mut self) -> Option<Message> {
        self.early.take().or_else(|| self.inbox.try_recv().ok())
    }

    /// Keeps a message that needs a plan which has not come here yet; it is the next again, and what came after it waits.
    pub fn keep(&mut self, early: Message) {
        self.early = Some(early);
    }

    /// Whether a message is kept.
    pub fn keeps(&self) -> bool {
        self.early.is_some()
    }

    /// A window starts; `totals` are those of the one before.
    pub fn start_window(&mut self, totals: &Totals) {
        self.before = self.before.and(Under::of(totals));
    }

    /// What was under way when the window started, and is now, as far as this domain knows.
    pub fn under_way(&self, totals: &Totals) -> [Under; 2] {
        [self.before, self.before.and(Under::of(totals))]
    }
}

impl Message {
    /// Whether it is a packet of the application.
    pub fn is_real(&self) -> bool {
        matches!(&self.crosses, Crosses::Packet(crossing) if crossing.packet.class == Class::Real)
    }
}

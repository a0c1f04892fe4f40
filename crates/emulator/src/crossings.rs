//! Messages between packet threads: packets that cross from one domain to another, and the frames that they belong to.
//!
//! Every thread has one channel, into which all others send. Messages from one thread to another arrive in order. A
//! receiver is woken as for a command: a spinning thread sees a flag, a sleeping one an event ([`crate::waker`]).
//! Nothing is lost and no thread waits: a packet is due in the other domain at least the delay of the cut link after
//! it was sent, which is [`LEAST_CUT_NS`] or more.

use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;

use crosswind_engine::{Class, Totals};
use crosswind_fabric::{Crosses, Domains};
use crosswind_wire::Train;

use crate::commands::Inbox;
use crate::waker::Waker;

/// A link with a shorter delay is not cut. Waking a thread takes 25 us and often twice that, and a packet must arrive
/// before it is due.
pub const LEAST_CUT_NS: u64 = 100_000;

/// A frame whose packets cross.
#[derive(Debug)]
pub struct Passage {
    /// The domain in which it entered, and the number of frames that had entered there before.
    pub name: (usize, u64),
    /// Its wire packets.
    pub train: Train,
    /// Its bytes.
    pub bytes: Box<[u8]>,
    /// The sending node, by the fabric's number.
    pub from: usize,
    /// The receiving node, by the fabric's number.
    pub to: usize,
}

/// A message from one thread to another.
#[derive(Debug)]
pub struct Message {
    /// The domain that it comes from.
    pub from: usize,
    /// The item that crosses.
    pub crosses: Crosses,
    /// The frame of a real packet.
    pub passage: Option<Arc<Passage>>,
}

#[derive(Debug)]
struct Neighbour {
    sender: Sender<Message>,
    waker: Waker,
    /// Messages were sent since its last wake-up.
    waits: bool,
}

/// Packets that have left for other domains minus packets that have arrived; negative where more have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Under {
    pub real: i64,
    pub ghost: i64,
}

impl Under {
    /// The sum of both.
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

/// The border of one domain, owned by its thread.
#[derive(Debug)]
pub struct Crossings {
    domain: usize,
    neighbours: Vec<Neighbour>,
    inbox: Receiver<Message>,
    /// A message that arrived before the plan that it needs.
    early: Option<Message>,
    shortest_cut_ns: u64,
    before: Under,
}

impl Crossings {
    /// One for each domain; the inboxes are those of the domains' threads.
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

    /// The number of this domain.
    pub fn domain(&self) -> usize {
        self.domain
    }

    /// The smallest delay of a cut.
    pub fn shortest_cut_ns(&self) -> u64 {
        self.shortest_cut_ns
    }

    /// Sends an item to another domain, which [`Crossings::wake`] wakes.
    pub fn send(&mut self, to: usize, crosses: Crosses, passage: Option<Arc<Passage>>) {
        let neighbour = &mut self.neighbours[to];
        neighbour.waits = true;
        // A thread that has died receives nothing; its death was reported.
        let _ = neighbour.sender.send(Message { from: self.domain, crosses, passage });
    }

    /// Wakes every domain that has been sent something.
    pub fn wake(&mut self) {
        for neighbour in &mut self.neighbours {
            if std::mem::take(&mut neighbour.waits) {
                neighbour.waker.wake();
            }
        }
    }

    /// The next message that has arrived.
    pub fn next(&mut self) -> Option<Message> {
        self.early.take().or_else(|| self.inbox.try_recv().ok())
    }

    /// Stores a message that needs a plan which has not arrived here yet. It is returned first by the next call;
    /// messages after it wait.
    pub fn store(&mut self, early: Message) {
        self.early = Some(early);
    }

    /// Whether a message is stored.
    pub fn has_stored(&self) -> bool {
        self.early.is_some()
    }

    /// Starts a window; `totals` are those of the window before.
    pub fn start_window(&mut self, totals: &Totals) {
        self.before = self.before.and(Under::of(totals));
    }

    /// Packets between domains at the start of the window, and now, as far as this domain knows.
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

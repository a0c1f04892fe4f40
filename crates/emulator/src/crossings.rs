//! Messages between domains: packets that cross from one to another, and the frames that they belong to.
//!
//! Where the other domains are threads of this machine, every thread has one channel, into which all others send.
//! Messages from one thread to another arrive in order. A receiver is woken as for a command: a spinning thread sees a
//! flag, a sleeping one an event ([`crate::waker`]). Nothing is lost and no thread waits: a packet is due in the other
//! domain at least the delay of the cut link after it was sent, which is [`LEAST_CUT_NS`] or more.
//!
//! Where they are on other machines, messages pass a [`Tunnel`]. Its clock is the kernel's, whatever the thread's is.

use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;

use crosswind_engine::Totals;
use crosswind_fabric::{Crosses, Domains};
use crosswind_tunnel::{Message, Passage, Tunnel};
use serde::Serialize;

use crate::clock::{Clock, MachineClock};
use crate::commands::Inbox;
use crate::waker::Waker;

/// A link with a shorter delay is not cut. Waking a thread takes 25 us and often twice that, and a packet must arrive
/// before it is due.
pub const LEAST_CUT_NS: u64 = 100_000;

#[derive(Debug)]
struct Neighbour {
    sender: Sender<Message>,
    waker: Waker,
    /// Messages were sent since its last wake-up.
    waits: bool,
}

/// Packets that have left for other domains minus packets that have arrived; negative where more have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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

/// Where the other domains are.
#[derive(Debug)]
enum Others {
    /// Threads of this machine.
    Threads { neighbours: Vec<Neighbour>, inbox: Receiver<Message> },
    /// Other machines.
    Machines(Box<Tunnel>),
}

/// The border of one domain, owned by its thread.
#[derive(Debug)]
pub struct Crossings {
    domain: usize,
    others: Others,
    /// A message that arrived before the plan that it needs.
    early: Option<Message>,
    shortest_cut_ns: u64,
    before: Under,
}

impl Crossings {
    /// One for each domain; the inboxes are those of the domains' threads.
    pub fn between(domains: &Domains, inboxes: &[Inbox]) -> Vec<Self> {
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
        let of =
            |(domain, inbox)| Self::new(domain, domains, Others::Threads { neighbours: neighbours(), inbox });
        receivers.into_iter().enumerate().map(of).collect()
    }

    /// For the domain of this machine; all others are on other machines.
    pub fn over(tunnel: Tunnel, domains: &Domains) -> Self {
        Self::new(tunnel.domain(), domains, Others::Machines(Box::new(tunnel)))
    }

    fn new(domain: usize, domains: &Domains, others: Others) -> Self {
        let shortest_cut_ns = domains.shortest_cut().map_or(u64::MAX, |cut| cut.delay_ns);
        Self { domain, others, early: None, shortest_cut_ns, before: Under::default() }
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
        match &mut self.others {
            Others::Threads { neighbours, .. } => {
                let neighbour = &mut neighbours[to];
                neighbour.waits = true;
                // A thread that has died receives nothing; its death was reported.
                let _ = neighbour.sender.send(Message { from: self.domain, crosses, passage });
            }
            Others::Machines(tunnel) => tunnel.send(to, &crosses, passage.as_ref()),
        }
    }

    /// Wakes every thread that has been sent something; to other machines, sends it.
    pub fn wake(&mut self) {
        match &mut self.others {
            Others::Threads { neighbours, .. } => {
                for neighbour in neighbours {
                    if std::mem::take(&mut neighbour.waits) {
                        neighbour.waker.wake();
                    }
                }
            }
            Others::Machines(tunnel) => tunnel.flush(|| MachineClock.monotonic_ns()),
        }
    }

    /// The next message that has arrived.
    pub fn next(&mut self) -> Option<Message> {
        let came = || match &mut self.others {
            Others::Threads { inbox, .. } => inbox.try_recv().ok(),
            Others::Machines(tunnel) => tunnel.next_message(),
        };
        self.early.take().or_else(came)
    }

    /// Reads what other machines have sent, and sends what is due; returns whether there are any.
    pub fn exchange(&mut self) -> bool {
        let Others::Machines(tunnel) = &mut self.others else { return false };
        tunnel.take_in(|| MachineClock.monotonic_ns());
        tunnel.flush(|| MachineClock.monotonic_ns());
        true
    }

    /// The tunnel to other machines, where they are.
    pub fn tunnel(&self) -> Option<&Tunnel> {
        match &self.others {
            Others::Threads { .. } => None,
            Others::Machines(tunnel) => Some(tunnel),
        }
    }

    /// The same, when the domain has ended.
    pub fn into_tunnel(self) -> Option<Tunnel> {
        match self.others {
            Others::Threads { .. } => None,
            Others::Machines(tunnel) => Some(*tunnel),
        }
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
        if let Others::Machines(tunnel) = &mut self.others {
            tunnel.start_window();
        }
        self.before = self.before.and(Under::of(totals));
    }

    /// Packets between domains at the start of the window, and now, as far as this domain knows.
    pub fn under_way(&self, totals: &Totals) -> [Under; 2] {
        [self.before, self.before.and(Under::of(totals))]
    }
}

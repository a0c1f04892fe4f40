//! Cellular link whose delay and capacity depend on what is sent. It replays two recordings of the same network: trains
//! of packets after a pause (light load), and a sender that never pauses (heavy load). One direction.
//!
//! `light`: rows in the order of their times, the first at 0. Each has a base delay and opportunities, which are times
//! after the first packet of a train. `heavy`: delivery opportunities at times; the list repeats after its last time.
//! `opportunity_bytes`: what one opportunity carries, in IP bytes. `idle`: how long nothing may have left the first
//! stage before a new train begins. `by_size_ns`: what is added to the delay of packets of 100, 200 and so on IP bytes,
//! negative for less; interpolated between two sizes, and that of the first or last size outside. `buffer_bytes`: what
//! can wait for heavy opportunities, in IP bytes; a packet that finds it full is lost (`queue-full`). The time of both
//! recordings begins with the first packet, and again with the first packet after counters are reset, where a
//! measurement starts.
//!
//! *First stage, light.* A packet begins a train if, after the base delay alone, it would leave more than `idle` after
//! the packet before it. It then takes the base delay of its instant, which is interpolated between two rows, and the
//! opportunities of the earlier row. Later packets of the train use the opportunities in turn. One that has passed when
//! a packet arrives is lost; a packet that does not fit the rest of one uses the next. The packet leaves the stage at
//! the start of the train plus the base delay plus the time of its opportunity. After the last opportunity, a packet
//! leaves it the base delay after its arrival, or the time of the last opportunity after it if that is later. What is
//! added by size comes last. No packet leaves the stage before an earlier one: an addition that would cause this is left
//! out, and a packet that would do so without it leaves with the one before it.
//!
//! *Second stage, heavy.* A packet that left the first stage with a light opportunity of its own, and finds no packet
//! here, has passed. All others wait for heavy opportunities, as in mm-link: an opportunity serves packets until its
//! bytes are used up, the rest is lost when nothing waits, and one at the instant of a packet's arrival is too early.
//!
//! So a single packet has the base delay, a short train the light opportunities, and a sender that goes on the heavy
//! ones.
//!
//! Source: Sentosa et al. 2025 (NSDI), "CellReplay", and its `mm-cellular`. As there: both stages, when a train begins,
//! and what each packet uses. Not as there: times are not rounded to whole milliseconds; a packet that is larger than an
//! opportunity takes as many as it needs (there it is an error); sizes are IP bytes (there 4 more); a packet that leaves
//! the first stage as the last one leaves the second does not wait; the recordings always repeat. How often trains were
//! sent, and of how many packets, are properties of the recording.

mod heavy;
mod light;
mod recordings;

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use serde_json::json;

use crate::agenda::Target;
use crate::describe::{page, parameters, Described, Manual, Parameter};
use crate::element::{Behaviour, Context, Verdict};
use crate::list::List;
use crate::packet::Class;
use crate::queue::{BufferSpec, ManagedQueue, Measure, Server};
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Duration, Instant, Limit, Rate};
use heavy::Heavy;
use light::Light;
pub use recordings::{HeavyRecording, LightRecording, LightRow};

parameters! {
    /// Replays a cellular link, whose delay and capacity depend on what is sent.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct CellReplaySpec {
        /// Base delays, and the opportunities of trains after a pause: a file of CellReplay.
        light: LightRecording = [Parameter::named("light", "light", "trains", LightRecording::sample)],
        /// Opportunities of a sender that never pauses: a trace of Mahimahi.
        heavy: HeavyRecording = [Parameter::named("heavy", "heavy", "opportunities", HeavyRecording::sample)],
        /// IP bytes that an opportunity carries; 1400B, the packets of CellReplay's recordings, when absent.
        opportunity_bytes: u64 = [Parameter::size("opportunity", "opportunity_bytes").or("1400B", 1400)],
        /// Pause after which a new train begins; none when absent.
        idle: Duration = [Parameter::time("idle", "idle_ns").or_zero().or("0s", 0)],
        /// What is added to the delay of packets of each size: a file of CellReplay; nothing when absent.
        by_size_ns: Option<Vec<i64>> = [
            Parameter::named("by_size", "by_size_ns", "size-offsets", |_| {
                vec![("by_size_ns", json!([-300, 0, 900]))]
            })
            .optional()
        ],
        /// IP bytes that may wait for heavy opportunities; unlimited when absent.
        buffer_bytes: Option<u64> = [Parameter::size("buffer", "buffer_bytes").optional()],
    }
}

impl Described for CellReplaySpec {
    const MANUAL: Manual = Manual::new("cellreplay", page!("mod.rs"));
}

impl CellReplaySpec {
    fn buffer(&self) -> BufferSpec {
        self.buffer_bytes.map_or(Limit::Unlimited, Limit::Bytes).into()
    }
}

pub(crate) struct CellReplay {
    light: Light,
    heavy: Heavy,
    /// Time 0 of both recordings.
    origin: Option<Instant>,
    /// Packets of the first stage, each with the instant at which it leaves it.
    delayed: List,
    /// Of each, whether it had a light opportunity of its own.
    had_own: VecDeque<bool>,
    /// Packets that wait for heavy opportunities.
    waiting: ManagedQueue,
    /// The one that has begun to leave, and its bytes that have not left.
    leaving: Option<(SlotId, u64)>,
    /// The next heavy opportunity for these packets: when, and how many bytes.
    next: Option<(Instant, u64)>,
    /// The rest of the present opportunity.
    granted: u64,
    /// When something happens next. A wake-up at any other instant is of no use any more.
    due: Option<Instant>,
    random: Stream,
}

impl Behaviour for CellReplay {
    type Spec = CellReplaySpec;

    fn new(spec: &CellReplaySpec, random: Stream) -> CellReplay {
        CellReplay {
            light: Light::new(spec),
            heavy: Heavy::new(spec.heavy.clone(), spec.opportunity_bytes),
            origin: None,
            delayed: List::new(),
            had_own: VecDeque::new(),
            waiting: ManagedQueue::new(spec.buffer(), Measure::IpBytes, Rate::Unlimited),
            leaving: None,
            next: None,
            granted: 0,
            due: None,
            random,
        }
    }

    /// Packets inside stay. Other recordings begin now, or with the next packet if there is none inside.
    fn reconfigure(&mut self, spec: &CellReplaySpec, context: &mut Context<'_>) {
        self.waiting.reconfigure(spec.buffer(), Rate::Unlimited);
        let light = Light::new(spec);
        let heavy = Heavy::new(spec.heavy.clone(), spec.opportunity_bytes);
        if self.light.is_like(&light) && self.heavy == heavy {
            return;
        }
        self.light.become_like(light);
        self.heavy = heavy;
        self.start_again(context.shared.now);
        self.schedule(context);
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        let now = context.shared.now;
        let elapsed = now - *self.origin.get_or_insert(now);
        let ip_bytes = u64::from(context.shared.slab[slot].packet.ip_bytes);
        let (due, has_own) = self.light.release(now, elapsed, ip_bytes);
        let enters = &mut context.shared.slab[slot];
        enters.at = due;
        enters.ticket = context.shared.agenda.ticket();
        self.delayed.push_back(slot, &mut context.shared.slab);
        self.had_own.push_back(has_own);
        self.schedule(context);
        Verdict::Held
    }

    fn wake_shaper(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        if self.due != Some(context.shared.now) {
            return None;
        }
        self.due = None;
        let decided = self.serve(context).or_else(|| self.move_on(context));
        self.schedule(context);
        decided
    }

    fn queued_bytes(&self, class: Class) -> u64 {
        self.waiting.queued_bytes(class)
    }

    fn reset(&mut self, now: Instant) {
        self.start_again(now);
    }
}

impl CellReplay {
    /// Both recordings begin again.
    fn start_again(&mut self, now: Instant) {
        let is_empty = self.delayed.is_empty() && !self.has_waiting();
        self.origin = (!is_empty).then_some(now);
        self.light.start_again();
        self.next = None;
        self.granted = 0;
    }

    fn has_waiting(&self) -> bool {
        self.leaving.is_some() || self.waiting.front().is_some()
    }

    /// The heavy opportunity of this instant serves the next packet; returns one whose last byte leaves.
    fn serve(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        if let Some((_, ip_bytes)) = self.next.take_if(|&mut (at, _)| at <= context.shared.now) {
            self.granted = ip_bytes;
        }
        while self.granted > 0 {
            let Some((slot, left)) = self.leaving.take().or_else(|| self.begin_next(context)) else {
                self.granted = 0;
                return None;
            };
            let leave = left.min(self.granted);
            self.granted -= leave;
            if leave == left {
                return Some((slot, Verdict::Passed));
            }
            self.leaving = Some((slot, left - leave));
        }
        None
    }

    /// The next packet that waits, and its bytes.
    fn begin_next(&mut self, context: &mut Context<'_>) -> Option<(SlotId, u64)> {
        let slot = self.waiting.take(context)?;
        Some((slot, u64::from(context.shared.slab[slot].packet.ip_bytes)))
    }

    /// The next packet leaves the first stage, if it is due; returns it unless it waits.
    fn move_on(&mut self, context: &mut Context<'_>) -> Option<(SlotId, Verdict)> {
        let first = self.delayed.front()?;
        if context.shared.slab[first].at > context.shared.now {
            return None;
        }
        self.delayed.pop_front(&context.shared.slab);
        let had_own = self.had_own.pop_front().unwrap_or(false);
        if had_own && !self.has_waiting() {
            return Some((first, Verdict::Passed));
        }
        match self.waiting.offer(first, Server::Busy, &mut self.random, context) {
            Ok(()) => None,
            Err(reason) => Some((first, Verdict::Dropped(reason))),
        }
    }

    fn schedule(&mut self, context: &mut Context<'_>) {
        let now = context.shared.now;
        if !self.has_waiting() {
            (self.next, self.granted) = (None, 0);
        } else if self.next.is_none() && self.granted == 0 {
            self.next = self.origin.map(|origin| self.heavy.after(origin, now));
        }
        let present = (self.granted > 0).then_some(now);
        let opportunity = self.next.map(|(at, _)| at);
        let delayed = self.delayed.front().map(|first| context.shared.slab[first].at.max(now));
        let due = [present, opportunity, delayed].into_iter().flatten().min();
        if let Some(due) = due.filter(|_| due != self.due) {
            context.shared.agenda.schedule(due, Target::Tokens(context.element));
        }
        self.due = due;
    }
}

//! The packet thread's loop: when to check, spin and sleep, and the commands in between.
//!
//! Waking from sleep costs about 25 us. For delays shorter than that the ingress stamp cannot compensate for it. So if
//! a core is available, the thread spins while there is traffic and sleeps when there has been none for a while
//! (`spin`). On a single core it sleeps until shortly before the next due instant (`sleep`). Ghost packets alone never
//! keep it awake: the engine catches up with them in virtual time.

use std::sync::mpsc::Sender;
use std::sync::Arc;

use crosswind_fabric::{Applied, Cuts, Places, Plan, Stepped, Timeline};
use crosswind_recording::Record;
use crosswind_tunnel::Tunnel;

use crate::clock::{self, Stamps};
use crate::commands::{Command, Done, Inbox};
use crate::forwarder::Forwarder;
use crate::host;
use crate::machine::{Account, Machine};
use crate::measurement::{Change, Host, Window, BY_HAND};
use crate::names::Names;
use crate::port::{Need, Port};
use crate::sending::send_due;
use crate::series::Series;
use crate::sleeper::Woken;
use crate::snapshot::{Forwarded, Snapshot};
use crate::stalls::Stalls;
use crate::waking::Waking;
use crate::watch::{Now, Watched};
use crate::Kept;

/// Spinning continues for this long after the last packet: the interval of requests of a closed loop is shorter.
const LINGER_NS: u64 = 20_000_000;
/// The engine catches up with ghosts at least this often, so that no packet waits for a long catch-up.
const CATCH_UP_NS: u64 = 50_000;
/// Packets become visible at most this long after their stamp; ghosts are not advanced into that time.
const VISIBLE_AFTER_NS: u64 = 10_000;
/// While the thread sleeps with ghosts active, the engine is advanced this often.
const NAP_NS: u64 = 500_000;
/// While the thread sleeps with frames for a receiver without room, it tries that receiver again after this time.
const ASK_AGAIN_NS: u64 = 100_000;
/// The longest sleep.
const SLEEP_NS: u64 = 100_000_000;
/// A sleep of about the longest length is no information about how late shorter ones end.
const SLEEP_LEARNT_BELOW_NS: u64 = SLEEP_NS - 1_000_000;

/// New elements of a condition are made in parts of this size, so that due packets do not wait for all of them.
const MADE_AT_ONCE: usize = 32;

/// What the thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Check again at once.
    Look,
    /// Check again after a moment.
    Spin {
        /// The current time.
        now: u64,
        /// The next due instant as far as known; it may be earlier or later.
        next: Option<u64>,
    },
    /// Sleep until this instant.
    Sleep(u64),
    /// The thread must stop.
    Stop,
}

/// The thread's state. Ports and machine are the kernel's ([`crate::port::Veth`], [`crate::machine::ThisMachine`]), or
/// in memory and in virtual time.
#[derive(Debug)]
pub struct Worker<P: Port, M> {
    /// Ports and engine.
    pub forwarder: Forwarder<P>,
    /// The clock, and how to wait.
    pub machine: M,
    inbox: Inbox,
    stamps: Stamps,
    /// Ports that may have a frame.
    ready: Vec<usize>,
    active_ns: u64,
    spun_since: Option<u64>,
    series: Series,
    window: WindowStart,
    timeline: Timeline,
    /// Applied changes: those that were active when the window started, and those in it.
    changes: Vec<Arc<Change>>,
    coming: Option<Coming>,
    nodes: Arc<[String]>,
    canary_gap_ns_max: u64,
    stalls: Stalls,
    waking: Waking,
    watched: Option<Box<Watched>>,
}

/// A condition whose new elements are being made. Further commands wait until it is applied.
#[derive(Debug)]
struct Coming {
    asked_ns: u64,
    plan: Box<Plan>,
    reply: Sender<Done>,
}

#[derive(Clone, Copy, Debug, Default)]
struct WindowStart {
    started_ns: u64,
    steal_ns: u64,
    account: Account,
}

impl<P: Port, M: Machine> Worker<P, M> {
    /// A worker that has not begun; `timeline` is that of the active condition.
    pub fn new(forwarder: Forwarder<P>, machine: M, inbox: Inbox, timeline: Timeline) -> Self {
        let network = &forwarder.network;
        let built_ns = network.engine_ref().now().as_nanos();
        let (condition, places) = (network.condition(), network.stated());
        let up = Change { at_ns: built_ns, asked_ns: built_ns, by: "up", condition, places, cuts: None };
        let nodes = network.fabric().nodes.iter().map(|node| node.name.clone()).collect();
        Self {
            stamps: Stamps::new(&machine),
            forwarder,
            machine,
            inbox,
            ready: Vec::new(),
            active_ns: built_ns,
            spun_since: None,
            series: Series::default(),
            window: WindowStart::default(),
            timeline,
            changes: vec![Arc::new(up)],
            coming: None,
            nodes,
            canary_gap_ns_max: 0,
            stalls: Stalls::default(),
            waking: Waking::new(),
            watched: None,
        }
    }

    /// `spin` or `sleep`.
    pub fn wait_mode(&self) -> &'static str {
        if self.machine.has_own_cpu() {
            "spin"
        } else {
            "sleep"
        }
    }

    /// Makes the calling thread the worker's; the first window starts at this instant.
    pub fn begin(&mut self, at_ns: u64) {
        self.machine.claim();
        let timeline = std::mem::take(&mut self.timeline);
        self.start_window(at_ns, host::steal_ns(), timeline);
        self.active_ns = self.machine.monotonic_ns();
    }

    /// Begins at this instant and runs until it is stopped.
    pub fn run(&mut self, at_ns: u64) -> Result<(), String> {
        self.begin(at_ns);
        let mut reported = false;
        loop {
            match self.round(std::mem::take(&mut reported)) {
                Next::Look => {}
                Next::Spin { now, next } => self.machine.spin(now, next, self.forwarder.latest_receiver()),
                Next::Sleep(until_ns) => reported = self.sleep(until_ns)?,
                Next::Stop => return Ok(()),
            }
        }
    }

    /// Closes the files; returns the ports, which take long to close, and the final state of the files.
    pub fn finish(mut self) -> (Vec<P>, Kept) {
        self.forwarder.record_rest();
        let done_ns = self.forwarder.network.engine_ref().now().as_nanos();
        let kept = Kept {
            recording: self.forwarder.recorder.map(|recorder| recorder.finish(done_ns)),
            capture: self.forwarder.capture.map(|capture| capture.finish(self.machine.monotonic_ns())),
            tunnel: self.forwarder.crossings.and_then(|crossings| crossings.into_tunnel()),
        };
        (self.forwarder.ports, kept)
    }

    /// Does everything that is due now. `reported`: whether the latest sleep was ended by a command.
    pub fn round(&mut self, reported: bool) -> Next {
        let now = self.machine.monotonic_ns();
        self.stalls.awake(now, now);
        self.machine.awake(now);
        if let Some(since) = self.spun_since {
            self.canary_gap_ns_max = self.canary_gap_ns_max.max(now - since);
        }
        let mut work = 0;
        if self.forwarder.exchange() {
            work += self.forwarder.take_in_crossings();
        }
        if self.inbox.rung(reported) || self.coming.is_some() {
            // Comes first: a command may make the engine process what is due now.
            work += self.forwarder.take_in_crossings();
            if !self.obey() {
                return Next::Stop;
            }
            work += usize::from(self.coming.is_some());
        }
        work += self.take_in(now);
        let due = self.forwarder.next_due_ns().filter(|&due| due <= now + self.forwarder.ahead_ns());
        if let Some(due) = due {
            work += self.let_out(due.max(now));
        }
        self.keep_time(now, due.is_some());
        if self.forwarder.waits_for_a_plan() {
            // The plan may have arrived, or was applied just now.
            work += 1 + self.forwarder.take_in_crossings();
        }
        if work > 0 {
            self.active_ns = now;
            self.spun_since = None;
            return Next::Look;
        }
        let lingers = self.machine.has_own_cpu() && now < self.active_ns + LINGER_NS;
        // A thread that is awake processes events when they are due; a sleeping one is woken only for departures.
        let next = if lingers { self.forwarder.next_due_ns() } else { self.forwarder.next_departure_ns() };
        if lingers || next.is_some_and(|due| due < now + self.waking_margin_ns()) {
            self.spun_since = Some(now);
            Next::Spin { now, next }
        } else {
            self.spun_since = None;
            Next::Sleep(self.sleeps_until(now, next))
        }
    }

    /// Reads frames that have arrived, and sends what leaves as a result: a packet that enters advances the engine to
    /// its instant, and a path without delay is left at once.
    fn take_in(&mut self, now: u64) -> usize {
        let stamps = &mut self.stamps;
        let named = self.machine.name_ready(&mut self.ready);
        let ready = named.then_some(&*self.ready);
        let clock = &self.machine;
        let instant_of = |stamp_ns| stamps.monotonic(clock, clock.of_stamp_ns(stamp_ns), now);
        let taken = self.forwarder.take_in(ready, instant_of);
        send_due(&mut self.forwarder, &self.machine, now);
        self.forwarder.give_back(Need::Room);
        taken
    }

    /// Advances the engine to `now` and sends departures; returns the number of outcomes.
    fn let_out(&mut self, now: u64) -> usize {
        self.forwarder.let_out(now);
        send_due(&mut self.forwarder, &self.machine, now)
    }

    /// Runs the timeline, the steps of the series, and ghosts.
    fn keep_time(&mut self, now: u64, advanced: bool) {
        // A condition that is being prepared has ended the timeline.
        while let Some(step) =
            self.coming.is_none().then(|| self.timeline.step(&mut self.forwarder.network, now)).flatten()
        {
            self.note_step(step);
        }
        let reached = self.forwarder.network.engine_ref().now().as_nanos();
        let ghosts_wait = !advanced && reached + CATCH_UP_NS + VISIBLE_AFTER_NS < now;
        if ghosts_wait {
            self.let_out(now - VISIBLE_AFTER_NS);
        }
        while self.series.step_ends_ns() <= now {
            self.close_step();
        }
    }

    /// Closes a step of the series, and reports it if a reader watches.
    fn close_step(&mut self) {
        let (at_ns, rows) = (self.series.step_started_ns(), self.series.rows.len());
        let (engine, elements) = self.forwarder.network.engine_and_elements();
        self.series.close_step(engine, elements);
        if let Some(mut watched) = self.watched.take() {
            let began_ns = self.machine.monotonic_ns();
            let now = Now {
                at_ns,
                window_started_ns: self.window.started_ns,
                rows: self.series.rows.since(rows).cloned().collect(),
                lateness: self.forwarder.ledger.lateness(),
            };
            if watched.report(now, engine, elements, self.stalls.found()) {
                watched.spent(self.machine.monotonic_ns() - began_ns);
                self.watched = Some(watched);
            }
        }
    }

    fn note_step(&mut self, step: Stepped) {
        let Stepped { due_ns, at_ns, places, cuts, json } = step;
        if let Some(cuts) = &cuts {
            self.record_cuts(at_ns, false, cuts);
        }
        self.forwarder.record(|| Record::Step { at_ns, json });
        self.note("timeline", (due_ns, at_ns), places, cuts);
    }

    fn record_cuts(&mut self, at_ns: u64, by_hand: bool, cuts: &Cuts) {
        self.forwarder.record(|| {
            let json = serde_json::to_string(cuts).expect("names of nodes are text");
            Record::Cuts { at_ns, by_hand, json }
        });
    }

    fn note(
        &mut self,
        by: &'static str,
        (asked_ns, at_ns): (u64, u64),
        places: Arc<Places>,
        cuts: Option<Arc<Cuts>>,
    ) {
        let condition = self.forwarder.network.condition();
        let change = Arc::new(Change { at_ns, asked_ns, by, condition, places, cuts });
        if let Some(watched) = &mut self.watched {
            watched.note(&change);
        }
        self.changes.push(change);
    }

    /// The changes that are active: the last one of the condition, that which cut nodes off, and that by hand.
    fn active_changes(&self) -> Vec<Arc<Change>> {
        let last = |wanted: &dyn Fn(&Change) -> bool| self.changes.iter().rposition(|change| wanted(change));
        let cuts = |by_hand| last(&move |it| it.is_by_hand() == by_hand && it.cuts.is_some());
        let cuts = [cuts(false), cuts(true)].into_iter().flatten();
        let mut active: Vec<usize> = cuts.filter(|&place| self.changes[place].cuts_off()).collect();
        active.extend(last(&|it| !it.is_by_hand()));
        active.sort_unstable();
        active.dedup();
        active.into_iter().map(|place| Arc::clone(&self.changes[place])).collect()
    }

    /// The time until which the thread may sleep, if nothing arrives.
    fn sleeps_until(&self, now: u64, next: Option<u64>) -> u64 {
        let longest = now + self.longest_sleep_ns();
        let next = next.map_or(longest, |due| due - self.waking_margin_ns());
        let step = self.timeline.next_ns().unwrap_or(longest);
        // A receiver without room is tried again soon; it may need this CPU to make room.
        let again = if self.forwarder.waits_for_a_receiver() { now + ASK_AGAIN_NS } else { longest };
        let exchange = self.forwarder.crossings.as_ref().and_then(|crossings| crossings.tunnel());
        let exchange = exchange.map_or(longest, Tunnel::next_ns);
        next.min(longest).min(again).min(self.series.step_ends_ns()).min(step).min(exchange).max(now)
    }

    /// How long before a due instant a sleep must end. A wake-up takes the machine's time.
    fn waking_margin_ns(&self) -> u64 {
        self.machine.pace().perceived_length_ns(self.waking.margin_ns())
    }

    /// Ghosts are advanced from time to time, and early enough that those that cross arrive before they are due.
    fn longest_sleep_ns(&self) -> u64 {
        let network = &self.forwarder.network;
        let sources = network.sources().next().is_some();
        match &self.forwarder.crossings {
            Some(crossings) if sources || network.engine_ref().totals().ghost.inside > 0 => {
                NAP_NS.min(crossings.shortest_cut_ns() / 2)
            }
            None if sources => NAP_NS,
            _ => SLEEP_NS,
        }
    }

    /// Waits for a frame, a command or the next due instant; true if there is a command.
    pub fn sleep(&mut self, until_ns: u64) -> Result<bool, String> {
        self.forwarder.give_back(Need::Rest);
        let now = self.machine.monotonic_ns();
        self.stalls.awake(now, now.max(until_ns));
        let length_ns = until_ns.saturating_sub(now);
        let slept = self.machine.sleep(length_ns, &self.inbox);
        let Woken { by_itself, by_command } =
            slept.map_err(|error| format!("waiting for packets: {error}"))?;
        let woke = self.machine.monotonic_ns();
        if length_ns < SLEEP_LEARNT_BELOW_NS {
            let pace = self.machine.pace();
            self.waking.woke(pace.real_ns(until_ns.max(now)), pace.real_ns(woke), by_itself);
        }
        Ok(by_command)
    }

    /// Carries out waiting commands, unless new elements take long to make; false when the thread must stop.
    fn obey(&mut self) -> bool {
        loop {
            if let Some(mut coming) = self.coming.take() {
                if !self.forwarder.network.make(&mut coming.plan, MADE_AT_ONCE) {
                    self.coming = Some(coming);
                    return true;
                }
                // A requester that has gone needs no answer; this also holds below.
                let _ = coming.reply.send(self.set(coming.asked_ns, *coming.plan));
            }
            match self.inbox.next() {
                None => return true,
                Some(Command::Set { at_ns, plan, reply }) => {
                    if self.forwarder.crossings.is_some() {
                        self.timeline.make_elements(&mut self.forwarder.network);
                    }
                    self.coming = Some(Coming { asked_ns: at_ns, plan, reply });
                }
                Some(Command::Cut { at_ns, cuts, reply }) => {
                    let _ = reply.send(self.cut(at_ns, cuts));
                }
                Some(Command::Measure { at_ns, steal_ns, timeline, reply }) => {
                    let at_ns = at_ns.unwrap_or_else(|| self.machine.monotonic_ns());
                    let timeline = self.start_window(at_ns, steal_ns, *timeline);
                    let _ = reply.send(Done { at_ns, spent: None, timeline });
                }
                Some(Command::Read { steal_ns, reply }) => {
                    let now = self.machine.monotonic_ns();
                    self.let_out(now);
                    let _ = reply.send(Box::new(self.snapshot(now, steal_ns)));
                }
                Some(Command::Clocks(reply)) => {
                    let now_ns = self.machine.monotonic_ns();
                    let tunnel = self.forwarder.crossings.as_ref().and_then(|crossings| crossings.tunnel());
                    let peers = tunnel.map(|tunnel| tunnel.clocks(now_ns)).unwrap_or_default();
                    let _ = reply.send((now_ns, peers));
                }
                Some(Command::Watch(mut watched)) => {
                    // The reader learns which condition is active.
                    self.active_changes().iter().for_each(|change| watched.note(change));
                    self.watched = Some(watched);
                }
                Some(Command::Stop) => return false,
            }
        }
    }

    fn set(&mut self, asked_ns: u64, mut plan: Plan) -> Done {
        let (places, json) = (Arc::clone(&plan.stated), std::mem::take(&mut plan.json));
        let Applied { at, cuts, spent } = self.forwarder.network.apply(clock::instant(asked_ns), plan);
        let at_ns = at.as_nanos();
        self.note("set", (asked_ns, at_ns), places, cuts);
        self.forwarder.record(|| Record::Condition { at_ns, json });
        Done { at_ns, spent: Some(spent), timeline: std::mem::take(&mut self.timeline) }
    }

    fn cut(&mut self, asked_ns: u64, cuts: Arc<Cuts>) -> Done {
        let at = self.forwarder.network.cut(clock::instant(asked_ns), Arc::clone(&cuts));
        let at_ns = at.as_nanos();
        self.record_cuts(at_ns, true, &cuts);
        self.note(BY_HAND, (asked_ns, at_ns), Arc::default(), Some(cuts));
        Done { at_ns, spent: None, timeline: Timeline::default() }
    }

    /// Returns the earlier timeline.
    fn start_window(&mut self, at_ns: u64, steal_ns: u64, timeline: Timeline) -> Timeline {
        self.let_out(at_ns);
        let before = std::mem::replace(&mut self.timeline, timeline.starting_at(at_ns));
        if let Some(step) = self.timeline.follow(&before, &mut self.forwarder.network, at_ns) {
            self.note_step(step);
        }
        self.forwarder.start_window();
        self.series.start_window(at_ns);
        // The changes that were active when the window started belong to the window.
        self.changes = self.active_changes();
        self.canary_gap_ns_max = 0;
        self.stalls.start_window();
        if let Some(watched) = &mut self.watched {
            watched.start_window();
        }
        self.window = WindowStart { started_ns: at_ns, steal_ns, account: self.machine.account() };
        before
    }

    /// The window so far; `steal_ns` as in [`Command::Read`].
    fn snapshot(&mut self, now: u64, steal_ns: u64) -> Snapshot {
        let (account, before) = (self.machine.account(), self.window.account);
        let perceived_ns = |real_ns: u64| self.machine.pace().perceived_length_ns(real_ns);
        Snapshot {
            window: Window {
                started_ns: self.window.started_ns,
                ended_ns: now,
                realtime_minus_monotonic_ns: self.stamps.realtime_minus_monotonic_ns(),
            },
            wait_mode: self.wait_mode(),
            domains: 1,
            host: Host {
                canary_gap_ns_max: self.canary_gap_ns_max,
                stalls: self.stalls.found().to_vec(),
                // The kernel has been observed to count steal backwards after a migration.
                steal_ns: perceived_ns(steal_ns.saturating_sub(self.window.steal_ns)),
                run_queue_delay_ns: account
                    .run_queue_delay_ns
                    .zip(before.run_queue_delay_ns)
                    .map(|(now_ns, then_ns)| perceived_ns(now_ns.saturating_sub(then_ns))),
                emulator_cpu_ns: perceived_ns(account.cpu_ns - before.cpu_ns),
                ring_overruns: self.forwarder.ports.iter_mut().map(Port::overruns).sum(),
                send_retries: self.forwarder.send_retries,
                watch_ns: self.watched.as_ref().map(|watched| watched.window_ns()),
            },
            changes: self.changes.clone(),
            series: self.series.rows.clone(),
            credit: self.series.credit.clone(),
            names: Names::of(&self.forwarder.network, &self.nodes),
            forwarded: Forwarded::of(&mut self.forwarder, self.window.started_ns, now),
        }
    }
}

#[cfg(test)]
mod crossing_records;
#[cfg(test)]
mod crossing_tests;
#[cfg(test)]
mod pace_tests;
#[cfg(test)]
mod tests;

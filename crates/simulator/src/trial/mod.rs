//! A trial in virtual time: an application whose nodes speak TCP (`crosswind_tcp`) over the engine's network.
//!
//! Closed loop: what the network does to packets changes what the ends send. Applications are requests and responses
//! (`calls`) and bulk transfer. The network is the emulator's, with its interference and timeline, and so is the way in
//! which packets of a train are handed over (`carriage`). Nodes need no time to process packets; an application reacts
//! to data a little later.

mod agenda;
mod calls;
mod carriage;
mod outcome;
mod plan;
mod round_trip;

use crosswind_engine::{Duration, Instant};
use crosswind_fabric::{Answer, Network, Planner, Timeline};
use crosswind_tcp::{Endpoint, Segment};
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;

use agenda::{Agenda, Event};
use calls::{Call, Client, Next, Server};
use carriage::{Arrival, Carriage, Way};
pub use outcome::{CallsMeasured, Outcome, Quantiles, StreamMeasured, TcpCounts};
pub use plan::{Application, Arrivals, Calls, Machine, Plan, Stream};
use round_trip::RoundTrip;

/// Calls begin this long after the last connection is made, and streams (`crosswind-load`).
const CALLS_HEAD_START_NS: u64 = 5_000_000;
const STREAMS_HEAD_START_NS: u64 = 200_000_000;
/// What the sender of a stream says first (`crosswind-load`; iperf3: 37 bytes).
const HELLO_BYTES: u64 = 24;
/// A network in which connections cannot be made for this long has none.
const CONNECT_NS: u64 = 60_000_000_000;
/// How long calls may take after the end (`crosswind-load`: 30 s each).
const TAIL_NS: u64 = 30_000_000_000;
/// Connections have ports from here on.
const FIRST_PORT: u32 = 32_768;
const SERVER_PORT: u16 = 7_077;
/// Random numbers of the machine: phase of timers, reactions. Calls have other streams.
const MACHINE_STREAM: u128 = 0;

/// One side of a connection.
#[derive(Debug)]
struct End {
    endpoint: Endpoint,
    way: Way,
    role: Role,
    /// When the application reacts next.
    reacts_at: Option<Instant>,
    /// The earliest timer in the agenda.
    armed: Option<Instant>,
}

/// What an application does at an end.
#[derive(Debug)]
enum Role {
    Client(Box<Client>),
    Server(Server),
    Writer { write_bytes: u64, unwritten: u64, round_trip: RoundTrip },
    Reader { bytes: u64, at_start: u64 },
}

struct World<'a> {
    plan: &'a Plan,
    random: Pcg64,
    network: Network,
    timeline: Timeline,
    agenda: Agenda,
    carriage: Carriage,
    ends: Vec<End>,
    arrivals: Vec<Arrival>,
    out: Vec<Segment>,
    established: usize,
    began: Option<Instant>,
    calls: Vec<Call>,
}

/// Carries a trial out; returns what was measured.
///
/// # Errors
/// Where the plan is invalid, or connections cannot be made; the text says what to do.
pub fn trial(plan: &Plan) -> Result<Outcome, String> {
    let mut world = World::new(plan)?;
    world.run()?;
    Ok(world.finish())
}

impl<'a> World<'a> {
    fn new(plan: &'a Plan) -> Result<Self, String> {
        let mut random = Pcg64::new(plan.seed.into(), MACHINE_STREAM);
        let phase = Duration::from_nanos(random.next_u64() % plan.machine.tick_ns.max(1));
        let settings = plan.settings(phase)?;
        let mut planner = Planner::new(&plan.fabric).map_err(|error| error.to_string())?;
        let network = planner.network(Instant::ZERO).map_err(|error| error.to_string())?;
        let mut cuts = plan.fabric.condition.timeline.iter().flat_map(|step| step.cuts.iter().flatten());
        if cuts.any(|cut| cut.answer == Answer::Reset) {
            return Err("timeline: answer reset is not simulated, because no simulated connection is ever reset; use silence, \
                        or run the experiment"
                .to_owned());
        }
        let timeline = planner.timeline().map_err(|error| error.to_string())?;
        let mut ends = Vec::new();
        let mut connect = |from: &str, to: &str, asking: Role, answering: Role| -> Result<(), String> {
            let node = |name: &str| {
                let found = plan.fabric.nodes.iter().position(|node| node.name == name);
                found.ok_or_else(|| format!("application: there is no node {name}"))
            };
            let (from, to) = (node(from)?, node(to)?);
            let port = (FIRST_PORT + ends.len() as u32 / 2 % FIRST_PORT) as u16;
            let ports = [(port, SERVER_PORT), (SERVER_PORT, port)];
            let first = ends.len();
            for (side, role) in [asking, answering].into_iter().enumerate() {
                let nodes = if side == 0 { (from, to) } else { (to, from) };
                let way = Way { from: nodes.0, to: nodes.1, ports: ports[side], end: first + 1 - side };
                let endpoint = Endpoint::new(settings, Instant::ZERO);
                ends.push(End { endpoint, way, role, reacts_at: None, armed: None });
            }
            Ok(())
        };
        match &plan.application {
            Application::Calls(calls) => {
                for number in 0..calls.connections {
                    let client = Client::new(calls, number, plan.seed, plan.warm_up_ns, plan.duration_ns);
                    let client = Role::Client(Box::new(client));
                    connect(&calls.client, &calls.server, client, Role::Server(Server::new(calls)))?;
                }
            }
            Application::Streams(streams) => {
                for stream in streams {
                    for _ in 0..stream.connections {
                        let write_bytes = u64::from(stream.write_bytes.max(1));
                        let round_trip = RoundTrip::default();
                        let writer = Role::Writer { write_bytes, unwritten: HELLO_BYTES, round_trip };
                        connect(&stream.from, &stream.to, writer, Role::Reader { bytes: 0, at_start: 0 })?;
                    }
                }
            }
        }
        if ends.is_empty() {
            return Err("application: there is no connection; give at least one".to_owned());
        }
        Ok(Self {
            carriage: Carriage::new(plan.fabric.merge_window_ns),
            plan,
            random,
            network,
            timeline,
            agenda: Agenda::default(),
            ends,
            arrivals: Vec::new(),
            out: Vec::new(),
            established: 0,
            began: None,
            calls: Vec::new(),
        })
    }

    fn run(&mut self) -> Result<(), String> {
        for end in (0..self.ends.len()).step_by(2) {
            let mut out = std::mem::take(&mut self.out);
            self.ends[end].endpoint.open(Instant::ZERO, &mut out);
            self.out = out;
            self.carry(Instant::ZERO, end);
        }
        loop {
            let event = self.agenda.next();
            let network = self.network.engine().lookahead();
            let steps = self.timeline_next();
            let Some(now) = [event, network, steps].into_iter().flatten().min() else { break };
            if self.is_over(now) {
                break;
            }
            if self.began.is_none() && now.as_nanos() > CONNECT_NS {
                return Err(format!(
                    "connections cannot be made within {} s of virtual time: the condition lets no packets through",
                    CONNECT_NS / 1_000_000_000
                ));
            }
            if steps == Some(now) {
                self.timeline.advance(&mut self.network, now.as_nanos());
            }
            self.advance(now);
            while self.agenda.next() == Some(now) {
                let (_, event) = self.agenda.pop().expect("there is one");
                self.happen(now, event);
            }
        }
        Ok(())
    }

    fn timeline_next(&self) -> Option<Instant> {
        // Steps count from the measured phase.
        self.began.and(self.timeline.next_ns()).map(Instant::from_nanos)
    }

    fn end(&self) -> Option<Instant> {
        let length_ns = self.plan.warm_up_ns + self.plan.duration_ns;
        self.began.map(|began| Instant::from_nanos(began.as_nanos() + length_ns))
    }

    fn is_over(&self, now: Instant) -> bool {
        let Some(end) = self.end().filter(|&end| now >= end) else { return false };
        let busy = self.ends.iter().any(|end| match &end.role {
            Role::Client(client) => client.is_busy() || client.not_started(now) > 0,
            _ => false,
        });
        !busy || now.as_nanos() >= end.as_nanos() + TAIL_NS
    }

    /// Lets the network decide everything up to now, and hands over what has come.
    fn advance(&mut self, now: Instant) {
        self.network.engine().advance(now);
        while self.network.engine().pop_sighting().is_some() {}
        while let Some(outcome) = self.network.engine().pop() {
            self.carriage.decided(&outcome, &mut self.agenda, &mut self.arrivals);
        }
        self.receive();
    }

    fn receive(&mut self) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for Arrival { at, end, segment } in arrivals.drain(..) {
            let mut out = std::mem::take(&mut self.out);
            let changed = self.ends[end].endpoint.receive(at, &segment, &mut out);
            self.out = out;
            if changed.established {
                self.established += 1;
                if self.established == self.ends.len() {
                    let head_start_ns = match self.plan.application {
                        Application::Calls(_) => CALLS_HEAD_START_NS,
                        Application::Streams(_) => STREAMS_HEAD_START_NS,
                    };
                    let begin = Instant::from_nanos(at.as_nanos() + head_start_ns);
                    self.agenda.add(begin, Event::Begin);
                }
            }
            let end_of = &mut self.ends[end];
            if let (Role::Writer { round_trip, .. }, Some(us)) =
                (&mut end_of.role, end_of.endpoint.round_trip_us())
            {
                round_trip.take(at, us);
            }
            let greets = changed.established && matches!(self.ends[end].role, Role::Writer { .. });
            if changed.readable || changed.writable || greets {
                self.react_later(end, at);
            }
            self.carry(at, end);
        }
        self.arrivals = arrivals;
    }

    fn react_later(&mut self, end: usize, now: Instant) {
        // An application that is to react soon anyway finds these data, too.
        if self.ends[end]
            .reacts_at
            .is_none_or(|at| at.as_nanos() > now.as_nanos() + self.plan.machine.reaction_ns[0])
        {
            let at =
                Instant::from_nanos(now.as_nanos() + self.plan.machine.reaction_after_ns(&mut self.random));
            self.react_at(end, at);
        }
    }

    fn react_at(&mut self, end: usize, at: Instant) {
        let end_of = &mut self.ends[end];
        if end_of.reacts_at.is_none_or(|known| at < known) {
            end_of.reacts_at = Some(at);
            self.agenda.add(at, Event::Application { end });
        }
    }

    /// Sends what an end wants to send, and sets its timer.
    fn carry(&mut self, now: Instant, end: usize) {
        let End { endpoint, way, armed, .. } = &mut self.ends[end];
        for segment in self.out.drain(..) {
            self.carriage.send(&mut self.network, now, way, segment);
        }
        if let Some(at) = endpoint.next_timer() {
            if armed.is_none_or(|armed| at < armed) {
                *armed = Some(at);
                self.agenda.add(at, Event::Timer { end });
            }
        }
    }

    fn happen(&mut self, now: Instant, event: Event) {
        match event {
            Event::Timer { end } => {
                let end_of = &mut self.ends[end];
                if end_of.armed != Some(now) {
                    return;
                }
                end_of.armed = None;
                if end_of.endpoint.next_timer().is_some_and(|at| at <= now) {
                    end_of.endpoint.wake(now, &mut self.out);
                }
                self.carry(now, end);
            }
            Event::Handover { train, run } => {
                self.carriage.close(train, run, now, &mut self.arrivals);
                self.receive();
            }
            Event::Application { end } => {
                if self.ends[end].reacts_at == Some(now) {
                    self.ends[end].reacts_at = None;
                    self.react(now, end);
                }
            }
            Event::Begin => self.begin(now),
            Event::Measure => self.measure(now),
        }
    }

    fn begin(&mut self, now: Instant) {
        self.began = Some(now);
        let measured_ns = now.as_nanos() + self.plan.warm_up_ns;
        self.timeline = std::mem::take(&mut self.timeline).starting_at(measured_ns);
        self.agenda.add(Instant::from_nanos(measured_ns), Event::Measure);
        if let Some(end) = self.end() {
            // So that the loop comes by when all is over.
            self.agenda.add(end, Event::Measure);
        }
        for end in 0..self.ends.len() {
            if let Role::Client(client) = &mut self.ends[end].role {
                client.begin(now);
            }
            if matches!(self.ends[end].role, Role::Client(_) | Role::Writer { .. }) {
                self.react_at(end, now);
            }
        }
    }

    fn measure(&mut self, now: Instant) {
        if self.end() == Some(now) {
            return;
        }
        self.network.restart_processes(now);
        self.network.engine().reset_counters();
        for end in &mut self.ends {
            match &mut end.role {
                Role::Reader { bytes, at_start } => *at_start = *bytes,
                Role::Writer { round_trip, .. } => round_trip.begin(now),
                Role::Client(_) | Role::Server(_) => {}
            }
        }
    }

    /// The application of an end reads what has come and writes what it has to write.
    fn react(&mut self, now: Instant, end: usize) {
        let End { endpoint, role, .. } = &mut self.ends[end];
        let read = endpoint.read(now, &mut self.out);
        let mut until = None;
        match role {
            Role::Client(client) => {
                if let Some(call) = client.received(now, read) {
                    self.calls.push(call);
                }
                if self.began.is_some() {
                    match client.next(now) {
                        Next::Write(bytes) => client.wrote(endpoint.write(now, bytes, &mut self.out)),
                        Next::Until(at) => until = Some(at),
                        Next::Nothing => {}
                    }
                }
            }
            Role::Server(server) => {
                server.received(read);
                if server.unwritten > 0 {
                    server.unwritten -= endpoint.write(now, server.unwritten, &mut self.out);
                }
            }
            Role::Writer { write_bytes, unwritten, .. } => loop {
                *unwritten -= endpoint.write(now, *unwritten, &mut self.out);
                if *unwritten > 0 || self.began.is_none() {
                    break;
                }
                *unwritten = *write_bytes;
            },
            Role::Reader { bytes, .. } => *bytes += read,
        }
        if let Some(at) = until {
            self.react_at(end, at);
        }
        self.carry(now, end);
    }

    fn finish(self) -> Outcome {
        let began_ns = self.began.unwrap_or_default().as_nanos();
        let started_ns = began_ns + self.plan.warm_up_ns;
        let ended_ns = started_ns + self.plan.duration_ns;
        let mut tcp = TcpCounts {
            packets: self.carriage.counts.packets,
            dropped: self.carriage.counts.dropped,
            ..TcpCounts::default()
        };
        for end in &self.ends {
            let counts = end.endpoint.counts();
            tcp.sent += counts.sent;
            tcp.retransmitted += counts.retransmitted;
            tcp.timeouts += counts.timeouts;
            tcp.probes += counts.probes;
            tcp.undone += counts.undone;
        }
        let name = |node: usize| self.plan.fabric.nodes[node].name.clone();
        let streams = self.ends.chunks(2).filter_map(|ends| match (&ends[0].role, &ends[1].role) {
            (Role::Writer { round_trip, .. }, Role::Reader { bytes, at_start }) => Some(StreamMeasured {
                from: name(ends[0].way.from),
                to: name(ends[0].way.to),
                bytes: bytes - at_start,
                retransmits: ends[0].endpoint.counts().retransmitted,
                rtt_us: round_trip.mean_us().or_else(|| ends[0].endpoint.round_trip_us()),
            }),
            _ => None,
        });
        let streams = streams.collect();
        let calls = match &self.plan.application {
            Application::Calls(calls) => {
                let now = self.network.engine_ref().now();
                let not_started = self.ends.iter().map(|end| match &end.role {
                    Role::Client(client) => client.not_started(now),
                    _ => 0,
                });
                let rto_min_ns = u64::from(self.plan.fabric.tcp.rto_min_us) * 1_000;
                let open = calls.rate_per_s.is_some();
                Some(CallsMeasured::of(&self.calls, open, rto_min_ns, not_started.sum()))
            }
            Application::Streams(_) => None,
        };
        let condition = self.network.condition().to_string();
        Outcome { condition, started_ns, ended_ns, calls, streams, tcp }
    }
}

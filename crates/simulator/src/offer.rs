//! A condition under synthetic traffic, in virtual time: what a network would do to generated packets.
//!
//! Every offer is an open loop between two nodes: constant (one packet every `packet_ip_bytes * 8 / rate_bps` seconds, the remainder carried)
//! or Poisson (independent exponential gaps of that mean). Interference, timeline and scale of the condition are as they are live.
//!
//! Several domains carry the network on as many threads (`domains`). The result does not depend on their number.

use std::io::{self, Write};

use crosswind_engine::{Ecn, Instant, Outcome};
use crosswind_fabric::{Domains, Fabric, FabricError, Facts, Frame, Network, Planner, Timeline};
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::domains::{place, Lane, Lanes};
use crate::packets::PacketFile;
use crate::summary::{Gathering, Summary};

/// What is simulated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The network and its condition.
    pub fabric: Fabric,
    /// How long traffic is offered; packets inside then are followed until they have left or were dropped.
    pub duration_ns: u64,
    /// At least one.
    pub offers: Vec<Offer>,
}

/// Traffic from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// The sending node.
    pub from: String,
    /// The receiving node.
    pub to: String,
    /// IP bits per second, at least 1.
    pub rate_bps: u64,
    /// In 1..=65 535.
    pub packet_ip_bytes: u32,
    /// When packets come.
    pub arrivals: ArrivalProcess,
    /// In 0..=63.
    #[serde(default)]
    pub dscp: u8,
}

/// When packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalProcess {
    /// At equal distances, the first at once.
    Constant,
    /// As a Poisson process.
    Poisson,
}

/// Why a plan cannot be carried out.
#[derive(Debug)]
pub enum OfferError {
    /// The plan is invalid.
    Invalid(String),
    /// The packets cannot be written.
    Packets(io::Error),
}

impl std::fmt::Display for OfferError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Invalid(what) => f.write_str(what),
            Self::Packets(error) => write!(f, "write the packets: {error}"),
        }
    }
}

impl std::error::Error for OfferError {}

/// Carries a plan out. `packets` gets a row for every packet.
///
/// # Errors
/// Where the fabric or an offer is invalid, with a remedy; nothing was simulated then.
pub fn offer<W: Write>(plan: &Plan, packets: Option<PacketFile<W>>) -> Result<Summary, OfferError> {
    let invalid = |error: String| OfferError::Invalid(error);
    let unsound = |error: FabricError| invalid(error.to_string());
    let domains = Domains::of(&plan.fabric, &plan.fabric.domains, &[], 1).map_err(unsound)?;
    if plan.offers.is_empty() {
        return Err(invalid("no traffic is offered; give at least one pair of nodes".to_owned()));
    }
    let streams = (0..)
        .zip(&plan.offers)
        .map(|(key, offer)| Stream::new(&plan.fabric, key, offer))
        .collect::<Result<Vec<_>, _>>()
        .map_err(invalid)?;
    let ends = streams.iter().map(|stream| (stream.from, stream.to)).collect::<Vec<_>>();
    let mut planner = Planner::new(&plan.fabric).map_err(unsound)?.divided(domains.clone());
    let networks = (0..domains.count()).map(|domain| planner.domain(Instant::ZERO, domain));
    let networks = networks.collect::<Result<Vec<_>, _>>().map_err(unsound)?;
    let timeline = planner.timeline().map_err(unsound)?;
    let lane = |(domain, network): (usize, Network)| {
        let own = |stream: &&Stream| domains.of_node(stream.from) == domain;
        Offering {
            timeline: planner.timeline_again(&timeline),
            network,
            streams: streams.iter().filter(own).cloned().collect(),
            until_ns: plan.duration_ns,
            ends: ends.clone(),
            gathering: Gathering::default(),
            rows: packets.as_ref().map(|_| Vec::new()),
            decided_last: Instant::ZERO,
        }
    };
    let lanes = networks.into_iter().enumerate().map(lane).collect();
    let mut run = Run { lanes: Lanes::new(&domains, lanes), packets };
    let ended = run.carry_out(plan.duration_ns)?;
    if let Some(packets) = run.packets {
        packets.finish().map_err(OfferError::Packets)?;
    }
    let mut gathering = Gathering::default();
    let mut networks = Vec::new();
    for lane in run.lanes.into_each() {
        gathering.join(lane.gathering);
        networks.push(lane.network);
    }
    Ok(gathering.finish(&networks.iter().collect::<Vec<_>>(), ended.as_nanos()))
}

/// How often rows of packets are written during a run, so that they need not all be in memory.
const WRITINGS: u64 = 256;

struct Run<W: Write> {
    lanes: Lanes<Offering>,
    packets: Option<PacketFile<W>>,
}

impl<W: Write> Run<W> {
    /// Returns the instant at which it ended.
    fn carry_out(&mut self, duration_ns: u64) -> Result<Instant, OfferError> {
        let writings = if self.packets.is_some() { WRITINGS } else { 1 };
        // Nothing is offered at the end itself.
        let before_end = duration_ns.saturating_sub(1);
        for writing in 1..=writings {
            let to = u128::from(before_end) * u128::from(writing) / u128::from(writings);
            self.lanes.advance(Instant::from_nanos(to as u64))?;
            self.write()?;
        }
        // Then packets inside leave. When the last has left is known only afterwards, so no domain may be ahead of the others.
        while self.each().map(|lane| lane.network.engine_ref().real_inside()).sum::<usize>() > 0 {
            let next = self.each().filter_map(|lane| lane.network.engine_ref().next_event()).min();
            let Some(next) = next else { break };
            self.lanes.advance_here(next)?;
            self.write()?;
        }
        let decided_last = self.each().map(|lane| lane.decided_last).max().unwrap_or_default();
        let ended = decided_last.max(Instant::from_nanos(duration_ns));
        self.lanes.advance(ended)?;
        self.write()?;
        Ok(ended)
    }

    fn each(&self) -> impl Iterator<Item = &Offering> {
        self.lanes.each().iter()
    }

    /// Writes what has been decided about packets.
    fn write(&mut self) -> Result<(), OfferError> {
        let Some(packets) = &mut self.packets else { return Ok(()) };
        let mut rows: Vec<Row> = Vec::new();
        for lane in self.lanes.each_mut() {
            rows.extend(lane.rows.iter_mut().flat_map(|rows| rows.drain(..)));
        }
        rows.sort_by_key(|row| place(&row.outcome));
        let network = &self.lanes.each()[0].network;
        for Row { from, to, outcome } in rows {
            packets.write(network, from, to, &outcome).map_err(OfferError::Packets)?;
        }
        Ok(())
    }
}

/// What became of a packet from one node to another.
struct Row {
    from: usize,
    to: usize,
    outcome: Outcome,
}

/// One domain, with the offers of its nodes.
struct Offering {
    network: Network,
    timeline: Timeline,
    streams: Vec<Stream>,
    /// Nothing is offered from here on.
    until_ns: u64,
    /// Of every offer of the plan.
    ends: Vec<(usize, usize)>,
    gathering: Gathering,
    /// Where they were requested.
    rows: Option<Vec<Row>>,
    decided_last: Instant,
}

impl Lane for Offering {
    type Error = OfferError;

    fn network(&mut self) -> &mut Network {
        &mut self.network
    }

    fn next(&self) -> Option<Instant> {
        let offered = self.streams.iter().map(|stream| stream.next_ns).filter(|&ns| ns < self.until_ns).min();
        let own = offered.into_iter().chain(self.timeline.next_ns()).map(Instant::from_nanos);
        own.chain(self.network.engine_ref().next_event()).min()
    }

    fn advance(&mut self, to: Instant) -> Result<(), OfferError> {
        // Few offers: looking at each is as quick as a queue of them.
        while let Some(next) = self.streams.iter_mut().min_by_key(|stream| stream.next_ns) {
            let at_ns = next.next_ns;
            if at_ns >= self.until_ns || at_ns > to.as_nanos() {
                break;
            }
            let (from, to, frame) = (next.from, next.to, next.frame);
            next.draw();
            self.timeline.advance(&mut self.network, at_ns);
            // Every offer is a flow of its own.
            let flow =
                self.network.flow(&Facts { from, to, protocol: 0, ports: Some((frame.key as u16, 0)) });
            self.network.push(Instant::from_nanos(at_ns), from, to, flow, &frame);
            self.gathering.offered(from, to, frame.count, frame.ip_bytes_total());
            self.settle();
        }
        self.timeline.advance(&mut self.network, to.as_nanos());
        self.network.engine().advance(to);
        self.settle();
        Ok(())
    }
}

impl Offering {
    fn settle(&mut self) {
        // Packets have no headers here.
        while self.network.engine().pop_sighting().is_some() {}
        while let Some(outcome) = self.network.engine().pop() {
            let (from, to) = self.ends[Frame::key_of(outcome.packet().tag) as usize];
            self.gathering.decided(from, to, &outcome);
            self.decided_last = outcome.at();
            if let Some(rows) = &mut self.rows {
                rows.push(Row { from, to, outcome });
            }
        }
    }
}

/// One offer and when its next packet comes.
#[derive(Clone)]
struct Stream {
    from: usize,
    to: usize,
    frame: Frame,
    next_ns: u64,
    gaps: Gaps,
}

#[derive(Clone)]
enum Gaps {
    /// Packets so far, bits of one, bits per second.
    Constant { packets: u64, bits: u64, rate_bps: u64 },
    /// The exact instant of the next packet and the mean gap, nanoseconds.
    Poisson { random: Pcg64, exact_ns: f64, mean_ns: f64 },
}

impl Stream {
    fn new(fabric: &Fabric, key: u32, offer: &Offer) -> Result<Self, String> {
        let what = format!("offer {} -> {}", offer.from, offer.to);
        let node = |name: &str| {
            fabric.nodes.iter().position(|node| node.name == name).ok_or_else(|| {
                let names: Vec<&str> = fabric.nodes.iter().map(|node| node.name.as_str()).collect();
                format!("{what}: there is no node {name}; nodes are {}", names.join(", "))
            })
        };
        let (from, to) = (node(&offer.from)?, node(&offer.to)?);
        if from == to {
            return Err(format!("{what}: a node sends to another one; name two"));
        }
        if offer.rate_bps == 0 {
            return Err(format!("{what}: rate 0 offers nothing; give at least 1 bit/s"));
        }
        let bytes = offer.packet_ip_bytes;
        let frame = Frame {
            key,
            count: 1,
            ip_bytes: bytes,
            last_ip_bytes: bytes,
            dscp: offer.dscp,
            ecn: Ecn::NotEct,
        };
        if !frame.is_sound() {
            return Err(format!(
                "{what}: packets of {bytes} bytes with DSCP {}; use 1 to 65535 bytes and DSCP 0 to 63",
                offer.dscp
            ));
        }
        let bits = 8 * u64::from(bytes);
        let gaps = match offer.arrivals {
            ArrivalProcess::Constant => Gaps::Constant { packets: 0, bits, rate_bps: offer.rate_bps },
            ArrivalProcess::Poisson => Gaps::Poisson {
                // One stream per offer, apart from every stream of the engine.
                random: Pcg64::new(u128::from(fabric.seed), u128::from(key)),
                exact_ns: 0.0,
                mean_ns: bits as f64 * 1e9 / offer.rate_bps as f64,
            },
        };
        let mut stream = Self { from, to, frame, next_ns: 0, gaps };
        stream.draw();
        Ok(stream)
    }

    /// Decides when the next packet comes.
    fn draw(&mut self) {
        self.next_ns = match &mut self.gaps {
            Gaps::Constant { packets, bits, rate_bps } => {
                let nano_bits = u128::from(*packets) * u128::from(*bits) * 1_000_000_000;
                *packets += 1;
                u64::try_from(nano_bits.div_ceil(u128::from(*rate_bps))).unwrap_or(u64::MAX)
            }
            Gaps::Poisson { random, exact_ns, mean_ns } => {
                // In (0, 1], so that the logarithm is finite.
                let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
                *exact_ns -= *mean_ns * libm::log(uniform);
                *exact_ns as u64
            }
        };
    }
}

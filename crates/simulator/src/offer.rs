//! A condition under synthetic traffic, in virtual time: what a network would do to packets that nobody sends.
//!
//! Every offer is an open loop between two nodes: constant (one packet every `packet_ip_bytes * 8 / rate_bps` seconds, the remainder carried)
//! or Poisson (independent exponential gaps of that mean). Interference, timeline and scale of the condition are as they are live.

use std::io::{self, Write};

use crosswind_engine::{Ecn, Instant, Outcome};
use crosswind_fabric::{Fabric, FabricError, Facts, Frame, Network, Planner, Timeline};
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

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
    pub arrivals: Law,
    /// In 0..=63.
    #[serde(default)]
    pub dscp: u8,
}

/// When packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Law {
    /// At equal distances, the first at once.
    Constant,
    /// As a Poisson process.
    Poisson,
}

/// Why a plan cannot be carried out.
#[derive(Debug)]
pub enum OfferError {
    /// The plan asks for what cannot be done.
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
/// Where the fabric or an offer is invalid, with what would do; nothing was simulated then.
pub fn offer<W: Write>(plan: &Plan, packets: Option<PacketFile<W>>) -> Result<Summary, OfferError> {
    let invalid = |error: String| OfferError::Invalid(error);
    let refused = |error: FabricError| invalid(error.to_string());
    let mut planner = Planner::new(&plan.fabric).map_err(refused)?;
    let network = planner.network(Instant::ZERO).map_err(refused)?;
    if plan.offers.is_empty() {
        return Err(invalid("no traffic is offered; give at least one pair of nodes".to_owned()));
    }
    let streams = (0..)
        .zip(&plan.offers)
        .map(|(key, offer)| Stream::new(&plan.fabric, key, offer))
        .collect::<Result<Vec<_>, _>>()
        .map_err(invalid)?;
    let timeline = planner.timeline().map_err(refused)?;
    let mut run = Run { network, timeline, streams, gathering: Gathering::default(), packets };
    run.carry_out(plan.duration_ns)?;
    if let Some(packets) = run.packets {
        packets.finish().map_err(OfferError::Packets)?;
    }
    let ended_ns = run.network.engine_ref().now().as_nanos();
    Ok(run.gathering.finish(&run.network, ended_ns))
}

struct Run<W: Write> {
    network: Network,
    timeline: Timeline,
    streams: Vec<Stream>,
    gathering: Gathering,
    packets: Option<PacketFile<W>>,
}

impl<W: Write> Run<W> {
    fn carry_out(&mut self, duration_ns: u64) -> Result<(), OfferError> {
        // Few offers: looking at each is as quick as a queue of them.
        while let Some(next) = self.streams.iter_mut().min_by_key(|stream| stream.next_ns) {
            let at_ns = next.next_ns;
            if at_ns >= duration_ns {
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
            self.settle()?;
        }
        while self.network.engine_ref().real_inside() > 0 {
            let Some(at) = self.network.engine_ref().next_event() else { break };
            self.timeline.advance(&mut self.network, at.as_nanos());
            self.network.engine().advance(at);
            self.settle()?;
        }
        let end = self.network.engine_ref().now().max(Instant::from_nanos(duration_ns));
        self.timeline.advance(&mut self.network, end.as_nanos());
        self.network.engine().advance(end);
        self.settle()
    }

    fn settle(&mut self) -> Result<(), OfferError> {
        // Nobody has the packets' headers here.
        while self.network.engine().pop_sighting().is_some() {}
        while let Some(outcome) = self.network.engine().pop() {
            let (Outcome::Departure { packet, .. }
            | Outcome::Duplicated { packet, .. }
            | Outcome::Dropped { packet, .. }) = outcome;
            let stream = &self.streams[Frame::key_of(packet.tag) as usize];
            self.gathering.decided(stream.from, stream.to, &outcome);
            if let Some(packets) = &mut self.packets {
                packets
                    .write(&self.network, stream.from, stream.to, &outcome)
                    .map_err(OfferError::Packets)?;
            }
        }
        Ok(())
    }
}

/// One offer and when its next packet comes.
struct Stream {
    from: usize,
    to: usize,
    frame: Frame,
    next_ns: u64,
    gaps: Gaps,
}

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
            Law::Constant => Gaps::Constant { packets: 0, bits, rate_bps: offer.rate_bps },
            Law::Poisson => Gaps::Poisson {
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

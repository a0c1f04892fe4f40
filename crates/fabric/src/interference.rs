//! Interference as it crosses from Python to the agent: its keys, its checks, and the engine's sources for it.
//!
//! Absent keys have the values of the published generator: bursts of full packets that never back off.

use crosswind_engine::{
    Arrivals, CongestionControl, Duration, Ecn, Engine, Instant, PathId, Rate, RateLaw, RecordedPacket,
    ReplaySpec, Sizes, Sound, SourceId, SourceSpec, SpecError, ZeroMeans,
};
use serde::{Deserialize, Serialize};

use crate::compile::rate;
use crate::graph::Graph;
use crate::spec::{Fabric, Host};

/// A replay is sent with its condition, as text: this number of packets takes about 2 MB.
const REPLAY_PACKETS_MAX: usize = 100_000;

/// Competing traffic in both directions between two hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interference {
    /// Two different hosts.
    pub between: [Host; 2],
    /// Always `ghost` here: the runner carries out real interference.
    pub by: String,
    /// Offered IP bits per second; absent only with a replay.
    #[serde(default)]
    pub rate: Option<Law>,
    /// How long one draw is used.
    pub hold_ns: u64,
    /// Interval between bursts (`paced`), and between writes of the application of `tcp`.
    pub pacing_ns: u64,
    /// When packets are sent.
    #[serde(default)]
    pub arrivals: ArrivalsEntry,
    /// Size of every competing packet, or `imix`.
    pub packet_ip_bytes: PacketBytes,
    /// DSCP of every competing packet, 0..=63.
    #[serde(default)]
    pub dscp: u8,
    /// The meaning of a draw of zero.
    pub zero: Zero,
    /// If present, it backs off as TCP connections do.
    #[serde(default)]
    pub tcp: Option<TcpEntry>,
}

/// The distribution of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// A constant rate in IP bits per second.
    ConstantBps(u64),
    /// Normal, clipped.
    Normal(NormalLaw),
}

/// A normal distribution, clipped to `low_bps..=high_bps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NormalLaw {
    /// Before clipping.
    pub mean_bps: u64,
    /// Before clipping.
    pub sd_bps: u64,
    /// Smallest draw.
    pub low_bps: u64,
    /// Largest draw.
    pub high_bps: u64,
}

/// When packets are sent at a given rate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalsEntry {
    /// As bursts, `pacing_ns` apart, at the speed of the uplink.
    #[default]
    Paced,
    /// At independent, exponentially distributed intervals.
    Poisson,
    /// At even intervals during random periods, and not at all between them.
    OnOff(OnOff),
    /// At recorded instants.
    Replay(ReplayEntry),
}

/// Packets of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayEntry {
    /// Nanoseconds after the preceding packet, and IP bytes; 1 to 100 000 packets.
    pub packets: Vec<(u64, u32)>,
    /// Whether it restarts after the last packet.
    pub repeat: bool,
}

/// Random periods with and without packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Mean length of the periods with packets.
    pub on_ns: u64,
    /// Mean length of the periods without packets.
    pub off_ns: u64,
    /// Pareto index of both in thousandths; exponential when absent.
    #[serde(default)]
    pub shape_thousandths: Option<u32>,
}

/// Sizes of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PacketBytes {
    /// All packets have this size.
    Fixed(u32),
    /// A mixture of sizes.
    Mixed(Mix),
}

/// Mixtures of packet sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mix {
    /// 40, 576 and 1500 IP bytes, 7 : 4 : 1.
    Imix,
}

/// The meaning of a draw of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Zero {
    /// Nothing is sent.
    Silence,
    /// Full speed, as iperf3 interprets `-b 0`.
    Unlimited,
}

/// TCP connections that carry the interference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpEntry {
    /// Connections in each direction, 1..=1000.
    pub flows: u16,
    /// Their congestion control.
    pub congestion_control: Control,
    /// Whether their packets may be marked instead of dropped; the connections then react to marks.
    #[serde(default)]
    pub ecn: bool,
}

/// Congestion control of interference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
}

impl Interference {
    /// Adds its errors, as part of `fabric`.
    pub(crate) fn check(&self, fabric: &Fabric, wrong: &mut Vec<String>) {
        let [a, b] = &self.between;
        let what = format!("interference between {a} and {b}");
        if a == b || !fabric.hosts.contains(a) || !fabric.hosts.contains(b) {
            wrong.push(format!("{what}: needs two different hosts of {}", fabric.hosts.join(", ")));
        }
        if self.by != "ghost" {
            wrong.push(format!("{what}: by {} is the runner's task, the fabric accepts only ghost", self.by));
        }
        if self.pacing_ns == 0 || self.hold_ns < self.pacing_ns {
            wrong.push(format!("{what}: pacing must be above 0 and at most hold"));
        }
        match self.packet_ip_bytes {
            PacketBytes::Fixed(bytes) if !(28..=fabric.mtu_bytes).contains(&bytes) => {
                wrong.push(format!("{what}: packets of {bytes} bytes; use 28 to the MTU"));
            }
            PacketBytes::Mixed(Mix::Imix) if fabric.mtu_bytes < 1500 => wrong.push(format!(
                "{what}: imix has packets of 1500 bytes, the MTU is {}; use one size, or a larger MTU",
                fabric.mtu_bytes
            )),
            _ => {}
        }
        if let Some(Law::Normal(law)) = self.rate {
            if law.low_bps > law.high_bps {
                wrong.push(format!("{what}: low {} is above high {}", law.low_bps, law.high_bps));
            }
        }
        if let ArrivalsEntry::Replay(replay) = &self.arrivals {
            let packets = replay.packets.len();
            if !(1..=REPLAY_PACKETS_MAX).contains(&packets) {
                wrong.push(format!("{what}: a replay of {packets} packets; give 1 to {REPLAY_PACKETS_MAX}"));
            }
            let largest = replay.packets.iter().map(|&(_, ip_bytes)| ip_bytes).max().unwrap_or(0);
            if largest > fabric.mtu_bytes {
                wrong.push(format!(
                    "{what}: a packet of {largest} bytes is above the MTU, {}",
                    fabric.mtu_bytes
                ));
            }
        }
        if self.rate.is_some() == matches!(self.arrivals, ArrivalsEntry::Replay(_)) {
            wrong.push(format!("{what}: needs either a rate or a replay"));
        }
        if self.zero == Zero::Unlimited && (self.tcp.is_some() || self.arrivals != ArrivalsEntry::Paced) {
            wrong.push(format!("{what}: zero means unlimited only with paced arrivals and without tcp"));
        }
        if self.tcp.is_some() && self.arrivals != ArrivalsEntry::Paced {
            wrong.push(format!(
                "{what}: with tcp the windows decide when packets are sent; leave arrivals out"
            ));
        }
    }

    /// Its packets as the source of that name, if it is a recording.
    pub(crate) fn replay(&self, name: &str) -> Result<Option<Sound<ReplaySpec>>, SpecError> {
        let ArrivalsEntry::Replay(replay) = &self.arrivals else { return Ok(None) };
        let recorded = replay
            .packets
            .iter()
            .map(|&(gap_ns, ip_bytes)| RecordedPacket { gap: Duration::from_nanos(gap_ns), ip_bytes });
        let spec = ReplaySpec { packets: recorded.collect(), repeat: replay.repeat, dscp: self.dscp };
        Sound::new(name, spec).map(Some)
    }

    /// Checks it as the source of that name against the engine's rules.
    pub(crate) fn check_source(&self, name: &str, around: &Around) -> Result<(), SpecError> {
        let nowhere = Engine::new(0).path(&[]);
        let source = self.rate.map(|rate| self.source(rate, around, nowhere));
        source.map_or(Ok(()), |source| Sound::new(name, source).map(drop))
    }

    /// Starts the engine's source in one direction.
    pub(crate) fn start(
        &self,
        engine: &mut Engine,
        replay: Option<Sound<ReplaySpec>>,
        way: OneWay<'_>,
    ) -> Result<SourceId, SpecError> {
        let OneWay { name, path, back, at, around } = way;
        match (replay, self.rate) {
            (Some(replay), _) => engine.replay(name, replay, path, at),
            (None, rate) => {
                let rate = rate.expect("checked");
                engine.start_source(name, self.source(rate, &around, back), path, at)
            }
        }
    }

    /// The engine's source. Acknowledgements take path `back`.
    fn source(&self, rate: Law, around: &Around, back: PathId) -> SourceSpec {
        let pacing = Duration::from_nanos(self.pacing_ns);
        let arrivals = match (self.tcp, &self.arrivals) {
            (Some(tcp), _) => Arrivals::Responsive {
                pacing,
                flows: tcp.flows,
                control: match tcp.congestion_control {
                    Control::Reno => CongestionControl::Reno,
                    Control::Cubic => CongestionControl::Cubic,
                },
                ecn: if tcp.ecn { Ecn::Ect0 } else { Ecn::NotEct },
                rto_min: around.rto_min,
                acks: back,
            },
            (None, ArrivalsEntry::Poisson) => Arrivals::Poisson,
            (None, &ArrivalsEntry::OnOff(OnOff { on_ns, off_ns, shape_thousandths })) => Arrivals::OnOff {
                on: Duration::from_nanos(on_ns),
                off: Duration::from_nanos(off_ns),
                shape_thousandths,
            },
            (None, ArrivalsEntry::Replay(_)) => unreachable!("a replay has no rate"),
            (None, ArrivalsEntry::Paced) => Arrivals::Paced {
                pacing,
                peak: around.peak,
                zero: match self.zero {
                    Zero::Silence => ZeroMeans::Silence,
                    Zero::Unlimited => ZeroMeans::Unlimited,
                },
            },
        };
        SourceSpec {
            rate: match rate {
                Law::ConstantBps(bits_per_second) => RateLaw::Constant { bits_per_second },
                Law::Normal(law) => RateLaw::Normal {
                    mean: law.mean_bps,
                    sd: law.sd_bps,
                    low: law.low_bps,
                    high: law.high_bps,
                },
            },
            hold: Duration::from_nanos(self.hold_ns),
            arrivals,
            sizes: match self.packet_ip_bytes {
                PacketBytes::Fixed(ip_bytes) => Sizes::Fixed { ip_bytes },
                PacketBytes::Mixed(Mix::Imix) => Sizes::Imix,
            },
            dscp: self.dscp,
        }
    }
}

/// The surroundings of one direction of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    /// Rate of the uplink through which it leaves.
    peak: Rate,
    rto_min: Duration,
}

impl Around {
    /// The surroundings of a host.
    pub(crate) fn of(fabric: &Fabric, graph: &Graph, host: usize) -> Self {
        Self {
            peak: rate(fabric.links[graph.hosts[host].up].rate_bps),
            rto_min: Duration::from_micros(fabric.tcp.rto_min_us.into()),
        }
    }
}

/// One direction of it at its position.
pub(crate) struct OneWay<'a> {
    /// Name of the source.
    pub(crate) name: &'a str,
    pub(crate) path: PathId,
    /// Path of acknowledgements.
    pub(crate) back: PathId,
    pub(crate) at: Instant,
    pub(crate) around: Around,
}

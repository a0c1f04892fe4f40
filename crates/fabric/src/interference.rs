//! Interference as it crosses from Python to the agent: its keys, its checks, and the engine's sources that it becomes.
//!
//! Keys that are absent are those of the published generator: bursts of full packets that never back off.

use crosswind_engine::{
    Arrivals, CongestionControl, Duration, Ecn, Engine, Instant, PathId, Rate, RateLaw, RecordedPacket,
    ReplaySpec, Sizes, Sound, SourceId, SourceSpec, SpecError, ZeroMeans,
};
use serde::{Deserialize, Serialize};

use crate::compile::rate;
use crate::graph::Graph;
use crate::spec::{Fabric, Host};

/// A replay travels with its condition, as text: this many packets take about 2 MB.
const REPLAY_PACKETS_MAX: usize = 100_000;

/// Competing traffic in both directions between two hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interference {
    /// Two different hosts.
    pub between: [Host; 2],
    /// Always `ghost` here: real interference is carried out by the runner.
    pub by: String,
    /// Offered IP bits per second; absent with a replay only.
    #[serde(default)]
    pub rate: Option<Law>,
    /// How long one draw holds.
    pub hold_ns: u64,
    /// Bursts start this far apart (`paced`), and the application of `tcp` writes this often.
    pub pacing_ns: u64,
    /// When packets come.
    #[serde(default)]
    pub arrivals: ArrivalsEntry,
    /// Size of every competing packet, or `imix`.
    pub packet_ip_bytes: PacketBytes,
    /// Of every competing packet, 0..=63.
    #[serde(default)]
    pub dscp: u8,
    /// What a draw of zero means.
    pub zero: Zero,
    /// Present: it backs off as TCP connections do.
    #[serde(default)]
    pub tcp: Option<TcpEntry>,
}

/// How the rate of interference is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Always this many IP bits per second.
    ConstantBps(u64),
    /// Normal, clipped.
    Normal(NormalLaw),
}

/// A normal law, clipped to `low_bps..=high_bps`.
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

/// When packets come, given the rate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalsEntry {
    /// As bursts, `pacing_ns` apart, at the speed of the uplink.
    #[default]
    Paced,
    /// Independently of each other.
    Poisson,
    /// At even distances during random times, not at all during others.
    OnOff(OnOff),
    /// As recorded.
    Replay(ReplayEntry),
}

/// Packets of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayEntry {
    /// Nanoseconds after the packet before it, and IP bytes; 1 to 100 000 packets.
    pub packets: Vec<(u64, u32)>,
    /// Whether it begins anew after the last.
    pub repeat: bool,
}

/// Random times with packets and without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Mean length of the times with packets.
    pub on_ns: u64,
    /// Mean length of the times without.
    pub off_ns: u64,
    /// Pareto index of both in thousandths; exponential when absent.
    #[serde(default)]
    pub shape_thousandths: Option<u32>,
}

/// How large packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PacketBytes {
    /// All the same.
    Fixed(u32),
    /// A mix.
    Mixed(Mix),
}

/// Mixes of packet sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mix {
    /// 40, 576 and 1500 IP bytes, 7 : 4 : 1.
    Imix,
}

/// What a draw of zero means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Zero {
    /// Nothing is sent.
    Silence,
    /// Full speed, as iperf3 reads `-b 0`.
    Unlimited,
}

/// Connections that the interference is carried by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpEntry {
    /// 1..=1000, in each way.
    pub flows: u16,
    /// What they do about losses.
    pub congestion_control: Control,
    /// Whether their packets may be marked instead of dropped, and marks are heeded.
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
    /// Adds what is wrong with it, as part of `fabric`.
    pub(crate) fn check(&self, fabric: &Fabric, wrong: &mut Vec<String>) {
        let [a, b] = &self.between;
        let what = format!("interference between {a} and {b}");
        if a == b || !fabric.hosts.contains(a) || !fabric.hosts.contains(b) {
            wrong.push(format!("{what}: needs two different hosts of {}", fabric.hosts.join(", ")));
        }
        if self.by != "ghost" {
            wrong.push(format!(
                "{what}: by {} is carried out by the runner, the fabric only knows ghost",
                self.by
            ));
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
            wrong.push(format!("{what}: zero can mean unlimited only to paced interference without tcp"));
        }
        if self.tcp.is_some() && self.arrivals != ArrivalsEntry::Paced {
            wrong.push(format!("{what}: when packets of tcp come, its windows decide; leave arrivals out"));
        }
    }

    /// What it sends, where that was recorded, as the source of that name.
    pub(crate) fn replay(&self, name: &str) -> Result<Option<Sound<ReplaySpec>>, SpecError> {
        let ArrivalsEntry::Replay(replay) = &self.arrivals else { return Ok(None) };
        let recorded = replay
            .packets
            .iter()
            .map(|&(gap_ns, ip_bytes)| RecordedPacket { gap: Duration::from_nanos(gap_ns), ip_bytes });
        let spec = ReplaySpec { packets: recorded.collect(), repeat: replay.repeat, dscp: self.dscp };
        Sound::new(name, spec).map(Some)
    }

    /// What only the engine knows to be wrong with it, as the source of that name.
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

    /// Acknowledgements go `back`.
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

/// What one direction of it meets where it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around {
    /// Of the uplink that it leaves by.
    peak: Rate,
    rto_min: Duration,
}

impl Around {
    /// What is around a host.
    pub(crate) fn of(fabric: &Fabric, graph: &Graph, host: usize) -> Self {
        Self {
            peak: rate(fabric.links[graph.hosts[host].up].rate_bps),
            rto_min: Duration::from_micros(fabric.tcp.rto_min_us.into()),
        }
    }
}

/// Where one direction of it runs.
pub(crate) struct OneWay<'a> {
    /// Of the source.
    pub(crate) name: &'a str,
    pub(crate) path: PathId,
    /// Of acknowledgements.
    pub(crate) back: PathId,
    pub(crate) at: Instant,
    pub(crate) around: Around,
}

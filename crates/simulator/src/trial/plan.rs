//! What a trial in virtual time consists of, as it comes from Python (docs/reference/contracts.md, section 7).

use crosswind_engine::Duration;
use crosswind_fabric::Fabric;
use crosswind_tcp::{Algorithm, Buffer, Settings};
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// A network, an application, and how long it is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The network and its condition; its `tcp` is that of all nodes.
    pub fabric: Fabric,
    /// What runs on the nodes.
    pub application: Application,
    /// Seeds arrivals and the phase of timers; the network has the fabric's.
    pub seed: u64,
    /// Load before the measured phase.
    pub warm_up_ns: u64,
    /// The measured phase.
    pub duration_ns: u64,
    /// The machine that the nodes run on.
    pub machine: Machine,
}

/// What runs on the nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Application {
    /// Requests and responses.
    Calls(Calls),
    /// Bulk transfer.
    Streams(Vec<Stream>),
}

/// Requests and responses between two nodes, as `crosswind-load rpc` makes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// The node that asks.
    pub client: String,
    /// The node that answers.
    pub server: String,
    /// Payload of a request.
    pub request_bytes: u32,
    /// Payload of a response.
    pub response_bytes: u32,
    /// Each has one call at a time.
    pub connections: u32,
    /// Calls per second of all connections; null is a closed loop.
    pub rate_per_s: Option<f64>,
    /// How calls with a rate follow one another.
    pub arrivals: Arrivals,
}

/// How calls follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// At equal distances, the connections in turn.
    Even,
    /// Each connection is a Poisson process.
    Poisson,
}

/// Data without end from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Parallel connections.
    pub connections: u32,
    /// Size of each write.
    pub write_bytes: u32,
}

/// Properties of a machine that TCP depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Period of the kernel's timer interrupt.
    pub tick_ns: u64,
    /// From the arrival of data to the reaction of the application that waits for them: at least, and on average.
    /// What is above the least is exponential.
    pub reaction_ns: [u64; 2],
    /// Second and third value of `tcp_rmem`.
    pub receive_buffer_bytes: [u64; 2],
    /// Second and third value of `tcp_wmem`.
    pub send_buffer_bytes: [u64; 2],
}

impl Machine {
    /// How long an application needs to react this time.
    pub(super) fn reaction_after_ns(&self, random: &mut Pcg64) -> u64 {
        let [least, mean] = self.reaction_ns;
        least + (mean.saturating_sub(least) as f64 * exponential(random)) as u64
    }
}

/// A draw of the exponential distribution with mean 1.
pub(super) fn exponential(random: &mut Pcg64) -> f64 {
    // In (0, 1], so that the logarithm is finite.
    let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
    -libm::log(uniform)
}

impl Plan {
    /// TCP of every node.
    pub(super) fn settings(&self, tick_phase: Duration) -> Result<Settings, String> {
        let tcp = &self.fabric.tcp;
        let congestion = match tcp.congestion_control.as_str() {
            "reno" => Algorithm::Reno,
            "cubic" => Algorithm::Cubic,
            other => {
                return Err(format!(
                "tcp: congestion control {other} is not simulated; use cubic or reno, or run the experiment"
            ))
            }
        };
        let buffer = |[initial, most]: [u64; 2]| {
            let most_bytes = tcp.socket_buffer_bytes.map_or(most, u64::from);
            Buffer { initial_bytes: initial.min(most_bytes), most_bytes }
        };
        if self.machine.tick_ns == 0 {
            return Err("machine: a tick of 0 ns would never let time pass; give at least 1 ns".to_owned());
        }
        Ok(Settings {
            mtu_bytes: self.fabric.mtu_bytes,
            congestion,
            rto_min: Duration::from_micros(tcp.rto_min_us.into()),
            ecn: tcp.ecn,
            receive_buffer: buffer(self.machine.receive_buffer_bytes),
            send_buffer: buffer(self.machine.send_buffer_bytes),
            tick: Duration::from_nanos(self.machine.tick_ns),
            tick_phase,
        })
    }
}

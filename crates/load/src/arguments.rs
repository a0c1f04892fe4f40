//! The command line. Every value that is refused is named with the rule that it broke; the exit status is then 2.

mod meaning;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Serialize;

use crosswind_history::event::Workload as HistoryWorkload;

use crate::history::servers::Reads;
use crate::history::store::mongodb::ReadConcern;
use crate::memcached::protocol::Protocol;
use crate::probe::Gaps;
use crate::rpc::frame;
use crate::stop::OPERATION_TIMEOUT;
use crate::traffic::control::Answer;
use crate::traffic::coordinator::{NodeClock, NodeSocket};
use crate::traffic::pattern::Pattern;
use crate::traffic::size::Size;
use crate::ycsb::store::target::Target;
use crate::ycsb::workload::Workload;

use self::values::{
    answer, bits_per_second, clock, connections, rate, seconds, seconds_above_zero, share, traffic_node,
    workload,
};

/// Offers load to a real server and records every operation.
#[derive(Parser)]
#[command(name = "crosswind-load", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Create and fill the records of the YCSB core workloads
    YcsbPrepare(YcsbPrepare),
    /// Offer a YCSB core workload to a store and record every operation
    Ycsb(Ycsb),
    /// Make what the workloads of `history` need in a store
    HistoryPrepare(HistoryPrepare),
    /// Offer concurrent operations on few keys to a store and write the history of what every client saw
    History(History),
    /// Check a history, and print as JSON whether a correct store could have answered so
    HistoryCheck(HistoryCheck),
    /// Run one command on a MongoDB server, on its database admin, and print the reply as JSON
    MongodbCommand(MongodbCommand),
    /// Run one CQL statement on a Cassandra server and print `rows N`, the number of rows in the result
    CassandraCommand(CassandraCommand),
    /// Answer requests until SIGTERM or SIGINT; prints `listening ADDRESS:PORT` when it does
    RpcServe(RpcServe),
    /// Send requests to an rpc-serve and record every call
    Rpc(Rpc),
    /// Store every key of the ETC mix in a memcached, once
    MemcachedPrepare(MemcachedPrepare),
    /// Offer Facebook's ETC mix to a memcached and record every operation
    Memcached(Memcached),
    /// Fetch objects from a web server and record every request
    Http(Http),
    /// Take part in traffic among nodes until SIGTERM or SIGINT; prints `listening ADDRESS:PORT` when it does
    TrafficServe(TrafficServe),
    /// Send traffic of a pattern among traffic-serves and count it over one window
    Traffic(Traffic),
    /// Be one end of a socket that reaches to another machine: print what it says, and write to it what comes as files
    Relay(Relay),
    /// Send UDP packets, about evenly spaced, that carry the instant they were sent
    ProbeSend(ProbeSend),
    /// Record when the packets of a probe-send arrive; prints `listening ADDRESS:PORT` when it does
    ProbeReceive(ProbeReceive),
    /// Send evenly spaced UDP packets at a rate, many in one call
    FloodSend(FloodSend),
    /// Record when the packets of a flood-send arrive, until silence; prints `listening ADDRESS:PORT` when it does
    FloodReceive(FloodReceive),
}

#[derive(Args)]
pub struct ProbeSend {
    /// The probe-receive to send to
    #[arg(long, value_name = "HOST:PORT")]
    pub to: String,
    /// Packets per second
    #[arg(long, value_name = "PER_S", value_parser = rate)]
    pub rate: f64,
    /// How many packets to send
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=PROBES_MAX))]
    pub count: u64,
    /// UDP payload; 22 bytes make the smallest Ethernet frame
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(16..=65_507))]
    pub payload_bytes: u16,
    /// How the gaps between packets vary
    #[arg(long, value_enum, default_value_t = Gaps::Even)]
    pub gaps: Gaps,
}

#[derive(Args)]
pub struct ProbeReceive {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// End after this number of packets, or 2 s after the last one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=PROBES_MAX))]
    pub count: u64,
    /// File for the packets, one row each: sequence,planned_ns,sent_ns,received_ns (CLOCK_REALTIME)
    #[arg(long, value_name = "FILE.csv")]
    pub out: PathBuf,
}

#[derive(Args)]
pub struct FloodSend {
    /// The flood-receive to send to
    #[arg(long, value_name = "HOST:PORT")]
    pub to: String,
    /// IP bits per second
    #[arg(long, value_name = "BPS", value_parser = bits_per_second)]
    pub rate_bps: f64,
    /// UDP payload of each packet
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(1..=65_507))]
    pub payload_bytes: u16,
    /// Packets in each call, at most 64 (the kernel's bound) and 65507 bytes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub train: u16,
    /// How long to send
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero)]
    pub duration: f64,
}

#[derive(Args)]
pub struct FloodReceive {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// End after this time without a packet
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero)]
    pub silence: f64,
    /// File for the arrivals, one row a call: received_ns,bytes,segment_bytes (CLOCK_REALTIME, UDP payload)
    #[arg(long, value_name = "FILE.csv")]
    pub out: PathBuf,
}

#[derive(Args)]
pub struct YcsbPrepare {
    #[command(flatten)]
    pub target: Target,
    /// How many records to load
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=RECORDS_MAX))]
    pub records: u64,
    /// Length of each of the ten fields of a record
    #[arg(long, value_name = "BYTES", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=FIELD_BYTES_MAX))]
    pub field_length: u32,
    /// Same seed, same contents
    #[arg(long, default_value = "0")]
    pub seed: u64,
}

#[derive(Args, Serialize)]
pub struct Ycsb {
    #[command(flatten)]
    #[serde(flatten)]
    pub target: Target,
    /// The core workload
    #[arg(long)]
    pub workload: Workload,
    /// How many records ycsb-prepare has loaded
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=RECORDS_MAX))]
    pub records: u64,
    /// Length of each of the ten fields of a record, as loaded
    #[arg(long, value_name = "BYTES", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=FIELD_BYTES_MAX))]
    pub field_length: u32,
    /// Operations of the measured phase, all clients together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub operations: Option<u64>,
    /// Length of the measured phase
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero)]
    pub duration: Option<f64>,
    /// Clients, each with a connection of its own and at most one operation in flight
    #[arg(long, value_name = "N", value_parser = connections)]
    pub clients: usize,
    /// Number of the first key that workloads d and e insert, at least --records (the default); a key must be new
    #[arg(long, value_name = "K")]
    pub insert_start: Option<u64>,
    #[command(flatten)]
    #[serde(flatten)]
    pub run: RunArguments,
}

#[derive(Args)]
pub struct HistoryPrepare {
    #[command(flatten)]
    pub target: Target,
}

#[derive(Args, Serialize)]
pub struct History {
    /// The primary; of etcd, the first member
    #[command(flatten)]
    #[serde(flatten)]
    pub target: Target,
    /// The other servers, as HOST:PORT, separated by commas
    #[arg(long, value_name = "HOST:PORT,...", value_delimiter = ',')]
    pub replicas: Vec<String>,
    /// What the clients do: register, set or append
    #[arg(long, value_parser = workload)]
    pub workload: HistoryWorkload,
    /// Keys that the clients share
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub keys: u64,
    /// Clients, each with at most one operation in flight
    #[arg(long, value_name = "N", value_parser = connections)]
    pub clients: usize,
    /// Length of the measured phase
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero)]
    pub duration: f64,
    /// Which servers are read, where only one takes writes
    #[arg(long, value_enum, default_value_t = Reads::Primary)]
    pub reads: Reads,
    /// What a read may return; for mongodb, and `local` when absent
    #[arg(long, value_enum)]
    pub read_concern: Option<ReadConcern>,
    /// Make this replica (1 is the first) the primary during the run
    #[arg(long, value_name = "N", requires = "promote_after")]
    pub promote: Option<usize>,
    /// How long after the first operation
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero, requires = "promote")]
    pub promote_after: Option<f64>,
    /// File for the history, a line of JSON for each event
    #[arg(long, value_name = "FILE.jsonl")]
    pub history: PathBuf,
    /// File for the same as Jepsen's EDN
    #[arg(long, value_name = "FILE.edn")]
    pub edn: PathBuf,
    #[command(flatten)]
    #[serde(flatten)]
    pub run: RunArguments,
}

#[derive(Args)]
pub struct HistoryCheck {
    /// What the clients did: register, set or append
    #[arg(long, value_parser = workload)]
    pub workload: HistoryWorkload,
    /// The history, as `history` writes it
    #[arg(long, value_name = "FILE.jsonl")]
    pub history: PathBuf,
    /// Give up after this time; the verdict is then `unknown` where no violation was found
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero)]
    pub time_limit: f64,
}

#[derive(Args)]
pub struct MongodbCommand {
    /// The server
    #[arg(long, value_name = "HOST:PORT")]
    pub server: String,
    /// The command as a JSON object, its name first: {"replSetGetStatus": 1}
    #[arg(long, value_name = "JSON")]
    pub command: String,
}

#[derive(Args)]
pub struct CassandraCommand {
    /// The server
    #[arg(long, value_name = "HOST:PORT")]
    pub server: String,
    /// The statement, such as SELECT key FROM system.local
    #[arg(long, value_name = "CQL")]
    pub statement: String,
    /// How many replicas have to answer: one, quorum or all
    #[arg(long, value_name = "WORD", default_value = "one")]
    pub consistency: String,
}

#[derive(Args)]
pub struct RpcServe {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: String,
}

#[derive(Args, Serialize)]
pub struct Rpc {
    /// The server to call
    #[arg(long, value_name = "HOST:PORT")]
    pub server: String,
    /// Size of a request on the wire (TCP payload), 8 bytes to 16 MiB
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(frame::REQUEST_SIZES))]
    pub request_bytes: u32,
    /// Size of a response on the wire (TCP payload), 4 bytes to 16 MiB
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(frame::RESPONSE_SIZES))]
    pub response_bytes: u32,
    /// Connections, each with at most one call in flight
    #[arg(long, value_name = "N", value_parser = connections)]
    pub connections: usize,
    /// Length of the measured phase
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero)]
    pub duration: f64,
    #[command(flatten)]
    #[serde(flatten)]
    pub run: RunArguments,
}

#[derive(Args)]
pub struct MemcachedPrepare {
    /// The memcached server to fill
    #[arg(long, value_name = "HOST:PORT")]
    pub server: String,
    /// How many keys to store
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=KEYS_MAX))]
    pub keys: u64,
    /// Same seed, same sizes
    #[arg(long, default_value = "0")]
    pub seed: u64,
}

#[derive(Args, Serialize)]
pub struct Memcached {
    /// The memcached server
    #[arg(long, value_name = "HOST:PORT")]
    pub server: String,
    /// The language of the connections
    #[arg(long, value_enum, default_value = "text")]
    pub protocol: Protocol,
    /// How many keys memcached-prepare has stored
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=KEYS_MAX))]
    pub keys: u64,
    /// Share of SETs among the requests
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.033")]
    pub set_share: f64,
    /// Connections, each with at most one request in flight
    #[arg(long, value_name = "N", value_parser = connections)]
    pub connections: usize,
    /// Length of the measured phase
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero)]
    pub duration: f64,
    #[command(flatten)]
    #[serde(flatten)]
    pub run: RunArguments,
}

#[derive(Args, Serialize)]
pub struct Http {
    /// The web server
    #[arg(long, value_name = "HOST:PORT")]
    pub server: String,
    /// Sizes of the objects, separated by commas; the object of 1000 bytes is /1000
    #[arg(long, value_name = "BYTES", value_delimiter = ',', required = true)]
    pub object_bytes: Vec<u32>,
    /// Connections, each with at most one request in flight
    #[arg(long, value_name = "N", value_parser = connections)]
    pub connections: usize,
    /// Length of the measured phase
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero)]
    pub duration: f64,
    #[command(flatten)]
    #[serde(flatten)]
    pub run: RunArguments,
}

#[derive(Args)]
pub struct TrafficServe {
    /// Address for data; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// Control socket: a Unix socket that this command creates; it must not exist
    #[arg(long, value_name = "FILE")]
    pub control: PathBuf,
}

#[derive(Args)]
pub struct Relay {
    #[command(flatten)]
    pub socket: RelayedSocket,
    /// Folder whose files, named 0, 1 and so on, are written to the socket in this order
    #[arg(long, value_name = "FOLDER")]
    pub from: PathBuf,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct RelayedSocket {
    /// Unix socket that this command creates, for one connection; prints `listening` when it can be made
    #[arg(long, value_name = "FILE")]
    pub listen: Option<PathBuf>,
    /// Unix socket to connect to
    #[arg(long, value_name = "FILE")]
    pub connect: Option<PathBuf>,
}

#[derive(Args, Serialize)]
pub struct Traffic {
    /// A node's name and the control socket of its traffic-serve; twice or more, in the order of the pattern
    #[arg(long, value_name = "NAME=FILE", value_parser = traffic_node)]
    pub node: Vec<NodeSocket>,
    /// The clock of a node on another machine, whose socket is a relay: CLOCK_MONOTONIC there, THERE_NS, when it is
    /// HERE_NS here, and how many ns it gains over the next OVER_NS
    #[arg(long, value_name = "NAME=HERE_NS,THERE_NS,GAINED_NS,OVER_NS", value_parser = clock)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clock: Vec<NodeClock>,
    /// Which node sends to which
    #[arg(long)]
    pub pattern: Pattern,
    /// Connections from each sender to each of its receivers
    #[arg(long, value_name = "N", value_parser = connections)]
    pub connections: usize,
    /// Length of each message: bytes, uniform:LEAST:MOST, exponential:MEAN, pareto:MEAN:SHAPE or web-search; without it
    /// bytes flow without end
    #[arg(long, value_name = "DISTRIBUTION")]
    pub size: Option<Size>,
    /// Length of each answer: a distribution as above, or `same` as the message; without it a receipt of 8 bytes
    #[arg(long, value_name = "DISTRIBUTION", value_parser = answer)]
    pub answer: Option<Answer>,
    /// Messages of each connection; the measured phase ends when all are answered
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Length of the measured phase
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero)]
    pub duration: Option<f64>,
    /// Length of the phase before the measured one
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0")]
    pub warm_up: f64,
    /// Messages per second of all connections together, evenly spaced (open loop); without it the loop is closed
    #[arg(long, value_name = "PER_S", value_parser = rate)]
    pub rate: Option<f64>,
    /// Bytes of each write, where bytes flow without end
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=16 << 20), default_value = "131072")]
    pub write_bytes: u32,
    /// First step of each connection's series of bytes
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero, default_value = "0.1")]
    pub part: f64,
    /// How often each end of a connection prints its progress on its traffic-serve's standard output, for streams
    /// without end; without it never
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero)]
    pub progress: Option<f64>,
    /// Congestion control of the connections, in turn
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub congestion_control: Vec<String>,
    /// Same seed, same sizes
    #[arg(long)]
    pub seed: u64,
    /// File for the messages, one row each
    #[arg(long, value_name = "FILE.csv")]
    pub samples: PathBuf,
    /// File for the summary
    #[arg(long, value_name = "FILE.json")]
    pub summary: PathBuf,
    /// Share of measured messages that may fail; above it the exit status is 4
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.01")]
    pub error_share_max: f64,
}

/// Arguments of every measured run.
#[derive(Args, Serialize)]
pub struct RunArguments {
    /// Length of the phase before the measured one; its operations are recorded as not measured
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0")]
    pub warm_up: f64,
    /// Operations per second of all connections together (open loop); without it the loop is closed
    #[arg(long, value_name = "PER_S", value_parser = rate)]
    pub rate: Option<f64>,
    /// How operations with a rate follow one another
    #[arg(long, value_enum, default_value_t = ArrivalsArgument::Even, requires = "rate")]
    pub arrivals: ArrivalsArgument,
    /// Same seed, same choices
    #[arg(long)]
    pub seed: u64,
    /// File for the operations, one row each
    #[arg(long, value_name = "FILE.csv")]
    pub samples: PathBuf,
    /// File for the summary
    #[arg(long, value_name = "FILE.json")]
    pub summary: PathBuf,
    /// File for what the load does while it runs: a line of JSON for each 100 ms
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub live: Option<PathBuf>,
    /// Share of measured operations that may fail; above it the exit status is 4
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.01")]
    pub error_share_max: f64,
    /// Outlive the server: an operation fails after this time, and a lost connection is made again, at most ten times a
    /// second; without it an operation has 30 s, and a lost connection ends
    #[arg(long, value_name = "SECONDS", value_parser = seconds_above_zero)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outlive: Option<f64>,
}

impl RunArguments {
    /// How long an operation may take.
    pub fn patience(&self) -> Duration {
        self.outlive.map_or(OPERATION_TIMEOUT, Duration::from_secs_f64)
    }
}

#[derive(Clone, Copy, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalsArgument {
    /// Evenly spaced, over all connections
    Even,
    /// As a Poisson process: each connection's gaps are random with an exponential distribution
    Poisson,
}

const RECORDS_MAX: u64 = 1_000_000_000; // a terabyte
const FIELD_BYTES_MAX: i64 = 100_000; // a record of 1 MB; etcd takes requests of 1.5 MiB
const KEYS_MAX: u64 = 1_000_000_000; // 200 gigabytes of values
/// A row takes 24 bytes of memory.
const PROBES_MAX: u64 = 100_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}

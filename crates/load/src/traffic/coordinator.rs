//! `traffic`: sends each node its part, starts all at one instant, and collects their counts.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::control::{hear, say, Done, Exchange, Incoming, Load, Order, Outgoing, Report, Task};
use super::elsewhere::ClockLine;
use super::meter::Counted;
use super::pattern::Pattern;
use crate::clock::monotonic_ns;
use crate::exit::Failed;
use crate::output::HEADER;

/// How far ahead the start is announced: every thread of every node must know it before it comes, on a busy machine too.
const LEAD_NS: u64 = 200_000_000;
const LEAD_NS_PER_CONNECTION: u64 = 1_000_000;
/// And where an order to another machine is carried from file to file.
const LEAD_NS_ELSEWHERE: u64 = 2_000_000_000;

/// What a run does, and where its result goes.
pub struct Run<'a> {
    /// In the order of the pattern.
    pub nodes: &'a [NodeSocket],
    /// Of those on other machines.
    pub clocks: &'a [NodeClock],
    pub pattern: Pattern,
    /// From each sender to each of its receivers.
    pub connections: usize,
    /// Of the connections, in turn; the kernel's own choice where there is none.
    pub congestion_control: &'a [String],
    pub load: Load,
    pub samples: &'a Path,
    pub summary: &'a Path,
    /// Share of measured messages that may fail.
    pub error_share_max: f64,
}

/// A node's name and the control socket of its `traffic-serve`.
#[derive(Clone, Debug, Serialize)]
pub struct NodeSocket {
    pub name: String,
    pub control: PathBuf,
}

/// The clock of a node on another machine.
#[derive(Clone, Debug, Serialize)]
pub struct NodeClock {
    pub name: String,
    #[serde(flatten)]
    pub line: ClockLine,
}

/// A node and the control connection to it.
struct Node {
    name: String,
    address: String,
    clock: ClockLine,
    control: BufReader<UnixStream>,
}

/// One connection of the run.
struct Link {
    from: usize,
    to: usize,
    congestion_control: Option<String>,
}

/// Carries out a run and writes its files; `parameters` go into the summary as they are.
///
/// Returns a sentence about what is wrong with the result; `None` if nothing is.
pub fn run(run: &Run, parameters: &impl Serialize) -> Result<Option<String>, Failed> {
    let create = |path: &Path| {
        File::create(path).map_err(|error| Failed::Usage(format!("create {}: {error}", path.display())))
    };
    let (samples, summary) = (create(run.samples)?, create(run.summary)?);
    let links = links(run).map_err(Failed::Usage)?;
    let clock_of = |node: &NodeSocket| {
        run.clocks.iter().find(|clock| clock.name == node.name).map_or(ClockLine::SAME, |clock| clock.line)
    };
    let mut nodes =
        run.nodes.iter().map(|node| connect(node, clock_of(node))).collect::<Result<Vec<_>, _>>()?;
    let start_ns = begin(&mut nodes, &links, &run.load)?;
    println!("begins {start_ns}");
    let mut samples = BufWriter::new(samples);
    writeln!(samples, "{HEADER}").map_err(|error| Failed::Internal(format!("write the samples: {error}")))?;
    let mut done = Vec::new();
    for node in &mut nodes {
        done.push(gather(node, &mut samples)?);
    }
    let finished_ns = monotonic_ns();
    let summed = Summary::of(parameters, &run.load, &nodes, &links, done, (start_ns, finished_ns));
    samples
        .flush()
        .and_then(|()| write_summary(summary, &summed))
        .map_err(|error| Failed::Internal(format!("write the result: {error}")))?;
    Ok(summed.complaint(&run.load.exchange, run.error_share_max))
}

/// All connections, those of one sender next to one another.
fn links(run: &Run) -> Result<Vec<Link>, String> {
    let mut links = Vec::new();
    for (from, to) in run.pattern.pairs(run.nodes.len())? {
        for _ in 0..run.connections {
            let controls = run.congestion_control;
            let congestion_control =
                (!controls.is_empty()).then(|| controls[links.len() % controls.len()].clone());
            links.push(Link { from, to, congestion_control });
        }
    }
    Ok(links)
}

fn connect(node: &NodeSocket, clock: ClockLine) -> Result<Node, Failed> {
    let unreachable =
        |why: String| Failed::Unreachable(format!("node {}: {}: {why}", node.name, node.control.display()));
    let control = UnixStream::connect(&node.control)
        .map_err(|error| unreachable(format!("{error}; is its traffic-serve running?")))?;
    let mut control = BufReader::new(control);
    match hear(&mut control) {
        Ok(Some(Report::Listening { address })) => {
            Ok(Node { name: node.name.clone(), address, clock, control })
        }
        other => Err(unreachable(format!("sent {other:?} instead of the address where it listens"))),
    }
}

/// Prepares all nodes, connects all, and sends all the instant of the start.
fn begin(nodes: &mut [Node], links: &[Link], load: &Load) -> Result<u64, Failed> {
    let run = monotonic_ns();
    let addresses: Vec<String> = nodes.iter().map(|node| node.address.clone()).collect();
    for (index, node) in nodes.iter_mut().enumerate() {
        let of = |link: &Link| link.from == index;
        let task = Task {
            run,
            load: load.clone(),
            connections: links.len(),
            first: links.iter().position(of).unwrap_or(0),
            outgoing: links
                .iter()
                .filter(|link| of(link))
                .map(|link| Outgoing {
                    to: addresses[link.to].clone(),
                    congestion_control: link.congestion_control.clone(),
                })
                .collect(),
            incoming: links
                .iter()
                .enumerate()
                .filter(|(_, link)| link.to == index)
                .map(|(number, link)| Incoming {
                    number,
                    congestion_control: link.congestion_control.clone(),
                })
                .collect(),
        };
        node.order(&Order::Prepare(task))?;
    }
    all(nodes, |report| matches!(report, Report::Prepared))?;
    for node in nodes.iter_mut() {
        node.order(&Order::Connect)?;
    }
    all(nodes, |report| matches!(report, Report::Connected))?;
    let is_here = nodes.iter().all(|node| node.clock == ClockLine::SAME);
    let lead_ns = if is_here { LEAD_NS } else { LEAD_NS_ELSEWHERE };
    let at_ns = monotonic_ns() + lead_ns + LEAD_NS_PER_CONNECTION * links.len() as u64;
    for node in nodes.iter_mut() {
        node.order(&Order::Start { at_ns: node.clock.there(at_ns) })?;
    }
    Ok(at_ns)
}

/// Waits until every node has sent the expected report.
fn all(nodes: &mut [Node], wanted: impl Fn(&Report) -> bool) -> Result<(), Failed> {
    for node in nodes {
        let report = node.hear()?;
        if !wanted(&report) {
            return Err(Failed::Internal(format!("node {}: sent {report:?} at the wrong time", node.name)));
        }
    }
    Ok(())
}

impl Node {
    fn order(&mut self, order: &Order) -> Result<(), Failed> {
        say(self.control.get_mut(), order).map_err(|error| self.gone(&error.to_string()))
    }

    fn hear(&mut self) -> Result<Report, Failed> {
        match hear(&mut self.control) {
            Ok(Some(Report::Failed { message })) => {
                Err(Failed::Unreachable(format!("node {}: {message}", self.name)))
            }
            Ok(Some(report)) => Ok(report),
            Ok(None) => Err(self.gone("it closed")),
            Err(error) => Err(self.gone(&error.to_string())),
        }
    }

    fn gone(&self, why: &str) -> Failed {
        Failed::Unreachable(format!("node {}: its traffic-serve is gone: {why}", self.name))
    }
}

/// Waits for the counts of a node; its rows go to the samples.
fn gather(node: &mut Node, samples: &mut impl Write) -> Result<Done, Failed> {
    let done = match node.hear()? {
        Report::Done(done) => done,
        other => {
            return Err(Failed::Internal(format!("node {}: sent {other:?} at the wrong time", node.name)))
        }
    };
    let mut line = String::new();
    for _ in 0..done.rows {
        line.clear();
        match node.control.read_line(&mut line) {
            Ok(0) | Err(_) => return Err(node.gone("in the middle of its samples")),
            Ok(_) => {}
        }
        let row = node.clock.row_here(&line).ok_or_else(|| node.gone("it sent a damaged sample"))?;
        samples
            .write_all(row.as_bytes())
            .map_err(|error| Failed::Internal(format!("write the samples: {error}")))?;
    }
    Ok(node.clock.done_here(done))
}

fn write_summary(file: File, summary: &Summary<impl Serialize>) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    serde_json::to_writer(&mut file, summary)?;
    writeln!(file)?;
    file.flush()
}

#[derive(Serialize)]
struct Summary<'a, P> {
    tool: &'static str,
    version: &'static str,
    parameters: &'a P,
    /// Start of the measured window.
    started_ns: u64,
    /// Its end; null where the number of messages ends it.
    ended_ns: Option<u64>,
    finished_ns: u64,
    operations: u64,
    errors: u64,
    first_error: Option<String>,
    not_started: u64,
    connections: Vec<Connection<'a>>,
}

#[derive(Serialize)]
struct Connection<'a> {
    connection: usize,
    from: &'a str,
    to: &'a str,
    local: String,
    remote: String,
    congestion_control: Option<&'a str>,
    /// What arrived at `to`, and what was answered.
    messages: Counted,
    answers: Option<Counted>,
    finished_ns: Option<u64>,
    sender_cpu_ns: u64,
    receiver_cpu_ns: u64,
    retransmits: Option<u32>,
    rtt_us: Option<u32>,
    lost: Option<String>,
}

impl<'a, P> Summary<'a, P> {
    fn of(
        parameters: &'a P,
        load: &Load,
        nodes: &'a [Node],
        links: &'a [Link],
        done: Vec<Done>,
        (start_ns, finished_ns): (u64, u64),
    ) -> Self {
        let window = load.window(start_ns);
        let mut summary = Summary {
            tool: "crosswind-load",
            version: env!("CARGO_PKG_VERSION"),
            parameters,
            started_ns: window.from_ns,
            ended_ns: window.to_ns,
            finished_ns,
            operations: done.iter().map(|node| node.operations).sum(),
            errors: done.iter().map(|node| node.errors).sum(),
            first_error: None,
            not_started: done.iter().map(|node| node.not_started).sum(),
            connections: Vec::new(),
        };
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for node in done {
            summary.first_error = summary.first_error.or(node.first_error);
            sent.extend(node.sent);
            received.extend(node.received);
        }
        sent.sort_by_key(|one| one.number);
        received.sort_by_key(|one| one.number);
        for ((link, sent), received) in links.iter().zip(sent).zip(received) {
            summary.connections.push(Connection {
                connection: sent.number,
                from: &nodes[link.from].name,
                to: &nodes[link.to].name,
                local: sent.local,
                remote: sent.remote,
                congestion_control: link.congestion_control.as_deref(),
                messages: received.counted,
                answers: sent.answers,
                finished_ns: sent.finished_ns,
                sender_cpu_ns: sent.cpu_ns,
                receiver_cpu_ns: received.cpu_ns,
                retransmits: sent.retransmits,
                rtt_us: sent.rtt_us,
                lost: sent.lost.or(received.lost),
            });
        }
        let first_lost = summary.connections.iter().find_map(|one| {
            let why = one.lost.as_ref()?;
            Some(format!("connection {} from {} to {}: {why}", one.connection, one.from, one.to))
        });
        summary.first_error = summary.first_error.or(first_lost);
        summary
    }

    /// A sentence about what is wrong with the run.
    fn complaint(&self, exchange: &Exchange, error_share_max: f64) -> Option<String> {
        let first = self.first_error.as_deref().unwrap_or("none");
        let lost = self.connections.iter().filter(|one| one.lost.is_some()).count();
        let messages = matches!(exchange, Exchange::Messages { .. });
        if lost > 0 {
            return Some(format!("{lost} connections were lost; first error: {first}"));
        }
        if messages && self.operations == 0 {
            return Some(format!("no message was measured; first error: {first}; give a longer --duration"));
        }
        if self.errors as f64 > error_share_max * self.operations as f64 {
            return Some(format!(
                "{} of {} messages failed; first error: {first}",
                self.errors, self.operations
            ));
        }
        if self.connections.iter().all(|one| one.messages.total_bytes == 0) {
            return Some("no byte arrived; is the path interrupted?".into());
        }
        None
    }
}

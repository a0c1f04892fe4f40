//! Traffic among three nodes end to end, over loopback.

#[allow(dead_code)] // every test file uses a part of it
mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use common::{load, Folder, Row, Running};
use serde_json::Value;

const SOON: Duration = Duration::from_secs(20);
const NODES: [&str; 3] = ["a", "b", "c"];

/// Three nodes and the files of one run.
struct Cluster {
    folder: Folder,
    nodes: Vec<(Running, String)>,
}

impl Cluster {
    fn new(name: &str) -> Cluster {
        let folder = Folder::new(name);
        let nodes = NODES
            .iter()
            .map(|node| {
                let control = folder.0.join(format!("{node}.sock"));
                let mut child = load(&["traffic-serve", "--listen", "127.0.0.1:0", "--control"])
                    .arg(control)
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                let mut line = String::new();
                BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
                let address =
                    line.trim().strip_prefix("listening ").expect("a line that says where").to_string();
                (Running(child), address)
            })
            .collect();
        Cluster { folder, nodes }
    }

    fn start(&self, arguments: &[&str]) -> Running {
        let mut command = load(&["traffic", "--seed", "7"]);
        for node in NODES {
            command.arg("--node").arg(format!("{node}={}", self.path(&format!("{node}.sock")).display()));
        }
        command.args(arguments);
        command.arg("--samples").arg(self.path("samples.csv"));
        command.arg("--summary").arg(self.path("summary.json"));
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Runs to a good end; returns the summary and the rows of the samples.
    fn run(&self, arguments: &[&str]) -> (Value, Vec<Row>) {
        let mut traffic = self.start(arguments);
        let code = traffic.exit_code(SOON);
        assert_eq!(code, Some(0), "{}", said(&mut traffic));
        let summary = serde_json::from_slice(&std::fs::read(self.path("summary.json")).unwrap()).unwrap();
        let text = std::fs::read_to_string(self.path("samples.csv")).unwrap();
        (summary, text.lines().skip(1).map(common::row).collect())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.0.join(name)
    }
}

fn said(traffic: &mut Running) -> String {
    let mut said = String::new();
    traffic.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

fn connections(summary: &Value) -> &[Value] {
    summary["connections"].as_array().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a number, not {value}"))
}

#[test]
fn endless_streams_are_counted_over_one_window_and_part_by_part() {
    let cluster = Cluster::new("streams");
    let (summary, rows) = cluster.run(&[
        "--pattern",
        "many-to-one",
        "--connections",
        "2",
        "--duration",
        "0.4",
        "--warm-up",
        "0.1",
        "--part",
        "0.05",
        "--congestion-control",
        "reno",
    ]);
    assert!(rows.is_empty());
    let pairs: Vec<_> = connections(&summary).iter().map(|one| (&one["from"], &one["to"])).collect();
    let (a, b, c) = (&"a".into(), &"b".into(), &"c".into());
    assert_eq!(pairs, [(b, a), (b, a), (c, a), (c, a)]);
    assert_eq!(number(&summary["ended_ns"]) - number(&summary["started_ns"]), 400_000_000);
    for one in connections(&summary) {
        let counted = &one["messages"];
        let series: Vec<u64> = counted["series"].as_array().unwrap().iter().map(number).collect();
        assert_eq!(series.iter().sum::<u64>(), number(&counted["total_bytes"]));
        // Parts 2 to 9 of 50 ms are the window; the warm-up are parts 0 and 1.
        assert_eq!(series[2..10.min(series.len())].iter().sum::<u64>(), number(&counted["window_bytes"]));
        assert!(number(&counted["window_bytes"]) > 0);
        assert!(number(&one["sender_cpu_ns"]) > 0 && number(&one["receiver_cpu_ns"]) < 400_000_000);
        assert_eq!((&one["answers"], &one["lost"]), (&Value::Null, &Value::Null));
        assert_eq!(one["congestion_control"], "reno");
        assert!((1..1_000_000).contains(&number(&one["rtt_us"])));
    }
}

#[test]
fn a_shuffle_moves_every_message_once_and_the_same_with_the_same_seed() {
    let cluster = Cluster::new("shuffle");
    let shuffle = || {
        cluster.run(&[
            "--pattern",
            "many-to-many",
            "--connections",
            "1",
            "--size",
            "uniform:1000:500000",
            "--count",
            "3",
        ])
    };
    let (summary, rows) = shuffle();
    assert_eq!((number(&summary["operations"]), number(&summary["errors"])), (18, 0));
    assert_eq!(summary["ended_ns"], Value::Null);
    for connection in 0..6 {
        let own: Vec<&Row> = rows.iter().filter(|row| row.connection == connection).collect();
        assert_eq!(own.len(), 3);
        assert!(own.iter().all(|row| row.ok && row.measured && row.operation == "transfer"));
        let last = own.iter().map(|row| row.finished_ns).max().unwrap();
        assert_eq!(number(&connections(&summary)[connection]["finished_ns"]), last);
        assert!((1..1_000_000).contains(&number(&connections(&summary)[connection]["rtt_us"])));
    }
    let bytes = |summary: &Value| -> Vec<(u64, u64)> {
        connections(summary)
            .iter()
            .map(|one| (number(&one["messages"]["window_bytes"]), number(&one["answers"]["window_bytes"])))
            .collect()
    };
    assert!(bytes(&summary)
        .iter()
        .all(|(sent, answered)| (3000..1_500_000).contains(sent) && *answered == 24));
    assert_eq!(bytes(&shuffle().0), bytes(&summary));
}

#[test]
fn ping_pong_in_an_open_loop_makes_every_call_at_its_rate() {
    let cluster = Cluster::new("pingpong");
    let (summary, rows) = cluster.run(&[
        "--pattern",
        "ring",
        "--connections",
        "1",
        "--size",
        "1000",
        "--answer",
        "same",
        "--rate",
        "300",
        "--duration",
        "0.5",
        "--warm-up",
        "0.1",
    ]);
    let mut intended: Vec<u64> = rows.iter().map(|row| row.intended_ns).collect();
    intended.sort_unstable();
    // 0.6 s at 300 per second, spread over the connections of three processes.
    assert_eq!(intended.len(), 180);
    assert!(intended.windows(2).all(|pair| (3_333_333..=3_333_334).contains(&(pair[1] - pair[0]))));
    assert_eq!(rows.iter().filter(|row| row.measured).count(), 150);
    assert!(rows.iter().all(|row| row.operation == "call"));
    for one in connections(&summary) {
        assert_eq!(one["messages"]["total_bytes"], 60_000);
        assert_eq!(one["answers"]["total_bytes"], 60_000);
    }
}

#[test]
fn answers_have_a_size_of_their_own() {
    let cluster = Cluster::new("answers");
    let asked = ["--pattern", "one-to-many", "--connections", "1", "--size", "100", "--answer", "70000"];
    let (summary, _) = cluster.run(&[&asked[..], &["--count", "4"]].concat());
    for one in connections(&summary) {
        assert_eq!((&one["from"], number(&one["messages"]["total_bytes"])), (&"a".into(), 400));
        assert_eq!(one["answers"]["total_bytes"], 280_000);
    }
}

#[test]
fn a_node_that_dies_ends_the_run_and_is_named() {
    let mut cluster = Cluster::new("dying");
    let mut traffic = cluster.start(&["--pattern", "ring", "--connections", "1", "--duration", "600"]);
    let mut begins = String::new();
    BufReader::new(traffic.0.stdout.take().unwrap()).read_line(&mut begins).unwrap();
    assert!(begins.starts_with("begins "), "{begins}");
    cluster.nodes[0].0 .0.kill().unwrap();
    assert_eq!(traffic.exit_code(SOON), Some(3));
    let said = said(&mut traffic);
    assert!(said.contains("node a: its traffic-serve is gone"), "{said}");
}

#[test]
fn what_cannot_be_done_is_said_before_anything_begins() {
    let cluster = Cluster::new("refused");
    let ring = ["--pattern", "ring", "--connections", "1"];
    for (more, code, words) in [
        (&["--count", "3"][..], 2, "give --size"),
        (&["--duration", "1", "--answer", "same"], 2, "--answer without --size"),
        (&[], 2, "give one"),
        (&["--duration", "1", "--congestion-control", "nosuch"], 3, "congestion control \"nosuch\""),
    ] {
        let mut traffic = cluster.start(&[&ring[..], more].concat());
        assert_eq!(traffic.exit_code(SOON), Some(code), "{more:?}");
        let said = said(&mut traffic);
        assert!(said.contains(words), "{said}");
    }
    let mut pairs = cluster.start(&["--pattern", "pairs", "--connections", "1", "--duration", "1"]);
    assert_eq!(pairs.exit_code(SOON), Some(2));
    assert!(said(&mut pairs).contains("one is left over"));
}

#[test]
fn strangers_are_turned_away_and_a_run_that_was_called_off_leaves_the_nodes_ready() {
    let mut cluster = Cluster::new("strangers");
    let mut stranger = TcpStream::connect(&cluster.nodes[1].1).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\nHost: crosswind\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = stranger.read_to_end(&mut answer); // closed or reset, either will do
    assert!(answer.is_empty());
    let mut endless = cluster.start(&["--pattern", "ring", "--connections", "2", "--duration", "600"]);
    let mut begins = String::new();
    BufReader::new(endless.0.stdout.take().unwrap()).read_line(&mut begins).unwrap();
    endless.signal(libc::SIGTERM);
    assert_eq!(endless.exit_code(SOON), Some(128 + libc::SIGTERM));
    let (summary, _) =
        cluster.run(&["--pattern", "ring", "--connections", "1", "--size", "1000", "--count", "2"]);
    assert_eq!(number(&summary["operations"]), 6);
    for (node, _) in &mut cluster.nodes {
        node.signal(libc::SIGTERM);
        assert_eq!(node.exit_code(SOON), Some(0));
    }
}

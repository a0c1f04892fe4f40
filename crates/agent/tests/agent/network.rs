//! What a node sees of the network.

use std::time::{Duration, Instant};

use serde_json::{json, Value};

use crate::driver::{fabric, for_each_user, Agent, User};

#[test]
fn names_of_nodes_resolve() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["db0", "db1", "client"]);
        assert_eq!(
            agent.run("db1", "name", "hostname; cat /etc/hostname 2>/dev/null || hostname"),
            "db1\ndb1\n"
        );
        for (name, address) in
            [("db0", "10.77.0.1"), ("db1", "10.77.0.2"), ("client", "10.77.0.3"), ("localhost", "127.0.0.1")]
        {
            let resolved = agent.run("db0", name, &format!("getent ahostsv4 {name} | head -n 1"));
            assert!(resolved.starts_with(address), "{name}: {resolved}");
        }
    });
}

#[test]
fn the_network_of_a_node_is_exactly_what_was_declared() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a", "b", "c"]);
        let links = agent.run("b", "links", "ip -o link");
        assert_eq!(links.lines().count(), 2, "{links}");
        assert!(
            links.contains("02:77:00:00:00:02") && links.contains("mtu 1500") && links.contains("state UP"),
            "{links}"
        );
        let addresses = agent.run("b", "addresses", "ip -o address show dev eth0");
        assert!(addresses.contains("10.77.0.2/16") && addresses.lines().count() == 1, "no IPv6: {addresses}");
        let routes = agent.run("b", "routes", "ip route");
        assert_eq!(
            routes.trim(),
            "10.77.0.0/16 via 169.254.77.1 dev eth0 src 10.77.0.2 onlink rto_min lock 200ms congctl cubic"
        );
        let neighbours = agent.run("b", "neighbours", "ip neigh");
        assert_eq!(neighbours.trim(), "169.254.77.1 dev eth0 lladdr 02:77:00:00:00:00 PERMANENT");
    });
}

#[test]
fn socket_buffers_have_the_size_that_the_fabric_sets() {
    for_each_user(|user| {
        let mut agent = Agent::start(user);
        let mut wide = fabric(&["a", "b"]);
        wide["tcp"]["socket_buffer_bytes"] = 65_536.into();
        agent.must(json!({"do": "up", "fabric": wide}));
        for name in ["tcp_rmem", "tcp_wmem"] {
            let sizes = agent.run("a", name, &format!("cat /proc/sys/net/ipv4/{name}"));
            let sizes: Vec<u32> = sizes.split_whitespace().map(|size| size.parse().unwrap()).collect();
            assert_eq!((sizes.len(), sizes[2]), (3, 65_536), "{name}");
            assert!(sizes.is_sorted(), "{name}: {sizes:?}");
        }
    });
}

#[test]
fn connections_request_ecn_where_the_fabric_sets_it() {
    for_each_user(|user| {
        let mut agent = Agent::start(user);
        let mut asking = fabric(&["a", "b"]);
        asking["tcp"]["ecn"] = true.into();
        agent.must(json!({"do": "up", "fabric": asking}));
        let routes = agent.run("b", "routes", "ip route");
        assert!(routes.contains("features ecn"), "{routes}");
    });
}

#[test]
fn an_unknown_congestion_control_is_refused_with_a_list_of_known_ones() {
    for_each_user(|user| {
        let mut agent = Agent::start(user);
        let mut unknown = fabric(&["a", "b"]);
        unknown["tcp"]["congestion_control"] = "quadratic".into();
        let (kind, message) = agent.must_not(json!({"do": "up", "fabric": unknown}));
        assert_eq!(kind, "preflight", "{message}");
        assert!(message.contains("quadratic") && message.contains("reno"), "{message}");
        agent.must(json!({"do": "up", "fabric": fabric(&["a", "b"])}));
    });
}

const SERVER: &str = r#"exec perl -MIO::Socket::INET -e '
    my $listener = IO::Socket::INET->new(LocalPort => 80, Listen => 5, ReuseAddr => 1) or die "listen: $!";
    $| = 1; print "ready\n";
    my $peer = $listener->accept; my $heard = <$peer>; print $peer "heard $heard"; close $peer; sleep 100'"#;
const CLIENT: &str = r#"exec perl -MIO::Socket::INET -e '
    my $peer = IO::Socket::INET->new(PeerAddr => "b:80", Timeout => 10) or die "connect: $!";
    print $peer "hello\n"; print <$peer>'"#;

#[test]
fn nodes_exchange_tcp_at_once_and_on_any_port() {
    for_each_user(|user| {
        let mut agent = Agent::with_nodes(user, &["a", "b"]);
        agent.must(agent.shell("b", "server", SERVER));
        agent.wait_for_output("server", "ready");
        let began = Instant::now();
        assert_eq!(agent.run("a", "client", CLIENT), "heard hello\n");
        // A lost first packet would be retransmitted after a second.
        assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
        assert!(agent.events.iter().all(|event| event["event"] != "fault"), "{:?}", agent.events);
    });
}

const SINK: &str = r#"exec perl -MIO::Socket::INET -e '
    my $listener = IO::Socket::INET->new(LocalPort => 80, Listen => 5, ReuseAddr => 1) or die "listen: $!";
    $| = 1; print "ready\n";
    my $peer = $listener->accept; my $bytes = 0;
    while (my $count = sysread($peer, my $chunk, 65536)) { $bytes += $count }
    print $peer "$bytes\n"; close $peer; sleep 100'"#;
const SOURCE: &str = r#"exec perl -MIO::Socket::INET -e '
    my $peer = IO::Socket::INET->new(PeerAddr => "b:80", Timeout => 10) or die "connect: $!";
    print $peer "x" x 5000000; $peer->flush; shutdown($peer, 1); print <$peer>'"#;

#[test]
fn a_queue_marks_packets_of_ecn_connections_and_drops_those_of_others() {
    for asks in [true, false] {
        let mut agent = Agent::start(User::Own);
        let mut queued = fabric(&["a", "b"]);
        queued["tcp"]["ecn"] = asks.into();
        for link in queued["links"].as_array_mut().unwrap() {
            link["rate_bps"] = 100_000_000.into();
        }
        queued["condition"]["places"] = json!({"host.egress": [{"queue": {
            "buffer_bytes": 1_000_000, "drop": {"codel": {"target_ns": 1_000_000, "interval_ns": 10_000_000}}, "ecn": true}}]});
        agent.must(json!({"do": "up", "fabric": queued}));
        agent.must(agent.shell("b", "sink", SINK));
        agent.wait_for_output("sink", "ready");
        assert_eq!(agent.run("a", "source", SOURCE), "5000000\n");
        let measured = agent.must(json!({"do": "read"}));
        let elements = measured["elements"].as_array().unwrap();
        let uplink = elements.iter().find(|element| element["element"] == "h-a/uplink").unwrap();
        let marked = uplink["real"]["marked_packets"].as_u64().unwrap();
        let dropped = uplink["real"]["dropped"]["codel"]["packets"].as_u64().unwrap_or(0);
        // Linux sends retransmissions and pure acknowledgements without ECT; nearly all other packets can be marked.
        assert_eq!((marked > 0, dropped == 0), (asks, asks), "{marked} marked, {dropped} dropped");
    }
}

#[test]
fn a_silent_fabric_carries_nothing() {
    let mut agent = Agent::with_nodes(User::Own, &["a", "b"]);
    agent.must(json!({"do": "measure"}));
    std::thread::sleep(Duration::from_millis(500));
    let measured = agent.must(json!({"do": "read"}));
    assert_eq!(
        measured["conservation"]["in"]["real"], 0,
        "neither address resolution nor IPv6 sends packets"
    );
}

#[test]
fn a_caller_that_watches_gets_an_event_for_every_step_and_requests_are_answered_between_them() {
    let mut agent = Agent::with_nodes(User::Own, &["a", "b"]);
    assert!(agent.must_not(json!({"do": "watch", "hz": 5})).1.contains("hz"));
    agent.must(json!({"do": "measure"}));
    agent.must(json!({"do": "watch"}));
    agent.must(agent.shell("b", "server", SERVER));
    agent.wait_for_output("server", "ready");
    assert_eq!(agent.run("a", "client", CLIENT), "heard hello\n");
    let passed = |event: &Value| {
        let rows = event["rows"].as_array().into_iter().flatten();
        rows.filter(|row| row["element"] == "h-b/uplink")
            .filter_map(|row| row["departed_bytes"].as_u64())
            .sum::<u64>()
    };
    let first = agent.event(|event| event["event"] == "step" && passed(event) > 0);
    let at_ns = |event: &Value| event["at_ns"].as_u64().unwrap();
    let next = agent.event(|event| event["event"] == "step" && at_ns(event) > at_ns(&first));
    let apart_ns = at_ns(&next) - at_ns(&first);
    assert_eq!(apart_ns % 100_000_000, 0);
    agent.must(json!({"do": "down"}));
    agent.events.clear();
    agent.must(json!({"do": "up", "fabric": fabric(&["a"])}));
    std::thread::sleep(Duration::from_millis(300));
    agent.must(json!({"do": "read"}));
    assert_eq!(agent.events, [] as [Value; 0], "another fabric is not watched");
}

#[test]
fn watching_needs_a_fabric() {
    let (kind, message) = Agent::start(User::Own).must_not(json!({"do": "watch"}));
    assert_eq!(kind, "invalid");
    assert!(message.contains("no fabric is up"), "{message}");
}

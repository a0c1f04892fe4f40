//! Where a graph is cut, and where it must not be.

use proptest::prelude::*;

use super::*;
use crate::network::tests::{fabric, leaves_and_spines};
use crate::topology::Link;

const LONG_NS: u64 = 20_000_000;

/// One switch per zone, with the given number of hosts, one node each; hosts are 2 us away, delays between zones as
/// given (ns).
fn zones(hosts: &[usize], delay_ns: impl Fn(usize, usize) -> u64) -> Fabric {
    let mut zones = fabric(hosts.iter().sum());
    zones.switches = (0..hosts.len()).map(|zone| format!("z{zone}")).collect();
    let both = |a: &str, b: &str, delay_ns| {
        [
            Link::new(a, b, Some(1_000_000_000), delay_ns, None),
            Link::new(b, a, Some(1_000_000_000), delay_ns, None),
        ]
    };
    let zone_of = hosts.iter().enumerate().flat_map(|(zone, &hosts)| std::iter::repeat_n(zone, hosts));
    zones.links = (0..)
        .zip(zone_of)
        .flat_map(|(host, zone): (usize, _)| both(&format!("h{host}"), &format!("z{zone}"), 2_000))
        .collect();
    for a in 0..hosts.len() {
        for b in a + 1..hosts.len() {
            zones.links.extend(both(&format!("z{a}"), &format!("z{b}"), delay_ns(a, b)));
        }
    }
    zones
}

fn divided(fabric: &Fabric, wanted: usize) -> Domains {
    Domains::of(fabric, &Division::Count(wanted), &[], 1).unwrap()
}

/// Number of hosts of each domain.
fn sizes(domains: &Domains) -> Vec<usize> {
    (0..domains.count()).map(|domain| domains.hosts.iter().filter(|&&of| of == domain).count()).collect()
}

fn tcp(between: [&str; 2]) -> Condition {
    serde_json::from_str(&format!(
        r#"{{"name": "bulk", "interference": [{{"between": ["{}", "{}"], "by": "ghost", "hold_ns": 1000000, "pacing_ns": 1000,
            "packet_ip_bytes": 1500, "zero": "silence", "rate": {{"constant_bps": 1000}},
            "tcp": {{"flows": 1, "congestion_control": "reno"}}}}]}}"#,
        between[0], between[1]
    ))
    .unwrap()
}

#[test]
fn zones_are_cut_at_their_long_links_and_evenly() {
    let four = zones(&[4, 4, 4, 4], |_, _| LONG_NS);
    let domains = divided(&four, 2);
    assert_eq!(sizes(&domains), [8, 8]);
    assert_eq!(domains.shortest_cut().unwrap().delay_ns, LONG_NS);
    assert_eq!(divided(&four, 4).hosts, (0..16).map(|host| host / 4).collect::<Vec<_>>());
    // Two pairs of zones at short distance: each pair stays together.
    let pairs = zones(&[4, 4, 4, 4], |a, b| if a / 2 == b / 2 { LONG_NS / 20 } else { LONG_NS });
    let domains = divided(&pairs, 2);
    assert_eq!((sizes(&domains), domains.shortest_cut().unwrap().delay_ns), (vec![8, 8], LONG_NS));
    assert_eq!(divided(&pairs, 4).shortest_cut().unwrap().delay_ns, LONG_NS / 20);
}

#[test]
fn a_long_link_is_cut_before_a_short_one_even_if_the_parts_are_uneven() {
    // Two hosts far from twelve others: no other link is long.
    let uneven = zones(&[12, 2], |_, _| LONG_NS);
    let domains = divided(&uneven, 2);
    assert_eq!((sizes(&domains), domains.shortest_cut().unwrap().delay_ns), (vec![12, 2], LONG_NS));
    // Among long links balance decides: the farthest zone has almost no work.
    let far = zones(&[4, 4, 1], |_, b| if b == 2 { 10 * LONG_NS } else { LONG_NS });
    let domains = divided(&far, 2);
    assert_eq!((sizes(&domains), domains.shortest_cut().unwrap().delay_ns), (vec![5, 4], LONG_NS));
}

#[test]
fn short_links_are_cut_where_there_is_nothing_else() {
    let domains = divided(&fabric(16), 2);
    assert_eq!(domains.shortest_cut().unwrap().delay_ns, 2_000);
    assert_eq!(sizes(&domains).iter().sum::<usize>(), 16);
    assert!(sizes(&domains).iter().all(|&hosts| hosts > 0));
    let domains = divided(&zones(&[8, 8], |_, _| LONG_NS), 4);
    assert_eq!((domains.count(), domains.shortest_cut().unwrap().delay_ns), (4, 2_000));
}

#[test]
fn hosts_stay_with_their_leaf() {
    let domains = divided(&leaves_and_spines(), 2);
    assert_eq!(domains.hosts, [0, 0, 1, 1]);
    assert_eq!(domains.cuts().len(), 4, "the links between a leaf and the other one's spine");
}

#[test]
fn ends_of_links_that_cannot_be_cut_stay_together() {
    let mut star = fabric(4);
    star.links.iter_mut().for_each(|link| link.delay_ns = 0);
    assert_eq!(divided(&star, 4).count(), 1);
    assert_eq!(divided(&star, 4).shortest_cut(), None);
    // Jitter in one direction holds a host and its switch together.
    let mut star = fabric(4);
    star.links[0].jitter_ns = Some(5);
    let domains = divided(&star, 9);
    assert_eq!(domains.count(), 4);
    assert!(domains
        .cuts()
        .iter()
        .all(|cut| !["h0->switch", "switch->h0"].contains(&star.links[cut.link].name().as_str())));
    // So does interference over TCP, in the current or in a later condition.
    let two = zones(&[2, 2], |_, _| LONG_NS);
    let domains = Domains::of(&two, &Division::Count(2), &[tcp(["h0", "h3"])], 1).unwrap();
    assert_eq!(domains.of_host(0), domains.of_host(3));
    let domains =
        Domains::of(&Fabric { condition: tcp(["h0", "h3"]), ..two }, &Division::Count(4), &[], 1).unwrap();
    assert_eq!(domains.of_host(0), domains.of_host(3));
}

#[test]
fn written_domains_are_used_or_refused_with_a_remedy() {
    let two = zones(&[2, 2], |_, _| LONG_NS);
    let written = |fabric: &Fabric, names: &[&[&str]]| {
        let names: Vec<Vec<String>> =
            names.iter().map(|names| names.iter().map(|&name| name.to_owned()).collect()).collect();
        Domains::of(fabric, &Division::Written(names), &[tcp(["h0", "h1"])], 1)
    };
    let domains = written(&two, &[&["z0"], &["z1"]]).unwrap();
    assert_eq!(domains.hosts, [0, 0, 1, 1]);
    assert_eq!(domains.cuts()[0], Cut { link: 8, from: 0, to: 1, delay_ns: LONG_NS });
    let mut close = two.clone();
    close.links[8].delay_ns = 0;
    let mut shaky = two.clone();
    shaky.links[8].jitter_ns = Some(1);
    for (fabric, names, expected) in [
        (
            &close,
            &[&["z0"][..], &["z1"]][..],
            "link z0->z1: is cut between domains 0 and 1, and has no delay; put z0 and z1",
        ),
        (&shaky, &[&["z0"], &["z1"]], "delay that varies"),
        (&two, &[&["z0", "h9"], &["z1"]], "no host or switch is called h9"),
        (&two, &[&["z0", "h0"], &["z1", "h0"]], "h0 is named twice"),
        (&two, &[&["z0"]], "switch z1: is in no domain"),
        (&two, &[&["z0"], &[], &["z1"]], "domain 1: is empty"),
        (&two, &[&["z0"], &["z1", "h1"]], "interference between h0 and h1 uses TCP"),
    ] {
        let said = written(fabric, names).unwrap_err().to_string();
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(Domains::of(&two, &Division::Count(0), &[], 1).unwrap_err().to_string().contains("at least 1"));
}

#[test]
fn a_link_below_the_smallest_delay_is_not_cut_and_refused_in_a_written_division() {
    let mut zones = zones(&[1, 1, 1], |_, _| LONG_NS);
    let short: Vec<usize> = (0..zones.links.len())
        .filter(|&link| ["z0->z1", "z1->z0"].contains(&zones.links[link].name().as_str()))
        .collect();
    for link in short {
        zones.links[link].delay_ns = LONG_NS - 1;
    }
    assert_eq!(Domains::of(&zones, &Division::Count(3), &[], LONG_NS - 1).unwrap().count(), 3);
    let domains = Domains::of(&zones, &Division::Count(3), &[], LONG_NS).unwrap();
    assert_eq!((domains.count(), domains.of_host(0)), (2, domains.of_host(1)));
    let written =
        Division::Written([["z0"], ["z1"], ["z2"]].map(|it| it.map(str::to_owned).to_vec()).to_vec());
    let said = Domains::of(&zones, &written, &[], LONG_NS).unwrap_err().to_string();
    let expected = format!(
        "link z0->z1: is cut between domains 0 and 1, and has a delay of {} ns, but a cut needs {LONG_NS} ns or more",
        LONG_NS - 1
    );
    assert!(said.contains(&expected), "{said}");
}

#[test]
fn a_monitor_of_both_directions_holds_the_ends_of_its_link_together() {
    let two = zones(&[1, 1], |_, _| LONG_NS);
    let watching = |place: &str, what: &str, on: Option<&str>| {
        let monitor = serde_json::json!({"monitor": {"what": [what], "on": on.map(|link| [link])}});
        let condition = serde_json::json!({"name": "watched", "places": {place: [monitor]}});
        serde_json::from_value::<Condition>(condition).unwrap()
    };
    let parts = |later: Condition| {
        let domains = Domains::of(&two, &Division::Count(2), &[later], 1).unwrap();
        domains.cuts().iter().any(|cut| two.links[cut.link].name() == "z0->z1")
    };
    assert!(!parts(watching("wan", "rtt", None)));
    assert!(!parts(watching("link", "rtt", Some("z0->z1"))));
    assert!(parts(watching("link", "rtt", None)), "at the links of hosts, which are not cut");
    assert!(parts(watching("wan", "drops", None)), "one direction is enough");
    // Applied later, the condition is refused.
    let domains = Domains::of(&two, &Division::Count(2), &[], 1).unwrap();
    let mut planner = crate::Planner::new(&two).unwrap().divided(domains);
    let said = planner.condition(&watching("wan", "rtt", None)).unwrap_err().to_string();
    assert!(
        said.contains(
            "condition watched: a monitor measures rtt at link z0->z1, so z0 and z1 must be in one"
        ),
        "{said}"
    );
}

proptest! {
    #[test]
    fn every_division_can_be_written_out(
        hosts in prop::collection::vec(1usize..5, 1..6),
        delays in prop::collection::vec(prop_oneof![Just(0u64), Just(2_000), Just(LONG_NS), 1u64..1_000_000], 40),
        wanted in 1usize..6,
    ) {
        let mut fabric = zones(&hosts, |a, b| delays[5 * a + b]);
        for (link, &delay_ns) in fabric.links.iter_mut().zip(&delays).filter(|(link, _)| link.from.starts_with('h')) {
            link.delay_ns = delay_ns;
        }
        let domains = divided(&fabric, wanted);
        prop_assert!(domains.count() <= wanted);
        prop_assert!(domains.cuts().iter().all(|cut| cut.delay_ns > 0));
        // Every requested domain exists, unless all atoms are separate already.
        let atoms = divided(&fabric, usize::MAX).count();
        prop_assert_eq!(domains.count(), wanted.min(atoms));
        let graph = fabric.checked().unwrap().0;
        let names: Vec<Vec<String>> = (0..domains.count()).map(|domain| {
            let named = |names: &[String], of: &dyn Fn(usize) -> usize| {
                names.iter().enumerate().filter(|&(number, _)| of(number) == domain).map(|(_, name)| name.clone()).collect::<Vec<_>>()
            };
            let switch = |number: usize| {
                let leaves = |link: &usize| fabric.links[*link].from == fabric.switches[number];
                domains.of_link((0..graph.owners.len()).find(leaves).unwrap())
            };
            [named(&fabric.hosts, &|host| domains.of_host(host)), named(&fabric.switches, &switch)].concat()
        }).collect();
        prop_assert_eq!(Domains::of(&fabric, &Division::Written(names), &[], 1).unwrap(), domains);
    }
}

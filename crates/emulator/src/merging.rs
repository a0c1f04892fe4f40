//! Merges the snapshots of all domains into one: the values that a single packet thread would have.
//!
//! Every domain has all elements, in the same order, and a packet is counted where it passes. So counters are added,
//! and values of an element as a whole are taken from the domain that it is in. Rows are sorted by their instants.

use crosswind_engine::Class;
use crosswind_fabric::{Domains, ElementAt};

use crate::crossings::Under;
use crate::log::Log;
use crate::measurement::{ByClass, Conservation, Host, Window};
use crate::names::Names;
use crate::records::{Bounded, Incidents};
use crate::series::{CreditRow, Row};
use crate::snapshot::{Counted, Forwarded, Snapshot};

/// The merged snapshot of all domains, in their order; there is at least one.
pub fn merged(snapshots: Vec<Snapshot>, domains: &Domains) -> Snapshot {
    let names = names(&snapshots);
    let ended_ns = snapshots.iter().map(|it| it.window.ended_ns).max().unwrap_or_default();
    let spins = snapshots.iter().all(|it| it.wait_mode == "spin");
    Snapshot {
        window: Window { ended_ns, ..snapshots[0].window.clone() },
        wait_mode: if spins { "spin" } else { "sleep" },
        domains: domains.count(),
        host: host(&snapshots),
        changes: snapshots[0].changes.clone(),
        series: series(&snapshots),
        credit: credit(&snapshots, &names, domains),
        forwarded: forwarded(snapshots, &names, domains),
        names,
    }
}

/// The snapshot of a machine that carries one domain, without what belongs to elements of other machines.
pub fn own(mut snapshot: Snapshot, domains: &Domains, domain: usize) -> Snapshot {
    let Snapshot { names, credit, forwarded, .. } = &mut snapshot;
    let owns = |element: &ElementAt| domains.of_element(element) == domain;
    forwarded.monitors.retain(|look| owns(names.element(look.element())));
    for (at, counted) in names.elements().iter().zip(&mut forwarded.elements) {
        counted.credit = counted.credit.take().filter(|_| owns(at));
    }
    *credit = credit.iter().filter(|row| owns(names.element(row.element))).copied().collect();
    snapshot
}

/// The names of the domain with the most elements: one domain may have carried out a timeline step before the others,
/// and elements are only added.
fn names(snapshots: &[Snapshot]) -> Names {
    let longest = snapshots.iter().max_by_key(|it| it.names.elements().len()).expect("there is at least one");
    longest.names.clone()
}

fn host(snapshots: &[Snapshot]) -> Host {
    let all = || snapshots.iter().map(|it| &it.host);
    let mut stalls: Vec<_> = all().flat_map(|host| host.stalls.clone()).collect();
    stalls.sort_by_key(|stall| stall.at_ns);
    Host {
        canary_gap_ns_max: all().map(|host| host.canary_gap_ns_max).max().unwrap_or(0),
        stalls,
        // Steal belongs to the machine; each domain has the same value.
        steal_ns: all().map(|host| host.steal_ns).max().unwrap_or(0),
        run_queue_delay_ns: all().map(|host| host.run_queue_delay_ns).sum(),
        emulator_cpu_ns: all().map(|host| host.emulator_cpu_ns).sum(),
        ring_overruns: all().map(|host| host.ring_overruns).sum(),
        send_retries: all().map(|host| host.send_retries).sum(),
        watch_ns: all().filter_map(|host| host.watch_ns).reduce(|one, other| one + other),
    }
}

/// A link that is cut has a row in each of two domains for the same step.
fn series(snapshots: &[Snapshot]) -> Log<Row> {
    let place = |row: &Row| (row.at_ns, row.element, row.class == Class::Ghost);
    let mut rows: Vec<Row> = snapshots.iter().flat_map(|it| it.series.iter().cloned()).collect();
    rows.sort_by_key(place);
    rows.dedup_by(|later, row| {
        let same = place(later) == place(row);
        if same {
            row.add(later);
        }
        same
    });
    rows.into_iter().collect()
}

/// Each domain has every bucket, and packets pass it in one of them.
fn credit(snapshots: &[Snapshot], names: &Names, domains: &Domains) -> Log<CreditRow> {
    let own = |(domain, snapshot): (usize, &Snapshot)| {
        let owns = |row: &&CreditRow| domains.of_element(names.element(row.element)) == domain;
        snapshot.credit.iter().filter(owns).copied().collect::<Vec<_>>()
    };
    let mut rows: Vec<CreditRow> = snapshots.iter().enumerate().flat_map(own).collect();
    rows.sort_by_key(|row| (row.at_ns, row.element));
    rows.into_iter().collect()
}

fn forwarded(snapshots: Vec<Snapshot>, names: &Names, domains: &Domains) -> Forwarded {
    let conservation = conservation(&snapshots);
    let mut parts = snapshots.into_iter().map(|it| it.forwarded);
    let mut all = parts.next().expect("there is at least one");
    let owns = |domain: usize, element: &ElementAt| domains.of_element(element) == domain;
    all.monitors.retain(|look| owns(0, names.element(look.element())));
    for (domain, part) in (1..).zip(parts) {
        all.ledger.add(&part.ledger);
        add_counters(&mut all.elements, part.elements, |element| owns(domain, &names.elements()[element]));
        let own = part.monitors.into_iter().filter(|look| owns(domain, names.element(look.element())));
        all.monitors.extend(own);
        all.offered.extend(part.offered);
        all.driven.extend(part.driven);
        join(&mut all.incidents, part.incidents);
    }
    all.monitors.sort_by_key(|look| look.element());
    all.driven.sort_by_key(|levels| levels.place);
    let incidents = &mut all.incidents;
    in_order(&mut incidents.drops, |row| row.at_ns);
    in_order(&mut incidents.retransmissions, |row| row.at_ns);
    in_order(&mut incidents.held, |row| row.held.at_ns);
    Forwarded { conservation, ..all }
}

fn add_counters(all: &mut Vec<Counted>, part: Vec<Counted>, owns: impl Fn(usize) -> bool) {
    for (element, counted) in part.into_iter().enumerate() {
        match all.get_mut(element) {
            None => all.push(counted),
            Some(sum) => {
                sum.counters = sum.counters + counted.counters;
                if owns(element) {
                    sum.credit = counted.credit;
                }
            }
        }
    }
}

fn join(all: &mut Incidents, part: Incidents) {
    fn rows<T: Copy>(all: &mut Bounded<T>, part: &Bounded<T>) {
        part.rows.iter().for_each(|row| all.push(*row));
        all.lost += part.lost;
    }
    rows(&mut all.drops, &part.drops);
    rows(&mut all.retransmissions, &part.retransmissions);
    rows(&mut all.held, &part.held);
}

fn in_order<T: Copy>(bounded: &mut Bounded<T>, at_ns: impl Fn(&T) -> u64) {
    let mut rows: Vec<T> = bounded.rows.iter().copied().collect();
    rows.sort_by_key(at_ns);
    bounded.rows = rows.into_iter().collect();
}

/// Packets between domains count as inside. Domains are read in sequence: a packet that has left one domain in its
/// snapshot, and has not entered the next one in that one's, counts as entered.
fn conservation(snapshots: &[Snapshot]) -> Conservation {
    let under = |at: usize| {
        let each = snapshots.iter().map(|it| it.forwarded.under_way[at]);
        each.fold(Under::default(), Under::and)
    };
    let (before, now) = (under(0), under(1));
    let all = || snapshots.iter().map(|it| &it.forwarded.conservation);
    let sum = |of: fn(&Conservation) -> ByClass, and: Under| Under {
        real: all().map(|it| of(it).real as i64).sum::<i64>() + and.real,
        ghost: all().map(|it| of(it).ghost as i64).sum::<i64>() + and.ghost,
    };
    let mut entered = sum(|it| it.entered, before);
    let mut inside = sum(|it| it.inside, now);
    for (entered, inside) in [(&mut entered.real, &mut inside.real), (&mut entered.ghost, &mut inside.ghost)]
    {
        let unseen = (-*inside).max(0);
        (*entered, *inside) = (*entered + unseen, *inside + unseen);
    }
    let none = Under::default();
    let [duplicated, out, dropped] =
        [sum(|it| it.duplicated, none), sum(|it| it.out, none), sum(|it| it.dropped, none)];
    let balanced = |class: fn(Under) -> i64| {
        class(entered) + class(duplicated) == class(out) + class(dropped) + class(inside)
    };
    let holds = all().all(|it| it.holds) && balanced(|it| it.real) && balanced(|it| it.ghost);
    let counts = |sum: Under| ByClass { real: sum.real as u64, ghost: sum.ghost as u64 };
    Conservation {
        entered: counts(entered),
        duplicated: counts(duplicated),
        out: counts(out),
        dropped: counts(dropped),
        inside: counts(inside),
        holds,
    }
}

//! Which server a client talks to, and the failover by hand that changes it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use super::log::Log;
use super::store::mongodb::ReadConcern;
use super::store::{self, Store};
use crate::clock::monotonic_ns;
use crate::stop::Stop;
use crate::ycsb::store::target::{Kind, Target};

/// Where reads go, if the store has a server that alone takes writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reads {
    /// To the server that takes writes.
    Primary,
    /// Each client's to a server of its own.
    Any,
}

/// The servers of a store, of which the first is the primary.
pub struct Servers {
    targets: Vec<Target>,
    reads: Reads,
    concern: ReadConcern,
    primary: AtomicUsize,
}

impl Servers {
    /// As many targets as there are servers, one at least; `concern` is MongoDB's.
    pub fn new(targets: Vec<Target>, reads: Reads, concern: ReadConcern) -> Servers {
        Servers { targets, reads, concern, primary: AtomicUsize::new(0) }
    }

    /// The server that a client of this number uses for a write or a read.
    pub fn of(&self, client: usize, writes: bool) -> usize {
        let own = client % self.targets.len();
        // Every member of these takes writes, and a client stays with its own.
        let all_equal = matches!(self.targets[0].store, Kind::Etcd | Kind::Cassandra);
        if all_equal || (self.reads == Reads::Any && !writes) {
            own
        } else {
            self.primary.load(Ordering::SeqCst)
        }
    }

    /// Connects to a server.
    pub fn connect(&self, server: usize, stop: &Arc<Stop>) -> Result<Box<dyn Store>, String> {
        store::connect(&self.targets, server, self.concern, stop)
    }

    /// Makes a replica the primary after a time from the first operation on, and sends the clients there; returns when that is done.
    pub fn promote(&self, replica: usize, after: Duration, log: &Log, stop: &Arc<Stop>) {
        const LOOK_NS: u64 = 1_000_000;
        let begun_ns = loop {
            if stop.reason().is_some() {
                return;
            }
            match log.began_ns() {
                Some(begun_ns) => break begun_ns,
                None => stop.sleep_until_ns(monotonic_ns() + LOOK_NS),
            }
        };
        let due_ns = begun_ns + after.as_nanos() as u64;
        while monotonic_ns() < due_ns && stop.reason().is_none() {
            stop.sleep_until_ns(due_ns);
        }
        let name = &self.targets[replica].server;
        log.intervene("promote", name);
        match store::promote(&self.targets, replica, stop) {
            Ok(()) => {
                self.primary.store(replica, Ordering::SeqCst);
                log.intervene("promoted", name);
            }
            Err(why) => {
                eprintln!("crosswind-load: {name} cannot be made the primary: {why}");
                log.intervene("not-promoted", name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(store: Kind, reads: Reads) -> Servers {
        let target = |server: &str| Target {
            store,
            server: server.into(),
            user: None,
            database: None,
            durability: None,
        };
        Servers::new(vec![target("a:1"), target("b:1"), target("c:1")], reads, ReadConcern::Local)
    }

    #[test]
    fn writes_go_to_the_primary_and_reads_where_they_are_to_go() {
        let primary = servers(Kind::Redis, Reads::Primary);
        let any = servers(Kind::Redis, Reads::Any);
        assert_eq!([primary.of(1, true), primary.of(1, false)], [0, 0]);
        assert_eq!([any.of(1, true), any.of(1, false), any.of(5, false)], [0, 1, 2]);
        any.primary.store(1, Ordering::SeqCst);
        assert_eq!([any.of(2, true), any.of(2, false)], [1, 2]);
    }

    #[test]
    fn a_client_of_equal_members_stays_with_its_own() {
        for store in [Kind::Etcd, Kind::Cassandra] {
            let equal = servers(store, Reads::Primary);
            assert_eq!([equal.of(1, true), equal.of(1, false), equal.of(3, true)], [1, 1, 0]);
        }
    }
}

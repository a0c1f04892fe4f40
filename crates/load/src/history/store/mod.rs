//! The stores that can, each with the connections of `ycsb`.

mod etcd;
pub mod mongodb;
mod postgresql;
mod redis;

use std::net::SocketAddr;
use std::sync::Arc;

use crosswind_history::event::{Value, Workload};

use self::mongodb::ReadConcern;
use crate::failure::{Failure, NotPrepared};
use crate::stop::Stop;
use crate::ycsb::store::target::{Kind, Target};

/// What a client wants of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Read,
    Write(i64),
    /// Replaces the first value by the second.
    Cas(i64, i64),
    Add(i64),
    Append(i64),
}

/// What a client knows after a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done; with what was read.
    Done(Value),
    /// A compare-and-set found another value, and did nothing.
    OtherValue,
    /// It was not done, and will not be.
    Refused(String),
    /// It may have been done, or may be done later; the connection can go on.
    Unknown(String),
    /// The same, and the connection cannot be used any more.
    Lost(String),
    /// The run was stopped meanwhile.
    Stopped,
}

impl Outcome {
    /// Whether nobody knows if it was done.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Outcome::Unknown(_) | Outcome::Lost(_) | Outcome::Stopped)
    }

    /// Of a request that failed.
    ///
    /// # Arguments
    /// * `has_no_effect`: whether a refusal with these words means that the request was not done, and never will be.
    fn of(failure: Failure, has_no_effect: impl FnOnce(&str) -> bool) -> Outcome {
        match failure {
            Failure::Refused(why) if has_no_effect(&why) => Outcome::Refused(why),
            Failure::Refused(why) => Outcome::Unknown(why),
            Failure::Lost(why) => Outcome::Lost(why),
            Failure::Stopped => Outcome::Stopped,
        }
    }
}

/// One connection to a server of a store.
pub trait Store {
    /// Our address and the server's.
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)>;
    /// Carries out a request of a workload.
    fn perform(&mut self, workload: Workload, key: u64, request: &Request) -> Outcome;
}

/// Refuses a store that cannot.
pub fn check(target: &Target) -> Result<(), String> {
    match target.store {
        Kind::Mongodb if target.durability.as_deref() == Some("w=0") => {
            Err("--durability w=0: no write is answered, so no outcome is known; write w=1 or majority"
                .into())
        }
        Kind::Redis | Kind::Etcd | Kind::Postgresql | Kind::Mongodb => crate::ycsb::store::check(target),
        Kind::Cassandra => Err("--store: history has redis, etcd, postgresql and mongodb".into()),
    }
}

/// Connects to one of the servers of a store, of which the first stands for the primary.
pub fn connect(
    targets: &[Target],
    server: usize,
    concern: ReadConcern,
    stop: &Arc<Stop>,
) -> Result<Box<dyn Store>, String> {
    let target = &targets[server];
    check(target)?;
    Ok(match target.store {
        Kind::Redis => Box::new(redis::Redis::connect(target, stop)?),
        Kind::Etcd => Box::new(etcd::Etcd::connect(target, stop)?),
        Kind::Mongodb if server == 0 => Box::new(mongodb::Mongodb::to_primary(targets, concern, stop)?),
        Kind::Mongodb => Box::new(mongodb::Mongodb::to_member(target, concern, stop)?),
        Kind::Postgresql | Kind::Cassandra => Box::new(postgresql::Postgresql::connect(target, stop)?),
    })
}

/// Makes what the workloads need and a store does not have by itself.
pub fn prepare(target: &Target, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    match target.store {
        Kind::Postgresql => postgresql::prepare(target, stop),
        Kind::Redis | Kind::Etcd | Kind::Mongodb | Kind::Cassandra => Ok(()),
    }
}

/// Makes a replica the primary, as an administrator would.
pub fn promote(targets: &[Target], replica: usize, stop: &Arc<Stop>) -> Result<(), String> {
    match targets[replica].store {
        Kind::Redis => redis::promote(targets, replica, stop),
        Kind::Postgresql => postgresql::promote(&targets[replica], stop),
        Kind::Etcd | Kind::Mongodb | Kind::Cassandra => {
            Err("it elects its leader itself; leave --promote out".into())
        }
    }
}

/// A number as stores hold it.
fn number(text: &[u8]) -> Result<i64, Failure> {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Failure::Lost(format!("\"{}\" is no number that we wrote", text.escape_ascii())))
}

/// A list of numbers with blanks between them.
fn numbers(text: &[u8]) -> Result<Vec<i64>, Failure> {
    text.split(|&byte| byte == b' ').filter(|part| !part.is_empty()).map(number).collect()
}

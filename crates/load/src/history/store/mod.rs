//! The stores that can, each with the connections of `ycsb`.

mod cassandra;
mod etcd;
pub mod mongodb;
mod postgresql;
mod redis;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crosswind_history::event::{Value, Workload};

use self::mongodb::ReadConcern;
use crate::clock::monotonic_ns;
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
    /// Whether it is unknown if it was done.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Outcome::Unknown(_) | Outcome::Lost(_) | Outcome::Stopped)
    }

    /// After a request: with what was read or written, or with nothing where a comparison found something else.
    ///
    /// # Arguments
    /// * `has_no_effect`: whether a refusal with these words means that a write was not done, and never will be.
    fn after(
        request: &Request,
        done: Result<Option<Value>, Failure>,
        has_no_effect: impl FnOnce(&str) -> bool,
    ) -> Outcome {
        match done {
            Ok(Some(value)) => Outcome::Done(value),
            Ok(None) if matches!(request, Request::Append(_)) => {
                Outcome::Refused("others were faster each time".into())
            }
            Ok(None) => Outcome::OtherValue,
            Err(Failure::Refused(why)) if *request == Request::Read || has_no_effect(&why) => {
                Outcome::Refused(why)
            }
            Err(Failure::Refused(why)) => Outcome::Unknown(why),
            Err(Failure::Lost(why)) => Outcome::Lost(why),
            Err(Failure::Stopped) => Outcome::Stopped,
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
        _ => crate::ycsb::store::check(target),
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
        Kind::Postgresql => Box::new(postgresql::Postgresql::connect(target, stop)?),
        Kind::Cassandra => Box::new(cassandra::Cassandra::connect(target, stop)?),
    })
}

/// Makes what the workloads need and a store does not have by itself.
pub fn prepare(target: &Target, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    match target.store {
        Kind::Postgresql => postgresql::prepare(target, stop),
        Kind::Cassandra => cassandra::prepare(target, stop),
        Kind::Redis | Kind::Etcd | Kind::Mongodb => Ok(()),
    }
}

/// Makes a replica the primary, as an administrator would.
pub fn promote(targets: &[Target], replica: usize, stop: &Arc<Stop>) -> Result<(), String> {
    match targets[replica].store {
        Kind::Redis => redis::promote(targets, replica, stop),
        Kind::Postgresql => postgresql::promote(&targets[replica], stop),
        Kind::Etcd | Kind::Mongodb => Err("it elects its leader itself; leave --promote out".into()),
        Kind::Cassandra => Err("its servers are equal; leave --promote out".into()),
    }
}

/// Appends in a store that has no such operation, by a read and a write that compares; begins again where another client was faster.
///
/// # Arguments
/// * `attempt`: one read and one write; whether the list was still the one that was read.
fn append(patience: Duration, mut attempt: impl FnMut() -> Result<bool, Failure>) -> Result<bool, Failure> {
    let give_up_ns = monotonic_ns() + patience.as_nanos() as u64;
    loop {
        if attempt()? {
            return Ok(true);
        }
        if monotonic_ns() >= give_up_ns {
            return Ok(false);
        }
    }
}

/// A list with one more element, as text.
fn longer(list: &str, element: i64) -> String {
    if list.is_empty() {
        element.to_string()
    } else {
        format!("{list} {element}")
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

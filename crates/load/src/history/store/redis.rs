//! Redis and Valkey: a string for each register, a set, a list.
//!
//! A compare-and-set is a script, which the server runs at once. With `--durability wait=N`, `WAIT N` follows every write: where
//! fewer replicas have acknowledged it in time, the write stays on the primary, and may be on others later or not, so its outcome
//! is unknown.
//!
//! Source: Redis 7 documentation: EVAL, WAIT, REPLICAOF, and the prefixes of errors.

use std::net::SocketAddr;
use std::sync::Arc;

use crosswind_history::event::{Value, Workload};
use redis_protocol::resp2::types::OwnedFrame;

use super::{number, Outcome, Request, Store};
use crate::failure::Failure;
use crate::stop::Stop;
use crate::ycsb::store::redis::connection::Connection;
use crate::ycsb::store::redis::durability;
use crate::ycsb::store::target::Target;

/// Replaces a value by another one, and returns 1, or 0 where something else was there.
const CAS: &[u8] = b"if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) return 1 end return 0";

/// Errors after which a write was not done.
const WITHOUT_EFFECT: [&str; 6] = ["READONLY", "LOADING", "MASTERDOWN", "NOREPLICAS", "MISCONF", "OOM"];

/// A session.
pub struct Redis {
    connection: Connection,
    replicas_awaited: u32,
    wait_ms: String,
}

impl Redis {
    /// Connects.
    pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Redis, String> {
        // The server gives up first, so that its answer still comes in time.
        let wait_ms = (stop.patience().as_millis() * 3 / 4).max(1).to_string();
        let replicas_awaited = durability(target.durability.as_deref())?;
        Ok(Redis { connection: Connection::connect(&target.server, stop)?, replicas_awaited, wait_ms })
    }

    fn read(&mut self, workload: Workload, key: &str) -> Result<Value, Failure> {
        let key = key.as_bytes();
        match workload {
            Workload::Register => self.connection.ask(&[b"GET", key])?,
            Workload::Set => self.connection.ask(&[b"SMEMBERS", key])?,
            Workload::Append => self.connection.ask(&[b"LRANGE", key, b"0", b"-1"])?,
        }
        value(self.connection.exchange()?.pop().unwrap_or(OwnedFrame::Null))
    }

    /// Returns whether it was done: a compare-and-set may have found another value.
    fn write(&mut self, key: &str, request: &Request) -> Result<bool, Failure> {
        let key = key.as_bytes();
        let text = |value: i64| value.to_string().into_bytes();
        match *request {
            Request::Write(value) => self.connection.ask(&[b"SET", key, &text(value)])?,
            Request::Cas(from, to) => {
                self.connection.ask(&[b"EVAL", CAS, b"1", key, &text(from), &text(to)])?;
            }
            Request::Add(element) => self.connection.ask(&[b"SADD", key, &text(element)])?,
            Request::Append(element) => self.connection.ask(&[b"RPUSH", key, &text(element)])?,
            Request::Read => unreachable!("a read is no write"),
        }
        let awaited = self.replicas_awaited;
        if awaited > 0 {
            self.connection.ask(&[b"WAIT", awaited.to_string().as_bytes(), self.wait_ms.as_bytes()])?;
        }
        let mut replies = self.connection.exchange()?;
        let acknowledged = if awaited > 0 { replies.pop() } else { None };
        let done = !matches!((request, replies.first()), (Request::Cas(..), Some(OwnedFrame::Integer(0))));
        match acknowledged {
            Some(OwnedFrame::Integer(count)) if done && count < i64::from(awaited) => {
                Err(Failure::Refused(format!("{count} of {awaited} replicas acknowledged the write in time")))
            }
            _ => Ok(done),
        }
    }
}

impl Store for Redis {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        self.connection.addresses()
    }

    fn perform(&mut self, workload: Workload, key: u64, request: &Request) -> Outcome {
        let key = format!("{}:{key}", workload.name());
        let done = match request {
            Request::Read => self.read(workload, &key).map(Some),
            _ => self.write(&key, request).map(|done| done.then_some(Value::Nothing)),
        };
        Outcome::after(request, done, |why| WITHOUT_EFFECT.iter().any(|word| why.starts_with(word)))
    }
}

/// Makes a replica the primary, and has the others follow it; those that cannot be reached stay as they are.
pub fn promote(targets: &[Target], replica: usize, stop: &Arc<Stop>) -> Result<(), String> {
    let order = |target: &Target, host: &str, port: &str| {
        let mut connection = Connection::connect(&target.server, stop)?;
        connection
            .ask(&[b"REPLICAOF", host.as_bytes(), port.as_bytes()])
            .and_then(|()| connection.exchange())
            .map(|_| ())
            .map_err(|failure| failure.to_string())
    };
    order(&targets[replica], "NO", "ONE")?;
    let (host, port) = targets[replica].server.rsplit_once(':').ok_or("a server is HOST:PORT")?;
    // The old primary, which comes first, is the one that the administrator takes for lost.
    for (number, target) in targets.iter().enumerate().skip(1).filter(|(number, _)| *number != replica) {
        if let Err(why) = order(target, host, port) {
            eprintln!("crosswind-load: server {number} does not follow the new primary: {why}");
        }
    }
    Ok(())
}

fn value(reply: OwnedFrame) -> Result<Value, Failure> {
    match reply {
        OwnedFrame::Null => Ok(Value::Nothing),
        OwnedFrame::BulkString(text) => Ok(Value::One(number(&text)?)),
        OwnedFrame::Array(parts) => parts
            .iter()
            .map(|part| match part {
                OwnedFrame::BulkString(text) => number(text),
                other => Err(unexpected(other)),
            })
            .collect::<Result<_, _>>()
            .map(Value::Many),
        other => Err(unexpected(&other)),
    }
}

fn unexpected(reply: &OwnedFrame) -> Failure {
    Failure::Lost(format!("a value was expected, not {reply:?}"))
}

//! Redis and Valkey: a hash for each record, and a sorted set with the names of all of them, for scans.
//!
//! Replication is asynchronous: the primary answers before any replica has seen a write. `--durability wait=N` sends
//! `WAIT N` behind every write, in the same segment, and counts a write as done when N replicas have acknowledged it;
//! `wait=0`, the default, is Redis as it is without that. A read is HGETALL, an update HSET of one field, an insert HSET and ZADD:
//! one round trip each. A scan is two: ZRANGE BYLEX for the names, then HGETALL for all of them together.
//!
//! Deviations from YCSB's `RedisClient`, which has the same sorted set: there the score is a hash of the key, so a scan
//! follows no order of names, and its HGETALLs take a round trip each. Here all scores are 0, and names decide.
//!
//! Source: YCSB 0.17.0, `site.ycsb.db.RedisClient`; Redis commands WAIT and ZRANGE (6.2 or later).

pub mod connection;
pub mod prepare;

use std::sync::Arc;

use redis_protocol::resp2::types::OwnedFrame;

use crate::failure::Failure;
use crate::stop::Stop;
use crate::ycsb::record::{Record, FIELDS};
use crate::ycsb::store::interface::Store;
use crate::ycsb::store::target::Target;
use connection::Connection;

/// The sorted set of key names; YCSB's own name for it.
const INDEX: &[u8] = b"_indices";
const FIELD_NAMES: [&[u8]; FIELDS] = [
    b"field0", b"field1", b"field2", b"field3", b"field4", b"field5", b"field6", b"field7", b"field8",
    b"field9",
];
/// Longest wait of the server for acknowledgements; an operation's own time-out is longer, so the connection survives.
const WAIT_MS: &[u8] = b"25000";

/// A session.
pub struct Redis {
    connection: Connection,
    replicas_awaited: u32,
}

impl Redis {
    /// Connects.
    pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Redis, String> {
        let replicas_awaited = durability(target.durability.as_deref())?;
        Ok(Redis { connection: Connection::connect(&target.server, stop)?, replicas_awaited })
    }

    /// Sends a write, awaits its acknowledgements, and returns its integer replies.
    fn write(&mut self) -> Result<Vec<i64>, Failure> {
        let awaited = self.replicas_awaited;
        if awaited > 0 {
            self.connection.ask(&[b"WAIT", awaited.to_string().as_bytes(), WAIT_MS])?;
        }
        let mut counts =
            self.connection.exchange()?.iter().map(count).collect::<Result<Vec<i64>, Failure>>()?;
        if awaited > 0 {
            let acknowledged = counts.pop().unwrap_or(0);
            if acknowledged < i64::from(awaited) {
                return Err(Failure::Refused(format!(
                    "{acknowledged} of {awaited} replicas acknowledged the write in time; are they connected?"
                )));
            }
        }
        Ok(counts)
    }
}

impl Store for Redis {
    fn addresses(&self) -> std::io::Result<(std::net::SocketAddr, std::net::SocketAddr)> {
        self.connection.addresses()
    }

    fn read(&mut self, key: &str) -> Result<(), Failure> {
        self.connection.ask(&[b"HGETALL", key.as_bytes()])?;
        self.connection.exchange()?.iter().try_for_each(|reply| whole_record(reply, key))
    }

    fn update(&mut self, key: &str, field_number: usize, value: &[u8]) -> Result<(), Failure> {
        self.connection.ask(&[b"HSET", key.as_bytes(), FIELD_NAMES[field_number], value])?;
        // HSET counts the fields that were not there before.
        match self.write()?[..] {
            [0] => Ok(()),
            _ => Err(Failure::Refused(format!("{key}: not there; do --records and the database agree?"))),
        }
    }

    fn insert(&mut self, key: &str, record: &Record) -> Result<(), Failure> {
        ask_insert(&mut self.connection, key, record)?;
        match self.write()?[..] {
            [fields, 1] if fields == FIELDS as i64 => Ok(()),
            _ => Err(Failure::Refused(format!("{key}: there already; give a higher --insert-start"))),
        }
    }

    fn scan(&mut self, first_key: &str, count: u64) -> Result<(), Failure> {
        let (from, count) = (format!("[{first_key}"), count.to_string());
        self.connection.ask(&[
            b"ZRANGE",
            INDEX,
            from.as_bytes(),
            b"+",
            b"BYLEX",
            b"LIMIT",
            b"0",
            count.as_bytes(),
        ])?;
        let names = match self.connection.exchange()?.pop() {
            Some(OwnedFrame::Array(names)) if !names.is_empty() => names,
            _ => {
                return Err(Failure::Refused(format!(
                    "{first_key}: no record; do --records and the database agree?"
                )))
            }
        };
        for name in &names {
            self.connection.ask(&[b"HGETALL", bulk(name)?])?;
        }
        self.connection.exchange()?.iter().try_for_each(|reply| whole_record(reply, first_key))
    }
}

/// How many replicas a write waits for, from `wait=N`.
pub fn durability(word: Option<&str>) -> Result<u32, String> {
    match word {
        None => Ok(0),
        Some(word) => word
            .strip_prefix("wait=")
            .and_then(|count| count.parse().ok())
            .ok_or_else(|| format!("--durability {word}: Redis has wait=0, wait=1, wait=2 ...")),
    }
}

/// Adds the commands that store a record and put its name into the index.
fn ask_insert(connection: &mut Connection, key: &str, record: &Record) -> Result<(), Failure> {
    let mut words: Vec<&[u8]> = vec![b"HSET", key.as_bytes()];
    for (name, value) in FIELD_NAMES.into_iter().zip(record) {
        words.extend([name, value.as_slice()]);
    }
    connection.ask(&words)?;
    connection.ask(&[b"ZADD", INDEX, b"0", key.as_bytes()])
}

fn whole_record(reply: &OwnedFrame, key: &str) -> Result<(), Failure> {
    match reply {
        OwnedFrame::Array(parts) if parts.len() == 2 * FIELDS => Ok(()),
        _ => Err(Failure::Refused(format!("{key}: no whole record; do --records and the database agree?"))),
    }
}

fn count(reply: &OwnedFrame) -> Result<i64, Failure> {
    match reply {
        OwnedFrame::Integer(count) => Ok(*count),
        other => Err(Failure::Lost(format!("a number was expected, not {other:?}"))),
    }
}

fn bulk(reply: &OwnedFrame) -> Result<&[u8], Failure> {
    match reply {
        OwnedFrame::BulkString(text) => Ok(text),
        other => Err(Failure::Lost(format!("a name was expected, not {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durability_is_the_number_of_replicas_that_a_write_waits_for() {
        assert_eq!((durability(None), durability(Some("wait=2"))), (Ok(0), Ok(2)));
        assert!(durability(Some("majority")).unwrap_err().contains("wait=1"));
    }
}

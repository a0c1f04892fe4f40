//! MongoDB: a document for each register, set and list. Each operation is one command on one document.
//!
//! `--durability` is the write concern, `--read-concern` that of reads. The server gives up waiting first, so that its answer still
//! comes in time: a write that was not confirmed by then has an unknown outcome. Writes carry the number of a transaction and are
//! sent again to a new primary, exactly once, as MongoDB's drivers do.
//!
//! Elements are pushed, in a set too: one that was added twice is there twice.
//!
//! Source: MongoDB documentation, "Write Concern", "Read Concern", "Read Preference", "Retryable Writes"; `error_codes.yml`.

use std::net::SocketAddr;
use std::sync::Arc;

use bson::raw::cstr;
use bson::{rawdoc, RawDocument, RawDocumentBuf};
use crosswind_history::event::{Value, Workload};

use super::{Outcome, Request, Store};
use crate::failure::Failure;
use crate::stop::Stop;
use crate::ycsb::store::mongodb::connection::Connection;
use crate::ycsb::store::mongodb::primary::Primary;
use crate::ycsb::store::mongodb::{durability, WriteConcern};
use crate::ycsb::store::target::Target;

const DATABASE: &str = "history";

/// What a read may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadConcern {
    /// Whatever the server has, which may be rolled back.
    Local,
    /// What a majority has confirmed to this server, which may be old.
    Majority,
    /// What a majority confirms at this read; of the primary alone.
    Linearizable,
}

impl ReadConcern {
    fn level(self) -> &'static str {
        match self {
            ReadConcern::Local => "local",
            ReadConcern::Majority => "majority",
            ReadConcern::Linearizable => "linearizable",
        }
    }
}

/// Whom a session talks to.
enum Peer {
    /// Whichever member takes writes.
    Primary(Primary),
    /// One member, to read what it has.
    Member(Connection),
}

/// A session.
pub struct Mongodb {
    peer: Peer,
    write_concern: WriteConcern,
    read_concern: ReadConcern,
    server_ms: i64,
}

impl Mongodb {
    /// Connects to the primary, which any member that answers may name.
    pub fn to_primary(members: &[Target], reads: ReadConcern, stop: &Arc<Stop>) -> Result<Mongodb, String> {
        let mut why = String::new();
        for member in members {
            match Primary::connect(&member.server, stop) {
                Ok(primary) => return Mongodb::new(Peer::Primary(primary), member, reads, stop),
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// Connects to a member that is only read.
    pub fn to_member(member: &Target, reads: ReadConcern, stop: &Arc<Stop>) -> Result<Mongodb, String> {
        Mongodb::new(Peer::Member(Connection::connect(&member.server, stop)?), member, reads, stop)
    }

    fn new(peer: Peer, target: &Target, read_concern: ReadConcern, stop: &Stop) -> Result<Mongodb, String> {
        let write_concern = durability(target.durability.as_deref())?;
        let server_ms = (stop.patience().as_millis() as i64 * 3 / 4).max(1);
        Ok(Mongodb { peer, write_concern, read_concern, server_ms })
    }

    fn read(&mut self, workload: Workload, key: i64) -> Result<Value, Failure> {
        let mut command = rawdoc! {
            "find": workload.name(),
            "filter": { "_id": key },
            "limit": 1,
            "singleBatch": true,
            "readConcern": { "level": self.read_concern.level() },
            "maxTimeMS": self.server_ms,
            "$db": DATABASE,
        };
        let reply = match &mut self.peer {
            Peer::Primary(primary) => primary.run(&command)?,
            Peer::Member(connection) => {
                command.append(cstr!("$readPreference"), rawdoc! { "mode": "nearest" });
                connection.run(&command)?
            }
        };
        value(workload, &reply)
            .map_err(|why| Failure::Lost(format!("a reply that is no value of ours: {why}")))
    }

    /// Returns whether it was done: a compare-and-set may have found another value.
    fn write(&mut self, workload: Workload, key: i64, request: &Request) -> Result<bool, Failure> {
        let mut command = rawdoc! {
            "update": workload.name(),
            "updates": [update(key, request)],
            "writeConcern": match self.write_concern {
                WriteConcern::Majority => rawdoc! { "w": "majority", "wtimeout": self.server_ms },
                WriteConcern::Primary => rawdoc! { "w": 1 },
                WriteConcern::Unacknowledged => rawdoc! { "w": 0 },
            },
        };
        command.append(cstr!("$db"), DATABASE);
        let Peer::Primary(primary) = &mut self.peer else { unreachable!("a member is only read") };
        Ok(matches!(primary.write(command)?.get_i32("n"), Ok(1)))
    }
}

impl Store for Mongodb {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        match &self.peer {
            Peer::Primary(primary) => primary.addresses(),
            Peer::Member(connection) => connection.addresses(),
        }
    }

    fn perform(&mut self, workload: Workload, key: u64, request: &Request) -> Outcome {
        let done = match request {
            Request::Read => self.read(workload, key as i64).map(Some),
            _ => self.write(workload, key as i64, request).map(|done| done.then_some(Value::Nothing)),
        };
        Outcome::after(request, done, is_without_effect)
    }
}

/// Whether an error says that a write was not done: two made the same document at once, and this one was later.
fn is_without_effect(why: &str) -> bool {
    why.ends_with("(code 11000)")
}

/// What a request changes in which document.
fn update(key: i64, request: &Request) -> RawDocumentBuf {
    match *request {
        Request::Write(value) => {
            rawdoc! { "q": { "_id": key }, "u": { "$set": { "value": value } }, "upsert": true }
        }
        Request::Cas(from, to) => {
            rawdoc! { "q": { "_id": key, "value": from }, "u": { "$set": { "value": to } } }
        }
        Request::Add(element) | Request::Append(element) => {
            rawdoc! { "q": { "_id": key }, "u": { "$push": { "elements": element } }, "upsert": true }
        }
        Request::Read => unreachable!("a read is no write"),
    }
}

/// What a reply to `find` has of a key.
fn value(workload: Workload, reply: &RawDocument) -> Result<Value, String> {
    let named = |error: bson::error::Error| error.to_string();
    let found =
        reply.get_document("cursor").and_then(|cursor| cursor.get_array("firstBatch")).map_err(named)?;
    let first = found.into_iter().next().transpose().map_err(|error| error.to_string())?;
    let Some(document) = first else {
        return Ok(if workload == Workload::Register { Value::Nothing } else { Value::Many(Vec::new()) });
    };
    let document = document.as_document().ok_or("no document")?;
    if workload == Workload::Register {
        return document.get_i64("value").map(Value::One).map_err(named);
    }
    let elements = document.get_array("elements").map_err(named)?;
    let number = |element: Result<bson::RawBsonRef, bson::error::Error>| {
        element.ok().and_then(|element| element.as_i64()).ok_or("an element that is no number".to_string())
    };
    elements.into_iter().map(number).collect::<Result<_, _>>().map(Value::Many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_has_a_value_a_list_or_nothing() {
        let reply = |document| rawdoc! { "cursor": { "firstBatch": [document] }, "ok": 1.0 };
        let register = reply(rawdoc! { "_id": 1_i64, "value": 7_i64 });
        assert_eq!(value(Workload::Register, &register), Ok(Value::One(7)));
        let list = reply(rawdoc! { "_id": 1_i64, "elements": [3_i64, 4_i64] });
        assert_eq!(value(Workload::Append, &list), Ok(Value::Many(vec![3, 4])));
        let none = rawdoc! { "cursor": { "firstBatch": [] }, "ok": 1.0 };
        assert_eq!(value(Workload::Register, &none), Ok(Value::Nothing));
        assert_eq!(value(Workload::Set, &none), Ok(Value::Many(Vec::new())));
        assert!(value(Workload::Set, &register).is_err());
    }

    #[test]
    fn an_error_tells_by_its_code_whether_a_write_may_have_been_done() {
        assert!(is_without_effect("E11000 duplicate key error (code 11000)"));
        // The primary has it, and no majority confirmed it in time.
        assert!(!is_without_effect("not confirmed: waiting for replication timed out (code 64)"));
        assert!(!is_without_effect("a refusal without a reason"));
    }
}

//! etcd: a key for each field, so that an update writes one field; a record is a range of ten keys.
//!
//! Keys are `usertable/KEY/N`. A read is a range of one record, a scan a range of whole records: one call each. An update and an
//! insert are transactions that first check that the key is there, or is not. Writes go through Raft;
//! `--durability serializable` lets the server answer reads from its own copy; `linearizable`, the
//! default, makes it ask a quorum first.
//!
//! Deviation from go-ycsb, which stores a record as one JSON value: there an update is a read and a write of the whole record.
//!
//! Source: etcd 3.4, "etcd3 API", KV service.

pub mod connection;
pub mod messages;
pub mod prepare;

use std::sync::Arc;

use crate::failure::Failure;
use crate::stop::Stop;
use crate::ycsb::record::{Record, FIELDS};
use crate::ycsb::store::interface::Store;
use crate::ycsb::store::target::Target;
use connection::Connection;
use messages::{
    Compare, CompareResult, CompareTarget, CompareWith, PutRequest, RangeRequest, RangeResponse, Request,
    RequestOperation, TxnRequest, TxnResponse,
};

const TABLE: &str = "usertable/";
/// The first key behind the table: `/` is followed by `0`.
const TABLE_END: &str = "usertable0";

/// A session.
pub struct Etcd {
    connection: Connection,
    reads: Reads,
}

/// What a read has to prove before it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// That it sees every write which was confirmed before; a quorum is asked.
    Linearizable,
    /// Nothing: the server answers from its own copy.
    Serializable,
}

impl Etcd {
    /// Connects.
    pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Etcd, String> {
        let reads = durability(target.durability.as_deref())?;
        Ok(Etcd { connection: Connection::connect(&target.server, stop)?, reads })
    }

    /// Returns how many keys there are in the range, after taking all of them, values included.
    fn range(&mut self, key: String, range_end: String, limit: u64) -> Result<usize, Failure> {
        let question = RangeRequest {
            key: key.into_bytes(),
            range_end: range_end.into_bytes(),
            limit: limit as i64,
            serializable: self.reads == Reads::Serializable,
        };
        Ok(self.connection.call::<RangeResponse>("Range", &question)?.pairs.len())
    }
}

impl Store for Etcd {
    fn addresses(&self) -> std::io::Result<(std::net::SocketAddr, std::net::SocketAddr)> {
        Ok(self.connection.addresses())
    }

    fn read(&mut self, key: &str) -> Result<(), Failure> {
        match self.range(format!("{TABLE}{key}/"), format!("{TABLE}{key}0"), 0)? {
            FIELDS => Ok(()),
            fields => Err(Failure::Refused(format!(
                "{key}: {fields} fields where {FIELDS} were expected; do --records and the table agree?"
            ))),
        }
    }

    fn update(&mut self, key: &str, field_number: usize, value: &[u8]) -> Result<(), Failure> {
        let field = field_key(key, field_number);
        let question = TxnRequest {
            compare: vec![version_of(field.clone(), CompareResult::Greater)],
            success: vec![put(field, value)],
        };
        if self.connection.call::<TxnResponse>("Txn", &question)?.succeeded {
            Ok(())
        } else {
            Err(Failure::Refused(format!("{key}: not there; do --records and the table agree?")))
        }
    }

    fn insert(&mut self, key: &str, record: &Record) -> Result<(), Failure> {
        let question = TxnRequest {
            compare: vec![version_of(field_key(key, 0), CompareResult::Equal)],
            success: puts(key, record).collect(),
        };
        if self.connection.call::<TxnResponse>("Txn", &question)?.succeeded {
            Ok(())
        } else {
            Err(Failure::Refused(format!("{key}: there already; give a higher --insert-start")))
        }
    }

    fn scan(&mut self, first_key: &str, count: u64) -> Result<(), Failure> {
        match self.range(format!("{TABLE}{first_key}/"), TABLE_END.into(), count * FIELDS as u64)? {
            0 => Err(Failure::Refused(format!("{first_key}: no record; do --records and the table agree?"))),
            keys if keys % FIELDS != 0 => {
                Err(Failure::Refused(format!("{first_key}: {keys} keys are not whole records")))
            }
            _ => Ok(()),
        }
    }
}

/// How reads are served, from `linearizable` or `serializable`.
pub fn durability(word: Option<&str>) -> Result<Reads, String> {
    match word {
        None | Some("linearizable") => Ok(Reads::Linearizable),
        Some("serializable") => Ok(Reads::Serializable),
        Some(word) => Err(format!("--durability {word}: etcd has linearizable and serializable reads")),
    }
}

fn field_key(key: &str, field_number: usize) -> Vec<u8> {
    format!("{TABLE}{key}/{field_number}").into_bytes()
}

/// Equal: the key was never written; greater: it is there.
fn version_of(key: Vec<u8>, result: CompareResult) -> Compare {
    Compare {
        result: result.into(),
        target: CompareTarget::Version.into(),
        key,
        with: Some(CompareWith::Version(0)),
    }
}

fn put(key: Vec<u8>, value: &[u8]) -> RequestOperation {
    RequestOperation { request: Some(Request::Put(PutRequest { key, value: value.to_vec() })) }
}

fn puts<'a>(key: &'a str, record: &'a Record) -> impl Iterator<Item = RequestOperation> + 'a {
    record.iter().enumerate().map(move |(number, value)| put(field_key(key, number), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durability_is_how_reads_are_served() {
        assert_eq!(durability(None), Ok(Reads::Linearizable));
        assert_eq!(durability(Some("serializable")), Ok(Reads::Serializable));
        assert!(durability(Some("w=0")).unwrap_err().contains("linearizable"));
    }

    #[test]
    fn keys_of_a_record_are_in_its_range_and_no_others() {
        let in_range =
            |key: &[u8]| key >= b"usertable/user1/".as_slice() && key < b"usertable/user10".as_slice();
        assert!((0..FIELDS).all(|number| in_range(&field_key("user1", number))));
        assert!(!in_range(&field_key("user10", 0)) && !in_range(&field_key("user0", 9)));
        // Records follow one another as their names do, also where one name begins another.
        assert!(field_key("user1", 9) < field_key("user10", 0));
    }
}

//! etcd: a key for each register and each list, and one for each element of a set.
//!
//! Writes go through Raft. A compare-and-set is a transaction that compares the value. An append reads the list, and writes the
//! longer one in a transaction that compares the revision of the list; where another client was faster, it begins again.
//! `--durability serializable` reads from the member's own copy.
//!
//! A transaction is not sent again after an error: whatever a member answers, its leader may have taken it.
//!
//! Source: etcd 3.4, "etcd3 API", KV service.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crosswind_history::event::{Value, Workload};

use super::{append, longer, number, numbers, Outcome, Request, Store};
use crate::failure::Failure;
use crate::stop::Stop;
use crate::ycsb::store::etcd::connection::Connection;
use crate::ycsb::store::etcd::messages::{
    Compare, CompareResult, CompareTarget, CompareWith, KeyValue, PutRequest, RangeRequest, RangeResponse,
    Request as Part, RequestOperation, TxnRequest, TxnResponse,
};
use crate::ycsb::store::etcd::{durability, Reads};
use crate::ycsb::store::target::Target;

/// A session with a member.
pub struct Etcd {
    connection: Connection,
    reads: Reads,
    patience: Duration,
}

impl Etcd {
    /// Connects.
    pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Etcd, String> {
        let reads = durability(target.durability.as_deref())?;
        Ok(Etcd { connection: Connection::connect(&target.server, stop)?, reads, patience: stop.patience() })
    }

    fn range(&mut self, key: Vec<u8>, range_end: Vec<u8>) -> Result<Vec<KeyValue>, Failure> {
        let serializable = self.reads == Reads::Serializable;
        let question = RangeRequest { key, range_end, limit: 0, serializable };
        Ok(self.connection.call::<RangeResponse>("Range", &question)?.pairs)
    }

    fn read(&mut self, workload: Workload, key: &str) -> Result<Value, Failure> {
        if workload == Workload::Set {
            // `/` is followed by `0`.
            let pairs = self.range(format!("{key}/").into_bytes(), format!("{key}0").into_bytes())?;
            let elements: Result<_, _> = pairs.iter().map(|pair| number(&pair.value)).collect();
            return elements.map(Value::Many);
        }
        let pair = self.range(key.into(), Vec::new())?.pop();
        Ok(match (workload, pair) {
            (Workload::Append, pair) => Value::Many(numbers(&pair.unwrap_or_default().value)?),
            (_, None) => Value::Nothing,
            (_, Some(pair)) => Value::One(number(&pair.value)?),
        })
    }

    /// Writes a value where a comparison holds; returns whether it did.
    fn put(&mut self, key: &str, value: String, compare: Option<Compare>) -> Result<bool, Failure> {
        let put = PutRequest { key: key.into(), value: value.into_bytes() };
        let question = TxnRequest {
            compare: compare.into_iter().collect(),
            success: vec![RequestOperation { request: Some(Part::Put(put)) }],
        };
        Ok(self.connection.call::<TxnResponse>("Txn", &question)?.succeeded)
    }

    /// Appends if the list is still as it was read; returns whether it was.
    fn append(&mut self, key: &str, element: i64) -> Result<bool, Failure> {
        let pair = self.range(key.into(), Vec::new())?.pop().unwrap_or_default();
        let list = longer(&String::from_utf8_lossy(&pair.value), element);
        let unchanged = compare(key, CompareTarget::Mod, CompareWith::ModRevision(pair.mod_revision));
        self.put(key, list, Some(unchanged))
    }

    fn write(&mut self, key: &str, request: &Request) -> Result<bool, Failure> {
        match *request {
            Request::Write(value) => self.put(key, value.to_string(), None),
            Request::Cas(from, to) => {
                let same = CompareWith::Value(from.to_string().into_bytes());
                self.put(key, to.to_string(), Some(compare(key, CompareTarget::Value, same)))
            }
            Request::Add(element) => self.put(&format!("{key}/{element}"), element.to_string(), None),
            Request::Append(element) => append(self.patience, || self.append(key, element)),
            Request::Read => unreachable!("a read is no write"),
        }
    }
}

impl Store for Etcd {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        Ok(self.connection.addresses())
    }

    fn perform(&mut self, workload: Workload, key: u64, request: &Request) -> Outcome {
        let key = format!("{}/{key}", workload.name());
        let done = match request {
            Request::Read => self.read(workload, &key).map(Some),
            _ => self.write(&key, request).map(|done| done.then_some(Value::Nothing)),
        };
        Outcome::after(request, done, |_| false)
    }
}

fn compare(key: &str, target: CompareTarget, with: CompareWith) -> Compare {
    Compare { result: CompareResult::Equal.into(), target: target.into(), key: key.into(), with: Some(with) }
}

//! Cassandra: a row for each register and each list, and one for each element of a set, in a partition for each key.
//!
//! With `--durability serial` all writes are lightweight transactions and all reads see the last of them. Otherwise reads and
//! writes wait for as many replicas as it says; a compare-and-set and an append, which cannot do without, are lightweight
//! transactions even then. An append reads the list, and writes the longer one where it is unchanged; where another client was faster,
//! it begins again.
//!
//! Source: Apache Cassandra 5.0, "Lightweight transactions with linearizable consistency"; `native_protocol_v4.spec`, section 9
//! (codes of errors).

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use cassandra_protocol::consistency::Consistency;
use cassandra_protocol::frame::message_result::ResResultBody;
use cassandra_protocol::types::value::Value as Bound;
use cassandra_protocol::types::CBytesShort;
use crosswind_history::event::{Value, Workload};

use super::{append, longer, number, numbers, Outcome, Request, Store};
use crate::failure::{Failure, NotPrepared};
use crate::stop::Stop;
use crate::ycsb::store::cassandra::connection::Connection;
use crate::ycsb::store::cassandra::prepare::insist;
use crate::ycsb::store::cassandra::{applied, durability, Level};
use crate::ycsb::store::target::Target;

/// `unwritten` stays null: a condition that always holds makes a write a lightweight transaction.
const TABLES: [&str; 2] = [
    "CREATE TABLE IF NOT EXISTS ycsb.history (key varchar PRIMARY KEY, value varchar, unwritten varchar)",
    "CREATE TABLE IF NOT EXISTS ycsb.history_set (key varchar, element varchar, PRIMARY KEY (key, element))",
];
const READ: &str = "SELECT value FROM ycsb.history WHERE key = ?";
const READ_SET: &str = "SELECT element FROM ycsb.history_set WHERE key = ?";
const WRITE: &str = "UPDATE ycsb.history SET value = ? WHERE key = ?";
const CAS: &str = "UPDATE ycsb.history SET value = ? WHERE key = ? IF value = ?";
const ADD: &str = "INSERT INTO ycsb.history_set (key, element) VALUES (?, ?)";

/// The code of an answer that says that too few replicas were known to be alive to begin.
const UNAVAILABLE: &str = "(error 0x1000)";

/// A session with one server.
pub struct Cassandra {
    connection: Connection,
    level: Level,
    patience: Duration,
    read: CBytesShort,
    read_set: CBytesShort,
    write: CBytesShort,
    cas: CBytesShort,
    add: CBytesShort,
}

impl Cassandra {
    /// Connects and prepares all statements.
    pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Cassandra, String> {
        let level = durability(target.durability.as_deref())?;
        let named = |failure| format!("Cassandra at {}: {failure}", target.server);
        let mut connection = Connection::connect(&target.server, stop)?;
        let write = level.statement(WRITE, "IF unwritten = null");
        let add = level.statement(ADD, "IF NOT EXISTS");
        let statements = [READ.into(), READ_SET.into(), write, CAS.into(), add];
        let prepared = connection.prepare(&statements).map_err(named)?;
        let [read, read_set, write, cas, add] =
            prepared.try_into().map_err(|_| named(Failure::Lost("a statement was not prepared".into())))?;
        let patience = stop.patience();
        Ok(Cassandra { connection, level, patience, read, read_set, write, cas, add })
    }

    /// The values of the only column of the rows of a key.
    fn column(&mut self, set: bool, key: &str) -> Result<Vec<Vec<u8>>, Failure> {
        let statement = if set { &self.read_set } else { &self.read };
        match self.connection.execute(statement, self.level.of_reads(), vec![text(key)])? {
            ResResultBody::Rows(rows) => {
                let first = |row: &Vec<cassandra_protocol::types::CBytes>| {
                    row.first().and_then(|value| value.as_slice()).map(<[u8]>::to_vec)
                };
                Ok(rows.rows_content.iter().filter_map(first).collect())
            }
            _ => Err(Failure::Lost("the answer to SELECT has no rows".into())),
        }
    }

    fn read(&mut self, workload: Workload, key: &str) -> Result<Value, Failure> {
        let found = self.column(workload == Workload::Set, key)?;
        Ok(match workload {
            Workload::Register => match found.first() {
                Some(value) => Value::One(number(value)?),
                None => Value::Nothing,
            },
            Workload::Set => Value::Many(found.iter().map(|value| number(value)).collect::<Result<_, _>>()?),
            Workload::Append => Value::Many(numbers(&found.concat())?),
        })
    }

    /// Replaces a value by another one, and returns whether it was there.
    fn compare_and_set(&mut self, key: &str, from: Bound, to: &str) -> Result<bool, Failure> {
        let values = vec![text(to), text(key), from];
        Ok(applied(&self.connection.execute(&self.cas, self.level.of_writes(), values)?))
    }

    /// Appends if the list is still as it was read; returns whether it was.
    fn append(&mut self, key: &str, element: i64) -> Result<bool, Failure> {
        let list = self.column(false, key)?.pop();
        let longer = longer(&String::from_utf8_lossy(list.as_deref().unwrap_or_default()), element);
        self.compare_and_set(key, list.map_or(Bound::Null, Bound::Some), &longer)
    }

    /// Returns whether it was done: a compare-and-set may have found another value.
    fn write(&mut self, key: &str, request: &Request) -> Result<bool, Failure> {
        let level = self.level.of_writes();
        match *request {
            Request::Write(value) => {
                let values = vec![text(&value.to_string()), text(key)];
                self.connection.execute(&self.write, level, values).map(|_| true)
            }
            Request::Cas(from, to) => self.compare_and_set(key, text(&from.to_string()), &to.to_string()),
            // Nobody else adds this element, so it is there, whichever node completed the transaction.
            Request::Add(element) => {
                let values = vec![text(key), text(&element.to_string())];
                self.connection.execute(&self.add, level, values).map(|_| true)
            }
            Request::Append(element) => append(self.patience, || self.append(key, element)),
            Request::Read => unreachable!("a read is no write"),
        }
    }

    /// Whether a refusal means that a write was not done, and never will be.
    fn has_no_effect(&self, request: &Request, why: &str) -> bool {
        match request {
            // A later transaction completes one that was proposed, whatever its own server has said.
            Request::Read | Request::Cas(..) | Request::Append(_) => false,
            Request::Write(_) | Request::Add(_) => self.level != Level::Serial && why.ends_with(UNAVAILABLE),
        }
    }
}

impl Store for Cassandra {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        self.connection.addresses()
    }

    fn perform(&mut self, workload: Workload, key: u64, request: &Request) -> Outcome {
        let key = format!("{}/{key}", workload.name());
        let done = match request {
            Request::Read => self.read(workload, &key).map(Some),
            _ => self.write(&key, request).map(|done| done.then_some(Value::Nothing)),
        };
        Outcome::after(request, done, |why| self.has_no_effect(request, why))
    }
}

/// Makes the tables; returns when every server has them. The keyspace `ycsb` has to be there.
pub fn prepare(target: &Target, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut connection = Connection::connect(&target.server, stop).map_err(NotPrepared::Unreachable)?;
    let known = ["SELECT key FROM ycsb.history LIMIT 1", "SELECT key FROM ycsb.history_set LIMIT 1"];
    let mut make = || {
        for statement in TABLES {
            connection.query(statement, Consistency::One)?;
        }
        for statement in known {
            insist(stop, || connection.query(statement, Consistency::All))?;
        }
        Ok(())
    };
    make().map_err(NotPrepared::Failed)
}

fn text(text: &str) -> Bound {
    Bound::Some(text.as_bytes().to_vec())
}

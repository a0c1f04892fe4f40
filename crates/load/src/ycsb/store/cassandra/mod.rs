//! Apache Cassandra: YCSB's own table, a row for each record, `y_id` its key.
//!
//! `--durability` is the consistency level of every operation: `one`, `quorum` (the default) or `all` replicas have to answer
//! before a write is confirmed or a read is answered. The server that we are connected to asks them. Every operation is one prepared statement and
//! one round trip.
//!
//! With `serial`, writes are lightweight transactions, and reads see the last of them (level SERIAL): the servers agree on each
//! by Paxos. Scans, which have no such level, take a quorum.
//!
//! A write puts its value there whether or not the row exists, as Cassandra's do: an update of a record that was never
//! loaded, or a second insert, is no error; a lightweight transaction refuses both. A scan takes rows in the order of the
//! partitioner's tokens, the only order that Cassandra has, and ends at the end of the ring; YCSB's client scans so, too.
//!
//! Source: YCSB 0.17.0, `site.ycsb.db.CassandraCQLClient` and its `README.md` (table, statements, levels); Cassandra 5.0,
//! "Lightweight transactions with linearizable consistency".

pub mod connection;
pub mod prepare;
pub mod single;

use std::sync::Arc;

use cassandra_protocol::consistency::Consistency;
use cassandra_protocol::frame::message_result::ResResultBody;
use cassandra_protocol::types::value::Value;
use cassandra_protocol::types::CBytesShort;

use crate::failure::Failure;
use crate::stop::Stop;
use crate::ycsb::record::{Record, FIELDS};
use crate::ycsb::store::interface::Store;
use crate::ycsb::store::target::Target;
use connection::Connection;

/// In the keyspace `ycsb`, whose replication is chosen where the servers are set up.
const TABLE: &str = "ycsb.usertable";

/// What an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The answers of the replicas that the level asks for.
    Replicas(Consistency),
    /// An agreement of the replicas, by Paxos.
    Serial,
}

impl Level {
    /// Of reads of one row or partition.
    pub fn of_reads(self) -> Consistency {
        match self {
            Level::Replicas(consistency) => consistency,
            Level::Serial => Consistency::Serial,
        }
    }

    /// Of scans, and of writes; a lightweight transaction is stored at this level once it is agreed on.
    pub fn of_writes(self) -> Consistency {
        match self {
            Level::Replicas(consistency) => consistency,
            Level::Serial => Consistency::Quorum,
        }
    }

    /// A write that is a lightweight transaction where this level wants one.
    pub fn statement(self, write: &str, condition: &str) -> String {
        match self {
            Level::Replicas(_) => write.into(),
            Level::Serial => format!("{write} {condition}"),
        }
    }
}

/// A session with one server, which asks the replicas.
pub struct Cassandra {
    connection: Connection,
    level: Level,
    read: CBytesShort,
    updates: Vec<CBytesShort>, // by number of the field
    insert: CBytesShort,
    scan: CBytesShort,
}

impl Cassandra {
    /// Connects, and prepares the statements.
    pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Cassandra, String> {
        let level = durability(target.durability.as_deref())?;
        let connection = Connection::connect(&target.server, stop)?;
        Self::prepared(connection, level)
            .map_err(|failure| format!("Cassandra at {}: {failure}", target.server))
    }

    fn prepared(mut connection: Connection, level: Level) -> Result<Cassandra, Failure> {
        let columns = columns();
        let mut statements = vec![
            format!("SELECT {columns} FROM {TABLE} WHERE y_id = ?"),
            level.statement(&insert_statement(), "IF NOT EXISTS"),
            format!("SELECT {columns} FROM {TABLE} WHERE token(y_id) >= token(?) LIMIT ?"),
        ];
        let update = |number| format!("UPDATE {TABLE} SET field{number} = ? WHERE y_id = ?");
        statements.extend((0..FIELDS).map(|number| level.statement(&update(number), "IF EXISTS")));
        let mut prepared = connection.prepare(&statements)?.into_iter();
        let mut next = || prepared.next().ok_or_else(|| Failure::Lost("a statement was not prepared".into()));
        let (read, insert, scan) = (next()?, next()?, next()?);
        let updates = prepared.collect();
        Ok(Cassandra { connection, level, read, updates, insert, scan })
    }
}

impl Store for Cassandra {
    fn addresses(&self) -> std::io::Result<(std::net::SocketAddr, std::net::SocketAddr)> {
        self.connection.addresses()
    }

    fn read(&mut self, key: &str) -> Result<(), Failure> {
        let values = vec![text(key)];
        match whole_records(&self.connection.execute(&self.read, self.level.of_reads(), values)?) {
            Some(1) => Ok(()),
            _ => Err(no_whole_record(key)),
        }
    }

    fn update(&mut self, key: &str, field_number: usize, value: &[u8]) -> Result<(), Failure> {
        let values = vec![Value::Some(value.to_vec()), text(key)];
        let answer = self.connection.execute(&self.updates[field_number], self.level.of_writes(), values)?;
        applied(&answer).then_some(()).ok_or_else(|| Failure::Refused(format!("{key}: no such record")))
    }

    fn insert(&mut self, key: &str, record: &Record) -> Result<(), Failure> {
        let answer = self.connection.execute(&self.insert, self.level.of_writes(), row(key, record))?;
        applied(&answer).then_some(()).ok_or_else(|| Failure::Refused(format!("{key}: is there already")))
    }

    fn scan(&mut self, first_key: &str, count: u64) -> Result<(), Failure> {
        let values = vec![text(first_key), Value::Some((count as i32).to_be_bytes().to_vec())];
        match whole_records(&self.connection.execute(&self.scan, self.level.of_writes(), values)?) {
            Some(1..) => Ok(()),
            _ => Err(no_whole_record(first_key)),
        }
    }
}

/// What an operation waits for, from `one`, `quorum`, `all` or `serial`.
pub fn durability(word: Option<&str>) -> Result<Level, String> {
    match word {
        Some("one") => Ok(Level::Replicas(Consistency::One)),
        None | Some("quorum") => Ok(Level::Replicas(Consistency::Quorum)),
        Some("all") => Ok(Level::Replicas(Consistency::All)),
        Some("serial") => Ok(Level::Serial),
        Some(word) => Err(format!("--durability {word}: Cassandra has one, quorum, all and serial")),
    }
}

/// Whether a write was done: the condition of a lightweight transaction may have been false. Other writes have no such answer.
pub fn applied(answer: &ResResultBody) -> bool {
    let ResResultBody::Rows(rows) = answer else { return true };
    // The column `[applied]`, a boolean, comes first.
    rows.rows_content.first().and_then(|row| row.first()).and_then(|value| value.as_slice()) == Some(&[1])
}

fn columns() -> String {
    (0..FIELDS).map(|number| format!("field{number}")).collect::<Vec<_>>().join(", ")
}

fn insert_statement() -> String {
    format!("INSERT INTO {TABLE} (y_id, {}) VALUES (?{})", columns(), ", ?".repeat(FIELDS))
}

fn row(key: &str, record: &Record) -> Vec<Value> {
    std::iter::once(text(key)).chain(record.iter().map(|field| Value::Some(field.to_vec()))).collect()
}

fn text(text: &str) -> Value {
    Value::Some(text.as_bytes().to_vec())
}

/// How many records there are in an answer, if all of them are whole.
fn whole_records(answer: &ResResultBody) -> Option<usize> {
    let ResResultBody::Rows(rows) = answer else { return None };
    let whole = rows.rows_content.iter().all(|row| {
        row.len() == FIELDS && row.iter().all(|field| field.as_slice().is_some_and(|field| !field.is_empty()))
    });
    whole.then_some(rows.rows_content.len())
}

fn no_whole_record(key: &str) -> Failure {
    Failure::Refused(format!("{key}: no whole record; do --records and the table agree?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durability_is_the_consistency_level() {
        assert_eq!(durability(None), Ok(Level::Replicas(Consistency::Quorum)));
        assert_eq!(durability(Some("one")), Ok(Level::Replicas(Consistency::One)));
        assert!(durability(Some("w=1")).unwrap_err().contains("quorum"));
    }

    #[test]
    fn a_serial_write_is_a_lightweight_transaction_and_a_serial_read_sees_it() {
        let serial = durability(Some("serial")).unwrap();
        assert_eq!(serial.statement("UPDATE t SET a = ?", "IF EXISTS"), "UPDATE t SET a = ? IF EXISTS");
        assert_eq!((serial.of_reads(), serial.of_writes()), (Consistency::Serial, Consistency::Quorum));
        let quorum = durability(None).unwrap();
        assert_eq!(quorum.statement("UPDATE t SET a = ?", "IF EXISTS"), "UPDATE t SET a = ?");
        assert_eq!(quorum.of_reads(), quorum.of_writes());
    }

    #[test]
    fn an_insert_has_a_value_for_every_column() {
        let statement = insert_statement();
        assert_eq!(statement.matches('?').count(), row("user1", &std::array::from_fn(|_| vec![b'x'])).len());
        assert!(statement.starts_with("INSERT INTO ycsb.usertable (y_id, field0, field1"), "{statement}");
    }
}

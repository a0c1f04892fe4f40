//! PostgreSQL: a row for each register and each list, and one for each element of a set. Each operation is one statement.
//!
//! Source: PostgreSQL documentation, "Transaction Isolation", Read Committed: an UPDATE looks at its condition again after it has
//! waited for a row; "PostgreSQL Error Codes"; `pg_promote`.

use std::net::SocketAddr;
use std::sync::Arc;

use crosswind_history::event::{Value, Workload};

use super::{number, numbers, Outcome, Request, Store};
use crate::failure::{Failure, NotPrepared};
use crate::stop::Stop;
use crate::ycsb::store::postgresql::connection::Connection;
use crate::ycsb::store::target::Target;

/// Tables of all workloads.
const TABLES: [&str; 4] = [
    "CREATE TABLE history_register (key bigint PRIMARY KEY, value bigint)",
    "CREATE TABLE history_set (key bigint, element bigint)",
    "CREATE INDEX ON history_set (key)",
    "CREATE TABLE history_append (key bigint PRIMARY KEY, elements text)",
];

/// Name and text of every statement; the parameters are text.
const STATEMENTS: [(&str, &str); 7] = [
    ("read-register", "SELECT value::text FROM history_register WHERE key = $1::bigint"),
    ("read-set", "SELECT element::text FROM history_set WHERE key = $1::bigint"),
    ("read-append", "SELECT elements FROM history_append WHERE key = $1::bigint"),
    (
        "write",
        "INSERT INTO history_register VALUES ($1::bigint, $2::bigint) \
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    ),
    ("cas", "UPDATE history_register SET value = $3::bigint WHERE key = $1::bigint AND value = $2::bigint"),
    ("add", "INSERT INTO history_set VALUES ($1::bigint, $2::bigint)"),
    (
        "append",
        "INSERT INTO history_append VALUES ($1::bigint, $2::text) \
         ON CONFLICT (key) DO UPDATE SET elements = history_append.elements || ' ' || excluded.elements",
    ),
];

/// Codes, or beginnings of codes, of errors after which a statement was not done: read-only, serialization, constraint,
/// syntax, too many connections, starting up.
const WITHOUT_EFFECT: [&str; 7] = ["25006", "40001", "40P01", "23", "42", "53300", "57P03"];

/// A session.
pub struct Postgresql {
    connection: Connection,
}

impl Postgresql {
    /// Connects and prepares all statements.
    pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Postgresql, String> {
        let mut connection = Connection::connect(target, stop)?;
        for (name, text) in STATEMENTS {
            connection
                .prepare(name, text)
                .map_err(|failure| format!("PostgreSQL at {}: {failure}", target.server))?;
        }
        Ok(Postgresql { connection })
    }

    fn read(&mut self, workload: Workload, key: &[u8]) -> Result<Value, Failure> {
        let mut rows: Vec<Vec<u8>> = Vec::new();
        let take = |value: Option<&[u8]>| rows.extend(value.map(<[u8]>::to_vec));
        self.connection.select(&format!("read-{}", workload.name()), &[key], take)?;
        Ok(match workload {
            Workload::Register => match rows.first() {
                Some(value) => Value::One(number(value)?),
                None => Value::Nothing,
            },
            Workload::Set => Value::Many(rows.iter().map(|value| number(value)).collect::<Result<_, _>>()?),
            Workload::Append => Value::Many(numbers(&rows.concat())?),
        })
    }

    /// Returns whether it was done: a compare-and-set may have found another value.
    fn write(&mut self, key: &[u8], request: &Request) -> Result<bool, Failure> {
        let text = |value: i64| value.to_string().into_bytes();
        let done = match *request {
            Request::Write(value) => self.connection.run("write", &[key, &text(value)])?,
            Request::Cas(from, to) => self.connection.run("cas", &[key, &text(from), &text(to)])?,
            Request::Add(element) => self.connection.run("add", &[key, &text(element)])?,
            Request::Append(element) => self.connection.run("append", &[key, &text(element)])?,
            Request::Read => unreachable!("a read is no write"),
        };
        Ok(done.rows == 1)
    }
}

impl Store for Postgresql {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        self.connection.addresses()
    }

    fn perform(&mut self, workload: Workload, key: u64, request: &Request) -> Outcome {
        let key = key.to_string().into_bytes();
        let done = match request {
            Request::Read => self.read(workload, &key).map(Some),
            _ => self.write(&key, request).map(|done| done.then_some(Value::Nothing)),
        };
        Outcome::after(request, done, is_without_effect)
    }
}

/// Whether an error says that a statement was not done.
fn is_without_effect(why: &str) -> bool {
    let code = why.rsplit_once("(SQLSTATE ").map_or("", |(_, code)| code.trim_end_matches(')'));
    WITHOUT_EFFECT.iter().any(|known| code.starts_with(known))
}

/// Makes the tables.
pub fn prepare(target: &Target, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut connection = Connection::connect(target, stop).map_err(NotPrepared::Unreachable)?;
    TABLES
        .iter()
        .try_for_each(|statement| connection.simple(statement).map(|_| ()))
        .map_err(NotPrepared::Failed)
}

/// Makes a standby the primary; returns when it takes writes.
pub fn promote(target: &Target, stop: &Arc<Stop>) -> Result<(), String> {
    let mut connection = Connection::connect(target, stop)?;
    // The server waits until it takes writes, a minute at most; the statement takes no longer than any other.
    connection.simple("SELECT pg_promote()").map(|_| ()).map_err(|failure| failure.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_tells_by_its_code_whether_a_write_may_have_been_done() {
        assert!(is_without_effect("cannot execute INSERT in a read-only transaction (SQLSTATE 25006)"));
        assert!(is_without_effect("duplicate key (SQLSTATE 23505)"));
        // The server ends while a commit waits for a standby: the commit is done here.
        assert!(!is_without_effect("terminating connection due to administrator command (SQLSTATE 57P01)"));
        assert!(!is_without_effect("no complete answer"));
    }
}

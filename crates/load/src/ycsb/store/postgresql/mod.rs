//! PostgreSQL: prepared statements, one transaction per operation (autocommit), one connection per client.
//!
//! Each operation is one write (Bind, Execute, Sync) and the reading of what comes back, so it costs one round trip.

pub mod connection;
pub mod prepare;

use std::sync::Arc;

use crate::failure::Failure;
use crate::stop::Stop;
use crate::ycsb::record::{Record, FIELDS};
use crate::ycsb::store::interface::Store;
use crate::ycsb::store::target::Target;
use connection::{Connection, Done};

/// A session on a table that has been prepared.
pub struct Postgresql {
    connection: Connection,
}

impl Postgresql {
    /// Connects and prepares all statements.
    pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Postgresql, String> {
        let mut connection = Connection::connect(target, stop)?;
        for (name, text) in statements() {
            connection.prepare(&name, &text).map_err(|failure| {
                format!("PostgreSQL at {}: {failure}; has ycsb-prepare filled the database?", target.server)
            })?;
        }
        Ok(Postgresql { connection })
    }

    /// Runs a statement that must concern exactly one row.
    fn one_row(&mut self, statement: &str, parameters: &[&[u8]], key: &str) -> Result<(), Failure> {
        match self.connection.run(statement, parameters)? {
            Done { rows: 1 } => Ok(()),
            Done { rows } => Err(Failure::Refused(format!(
                "{key}: {rows} rows where one was expected; do --records and the table agree?"
            ))),
        }
    }
}

impl Store for Postgresql {
    fn addresses(&self) -> std::io::Result<(std::net::SocketAddr, std::net::SocketAddr)> {
        self.connection.addresses()
    }

    fn read(&mut self, key: &str) -> Result<(), Failure> {
        self.one_row("read", &[key.as_bytes()], key)
    }

    fn update(&mut self, key: &str, field_number: usize, value: &[u8]) -> Result<(), Failure> {
        self.one_row(UPDATES[field_number], &[value, key.as_bytes()], key)
    }

    fn insert(&mut self, key: &str, record: &Record) -> Result<(), Failure> {
        let mut parameters: Vec<&[u8]> = vec![key.as_bytes()];
        parameters.extend(record.iter().map(|field| field.as_slice()));
        self.one_row("insert", &parameters, key)
    }

    fn scan(&mut self, first_key: &str, count: u64) -> Result<(), Failure> {
        // How many there are above the first key is the store's business; the first one exists.
        match self.connection.run("scan", &[first_key.as_bytes(), count.to_string().as_bytes()])? {
            Done { rows: 0 } => {
                Err(Failure::Refused(format!("{first_key}: no row; do --records and the table agree?")))
            }
            Done { .. } => Ok(()),
        }
    }
}

/// Names of the statements that update field 0, 1, ...
const UPDATES: [&str; FIELDS] = [
    "update0", "update1", "update2", "update3", "update4", "update5", "update6", "update7", "update8",
    "update9",
];

/// Name and text of every statement. The texts are those of YCSB's JDBC binding.
fn statements() -> Vec<(String, String)> {
    let places: Vec<String> = (1..=FIELDS + 1).map(|number| format!("${number}")).collect();
    let mut statements = vec![
        ("read".to_string(), "SELECT * FROM usertable WHERE ycsb_key = $1".to_string()),
        (
            "scan".to_string(),
            "SELECT * FROM usertable WHERE ycsb_key >= $1 ORDER BY ycsb_key LIMIT $2".to_string(),
        ),
        ("insert".to_string(), format!("INSERT INTO usertable VALUES ({})", places.join(", "))),
    ];
    statements.extend(UPDATES.iter().enumerate().map(|(number, name)| {
        (name.to_string(), format!("UPDATE usertable SET field{number} = $1 WHERE ycsb_key = $2"))
    }));
    statements
}

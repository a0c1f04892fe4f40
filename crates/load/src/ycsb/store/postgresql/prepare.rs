//! Creates and fills the table, in one transaction: either all of it is there afterwards, or nothing has changed.
//!
//! It leaves little for the server to do later, because that work would fall into the measurement. COPY with FREEZE writes
//! rows that need no second visit (no hint bits, no vacuum); the key's index is built after the rows, so it is compact and
//! the same each time; ANALYZE means that plans do not change when the server gets around to it. The server's
//! administrator decides when to run a CHECKPOINT.
//!
//! Source: PostgreSQL documentation, "Populating a Database", and COPY, "FREEZE" and "Binary Format".

use std::sync::Arc;
use std::time::Duration;

use super::connection::Connection;
use crate::failure::{Failure, NotPrepared};
use crate::stop::Stop;
use crate::ycsb::key;
use crate::ycsb::record::{Table, FIELDS};
use crate::ycsb::store::target::Target;

/// Longest statement: filling a replicated store through a slow network is not what is measured, but it must end.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30 * 60);
const RECORDS_PER_PART: usize = 64; // 70 kB a message

/// Replaces the table.
pub fn prepare(target: &Target, table: Table, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut connection = Connection::connect(target, stop).map_err(NotPrepared::Unreachable)?;
    connection.set_timeout(STATEMENT_TIMEOUT);
    fill(&mut connection, table, stop).map_err(NotPrepared::Failed)
}

fn fill(connection: &mut Connection, table: Table, stop: &Stop) -> Result<(), Failure> {
    let fields: String = (0..FIELDS).map(|number| format!(", field{number} text")).collect();
    connection.simple("BEGIN")?;
    connection.simple("DROP TABLE IF EXISTS usertable")?;
    connection.simple(&format!("CREATE TABLE usertable (ycsb_key varchar NOT NULL{fields})"))?;
    let parts = binary_copy(table).take_while(|_| stop.reason().is_none());
    let copied = connection.copy_in("COPY usertable FROM STDIN (FORMAT binary, FREEZE)", parts);
    if stop.reason().is_some() {
        return Err(Failure::Stopped); // whatever the server thought of half a table; it rolls back when we are gone
    }
    let (rows, records) = (copied?.rows, table.records);
    if rows != records {
        return Err(Failure::Refused(format!("{rows} rows were stored of the {records} sent")));
    }
    connection.simple("ALTER TABLE usertable ADD PRIMARY KEY (ycsb_key)")?;
    connection.simple("ANALYZE usertable")?;
    connection.simple("COMMIT")?;
    Ok(())
}

/// All records in COPY's binary format, cut into messages of moderate size.
fn binary_copy(table: Table) -> impl Iterator<Item = Vec<u8>> {
    const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0"; // signature, no flags, no extension
    const TRAILER: &[u8] = &(-1i16).to_be_bytes();
    let rows = table.groups(RECORDS_PER_PART).map(move |group| {
        let mut part = Vec::new();
        for number in group {
            part.extend((FIELDS as i16 + 1).to_be_bytes());
            put_field(&mut part, key::name(number).as_bytes());
            table.record(number).iter().for_each(|field| put_field(&mut part, field));
        }
        part
    });
    std::iter::once(HEADER.to_vec()).chain(rows).chain(std::iter::once(TRAILER.to_vec()))
}

fn put_field(part: &mut Vec<u8>, value: &[u8]) {
    part.extend((value.len() as i32).to_be_bytes());
    part.extend(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_format_is_the_documented_one() {
        let bytes: Vec<u8> =
            binary_copy(Table { records: 130, field_bytes: 100, seed: 7 }).flatten().collect();
        assert_eq!(bytes[..19], *b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
        assert_eq!(bytes[19..25], [0, 11, 0, 0, 0, 23]); // eleven columns, the first of 23 bytes
        assert_eq!(&bytes[25..48], b"user6284781860667377211");
        assert_eq!(bytes[bytes.len() - 2..], [0xff, 0xff]);
        let keys: usize = (0..130).map(|number| key::name(number).len()).sum();
        assert_eq!(bytes.len(), 19 + 130 * (2 + 11 * 4 + 10 * 100) + keys + 2);
    }
}

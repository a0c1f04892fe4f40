//! Fills the collection, which is dropped first.

use std::sync::Arc;
use std::time::Duration;

use bson::rawdoc;

use super::connection::Connection;
use super::{connect_to_primary, documents, DATABASE, TABLE};
use crate::driver::Failure;
use crate::stop::Stop;
use crate::ycsb::key;
use crate::ycsb::record::Table;
use crate::ycsb::store::{NotPrepared, Target};

/// Longest command: filling a replicated store through a slow network is not what is measured, but it must end.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10 * 60);
const RECORDS_PER_INSERT: usize = 100; // 120 kB

/// Replaces the collection; returns when a majority of the replica set has it.
pub fn prepare(target: &Target, table: Table, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut connection = connect_to_primary(target, stop).map_err(NotPrepared::Unreachable)?;
    connection.set_timeout(COMMAND_TIMEOUT);
    fill(&mut connection, table, stop).map_err(NotPrepared::Failed)
}

fn fill(connection: &mut Connection, table: Table, stop: &Stop) -> Result<(), Failure> {
    // Older servers refuse to drop what is not there; deleting nothing is no error anywhere.
    connection.run(&rawdoc! { "delete": TABLE, "deletes": [{ "q": {}, "limit": 0 }], "$db": DATABASE })?;
    for group in table.groups(RECORDS_PER_INSERT) {
        if stop.reason().is_some() {
            return Err(Failure::Stopped);
        }
        let (first, count) = (group.start, group.end - group.start);
        let group = group.map(|number| (key::name(number), table.record(number)));
        let reply = connection.run(&rawdoc! {
            "insert": TABLE,
            "documents": documents(group),
            "writeConcern": { "w": "majority" },
            "$db": DATABASE,
        })?;
        if !matches!(reply.get_i32("n"), Ok(stored) if stored == count as i32) {
            return Err(Failure::Refused(format!(
                "not all of {count} documents from {first} on were stored"
            )));
        }
    }
    Ok(())
}

//! Fills the collection, which is dropped first.

use std::sync::Arc;
use std::time::Duration;

use bson::rawdoc;

use super::primary::Primary;
use super::{documents, DATABASE, TABLE};
use crate::failure::{Failure, NotPrepared};
use crate::stop::Stop;
use crate::ycsb::key;
use crate::ycsb::record::Table;
use crate::ycsb::store::target::Target;

/// Longest command: filling a replicated store through a slow network is not what is measured, but it must end.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10 * 60);
const RECORDS_PER_INSERT: usize = 100; // 120 kB

/// Replaces the collection; returns when every member of the replica set has it.
pub fn prepare(target: &Target, table: Table, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut primary = Primary::connect(&target.server, stop).map_err(NotPrepared::Unreachable)?;
    primary.set_timeout(COMMAND_TIMEOUT);
    fill(&mut primary, table, stop).map_err(NotPrepared::Failed)
}

fn fill(primary: &mut Primary, table: Table, stop: &Stop) -> Result<(), Failure> {
    // Older servers refuse to drop what is not there; deleting nothing is no error anywhere.
    primary.run(&rawdoc! { "delete": TABLE, "deletes": [{ "q": {}, "limit": 0 }], "$db": DATABASE })?;
    let servers = primary.servers() as i32;
    for group in table.groups(RECORDS_PER_INSERT) {
        if stop.reason().is_some() {
            return Err(Failure::Stopped);
        }
        let (first, count) = (group.start, group.end - group.start);
        let group = group.map(|number| (key::name(number), table.record(number)));
        // By all of them: one that falls behind a majority could lose its place in the short log of changes.
        let reply = primary.write(rawdoc! {
            "insert": TABLE,
            "documents": documents(group),
            "writeConcern": { "w": servers },
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

//! Fills database 0, which is emptied first. Records go out in groups, without waiting for replicas.

use std::sync::Arc;

use super::ask_insert;
use super::connection::Connection;
use crate::failure::{Failure, NotPrepared};
use crate::stop::Stop;
use crate::ycsb::key;
use crate::ycsb::record::Table;
use crate::ycsb::store::target::Target;

const RECORDS_PER_EXCHANGE: usize = 64; // 80 kB

/// Replaces the contents of database 0.
pub fn prepare(target: &Target, table: Table, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut connection = Connection::connect(&target.server, stop).map_err(NotPrepared::Unreachable)?;
    fill(&mut connection, table, stop).map_err(NotPrepared::Failed)
}

fn fill(connection: &mut Connection, table: Table, stop: &Stop) -> Result<(), Failure> {
    connection.ask(&[b"FLUSHDB"])?;
    connection.exchange()?;
    for group in table.groups(RECORDS_PER_EXCHANGE) {
        if stop.reason().is_some() {
            return Err(Failure::Stopped);
        }
        for number in group {
            ask_insert(connection, &key::name(number), &table.record(number))?;
        }
        connection.exchange()?;
    }
    Ok(())
}

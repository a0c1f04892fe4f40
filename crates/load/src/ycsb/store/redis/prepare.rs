//! Fills database 0, which is emptied first. Records go out in groups, without waiting for replicas.

use std::sync::Arc;

use super::ask_insert;
use super::connection::Connection;
use crate::driver::Failure;
use crate::stop::Stop;
use crate::ycsb::key;
use crate::ycsb::record;
use crate::ycsb::store::{NotPrepared, Target};

const RECORDS_PER_EXCHANGE: u64 = 64; // 80 kB

/// Replaces the contents of database 0.
pub fn prepare(target: &Target, records: u64, seed: u64, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut connection = Connection::connect(&target.server, stop).map_err(NotPrepared::Unreachable)?;
    fill(&mut connection, records, seed, stop).map_err(NotPrepared::Failed)
}

fn fill(connection: &mut Connection, records: u64, seed: u64, stop: &Stop) -> Result<(), Failure> {
    connection.ask(&[b"FLUSHDB"])?;
    connection.exchange()?;
    for first in (0..records).step_by(RECORDS_PER_EXCHANGE as usize) {
        if stop.reason().is_some() {
            return Err(Failure::Stopped);
        }
        for number in first..records.min(first + RECORDS_PER_EXCHANGE) {
            ask_insert(connection, &key::name(number), &record::loaded(seed, number))?;
        }
        connection.exchange()?;
    }
    Ok(())
}

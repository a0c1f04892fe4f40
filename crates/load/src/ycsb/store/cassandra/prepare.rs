//! Fills the table, which is created and emptied first, at every replica. The keyspace `ycsb` has to be there.

use std::sync::Arc;
use std::time::Duration;

use cassandra_protocol::consistency::Consistency;

use super::connection::Connection;
use super::{columns, insert_statement, row, TABLE};
use crate::clock::monotonic_ns;
use crate::driver::Failure;
use crate::stop::Stop;
use crate::ycsb::key;
use crate::ycsb::record;
use crate::ycsb::store::{NotPrepared, Target};

/// Rows in flight; each is 1.2 kB, and a server refuses what it cannot write within two seconds.
const ROWS_PER_EXCHANGE: u64 = 16;
/// For all replicas to be up and to know the table.
const AGREED_NS_MAX: u64 = 60_000_000_000;
const PAUSE: Duration = Duration::from_millis(200);

/// Replaces the contents of the table; returns when every replica has them.
pub fn prepare(target: &Target, records: u64, seed: u64, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut connection = Connection::connect(&target.server, stop).map_err(NotPrepared::Unreachable)?;
    fill(&mut connection, records, seed, stop).map_err(NotPrepared::Failed)
}

fn fill(connection: &mut Connection, records: u64, seed: u64, stop: &Stop) -> Result<(), Failure> {
    let typed = columns().replace(',', " varchar,");
    let create = format!("CREATE TABLE IF NOT EXISTS {TABLE} (y_id varchar PRIMARY KEY, {typed} varchar)");
    connection.query(&create, Consistency::One)?;
    await_replicas(connection, stop)?;
    connection.query(&format!("TRUNCATE {TABLE}"), Consistency::All)?;
    let insert = connection.prepare(&[insert_statement()])?;
    for first in (0..records).step_by(ROWS_PER_EXCHANGE as usize) {
        if stop.reason().is_some() {
            return Err(Failure::Stopped);
        }
        for number in first..records.min(first + ROWS_PER_EXCHANGE) {
            let values = row(&key::name(number), &record::loaded(seed, number));
            connection.ask_execute(&insert[0], Consistency::All, values)?;
        }
        connection.exchange()?;
    }
    Ok(())
}

/// A new table spreads by gossip; a read of all replicas fails until each of them knows it.
fn await_replicas(connection: &mut Connection, stop: &Stop) -> Result<(), Failure> {
    let give_up_ns = monotonic_ns() + AGREED_NS_MAX;
    loop {
        match connection.query(&format!("SELECT y_id FROM {TABLE} LIMIT 1"), Consistency::All) {
            Ok(_) => return Ok(()),
            Err(Failure::Refused(_)) if stop.reason().is_some() => return Err(Failure::Stopped),
            Err(Failure::Refused(_)) if monotonic_ns() < give_up_ns => std::thread::sleep(PAUSE),
            Err(failure) => return Err(failure),
        }
    }
}

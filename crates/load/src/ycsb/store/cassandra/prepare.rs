//! Fills the table, which is created and emptied first, at every replica. The keyspace `ycsb` has to be there.

use std::sync::Arc;
use std::time::Duration;

use cassandra_protocol::consistency::Consistency;

use super::connection::Connection;
use super::{columns, insert_statement, row, TABLE};
use crate::clock::monotonic_ns;
use crate::failure::{Failure, NotPrepared};
use crate::stop::Stop;
use crate::ycsb::key;
use crate::ycsb::record::Table;
use crate::ycsb::store::target::Target;

/// Rows in flight; each is 1.2 kB, and a server refuses what it cannot write within two seconds.
const ROWS_PER_EXCHANGE: usize = 16;
/// For all replicas to be up, to know the table, and to be believed to be up.
const AGREED_NS_MAX: u64 = 60_000_000_000;
const PAUSE: Duration = Duration::from_millis(200);

/// Replaces the contents of the table; returns when every replica has them.
pub fn prepare(target: &Target, table: Table, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut connection = Connection::connect(&target.server, stop).map_err(NotPrepared::Unreachable)?;
    fill(&mut connection, table, stop).map_err(NotPrepared::Failed)
}

fn fill(connection: &mut Connection, table: Table, stop: &Stop) -> Result<(), Failure> {
    let typed = columns().replace(',', " varchar,");
    let create = format!("CREATE TABLE IF NOT EXISTS {TABLE} (y_id varchar PRIMARY KEY, {typed} varchar)");
    connection.query(&create, Consistency::One)?;
    // A new table spreads by gossip, and an empty one can be read as soon as each replica knows it.
    insist(stop, || connection.query(&format!("SELECT y_id FROM {TABLE} LIMIT 1"), Consistency::All))?;
    insist(stop, || connection.query(&format!("TRUNCATE {TABLE}"), Consistency::All))?;
    let insert = connection.prepare(&[insert_statement()])?;
    for group in table.groups(ROWS_PER_EXCHANGE) {
        if stop.reason().is_some() {
            return Err(Failure::Stopped);
        }
        insist(stop, || {
            for number in group.clone() {
                let values = row(&key::name(number), &table.record(number));
                connection.ask_execute(&insert[0], Consistency::All, values)?;
            }
            connection.exchange()
        })?;
    }
    Ok(())
}

/// Tries until it is not refused: a server on a busy machine takes a replica for dead when it was only slow.
pub fn insist<T>(stop: &Stop, mut attempt: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let give_up_ns = monotonic_ns() + AGREED_NS_MAX;
    loop {
        match attempt() {
            Err(Failure::Refused(_)) if stop.reason().is_some() => return Err(Failure::Stopped),
            Err(Failure::Refused(_)) if monotonic_ns() < give_up_ns => std::thread::sleep(PAUSE),
            ended => return ended,
        }
    }
}

//! Fills the table, which is emptied first, in transactions as large as a server takes by default.

use std::sync::Arc;

use super::connection::Connection;
use super::messages::{DeleteRangeRequest, DeleteRangeResponse, TxnRequest, TxnResponse};
use super::{puts, TABLE, TABLE_END};
use crate::driver::Failure;
use crate::stop::Stop;
use crate::ycsb::key;
use crate::ycsb::record;
use crate::ycsb::store::{NotPrepared, Target};

const RECORDS_PER_TRANSACTION: u64 = 12; // ten keys each; the default of --max-txn-ops is 128

/// Replaces the table.
pub fn prepare(target: &Target, records: u64, seed: u64, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut connection = Connection::connect(&target.server, stop).map_err(NotPrepared::Unreachable)?;
    fill(&mut connection, records, seed, stop).map_err(NotPrepared::Failed)
}

fn fill(connection: &mut Connection, records: u64, seed: u64, stop: &Stop) -> Result<(), Failure> {
    let all = DeleteRangeRequest { key: TABLE.into(), range_end: TABLE_END.into() };
    connection.call::<DeleteRangeResponse>("DeleteRange", &all)?;
    for first in (0..records).step_by(RECORDS_PER_TRANSACTION as usize) {
        if stop.reason().is_some() {
            return Err(Failure::Stopped);
        }
        let mut group = TxnRequest::default();
        for number in first..records.min(first + RECORDS_PER_TRANSACTION) {
            group.success.extend(puts(&key::name(number), &record::loaded(seed, number)));
        }
        connection.call::<TxnResponse>("Txn", &group)?;
    }
    Ok(())
}

//! Fills the table, which is emptied first, in transactions as large as a server takes by default.

use std::sync::Arc;

use super::connection::Connection;
use super::messages::{DeleteRangeRequest, DeleteRangeResponse, TxnRequest, TxnResponse};
use super::{puts, TABLE, TABLE_END};
use crate::failure::{Failure, NotPrepared};
use crate::stop::Stop;
use crate::ycsb::key;
use crate::ycsb::record::Table;
use crate::ycsb::store::target::Target;

const RECORDS_PER_TRANSACTION: usize = 12; // ten keys each; the default of --max-txn-ops is 128

/// Replaces the table.
pub fn prepare(target: &Target, table: Table, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    let mut connection = Connection::connect(&target.server, stop).map_err(NotPrepared::Unreachable)?;
    fill(&mut connection, table, stop).map_err(NotPrepared::Failed)
}

fn fill(connection: &mut Connection, table: Table, stop: &Stop) -> Result<(), Failure> {
    let all = DeleteRangeRequest { key: TABLE.into(), range_end: TABLE_END.into() };
    connection.call::<DeleteRangeResponse>("DeleteRange", &all)?;
    for group in table.groups(RECORDS_PER_TRANSACTION) {
        if stop.reason().is_some() {
            return Err(Failure::Stopped);
        }
        let mut transaction = TxnRequest::default();
        for number in group {
            transaction.success.extend(puts(&key::name(number), &table.record(number)));
        }
        connection.call::<TxnResponse>("Txn", &transaction)?;
    }
    Ok(())
}

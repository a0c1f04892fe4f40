//! One statement to one server: to set up and inspect a cluster.

use std::sync::Arc;

use cassandra_protocol::frame::message_result::ResResultBody;

use super::connection::Connection;
use super::durability;
use crate::exit::Failed;
use crate::stop::Stop;

/// Runs a statement and returns the number of rows in its result.
pub fn run(server: &str, statement: &str, consistency: &str, stop: &Arc<Stop>) -> Result<usize, Failed> {
    let level = durability(Some(consistency))
        .map_err(|error| Failed::Usage(error.replace("durability", "consistency")))?;
    let answer = Connection::connect(server, stop)
        .map_err(Failed::Unreachable)?
        .query(statement, level.of_reads())
        .map_err(|failure| Failed::Refused(failure.to_string()))?;
    Ok(if let ResResultBody::Rows(rows) = answer { rows.rows_content.len() } else { 0 })
}

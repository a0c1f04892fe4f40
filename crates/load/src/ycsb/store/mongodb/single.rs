//! One command, as JSON, to one server: to set up and inspect a replica set.

use std::sync::Arc;

use bson::{Bson, Document, RawDocumentBuf};

use super::connection::Connection;
use crate::exit::Failed;
use crate::failure::Failure;
use crate::stop::Stop;

/// Runs a command on the database `admin` and returns the reply as relaxed extended JSON.
pub fn run(server: &str, command: &str, stop: &Arc<Stop>) -> Result<String, Failed> {
    let usage = |error: String| {
        Failed::Usage(format!("--command {command}: {error}; write a JSON object, such as {{\"ping\": 1}}"))
    };
    let value: serde_json::Value = serde_json::from_str(command).map_err(|error| usage(error.to_string()))?;
    let mut document = match Bson::try_from(value) {
        Ok(Bson::Document(document)) => document,
        Ok(_) => return Err(usage("not an object".into())),
        Err(error) => return Err(usage(error.to_string())),
    };
    document.insert("$db", "admin");
    let command = RawDocumentBuf::try_from(&document).map_err(|error| usage(error.to_string()))?;
    let reply = Connection::connect(server, stop)
        .map_err(Failed::Unreachable)?
        .run(&command)
        .map_err(|unserved| Failed::Refused(Failure::from(unserved).to_string()))?;
    let reply = Document::try_from(reply.as_ref()).map_err(|error| Failed::Refused(error.to_string()))?;
    Ok(Bson::Document(reply).into_relaxed_extjson().to_string())
}

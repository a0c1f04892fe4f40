//! The first part of a recording: everything that is needed to build an equal engine.

use crosswind_engine::DropReason;
use crosswind_fabric::Fabric;
use serde::{Deserialize, Serialize};

/// First line of every recording; its number is the format's version.
pub(crate) const MAGIC: &[u8] = b"crosswind-recording 3\n";

/// What a recording was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of Crosswind that recorded.
    pub version: String,
    /// The fabric and the condition it started under.
    pub fabric: Fabric,
    /// The domain of the fabric that this machine carried; `None` where it carried all of them.
    pub domain: Option<usize>,
    /// When it was built; sources started then.
    pub built_ns: u64,
    /// Names of drop reasons, by the numbers used in the records.
    pub reasons: Vec<String>,
}

impl Header {
    /// The header of a recording that starts now.
    pub fn new(fabric: &Fabric, domain: Option<usize>, built_ns: u64) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            fabric: fabric.clone(),
            domain,
            built_ns,
            reasons: DropReason::ALL.iter().map(|reason| reason.name().to_owned()).collect(),
        }
    }
}

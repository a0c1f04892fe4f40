//! The measurement window, and what each node used in it.

use serde_json::{json, Value};

use super::machines::check_instant;
use super::{Session, Step};
use crate::channel::{FromInit, ToInit};
use crate::failure::Failure;
use crate::init::Usage;

impl Session {
    pub(super) fn measure(&mut self, at_ns: Option<u64>) -> Result<Value, Failure> {
        check_instant("measure", at_ns)?;
        self.emulator("measure")?;
        self.used_before = self.usage()?;
        let started_ns = self.emulator("measure")?.measure(at_ns).map_err(Failure::invalid)?;
        Ok(json!({ "started_ns": started_ns }))
    }

    pub(super) fn read(&mut self) -> Result<Value, Failure> {
        let mut measurement = self.emulator("read")?.read();
        let used = self.usage()?;
        let nodes = self.nodes.iter().zip(used).enumerate().map(|(position, (node, used))| {
            // Without a window, usage counts from `up`.
            let before = self.used_before.get(position).copied().flatten().unwrap_or_default();
            let cpu_time_ns = used.map(|used| used.cpu_time_ns.saturating_sub(before.cpu_time_ns));
            json!({"node": node.name, "memory_peak_bytes": used.map(|used| used.memory_peak_bytes),
                   "cpu_time_ns": cpu_time_ns, "memory_limit": node.kept.memory_limit(),
                   "cpus_limit": node.kept.cpus_limit()})
        });
        measurement["nodes"] = nodes.collect();
        Ok(measurement)
    }

    /// Requests the usage of all nodes at once; `None` for a node whose init has ended.
    fn usage(&mut self) -> Result<Vec<Option<Usage>>, Failure> {
        for node in &self.nodes {
            // A node that cannot receive has ended; that is noticed below.
            let _ = node.send(&ToInit::Use, &[]);
        }
        let mut answers = vec![None; self.nodes.len()];
        while self.nodes.iter().zip(&answers).any(|(node, answer)| answer.is_none() && !node.lost) {
            if let Step::Answer(from, FromInit::Used(usage)) = self.wait(None)? {
                answers[from] = Some(usage);
            }
        }
        Ok(answers)
    }
}

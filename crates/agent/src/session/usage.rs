//! The measurement window, and what each node used in it.

use serde_json::{json, Value};

use super::machines::{check_instant, now_ns};
use super::switch::SWITCH;
use super::{Session, Step};
use crate::channel::{FromInit, ToInit};
use crate::failure::Failure;
use crate::init::Usage;

impl Session {
    pub(super) fn measure(&mut self, at_ns: Option<u64>) -> Result<Value, Failure> {
        check_instant("measure", at_ns)?;
        self.must_be_up("measure")?;
        self.used_before = self.usage()?;
        let started_ns = match &mut self.emulator {
            Some(emulator) => emulator.measure(at_ns).map_err(Failure::invalid)?,
            None => now_ns()?,
        };
        Ok(json!({ "started_ns": started_ns }))
    }

    pub(super) fn read(&mut self) -> Result<Value, Failure> {
        self.must_be_up("read")?;
        let mut measurement = match &mut self.emulator {
            Some(emulator) => emulator.read(),
            None => json!({ "ended_ns": now_ns()? }),
        };
        let used = self.usage()?;
        let dilated = self.dilated()?;
        let of_application =
            self.nodes.iter().zip(used).enumerate().filter(|(_, (node, _))| node.name != SWITCH);
        let nodes = of_application.map(|(position, (node, used))| {
            // Without a window, usage counts from `up`.
            let before = self.used_before.get(position).copied().flatten().unwrap_or_default();
            let cpu_time_ns = used.map(|used| used.cpu_time_ns.saturating_sub(before.cpu_time_ns));
            let mut shown = json!({"node": node.name, "memory_peak_bytes": used.map(|used| used.memory_peak_bytes),
                   "cpu_time_ns": cpu_time_ns, "memory_limit": node.kept.memory_limit(),
                   "cpus_limit": node.kept.cpus_limit()});
            if let Some(report) = &dilated[position] {
                shown["dilation"] = json!(report);
            }
            shown
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

//! Disks of nodes: mounted before a node's first process, and made full or slow at an instant.

use std::path::Path;
use std::time::Duration;

use serde_json::{json, Value};

use super::machines::now_ns;
use super::{about, unreachable, Session};
use crate::cgroup::{Groups, Limits};
use crate::channel::ToInit;
use crate::disk::{self, check_folder, Blank};
use crate::failure::Failure;
use crate::protocol::DiskChange;

/// Less is no progress that a program would wait for.
const BYTES_PER_S_MIN: u64 = 4096;

/// Checks that this machine can make disks for nodes, and slow ones with `rate`.
pub(super) fn check(rate: bool) -> Result<(), Failure> {
    disk::check()?;
    let slow = Limits { disk_rate: true, ..Limits::default() };
    if rate && !Groups::make([slow].into_iter(), 1).can_slow() {
        return Err(Failure::preflight(
            "disk: no control group can slow a disk here; run as root where blkio (version 1) or io (version 2) is there, or leave `rate` out",
        ));
    }
    Ok(())
}

impl Session {
    /// Gives a node a disk at a folder, with a copy of what is there.
    pub(super) fn mount(&mut self, name: &str, folder: &Path) -> Result<Value, Failure> {
        let what = format!("mount in {name}");
        let position = self.node(name).map_err(|failure| about(&what, failure))?;
        check_folder(folder).map_err(|why| Failure::invalid(format!("{what}: {why}")))?;
        let node = &self.nodes[position];
        if !node.kept.limits().disk || node.disk.is_some() {
            let why = if node.disk.is_some() { "it has a disk already" } else { "ask for `disk` in `up`" };
            return Err(Failure::invalid(format!("{what}: {why}; a node has at most one")));
        }
        let failed = |error| {
            let remedy = "make room on this machine, or set CROSSWIND_WORK_DIR to another folder";
            Failure::preflight(format!(
                "{what}: a disk with a copy of {}: {error}; {remedy}",
                folder.display()
            ))
        };
        let blank = Blank::with_copy_of(folder).map_err(failed)?;
        let order = ToInit::Cover { device: blank.path.clone(), folder: folder.into() };
        node.send(&order, &[]).map_err(|_| unreachable(name))?;
        self.await_done(position).map_err(|failure| about(&what, failure))?;
        let node = &mut self.nodes[position];
        node.disk = Some(blank.mounted(node.init, folder).map_err(failed)?);
        Ok(json!({}))
    }

    /// Makes disks of nodes full or slow, or whole again.
    pub(super) fn disk(&mut self, DiskChange { nodes, at_ns, disk }: &DiskChange) -> Result<Value, Failure> {
        let positions = self.struck(nodes).map_err(|failure| about("disk", failure))?;
        let least = BYTES_PER_S_MIN * self.slower();
        if let Some(rate) = disk.bytes_per_s.filter(|&rate| rate < least) {
            return Err(Failure::invalid(format!("disk: bytes_per_s {rate} is below {least}; write more")));
        }
        if let Some(&bare) = positions.iter().find(|&&position| self.nodes[position].disk.is_none()) {
            let name = &self.nodes[bare].name;
            return Err(Failure::invalid(format!(
                "disk {name}: the node has no disk; request `mount` first"
            )));
        }
        let at_ns = at_ns.map(|at_ns| self.pace().real_ns(at_ns));
        self.wait_until_shortly_before("disk", at_ns)?;
        std::thread::sleep(Duration::from_nanos(at_ns.unwrap_or_default().saturating_sub(now_ns()?)));
        for position in positions {
            let node = &mut self.nodes[position];
            let Some(own) = &mut node.disk else { continue };
            node.kept
                .slow(&own.number, disk.bytes_per_s)
                .and_then(|()| own.leave_free(disk.free_bytes))
                .map_err(|why| Failure::preflight(format!("disk {}: {why}", node.name)))?;
        }
        Ok(json!({"done_ns": self.pace().perceived_ns(now_ns()?)}))
    }
}

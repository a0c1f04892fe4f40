//! What processes write, within a bound: of a file that grows beyond it, the middle goes back to the file system.
//!
//! The process writes to the file itself. A pipe would bound it exactly, but a reader that comes late would hold the
//! process up, and the last words of a killed one would be lost in it. So a file can grow, between two looks, by what
//! its process writes in that time. The length of a file stays: its head and its tail are where they were written,
//! and between them is a hole. File systems that cannot make one (EOPNOTSUPP) keep everything.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use nix::fcntl::{fallocate, FallocateFlags};
use serde::{Deserialize, Serialize};

/// Of holes: file systems give back whole blocks, and few large holes cost less than many small ones.
const STEP_BYTES: u64 = 1 << 20;

/// How much is kept of what a process writes to each of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    pub head_bytes: u64,
    pub tail_bytes: u64,
}

/// The outputs of all processes of a node, those of daemons that outlive their group included.
#[derive(Default)]
pub struct Outputs {
    files: Vec<Output>,
}

struct Output {
    file: File,
    /// Device and inode: processes of one name share a file.
    id: (u64, u64),
    keep: Keep,
    /// Up to here the middle has been given back.
    given_back: u64,
}

impl Outputs {
    /// Watches a file from now on; anything but a regular file keeps nothing.
    pub fn watch(&mut self, file: &OwnedFd, keep: Keep) -> io::Result<()> {
        let file = File::from(file.try_clone()?);
        let facts = file.metadata()?;
        let id = (facts.dev(), facts.ino());
        if facts.is_file() && !self.files.iter().any(|known| known.id == id) {
            self.files.push(Output { file, id, keep, given_back: keep.head_bytes });
        }
        Ok(())
    }

    /// Gives back what lies between head and tail of each file.
    pub fn trim(&mut self) {
        for output in &mut self.files {
            // A file that cannot be trimmed is whole, which harms nobody but the disk.
            let _ = output.trim();
        }
    }
}

impl Output {
    fn trim(&mut self) -> io::Result<()> {
        let end = self.file.metadata()?.len().saturating_sub(self.keep.tail_bytes);
        let length = end.saturating_sub(self.given_back) / STEP_BYTES * STEP_BYTES;
        if length > 0 {
            let hole = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
            fallocate(&self.file, hole, self.given_back as i64, length as i64)?;
            self.given_back += length;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    const KEEP: Keep = Keep { head_bytes: 2 * STEP_BYTES, tail_bytes: 3 * STEP_BYTES };

    fn watched(path: &std::path::Path) -> (File, Outputs) {
        let file = File::options().create(true).append(true).read(true).open(path).unwrap();
        let mut outputs = Outputs::default();
        outputs.watch(&file.try_clone().unwrap().into(), KEEP).unwrap();
        (file, outputs)
    }

    #[test]
    fn head_and_tail_stay_and_the_middle_takes_no_room() {
        let folder = tempfile::tempdir().unwrap();
        let (mut file, mut outputs) = watched(&folder.path().join("out"));
        let block: Vec<u8> = (0..STEP_BYTES).map(|byte| byte as u8 | 1).collect();
        for count in 1..=40 {
            file.write_all(&block).unwrap();
            outputs.trim();
            let on_disk = 512 * file.metadata().unwrap().blocks();
            assert!(on_disk <= 6 * STEP_BYTES, "{on_disk} bytes after {count} blocks");
        }
        assert_eq!(file.metadata().unwrap().len(), 40 * STEP_BYTES);
        let mut read = vec![0; STEP_BYTES as usize];
        for kept in [0, 1, 37, 38, 39] {
            file.read_exact_at(&mut read, kept * STEP_BYTES).unwrap();
            assert!(read == block, "block {kept}");
        }
    }

    #[test]
    fn a_file_that_two_processes_share_is_watched_once_and_a_device_never() {
        let folder = tempfile::tempdir().unwrap();
        let (file, mut outputs) = watched(&folder.path().join("out"));
        outputs.watch(&file.into(), KEEP).unwrap();
        outputs.watch(&File::options().write(true).open("/dev/null").unwrap().into(), KEEP).unwrap();
        assert_eq!(outputs.files.len(), 1);
    }
}

//! Bounds the output files of processes: when a file grows beyond its bound, the middle is returned to the file
//! system.
//!
//! The process writes to the file itself. A pipe would bound the size exactly. But a late reader would block the
//! process, and the last output of a killed process would be lost in the pipe. So between two checks a file grows by
//! all that its process writes in that time. The length of a file does not change: head and tail stay where they were
//! written, with a hole between them. File systems that cannot make holes (EOPNOTSUPP) store everything.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use nix::fcntl::{fallocate, FallocateFlags};
use serde::{Deserialize, Serialize};

/// Granularity of holes: file systems free whole blocks, and few large holes cost less than many small ones.
const STEP_BYTES: u64 = 1 << 20;

/// How much of each output stream of a process is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    pub head_bytes: u64,
    pub tail_bytes: u64,
}

/// The output files of all processes of a node, including those of daemons that outlive their group.
#[derive(Default)]
pub struct Outputs {
    files: Vec<Output>,
}

struct Output {
    file: File,
    /// Device and inode: processes with the same name share a file.
    id: (u64, u64),
    keep: Keep,
    /// The hole reaches up to here.
    given_back: u64,
}

impl Outputs {
    /// Watches a file from now on; devices and pipes are not watched.
    pub fn watch(&mut self, file: &OwnedFd, keep: Keep) -> io::Result<()> {
        let file = File::from(file.try_clone()?);
        let facts = file.metadata()?;
        let id = (facts.dev(), facts.ino());
        if facts.is_file() && !self.files.iter().any(|known| known.id == id) {
            self.files.push(Output { file, id, keep, given_back: keep.head_bytes });
        }
        Ok(())
    }

    /// Frees the blocks between head and tail of each file.
    pub fn trim(&mut self) {
        for output in &mut self.files {
            // A file that cannot be trimmed stays complete; the only cost is disk space.
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
    fn head_and_tail_stay_and_the_middle_takes_no_space() {
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

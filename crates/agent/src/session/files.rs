//! Requests about files of the run on this machine ([`RunFolder`]).

use std::path::{Path, PathBuf};

use base64::prelude::{Engine, BASE64_STANDARD};
use serde::Deserialize;
use serde_json::{json, Value};

use super::Session;
use crate::failure::Failure;
use crate::folder::{Owner, Piece, RunFolder};

/// A piece of a file to write.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Put {
    /// Absolute path, below the folder of the run.
    pub path: PathBuf,
    #[serde(rename = "for")]
    pub owner: Owner,
    pub offset: u64,
    /// In base64.
    pub bytes: String,
    /// Permissions.
    pub mode: u32,
    pub last: bool,
}

impl Session {
    pub(super) fn open_folder(&mut self, path: &Path, keep: bool) -> Result<Value, Failure> {
        if self.folder.is_some() {
            return Err(Failure::invalid("folder: this agent has one already; start another agent"));
        }
        let folder = self.folder.insert(RunFolder::open(path, self.application, keep)?);
        folder.sweep_when_killed();
        Ok(json!({ "made": folder.is_made() }))
    }

    pub(super) fn make_folder(&self, path: &Path, owner: Owner, mode: Option<u32>) -> Result<Value, Failure> {
        self.folder("make")?.make(path, owner, mode)?;
        Ok(json!({}))
    }

    pub(super) fn clear(&self, path: &Path) -> Result<Value, Failure> {
        self.folder("clear")?.clear(path)?;
        Ok(json!({}))
    }

    pub(super) fn copy(&self, from: &Path, path: &Path, owner: Owner, mode: u32) -> Result<Value, Failure> {
        self.folder("copy")?.copy(from, path, owner, mode)?;
        Ok(json!({}))
    }

    pub(super) fn put(&self, put: Put) -> Result<Value, Failure> {
        let Put { path, owner, offset, bytes, mode, last } = put;
        let bytes = BASE64_STANDARD.decode(bytes).map_err(|error| {
            Failure::invalid(format!("put {}: bytes: {error}; write base64", path.display()))
        })?;
        self.folder("put")?.put(&path, owner, &Piece { offset, bytes, mode, last })?;
        Ok(json!({}))
    }

    pub(super) fn get(&self, path: &Path, offset: u64, length: usize) -> Result<Value, Failure> {
        let found = self.folder("get")?.get(path, offset, length)?;
        let (bytes, size) = found.map_or((Vec::new(), None), |(bytes, size)| (bytes, Some(size)));
        Ok(json!({ "bytes": BASE64_STANDARD.encode(bytes), "size_bytes": size }))
    }

    pub(super) fn checksum(&self, path: &Path) -> Result<Value, Failure> {
        Ok(json!({ "sha256": self.folder("checksum")?.checksum(path)? }))
    }

    fn folder(&self, request: &str) -> Result<&RunFolder, Failure> {
        self.folder
            .as_ref()
            .ok_or_else(|| Failure::invalid(format!("{request}: there is no folder; request `folder` first")))
    }
}

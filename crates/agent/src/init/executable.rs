//! Finds a program before privileges are dropped.

use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A program: its path, and a descriptor that can be executed where the user may not traverse the path.
pub struct Executable {
    pub path: PathBuf,
    pub file: OwnedFd,
}

/// Looks `program` up as a shell would: a name without a slash in `search_path`, everything else from `cwd`.
pub fn find(program: &str, cwd: &Path, search_path: &str) -> Result<Executable, Failure> {
    if program.contains('/') {
        return open(cwd.join(program)).map_err(|why| Failure::invalid(format!("program {program}: {why}")));
    }
    let mut found_but = None;
    for folder in search_path.split(':').filter(|folder| !folder.is_empty()) {
        match open(cwd.join(folder).join(program)) {
            Ok(executable) => return Ok(executable),
            Err(why) if why == ABSENT => {}
            Err(why) => {
                found_but.get_or_insert_with(|| format!("{folder}/{program}: {why}"));
            }
        }
    }
    Err(Failure::invalid(found_but.unwrap_or_else(|| {
        format!("program {program}: not in PATH={search_path}; install it, write its full path, or set PATH in env")
    })))
}

const ABSENT: &str = "does not exist; check the spelling";

fn open(path: PathBuf) -> Result<Executable, String> {
    // O_PATH, because a program may be executable without being readable.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_CLOEXEC).open(&path);
    let file: File = file.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => ABSENT.to_owned(),
        _ => format!("{error}; let that user pass through its folders"),
    })?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("not a file; name the program itself".to_owned());
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err("not executable; chmod +x it, or name its interpreter first".to_owned());
    }
    Ok(Executable { path, file: file.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(program: &str, search_path: &str) -> String {
        find(program, Path::new("/"), search_path).err().expect("must be refused").message
    }

    #[test]
    fn names_are_searched_and_paths_start_from_the_working_directory() {
        assert_eq!(find("sh", Path::new("/"), "/nowhere::/bin").unwrap().path, Path::new("/bin/sh"));
        assert_eq!(find("./sh", Path::new("/bin"), "").unwrap().path, Path::new("/bin/./sh"));
        assert_eq!(find("/bin/sh", Path::new("/nowhere"), "").unwrap().path, Path::new("/bin/sh"));
    }

    #[test]
    fn refusals_name_the_reason() {
        assert!(refusal("sh", "/nowhere").contains("PATH=/nowhere"));
        assert!(refusal("/nowhere/sh", "").contains("does not exist"));
        assert!(refusal("/etc/passwd", "").contains("not executable"));
        assert!(refusal("/bin", "").contains("not a file"));
        assert!(refusal("passwd", "/etc").contains("/etc/passwd: not executable"));
    }
}

//! The folder of a run on this machine: files that the caller puts there and gets from there.
//!
//! The caller's own file system may be another machine's. Everything happens below one folder: a path is followed one
//! name at a time and no symbolic link is, so that a process of the application, to which some of these folders belong,
//! cannot lead the agent out of it. The folder goes with the agent, or with a sweeper when the agent is killed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{openat, renameat, Flock, FlockArg, OFlag};
use nix::sys::stat::{fchmod, mkdirat, Mode};
use nix::unistd::{fchown, geteuid, unlinkat, UnlinkatFlags};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::account::Account;
use crate::failure::Failure;
use crate::sweeper::{self, Sweeper};

/// Bytes of a piece.
pub const PIECE_MAX: usize = 1 << 20;
/// Bytes of a file.
const FILE_MAX: u64 = 4 << 30;
/// As in the work folders that Python makes (testbed/folders.py): locked while its owner lives.
const LOCK_NAME: &str = "in-use";
const PREFIX: &str = "run-";
/// The folder of files that later trials may need again.
const STORED: &str = "stored";
/// Folders that other accounts may enter, and not write.
const FOLDER_MODE: u32 = 0o755;
/// How long the processes of a killed agent may take to end.
const PATIENCE: Duration = Duration::from_secs(10);
const CHECK: Duration = Duration::from_millis(20);

/// To whom a new file or folder belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    Agent,
    Application,
}

/// The folder of a run.
pub struct RunFolder {
    path: PathBuf,
    root: OwnedFd,
    application: Account,
    /// The lock of a folder that this agent has made, and removes.
    made: Option<Flock<File>>,
    /// Removes it if the agent is killed.
    _sweeper: Option<Sweeper>,
    /// It stays, without its lock, so that the next agent does not take it for one of a killed agent.
    keep: bool,
}

impl RunFolder {
    /// Makes the folder, or opens one that is there already.
    pub fn open(path: &Path, application: Account, keep: bool) -> Result<Self, Failure> {
        let named = path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(PREFIX));
        let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        let (true, true, true, Some(parent)) = (named, plain, path.is_absolute(), path.parent()) else {
            return Err(Failure::invalid(format!(
                "folder: {}: write an absolute path without `..` whose last name begins with {PREFIX}",
                path.display()
            )));
        };
        Self::open_in(parent, path, application, keep).map_err(|error| {
            Failure::preflight(format!(
                "folder {}: {error}; set CROSSWIND_WORK_DIR where you start crosswind, to a folder that can be made on every machine, such as /var/tmp/NAME",
                path.display()
            ))
        })
    }

    fn open_in(parent: &Path, path: &Path, application: Account, keep: bool) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(parent)?;
        sweep(parent);
        let made = match DirBuilder::new().mode(FOLDER_MODE).create(path) {
            Ok(()) => {
                // The umask of a login shell may take away what others need.
                fs::set_permissions(path, Permissions::from_mode(FOLDER_MODE))?;
                Some(locked(path)?)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
            Err(error) => return Err(error),
        };
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let root = OpenOptions::new().read(true).custom_flags(flags).open(path)?.into();
        Ok(Self { path: path.to_owned(), root, application, made, _sweeper: None, keep })
    }

    /// Has it removed also when this process is killed. Without a second process, the next agent removes it.
    pub fn sweep_when_killed(&mut self) {
        self._sweeper = self.made.as_ref().and_then(|_| Sweeper::start(self.path.as_os_str()).ok());
    }

    /// Whether this agent has made it; if not, the caller sees the same files.
    pub fn is_made(&self) -> bool {
        self.made.is_some()
    }

    /// Makes a folder, and those that lead to it, where they are missing.
    pub fn make(&self, path: &Path, owner: Owner, mode: Option<u32>) -> Result<(), Failure> {
        let names = self.names(path)?;
        self.enter(&names, Some(owner))
            .and_then(|folder| {
                Ok(mode.map_or(Ok(()), |mode| fchmod(&folder, Mode::from_bits_truncate(mode & 0o777)))?)
            })
            .map_err(|error| failed("make", path, &error))
    }

    /// Removes a direct child with everything in it, or a file that is stored.
    pub fn clear(&self, path: &Path) -> Result<(), Failure> {
        let removed = match self.names(path)?[..] {
            // The folder above belongs to the agent, so nothing else changes what stands there.
            [name] => fs::remove_dir_all(self.path.join(name)),
            [stored, name] if stored == STORED => fs::remove_file(self.path.join(stored).join(name)),
            _ => {
                return Err(Failure::invalid(format!(
                "clear {}: only what is directly in the folder of the run, or in {STORED}, can be removed",
                path.display()
            )))
            }
        };
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("clear", path, &error)),
            _ => Ok(()),
        }
    }

    /// Copies a file that the agent has stored to a new one.
    pub fn copy(&self, from: &Path, path: &Path, owner: Owner, mode: u32) -> Result<(), Failure> {
        let (from, names) = (self.names(from)?, self.names(path)?);
        self.write_copy(&from, &names, owner, mode).map_err(|error| failed("copy", path, &error))
    }

    fn write_copy(&self, from: &[&OsStr], names: &[&OsStr], owner: Owner, mode: u32) -> io::Result<()> {
        let mut stored = self.open_file(from)?;
        is_own(&stored)?;
        let part = self.open_part(names, owner, true)?;
        // In the kernel, and without copying where the file system can share.
        io::copy(&mut stored, &mut &part.file)?;
        self.finish(&part, owner, mode)
    }

    /// Writes a piece of a new file. With the last one it gets its name.
    pub fn put(&self, path: &Path, owner: Owner, piece: &Piece) -> Result<(), Failure> {
        let names = self.names(path)?;
        piece.check(path)?;
        self.write(&names, owner, piece).map_err(|error| failed("put", path, &error))
    }

    fn write(&self, names: &[&OsStr], owner: Owner, piece: &Piece) -> io::Result<()> {
        let part = self.open_part(names, owner, piece.offset == 0)?;
        is_own(&part.file)?;
        let length = part.file.metadata()?.len();
        if length != piece.offset {
            let message = format!("{length} bytes are there, the piece begins at {}", piece.offset);
            return Err(io::Error::other(message));
        }
        part.file.write_all_at(&piece.bytes, piece.offset)?;
        if piece.last {
            self.finish(&part, owner, piece.mode)?;
        }
        Ok(())
    }

    /// Opens what becomes the file of this name; empty if `new`.
    fn open_part<'a>(&self, names: &[&'a OsStr], owner: Owner, new: bool) -> io::Result<Part<'a>> {
        let (&name, above) = names.split_last().expect("a path below the folder has a name");
        let folder = self.enter(above, Some(owner))?;
        let mut part = OsStr::new(".").to_owned();
        part.push(name);
        part.push(".part");
        let mut flags = OFlag::O_WRONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
        if new {
            match unlinkat(&folder, part.as_os_str(), UnlinkatFlags::NoRemoveDir) {
                Err(Errno::ENOENT) | Ok(()) => {}
                Err(error) => return Err(error.into()),
            }
            flags |= OFlag::O_CREAT | OFlag::O_EXCL;
        }
        let file = File::from(openat(&folder, part.as_os_str(), flags, Mode::S_IRUSR | Mode::S_IWUSR)?);
        Ok(Part { folder, part, name, file })
    }

    /// The file has its permissions, its owner and its name.
    fn finish(&self, part: &Part<'_>, owner: Owner, mode: u32) -> io::Result<()> {
        fchmod(&part.file, Mode::from_bits_truncate(mode & 0o777))?;
        self.give(&part.file, owner)?;
        Ok(renameat(&part.folder, part.part.as_os_str(), &part.folder, part.name)?)
    }

    /// Bytes of a file, and its size; `None` where there is no such file.
    pub fn get(&self, path: &Path, offset: u64, length: usize) -> Result<Option<(Vec<u8>, u64)>, Failure> {
        let names = self.names(path)?;
        if length > PIECE_MAX {
            return Err(Failure::invalid(format!(
                "get {}: {length} bytes: a piece has at most {PIECE_MAX}",
                path.display()
            )));
        }
        match self.read(&names, offset, length) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("get", path, &error)),
        }
    }

    /// The SHA-256 of a file, in hexadecimal; `None` where there is no such file.
    pub fn checksum(&self, path: &Path) -> Result<Option<String>, Failure> {
        let names = self.names(path)?;
        match self.open_file(&names).and_then(sha256) {
            Ok(sum) => Ok(Some(sum)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("checksum", path, &error)),
        }
    }

    fn open_file(&self, names: &[&OsStr]) -> io::Result<File> {
        let (name, above) = names.split_last().expect("a path below the folder has a name");
        let folder = self.enter(above, None)?;
        // A pipe would otherwise be waited for.
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
        let file = File::from(openat(&folder, *name, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("is not a file"));
        }
        Ok(file)
    }

    fn read(&self, names: &[&OsStr], offset: u64, length: usize) -> io::Result<(Vec<u8>, u64)> {
        let file = self.open_file(names)?;
        let size = file.metadata()?.len();
        let rest = usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length.min(rest)];
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok((bytes, size))
    }

    /// The names that lead from the folder to `path`; at least one.
    fn names<'a>(&self, path: &'a Path) -> Result<Vec<&'a OsStr>, Failure> {
        let below = path.strip_prefix(&self.path).ok().filter(|below| !below.as_os_str().is_empty());
        let named = |part| if let Component::Normal(name) = part { Some(name) } else { None };
        below.and_then(|below| below.components().map(named).collect()).ok_or_else(|| {
            Failure::invalid(format!(
                "{}: is not below the folder of the run, {}; nothing else is read or written",
                path.display(),
                self.path.display()
            ))
        })
    }

    /// Opens a folder, one name at a time; a missing one is made if `owner` is given.
    fn enter(&self, names: &[&OsStr], owner: Option<Owner>) -> io::Result<OwnedFd> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mut folder = self.root.try_clone()?;
        for name in names {
            folder = match (openat(&folder, *name, flags, Mode::empty()), owner) {
                (Err(Errno::ENOENT), Some(owner)) => {
                    mkdirat(&folder, *name, Mode::S_IRWXU)?;
                    let made = openat(&folder, *name, flags, Mode::empty())?;
                    fchmod(&made, Mode::from_bits_truncate(FOLDER_MODE))?;
                    self.give(&made, owner)?;
                    made
                }
                (found, _) => found?,
            };
        }
        Ok(folder)
    }

    fn give(&self, what: impl AsFd, owner: Owner) -> io::Result<()> {
        // Only root has an account for applications that is not its own.
        if owner == Owner::Application && self.application.user() != geteuid() {
            fchown(what, Some(self.application.user()), Some(self.application.group()))?;
        }
        Ok(())
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if !self.is_made() {
            return;
        }
        let removed = if self.keep {
            let _ = fs::remove_dir_all(self.path.join(STORED)); // the files of the last trial have copies
            fs::remove_file(self.path.join(LOCK_NAME))
        } else {
            fs::remove_dir_all(&self.path)
        };
        if let Err(error) = removed {
            eprintln!("crosswind-agent: {} is left: {error}", self.path.display());
        }
    }
}

/// A file that has not all its bytes yet, and another name.
struct Part<'a> {
    folder: OwnedFd,
    part: OsString,
    name: &'a OsStr,
    file: File,
}

/// Another account could have put a link to a foreign file in its place.
fn is_own(file: &File) -> io::Result<()> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.nlink() != 1 || metadata.uid() != geteuid().as_raw() {
        return Err(io::Error::other("is not a file of the agent"));
    }
    Ok(())
}

/// A piece of a file.
pub struct Piece {
    pub offset: u64,
    pub bytes: Vec<u8>,
    /// Permissions of the file, in effect with the last piece.
    pub mode: u32,
    pub last: bool,
}

impl Piece {
    fn check(&self, path: &Path) -> Result<(), Failure> {
        let wrong = if self.bytes.len() > PIECE_MAX {
            format!("{} bytes: a piece has at most {PIECE_MAX}", self.bytes.len())
        } else if self.offset.saturating_add(self.bytes.len() as u64) > FILE_MAX {
            format!("ends beyond {FILE_MAX} bytes, the most that a file may have")
        } else {
            return Ok(());
        };
        Err(Failure::invalid(format!("put {}: {wrong}", path.display())))
    }
}

fn failed(request: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::preflight(format!(
        "{request} {}: {error}; make room on this machine, or set CROSSWIND_WORK_DIR to another folder",
        path.display()
    ))
}

fn sha256(mut file: File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut bytes = vec![0; PIECE_MAX];
    loop {
        match file.read(&mut bytes) {
            Ok(0) => break,
            Ok(count) => hasher.update(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hasher.finalize().iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}")))
}

fn locked(folder: &Path) -> io::Result<Flock<File>> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(LOCK_NAME))?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error.into())
}

/// `crosswind-agent sweep FOLDER`: waits for the end of its input, and removes the folder of a run if its agent has left
/// it.
pub fn sweep_main(path: &Path) -> ExitCode {
    sweeper::await_end();
    let deadline = Instant::now() + PATIENCE;
    // Its processes end after it, and one may have the lock.
    while path.join(LOCK_NAME).exists() && Instant::now() < deadline {
        path.parent().into_iter().for_each(sweep);
        thread::sleep(CHECK);
    }
    ExitCode::SUCCESS
}

/// Removes folders of runs whose owner has died. One without a lock is being made at this moment.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let own = entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == geteuid().as_raw());
        if !named || !own {
            continue;
        }
        let lock = entry.path().join(LOCK_NAME);
        let lock = OpenOptions::new().write(true).custom_flags(libc::O_NOFOLLOW).open(lock);
        let free = |file| Flock::lock(file, FlockArg::LockExclusiveNonblock).is_ok();
        if lock.is_ok_and(free) {
            // What cannot be removed stays, and harms nothing.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use nix::unistd::{getegid, mkfifo};

    use super::*;

    fn opened(path: &Path) -> RunFolder {
        RunFolder::open(path, Account { uid: geteuid().as_raw(), gid: getegid().as_raw() }, false).unwrap()
    }

    fn piece(offset: u64, bytes: &[u8], last: bool) -> Piece {
        Piece { offset, bytes: bytes.to_vec(), mode: 0o640, last }
    }

    #[test]
    fn a_folder_goes_with_its_owner_and_one_that_was_there_stays() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("deep/run-1");
        let folder = opened(&path);
        assert!(folder.is_made() && path.is_dir());
        let again = opened(&path);
        assert!(!again.is_made());
        drop(again);
        assert!(path.is_dir());
        drop(folder);
        assert!(!path.exists() && path.parent().unwrap().is_dir());
    }

    #[test]
    fn a_folder_that_is_kept_stays_also_for_the_next_one() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("run-1");
        let account = Account { uid: geteuid().as_raw(), gid: getegid().as_raw() };
        let folder = RunFolder::open(&path, account, true).unwrap();
        folder.put(&path.join("file"), Owner::Agent, &piece(0, b"x", true)).unwrap();
        folder.put(&path.join("stored/0f"), Owner::Agent, &piece(0, b"x", true)).unwrap();
        drop(folder);
        drop(opened(&above.path().join("run-2")));
        let left: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["file"]);
    }

    #[test]
    fn a_file_arrives_in_pieces_and_has_its_name_with_the_last() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("run-1");
        let folder = opened(&path);
        let file = path.join("trial/node/data");
        folder.put(&file, Owner::Application, &piece(0, b"lost", false)).unwrap();
        folder.put(&file, Owner::Application, &piece(0, b"one ", false)).unwrap();
        assert!(folder.put(&file, Owner::Application, &piece(9, b"gap", true)).is_err());
        assert_eq!(folder.get(&file, 0, 9).unwrap(), None);
        folder.put(&file, Owner::Application, &piece(4, b"two", true)).unwrap();
        assert_eq!(folder.get(&file, 0, 100).unwrap(), Some((b"one two".to_vec(), 7)));
        assert_eq!(folder.get(&file, 4, 2).unwrap(), Some((b"tw".to_vec(), 7)));
        assert_eq!(folder.get(&file, 100, 2).unwrap(), Some((Vec::new(), 7)));
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o640);
        let sum = "8ab63e29a4ba14e4e1688f9c15e5af90895421358c945b0431f85d66977bd3d2";
        assert_eq!(folder.checksum(&file).unwrap().as_deref(), Some(sum));
        assert_eq!(folder.checksum(&path.join("trial/none")).unwrap(), None);
        folder.make(&path.join("trial/data"), Owner::Application, Some(0o700)).unwrap();
        assert_eq!(fs::metadata(path.join("trial/data")).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(path.join("trial/node")).unwrap().count(), 1);
        folder.clear(&path.join("trial")).unwrap();
        folder.clear(&path.join("trial")).unwrap();
        assert_eq!(folder.get(&file, 0, 1).unwrap(), None);
    }

    #[test]
    fn a_stored_file_is_copied_until_it_is_cleared() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("run-1");
        let folder = opened(&path);
        let (stored, copy) = (path.join("stored/0f"), path.join("trial/data/file"));
        folder.put(&stored, Owner::Agent, &piece(0, b"data", true)).unwrap();
        for _ in 0..2 {
            folder.copy(&stored, &copy, Owner::Application, 0o600).unwrap();
            assert_eq!(folder.get(&copy, 0, 9).unwrap(), Some((b"data".to_vec(), 4)));
            assert_eq!(fs::metadata(&copy).unwrap().mode() & 0o777, 0o600);
        }
        // An application writes into the copy alone.
        fs::write(&copy, "other").unwrap();
        assert_eq!(folder.get(&stored, 0, 9).unwrap(), Some((b"data".to_vec(), 4)));
        // A file that an application has put there under another name is not copied.
        fs::hard_link(&copy, path.join("trial/second")).unwrap();
        assert!(folder.copy(&path.join("trial/second"), &copy, Owner::Application, 0o600).is_err());
        assert!(folder.clear(&copy).is_err());
        folder.clear(&stored).unwrap();
        folder.clear(&stored).unwrap();
        assert!(folder.copy(&stored, &copy, Owner::Application, 0o600).is_err());
    }

    #[test]
    fn nothing_outside_is_read_written_or_removed() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("run-1");
        let folder = opened(&path);
        let secret = above.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        for outside in [secret.clone(), path.join("../secret"), path.clone(), PathBuf::from("secret")] {
            assert!(folder.get(&outside, 0, 9).is_err(), "{outside:?}");
            assert!(folder.checksum(&outside).is_err(), "{outside:?}");
            assert!(folder.put(&outside, Owner::Agent, &piece(0, b"x", true)).is_err(), "{outside:?}");
            assert!(folder.clear(&outside).is_err(), "{outside:?}");
            assert!(folder.copy(&outside, &path.join("copy"), Owner::Agent, 0o600).is_err(), "{outside:?}");
            assert!(folder.copy(&path.join("copy"), &outside, Owner::Agent, 0o600).is_err(), "{outside:?}");
            assert!(folder.make(&outside, Owner::Agent, None).is_err(), "{outside:?}");
        }
        assert!(folder.clear(&path.join("a/b")).is_err());
        // An application leads the agent astray.
        symlink(above.path(), path.join("link")).unwrap();
        symlink(&secret, path.join("file")).unwrap();
        for led in [path.join("link/secret"), path.join("file")] {
            assert!(folder.get(&led, 0, 9).is_err(), "{led:?}");
        }
        assert!(folder.put(&path.join("link/new"), Owner::Agent, &piece(0, b"x", true)).is_err());
        // A link in the place of a file, or of its part, is replaced and not followed.
        symlink(&secret, path.join(".file.part")).unwrap();
        folder.put(&path.join("file"), Owner::Agent, &piece(0, b"x", true)).unwrap();
        symlink(&secret, path.join(".other.part")).unwrap();
        assert!(folder.put(&path.join("other"), Owner::Agent, &piece(6, b"x", true)).is_err());
        drop(folder);
        assert!(!path.exists());
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    }

    #[test]
    fn a_pipe_is_not_waited_for_and_too_much_is_refused() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("run-1");
        let folder = opened(&path);
        mkfifo(&path.join("pipe"), Mode::S_IRWXU).unwrap();
        assert!(folder.get(&path.join("pipe"), 0, 1).is_err());
        assert!(folder.get(&path.join("x"), 0, PIECE_MAX + 1).is_err());
        let large = piece(0, &vec![0; PIECE_MAX + 1], true);
        assert!(folder.put(&path.join("x"), Owner::Agent, &large).is_err());
        assert!(folder.put(&path.join("x"), Owner::Agent, &piece(FILE_MAX, b"x", true)).is_err());
    }

    #[test]
    fn the_next_one_removes_what_a_killed_owner_left() {
        let above = tempfile::tempdir().unwrap();
        let living = opened(&above.path().join("run-living"));
        let [dead, unfinished, foreign] =
            ["run-dead", "run-unfinished", "other"].map(|name| above.path().join(name));
        for folder in [&dead, &unfinished, &foreign] {
            fs::create_dir(folder).unwrap();
        }
        for folder in [&dead, &foreign] {
            fs::write(folder.join(LOCK_NAME), "").unwrap();
        }
        let _next = opened(&above.path().join("run-next"));
        assert!(!dead.exists());
        assert!(unfinished.exists() && foreign.exists() && living.path.exists());
    }

    #[test]
    fn a_folder_has_a_plain_path_and_a_telling_name() {
        for wrong in ["run-1", "/", "/tmp/other", "/tmp/../tmp/run-1"] {
            assert!(RunFolder::open(Path::new(wrong), Account { uid: 0, gid: 0 }, false).is_err(), "{wrong}");
        }
    }
}

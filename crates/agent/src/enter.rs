//! `enter PID -- CMD ...`: runs a command in a node, with the caller's streams, environment, folder and user.
//!
//! The command ends with the node, because it is in its PID namespace, and with this process. It has the privileges of
//! the caller: root can capture packets, other users have their usual rights. Its clock is as slow as that of the node's
//! own programs, whose supervisor is the only process of the node that this one talks to.

use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::process::ExitCode;

use crosswind_emulator::NONE_TO_SPARE;
use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sched::{sched_getaffinity, sched_setaffinity, setns, CloneFlags, CpuSet};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{kill, SigSet, Signal};
use nix::sys::signalfd::SignalFd;
use nix::sys::socket::{recv, socketpair, AddressFamily, MsgFlags, SockFlag, SockType};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::{chdir, execvp, fork, ForkResult, Pid};

use crate::cgroup;
use crate::init::Door;

/// The node cannot be entered.
const CANNOT_ENTER: u8 = 3;
/// The command cannot be executed; the status that shells use.
const CANNOT_EXECUTE: i32 = 126;
/// The command does not exist; the status that shells use.
const NOT_FOUND: i32 = 127;
/// Added to the number of the signal that ended the command, as shells do.
const SIGNALLED: i32 = 128;

/// Enters the node whose init is `pid` and returns the command's exit status.
pub fn main(pid: &str, command: &[OsString]) -> ExitCode {
    match join(pid).and_then(|()| run(command)) {
        Ok(status) => ExitCode::from(status as u8),
        Err(message) => {
            eprintln!("crosswind-agent enter: {message}");
            ExitCode::from(CANNOT_ENTER)
        }
    }
}

/// Moves this process into the node; only its children will be in the PID namespace.
fn join(pid: &str) -> Result<(), String> {
    let number: u32 = pid
        .parse()
        .map_err(|_| format!("pid {pid:?} is not a number; `up` replies with the init of each node"))?;
    let folder = format!("/proc/{number}/ns");
    if is_ours(&folder, "net") {
        return Err(format!("process {number} is no node: its network is this process's own; `up` replies with the init of each node"));
    }
    cgroup::join(number)?;
    let here = std::env::current_dir().ok();
    let mut kinds = vec![
        ("net", CloneFlags::CLONE_NEWNET),
        ("uts", CloneFlags::CLONE_NEWUTS),
        ("ipc", CloneFlags::CLONE_NEWIPC),
        ("pid", CloneFlags::CLONE_NEWPID),
        ("mnt", CloneFlags::CLONE_NEWNS),
    ];
    // Comes first, because it permits the other steps to a user who is not root.
    if !is_ours(&folder, "user") {
        kinds.insert(0, ("user", CloneFlags::CLONE_NEWUSER));
    }
    // All are opened before any is joined, because joining changes /proc.
    let opened: Result<Vec<(&str, CloneFlags, File)>, String> = kinds
        .into_iter()
        .map(|(kind, flag)| {
            let file = File::open(format!("{folder}/{kind}"));
            file.map(|file| (kind, flag, file)).map_err(|error| {
                format!("open {folder}/{kind}: {error}; the node must be up, and this must run as the user who brought it up")
            })
        })
        .collect();
    for (kind, flag, file) in opened? {
        setns(file.as_fd(), flag).map_err(|error| {
            format!(
                "join the {kind} namespace of process {number}: {}; run as the user who brought the node up",
                error.desc()
            )
        })?;
    }
    stay_where_it_is(number).map_err(|error| {
        format!("use the CPUs of process {number} only: {}; a security module forbids it", error.desc())
    })?;
    // Joining a mount namespace leads to its root; this returns to the caller's folder by its name.
    here.map_or(Ok(()), |here| {
        chdir(&here).map_err(|error| format!("return to {}: {}", here.display(), error.desc()))
    })
}

/// Restricts the command to the CPUs that the node and the caller may both use; the emulator's CPU stays free.
fn stay_where_it_is(number: u32) -> nix::Result<()> {
    let (own, its) = (sched_getaffinity(Pid::this())?, sched_getaffinity(Pid::from_raw(number as i32))?);
    let mut both = CpuSet::new();
    for cpu in 0..CpuSet::count() {
        if own.is_set(cpu)? && its.is_set(cpu)? {
            both.set(cpu)?;
        }
    }
    // The caller is pinned to the emulator's CPU: nothing would remain, so the node's CPUs are used.
    sched_setaffinity(Pid::this(), if both == CpuSet::new() { &its } else { &both })
}

/// Whether this process is in the same namespace of this kind; `false` when that is not visible.
fn is_ours(folder: &str, kind: &str) -> bool {
    let identity = |path: String| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    let theirs = identity(format!("{folder}/{kind}"));
    theirs.is_some() && theirs == identity(format!("/proc/self/ns/{kind}"))
}

fn run(command: &[OsString]) -> Result<i32, String> {
    let words: Result<Vec<_>, _> = command.iter().map(|word| CString::new(word.as_bytes())).collect();
    let words =
        words.map_err(|_| "the command contains a zero byte; C programs cannot receive one".to_owned())?;
    let system = |what: &'static str| move |error: Errno| format!("{what}: {}", error.desc());
    let parent = own_pidfd().map_err(system("watch this process"))?;
    let clocks = Clocks::find().map_err(|error| format!("find what slows the node's clocks: {error}"))?;
    let mut mask = SigSet::from_iter([Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT]);
    mask.add(Signal::SIGCHLD);
    let mut before = SigSet::empty();
    nix::sys::signal::sigprocmask(nix::sys::signal::SigmaskHow::SIG_BLOCK, Some(&mask), Some(&mut before))
        .map_err(system("block signals"))?;
    let signals = SignalFd::new(&mask).map_err(system("wait for signals"))?;
    // SAFETY: this process has one thread, so no lock can be held by a thread that the child does not have.
    match unsafe { fork() }.map_err(not_made)? {
        ForkResult::Child => {
            let status = become_command(&words, &before, &parent, clocks.as_ref());
            // SAFETY: ends the child at once, without running the exit handlers that the parent registered.
            unsafe { libc::_exit(status) }
        }
        ForkResult::Parent { child } => {
            let ended = clocks.as_ref().map(|clocks| &clocks.ended);
            wait(child, &signals, ended).map_err(system("wait for the command"))
        }
    }
}

/// What slows the clocks of the node.
struct Clocks {
    door: Door,
    /// Where messages about programs arrive that cannot be slowed, and where they are sent.
    ended: OwnedFd,
    to_ended: OwnedFd,
}

impl Clocks {
    /// `None` where the node's clocks are real.
    fn find() -> io::Result<Option<Self>> {
        let Some(door) = Door::find()? else { return Ok(None) };
        let (ended, to_ended) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        Ok(Some(Self { door, ended, to_ended }))
    }
}

fn not_made(error: Errno) -> String {
    let remedy = if error == Errno::EAGAIN { NONE_TO_SPARE } else { "the node must be up" };
    format!("make a process in the node: {}; {remedy}", error.desc())
}

/// Returns only when the command could not be executed, with the exit status that a shell would use.
fn become_command(words: &[CString], mask: &SigSet, parent: &OwnedFd, clocks: Option<&Clocks>) -> i32 {
    // A parent that died before this line will send no signal; its descriptor then reads as ended.
    let watched = set_pdeathsig(Signal::SIGKILL);
    let mut ended = [PollFd::new(parent.as_fd(), PollFlags::POLLIN)];
    if watched.is_err() || poll(&mut ended, PollTimeout::ZERO) != Ok(0) {
        return CANNOT_EXECUTE;
    }
    // SAFETY: the default action runs no code. Rust programs ignore SIGPIPE; the command should not.
    let _ = unsafe { nix::sys::signal::signal(Signal::SIGPIPE, nix::sys::signal::SigHandler::SigDfl) };
    let _ = mask.thread_set_mask();
    // Last, because this process's own clock is not slower.
    if let Some(Err(error)) = clocks.map(|clocks| clocks.door.apply(clocks.to_ended.as_fd())) {
        eprintln!("crosswind-agent enter: slow the command's clock: {error}; see `crosswind doctor`");
        return CANNOT_EXECUTE;
    }
    let Err(error) = execvp(&words[0], words);
    eprintln!("crosswind-agent enter: execute {}: {}", words[0].to_string_lossy(), error.desc());
    if error == Errno::ENOENT {
        NOT_FOUND
    } else {
        CANNOT_EXECUTE
    }
}

fn own_pidfd() -> nix::Result<OwnedFd> {
    // SAFETY: pidfd_open takes no pointers; on success the descriptor is new and ours.
    unsafe {
        let file = Errno::result(libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0))?;
        Ok(OwnedFd::from_raw_fd(file as i32))
    }
}

/// Waits for the command, passes on the signals that other processes send, and prints which of its programs were ended
/// because their clocks cannot be slowed. Signals of a terminal reach the command directly.
fn wait(child: Pid, signals: &SignalFd, ended: Option<&OwnedFd>) -> nix::Result<i32> {
    loop {
        let mut ready = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        ready.extend(ended.map(|ended| PollFd::new(ended.as_fd(), PollFlags::POLLIN)));
        poll(&mut ready, PollTimeout::NONE)?;
        print_ended(ended);
        if ready[0].any() != Some(true) {
            continue;
        }
        let Some(arrived) = signals.read_signal()? else {
            continue;
        };
        if arrived.ssi_signo as i32 != libc::SIGCHLD {
            if arrived.ssi_code == libc::SI_USER {
                let _ = kill(child, Signal::try_from(arrived.ssi_signo as i32)?);
            }
            continue;
        }
        match waitpid(child, Some(WaitPidFlag::WNOHANG))? {
            WaitStatus::Exited(_, code) => return Ok(code),
            WaitStatus::Signaled(_, signal, _) => return Ok(SIGNALLED + signal as i32),
            _ => {}
        }
    }
}

/// Prints all messages that are there. Each was sent before its program was ended.
fn print_ended(ended: Option<&OwnedFd>) {
    let Some(ended) = ended else { return };
    let mut message = [0; 8192];
    while let Ok(length @ 1..) = recv(ended.as_raw_fd(), &mut message, MsgFlags::MSG_DONTWAIT) {
        eprintln!("crosswind-agent enter: {}", String::from_utf8_lossy(&message[..length]));
    }
}

//! Starts a process: in its own session, with the given streams; without privileges, unless it belongs to the switch.
//!
//! The init is single-threaded, so the child of a fork may do anything that a process may do. An error in the child
//! before its exec returns through a pipe, which the exec closes.

use std::convert::Infallible;
use std::ffi::{CString, NulError};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crosswind_emulator::NONE_TO_SPARE;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag};
use nix::sys::signal::SigSet;
use nix::sys::wait::waitpid;
use nix::unistd::{
    chdir, dup2_stderr, dup2_stdin, dup2_stdout, execve, execveat, fork, pipe2, setsid, ForkResult, Pid,
};

use super::credentials;
use super::dilation::Dilation;
use super::executable::{self, Executable};
use super::root;
use crate::channel::{Channel, FromInit, StartOrder};
use crate::failure::Failure;

/// Starts the process and returns its id inside the node, which is also the id of its process group.
///
/// `files` are its standard output and standard error. The new process announces itself on `channel`, so that the
/// agent learns its id outside of the node.
pub fn start(
    order: &StartOrder,
    files: Vec<OwnedFd>,
    channel: &Channel,
    dilation: Option<&Dilation>,
) -> Result<Pid, Failure> {
    let [stdout, stderr] = <[OwnedFd; 2]>::try_from(files)
        .map_err(|_| Failure::internal("the order to start must have two files attached"))?;
    if order.argv.is_empty() {
        return Err(Failure::invalid("argv is empty; name at least the program"));
    }
    let image = Image::new(order)
        .map_err(|_| Failure::invalid("argv, env: contains a zero byte; C programs cannot receive one"))?;
    let system = |error: io::Error| match error.raw_os_error() {
        Some(libc::EAGAIN) => Failure::preflight(format!("make a process: {error}; {NONE_TO_SPARE}")),
        _ => Failure::internal(format!("make a process: {error}")),
    };
    let nothing = File::open("/dev/null").map_err(system)?;
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC).map_err(|error| system(error.into()))?;
    let (mut reader, mut writer) = (File::from(reader), File::from(writer));
    // SAFETY: this process has one thread, so no lock can be held by a thread that the child does not have.
    match unsafe { fork() }.map_err(|error| system(error.into()))? {
        ForkResult::Child => {
            let streams = [nothing.as_fd(), stdout.as_fd(), stderr.as_fd()];
            let Err(message) = become_application(order, &image, streams, channel, dilation);
            let _ = writer.write_all(message.as_bytes());
            // SAFETY: ends the child at once, without running the exit handlers that the init registered.
            unsafe { libc::_exit(127) }
        }
        ForkResult::Parent { child } => {
            drop(writer);
            let mut message = String::new();
            reader.read_to_string(&mut message).map_err(system)?;
            if message.is_empty() {
                return Ok(child);
            }
            let _ = waitpid(child, None);
            Err(Failure::invalid(message))
        }
    }
}

/// Everything that exec needs, made before the fork.
struct Image {
    argv: Vec<CString>,
    env: Vec<CString>,
}

impl Image {
    fn new(order: &StartOrder) -> Result<Self, NulError> {
        Ok(Self {
            argv: order.argv.iter().map(|word| CString::new(word.as_str())).collect::<Result<_, _>>()?,
            env: order
                .env
                .iter()
                .map(|(name, value)| CString::new(format!("{name}={value}")))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn become_application(
    order: &StartOrder,
    image: &Image,
    streams: [BorrowedFd<'_>; 3],
    channel: &Channel,
    dilation: Option<&Dilation>,
) -> Result<Infallible, String> {
    let system = |error: Errno| format!("prepare a process: {}", error.desc());
    setsid().map_err(system)?;
    channel
        .send(&FromInit::Born { process: order.process }, &[])
        .map_err(|error| format!("announce a process: {error}"))?;
    dup2_stdin(streams[0]).map_err(system)?;
    dup2_stdout(streams[1]).map_err(system)?;
    dup2_stderr(streams[2]).map_err(system)?;
    restore_signals().map_err(system)?;
    if let Some(root) = &order.root {
        root::enter(root)?;
    }
    let executable = find_executable(order).map_err(|failure| failure.message)?;
    let path = CString::new(executable.path.as_os_str().as_encoded_bytes())
        .map_err(|_| "PATH: contains a zero byte; C programs cannot receive one".to_owned())?;
    let who = match order.account {
        Some(account) => {
            credentials::give_up(account).map_err(|error| {
                format!("become user {} and group {}: {}", account.uid, account.gid, error.desc())
            })?;
            format!("user {}", account.uid)
        }
        None => {
            credentials::keep()
                .map_err(|error| format!("keep the agent's capabilities: {}", error.desc()))?;
            "the agent's user".to_owned()
        }
    };
    chdir(&order.cwd).map_err(|error| {
        format!(
            "cwd {} for {who}: {}; create it and let that user pass through its folders",
            order.cwd.display(),
            error.desc()
        )
    })?;
    // Last, because this process's own clock is not slower.
    if let Some(dilation) = dilation {
        dilation.apply().map_err(|error| format!("slow its clock: {error}; see `crosswind doctor`"))?;
    }
    // By path where the user may traverse it, so that the program finds its own folder as usual. Otherwise by
    // descriptor: a binary below /root runs too. A script does not, because its interpreter has to open it.
    let Err(mut error) = execve(&path, &image.argv, &image.env);
    if error == Errno::EACCES {
        let file = executable.file.as_fd();
        let Err(other) = execveat(file, c"", &image.argv, &image.env, AtFlags::AT_EMPTY_PATH);
        error = if other == Errno::ENOENT { error } else { other };
    }
    Err(format!(
        "program {}, execute as {who}: {}; let that user pass through its folders, and its interpreter's",
        executable.path.display(),
        error.desc()
    ))
}

/// In the root that the process has at this point, and with the privileges that it will lose next.
fn find_executable(order: &StartOrder) -> Result<Executable, Failure> {
    let search_path = order.env.iter().find(|(name, _)| name == "PATH").map_or("", |(_, value)| value);
    executable::find(&order.argv[0], &order.cwd, search_path)
}

/// Sets signals as a program expects them: none blocked, none ignored. Rust programs ignore SIGPIPE, and the agent's
/// caller may have ignored others.
fn restore_signals() -> Result<(), Errno> {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: the default action runs no code of this program. SIGKILL, SIGSTOP and two signals of the C library
        // refuse.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    SigSet::empty().thread_set_mask()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_byte_in_an_argument_is_refused() {
        let order = StartOrder {
            process: 1,
            name: "x".into(),
            argv: vec!["a\0b".into()],
            env: vec![],
            cwd: "/".into(),
            root: None,
            account: Some(crate::account::Account { uid: 1, gid: 1 }),
            keep: None,
        };
        assert!(Image::new(&order).is_err());
    }
}

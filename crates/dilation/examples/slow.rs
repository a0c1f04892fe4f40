//! `slow FACTOR OFFSET_NS RATE_PPB CMD ...`: runs a command whose clock is slower and wrong, and prints on standard error
//! what became of it.

use std::ffi::CString;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::process::ExitCode;

use crosswind_dilation::{install, Anchor, Clocks, Supervisor, Wrong};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [factor, offset_ns, rate_ppb, program, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: slow FACTOR OFFSET_NS RATE_PPB CMD ...");
        return ExitCode::from(2);
    };
    let factor: NonZeroU64 = factor.parse().expect("FACTOR is a whole number from 1");
    let offset_ns = offset_ns.parse().expect("OFFSET_NS is a whole number");
    let rate_ppb = rate_ppb.parse().expect("RATE_PPB is a whole number from 1");
    let now = Anchor::now();
    let clocks = Clocks::slow(now, factor).wrong(now, Wrong { offset_ns, rate_ppb });
    let words: Vec<_> =
        [program].into_iter().chain(rest).map(|word| CString::new(word.as_str()).unwrap()).collect();
    match run(clocks, &words) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("slow: {error}");
            ExitCode::from(3)
        }
    }
}

fn run(clocks: Clocks, words: &[CString]) -> io::Result<u8> {
    let mut ends = [0; 2];
    // SAFETY: writes two descriptors into a live array.
    check(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0, ends.as_mut_ptr()) })?;
    // SAFETY: this process has one thread.
    let child = check(unsafe { libc::fork() })?;
    if child == 0 {
        // SAFETY: takes no pointers.
        unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        send(ends[1], &install()?)?;
        // Directly: a library may call what the filter traps first, and this process has no handler.
        let mut pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
        pointers.push(std::ptr::null());
        // SAFETY: the words live, and a null ends them.
        unsafe { libc::execvp(pointers[0], pointers.as_ptr()) };
        return Err(io::Error::last_os_error());
    }
    let mut supervisor = Supervisor::new(clocks).ok_or(io::ErrorKind::Unsupported)?;
    supervisor.listen(receive(ends[0])?, None);
    // SAFETY: pidfd_open takes no pointers; the descriptor is new and ours.
    let ended = unsafe { OwnedFd::from_raw_fd(libc::syscall(libc::SYS_pidfd_open, child, 0) as i32) };
    supervisor.serve_until([ended.as_fd()])?;
    let report = supervisor.report();
    eprintln!("execs {}, killed {:?}, refused {:?}", report.execs, report.killed, report.refused);
    for read in report.counters {
        eprintln!("counter {} times by {} of {}", read.reads, read.file, read.program);
    }
    let mut status = 0;
    // SAFETY: writes into a live integer.
    check(unsafe { libc::waitpid(child, &raw mut status, 0) })?;
    Ok(if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) } as u8)
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// A message of one byte with a descriptor, as both ends see it.
fn with_message<T>(file: i32, then: impl FnOnce(&mut libc::msghdr) -> io::Result<T>) -> io::Result<T> {
    let mut byte = [0_u8];
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let mut control = [0_u64; 3];
    // SAFETY: zeros are a value of this structure; the buffers outlive it.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), 24);
    // SAFETY: the control buffer has room for one header and one descriptor.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        // glibc and musl give it another width.
        (*header).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(header).cast::<i32>().write_unaligned(file);
    }
    then(&mut message)
}

fn send(socket: i32, file: &OwnedFd) -> io::Result<()> {
    // SAFETY: the message is valid until the call returns.
    with_message(file.as_raw_fd(), |message| check(unsafe { libc::sendmsg(socket, message, 0) } as i32))
        .map(drop)
}

fn receive(socket: i32) -> io::Result<OwnedFd> {
    with_message(-1, |message| {
        // SAFETY: the message is valid until the call returns, which writes the descriptor behind the header.
        unsafe {
            check(libc::recvmsg(socket, message, libc::MSG_CMSG_CLOEXEC) as i32)?;
            let header = libc::CMSG_FIRSTHDR(message);
            Ok(OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<i32>().read_unaligned()))
        }
    })
}

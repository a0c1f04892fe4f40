//! Answers the calls that the filter hands over: begins of programs, and what is refused. One process does this for all
//! processes of a node, one call after another.
//!
//! A thread that begins a program is attached for this call alone. Two at a time are never attached: the kernel can
//! make a tracer wait for a process that waits for the tracer, when two threads of one process begin programs at once.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};

use crate::calls::{What, CALLS};
use crate::clocks::Clocks;
use crate::filter::{X32, X86_64};
use crate::image::Image;
use crate::inject::inject;
use crate::layout::{READS, READS_NAMED, REPORT, REPORTS};
use crate::live::{code_at, counts, filters_of, processes, program_of};
use crate::map::Map;
use crate::report::{Counter, Killed, Refused, Report};
use crate::tracee::{attach, detach, interrupt, next_stop, Stop};

/// _IOWR('!', 0, struct seccomp_notif) and _IOWR('!', 1, struct seccomp_notif_resp).
const RECEIVE: libc::Ioctl = 0xc050_2100_u32 as libc::Ioctl;
const SEND: libc::Ioctl = 0xc018_2101_u32 as libc::Ioctl;

/// A filter that is served.
struct Filter {
    listener: OwnedFd,
    /// A socket that learns which programs were ended, and why.
    ended: Option<OwnedFd>,
}

/// What begins a program in the node waits for this value.
pub struct Supervisor {
    image: Image,
    filters: Vec<Filter>,
    executed: u64,
    refused: BTreeMap<String, u64>,
    killed: BTreeMap<(String, String), u64>,
    /// By program and file.
    counters: BTreeMap<(String, String), u64>,
    /// Seccomp filters of a process of the node that made none itself.
    usual_filters: u64,
}

impl Supervisor {
    /// `None` where there is no image for this CPU.
    pub fn new(clocks: Clocks) -> Option<Self> {
        Some(Self {
            image: Image::new(Map::from(clocks))?,
            filters: Vec::new(),
            executed: 0,
            refused: BTreeMap::new(),
            killed: BTreeMap::new(),
            counters: BTreeMap::new(),
            usual_filters: filters_of("self").unwrap_or(0) + 1,
        })
    }

    /// Gives other clocks to every program that begins from now on.
    pub fn change(&mut self, clocks: Clocks) {
        self.image.map = Map::from(clocks);
    }

    /// Serves one more filter, until the last process that has it ends. Programs under it that cannot be dilated are
    /// named in messages to the socket `ended`. A file that is no listener of a filter is ignored.
    pub fn listen(&mut self, listener: OwnedFd, ended: Option<OwnedFd>) {
        let name = fs::read_link(format!("/proc/self/fd/{}", listener.as_raw_fd()));
        if name.is_ok_and(|name| name.as_os_str() == "anon_inode:seccomp notify") {
            self.filters.push(Filter { listener, ended });
        }
    }

    /// Serves all filters until there is something to read at one of `others`; returns which of them has something.
    pub fn serve_until<const N: usize>(&mut self, others: [BorrowedFd<'_>; N]) -> io::Result<[bool; N]> {
        loop {
            let mut sources = others.map(|other| PollFd::new(other, PollFlags::POLLIN)).to_vec();
            sources.extend(
                self.filters.iter().map(|filter| PollFd::new(filter.listener.as_fd(), PollFlags::POLLIN)),
            );
            match poll(&mut sources, PollTimeout::NONE) {
                Err(Errno::EINTR) => continue,
                Err(error) => return Err(error.into()),
                Ok(_) => {}
            }
            let events: Vec<_> =
                sources.iter().map(|source| source.revents().unwrap_or(PollFlags::POLLHUP)).collect();
            if events[..N].iter().any(|events| !events.is_empty()) {
                return Ok(std::array::from_fn(|at| !events[at].is_empty()));
            }
            for (at, events) in events[N..].iter().enumerate().rev() {
                if events.contains(PollFlags::POLLIN) {
                    self.answer(at)?;
                } else if !events.is_empty() {
                    self.filters.remove(at);
                }
            }
        }
    }

    /// What happened so far, and what the processes are that this process can see.
    pub fn report(&self) -> Report {
        let (dilated, undilated) = processes(self.image.map.factor.get());
        Report {
            processes: dilated,
            undilated: counts(undilated),
            execs: self.executed,
            killed: self
                .killed
                .iter()
                .map(|((program, why), &count)| Killed { program: program.clone(), why: why.clone(), count })
                .collect(),
            refused: self
                .refused
                .iter()
                .map(|(call, &count)| Refused { call: call.clone(), count })
                .collect(),
            counters: self
                .counters
                .iter()
                .map(|((program, file), &reads)| Counter {
                    program: program.clone(),
                    file: file.clone(),
                    reads,
                })
                .collect(),
        }
    }

    fn answer(&mut self, at: usize) -> io::Result<()> {
        // SAFETY: all bytes zero is a value of this structure of integers; the kernel requires it.
        let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        let listener = self.filters[at].listener.as_raw_fd();
        // SAFETY: the request writes into a live structure of its type.
        match Errno::result(unsafe { libc::ioctl(listener, RECEIVE, &raw mut notice) }) {
            // The process was killed before its call was read, or a signal came.
            Err(Errno::ENOENT | Errno::EINTR) => return Ok(()),
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
        let data = &notice.data;
        let known = CALLS.iter().find(|call| call.number as i32 == data.nr);
        let reported = || REPORTS.get(data.args[0] as usize).map(|&name| name.to_owned());
        if data.nr as u64 == REPORT && data.args[0] == READS {
            let process = notice.pid as i32;
            let key = (program_of(process), code_at(process, data.args[1]));
            *self.counters.entry(key).or_default() += READS_NAMED;
            respond(listener, notice.id, 0, 0);
            return Ok(());
        }
        let refused = match known {
            _ if data.arch != X86_64 => format!("32-bit call {}", data.nr),
            _ if data.nr as u32 & X32 != 0 => format!("x32 call {}", data.nr as u32 & !X32),
            _ if data.nr as u64 == REPORT => reported().unwrap_or_else(|| "unknown report".to_owned()),
            Some(call) if call.what == What::Execute => {
                self.execute(at, &notice);
                return Ok(());
            }
            Some(call) => call.name.to_owned(),
            None => format!("call {}", data.nr),
        };
        *self.refused.entry(refused).or_default() += 1;
        respond(listener, notice.id, -libc::ENOSYS, 0);
        Ok(())
    }

    fn execute(&mut self, at: usize, notice: &libc::seccomp_notif) {
        let listener = self.filters[at].listener.as_raw_fd();
        let thread = notice.pid as i32;
        if let Err(error) = attach(thread) {
            if error != Errno::ESRCH {
                let why = format!("cannot be attached to ({}); a debugger may be", error.desc());
                self.kill(at, thread, &why);
            }
            respond(listener, notice.id, -libc::EPERM, 0);
            return;
        }
        // If the call fails, it stops for this; if it succeeds, it stops for the program, and this is forgotten. Asked for
        // after the answer, it may come when the thread is in `vfork` already, which does not stop until its child has begun
        // a program; and the child would wait for this supervisor.
        interrupt(thread);
        respond(listener, notice.id, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
        match next_stop() {
            // A filter that the program's parents made may forbid what the watch needs.
            Ok((process, Stop::Program)) => match inject(&self.image, process, self.watches(process)) {
                Ok(()) => self.executed += 1,
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => {
                    self.kill(at, process, &reason(&error));
                    while !matches!(next_stop(), Ok((_, Stop::Ended)) | Err(_)) {}
                }
            },
            Ok((process, Stop::Other(signal))) => detach(process, signal),
            Ok((process, Stop::Call)) => detach(process, 0),
            Ok((_, Stop::Ended)) | Err(_) => {}
        }
    }

    /// Whether readings of the time-stamp counter can be counted in a process.
    fn watches(&self, process: i32) -> bool {
        filters_of(&process.to_string()).is_none_or(|filters| filters <= self.usual_filters)
    }

    fn kill(&mut self, at: usize, process: i32, why: &str) {
        let program = program_of(process);
        if let Some(socket) = &self.filters[at].ended {
            let message = format!("{program}: its clock cannot be slowed down, so it was ended: {why}");
            // SAFETY: reads a live text. A socket whose reader is slow or gone does not learn it.
            unsafe {
                libc::send(
                    socket.as_raw_fd(),
                    message.as_ptr().cast(),
                    message.len(),
                    libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
                )
            };
        }
        *self.killed.entry((program, why.to_owned())).or_default() += 1;
        // SAFETY: kill touches no memory.
        unsafe { libc::kill(process, libc::SIGKILL) };
    }
}

fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        // Without root, the memory of a program whose file cannot be read is out of reach.
        Some(libc::EIO | libc::EPERM | libc::EACCES) => {
            format!("its memory is out of reach ({error}); make its file readable for its user")
        }
        Some(libc::EEXIST) => "the address of the image is taken; link it elsewhere".to_owned(),
        _ => error.to_string(),
    }
}

/// An answer to a call whose process is gone is not needed.
fn respond(listener: i32, id: u64, error: i32, flags: u32) {
    let answer = libc::seccomp_notif_resp { id, val: 0, error, flags };
    // SAFETY: the request reads a live structure of its type.
    unsafe { libc::ioctl(listener, SEND, &raw const answer) };
}

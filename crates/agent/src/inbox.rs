//! All inputs of the agent in one place: lines of its caller, messages of nodes, faults of the emulator, signals, and
//! time. The agent waits nowhere else.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::channel::{FromInit, Received};
use crate::node::Node;

/// Longest line that is read as a request, bytes. A fabric of 65 534 nodes takes about 4 MB.
const LINE_BYTES_MAX: usize = 64 << 20;
/// Longest report of a fault, bytes.
const FAULT_BYTES_MAX: usize = 8192;

/// Something happened.
pub enum Event {
    /// A line without its line end; cut off at [`LINE_BYTES_MAX`], which makes it unreadable as a request.
    Line(Vec<u8>),
    /// There will be no more lines.
    InputEnded,
    /// A signal asked the agent to stop.
    Terminated,
    /// The emulator died.
    Fault(String),
    /// The node at this position sent a message.
    Message(usize, Received<FromInit>),
    /// The init of the node at this position is gone.
    Lost(usize),
    /// The deadline has passed.
    Deadline,
}

/// The sources, and the messages that they have already sent.
pub struct Inbox {
    input: Lines,
    signals: SignalFd,
    faults: UnixDatagram,
    fault_sender: UnixDatagram,
    waiting: VecDeque<Event>,
}

impl Inbox {
    /// Listens to `input`. From now on the signals that end the agent are blocked, also in threads that start later.
    pub fn new(input: OwnedFd) -> io::Result<Self> {
        let mask = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]);
        mask.thread_block()?;
        let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        let (faults, fault_sender) = UnixDatagram::pair()?;
        // The thread that reports a fault must not wait for the agent's thread, which may be waiting for it to stop.
        fault_sender.set_nonblocking(true)?;
        Ok(Self { input: Lines::new(input), signals, faults, fault_sender, waiting: VecDeque::new() })
    }

    /// A way to report a fault from another thread.
    pub fn fault_reporter(&self) -> io::Result<Box<dyn Fn(String) + Send>> {
        let sender = self.fault_sender.try_clone()?;
        Ok(Box::new(move |message| {
            let bytes = message.as_bytes();
            let _ = sender.send(&bytes[..bytes.len().min(FAULT_BYTES_MAX)]);
        }))
    }

    /// Discards the messages of nodes and emulator, because they no longer exist.
    pub fn forget_fabric(&mut self) {
        self.waiting.retain(|event| matches!(event, Event::Line(_) | Event::InputEnded | Event::Terminated));
        while let Some(true) = is_readable(&self.faults) {
            let _ = self.faults.recv(&mut [0; 1]);
        }
    }

    /// Waits for an event, at most until `deadline`.
    pub fn next(&mut self, nodes: &[Node], deadline: Option<Instant>) -> io::Result<Event> {
        while self.waiting.is_empty() {
            if !self.listen(nodes, deadline)? {
                return Ok(Event::Deadline);
            }
        }
        Ok(self.waiting.pop_front().unwrap_or(Event::Deadline))
    }

    /// Receives one message from every source that has any. `false` when the deadline came first.
    fn listen(&mut self, nodes: &[Node], deadline: Option<Instant>) -> io::Result<bool> {
        let node_positions: Vec<_> = (0..nodes.len()).filter(|&position| !nodes[position].lost).collect();
        let mut sources = vec![readable(&self.signals), readable(&self.faults)];
        sources.extend(
            node_positions.iter().map(|&position| PollFd::new(nodes[position].channel(), PollFlags::POLLIN)),
        );
        if !self.input.ended {
            sources.push(readable(&self.input.file));
        }
        match poll(&mut sources, timeout(deadline)) {
            Err(Errno::EINTR) => return Ok(true),
            Err(error) => return Err(error.into()),
            Ok(0) => return Ok(deadline.is_none_or(|deadline| Instant::now() < deadline)),
            Ok(_) => {}
        }
        let ready: Vec<bool> = sources.iter().map(|source| source.any().unwrap_or(true)).collect();
        drop(sources);
        if ready[0] && self.signals.read_signal()?.is_some() {
            self.waiting.push_back(Event::Terminated);
        }
        if ready[1] {
            let mut message = [0; FAULT_BYTES_MAX];
            let length = self.faults.recv(&mut message)?;
            self.waiting.push_back(Event::Fault(String::from_utf8_lossy(&message[..length]).into_owned()));
        }
        for (&position, _) in node_positions.iter().zip(&ready[2..]).filter(|(_, ready)| **ready) {
            self.waiting.push_back(match nodes[position].receive() {
                Ok(Some(received)) => Event::Message(position, received),
                Ok(None) | Err(_) => Event::Lost(position),
            });
        }
        if ready.get(2 + node_positions.len()) == Some(&true) {
            self.input.read(&mut self.waiting)?;
        }
        Ok(true)
    }
}

fn readable(source: &impl AsFd) -> PollFd<'_> {
    PollFd::new(source.as_fd(), PollFlags::POLLIN)
}

fn is_readable(source: &impl AsFd) -> Option<bool> {
    let mut source = [readable(source)];
    poll(&mut source, PollTimeout::ZERO).ok()?;
    source[0].any()
}

/// Rounded up, so that a deadline has passed when the wait ends.
fn timeout(deadline: Option<Instant>) -> PollTimeout {
    deadline.map_or(PollTimeout::NONE, |deadline| {
        let left = deadline.saturating_duration_since(Instant::now());
        PollTimeout::try_from(left + Duration::from_micros(999)).unwrap_or(PollTimeout::MAX)
    })
}

/// Cuts the input into lines.
struct Lines {
    file: File,
    begun: Vec<u8>,
    ended: bool,
}

impl Lines {
    fn new(input: OwnedFd) -> Self {
        Self { file: File::from(input), begun: Vec::new(), ended: false }
    }

    /// Reads once what is available, and appends the lines that it completes.
    fn read(&mut self, lines: &mut VecDeque<Event>) -> io::Result<()> {
        let mut bytes = [0; 65536];
        let length = match self.file.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            // A terminal that hung up reads as an error; no more input comes in either case.
            outcome => outcome.unwrap_or(0),
        };
        let mut pieces = bytes[..length].split(|&byte| byte == b'\n');
        self.extend(pieces.next().unwrap_or_default());
        for piece in pieces {
            self.complete(lines);
            self.extend(piece);
        }
        if length == 0 {
            self.complete(lines);
            self.ended = true;
            lines.push_back(Event::InputEnded);
        }
        Ok(())
    }

    fn extend(&mut self, piece: &[u8]) {
        let room = LINE_BYTES_MAX - self.begun.len();
        self.begun.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// Blank lines are not requests.
    fn complete(&mut self, lines: &mut VecDeque<Event>) {
        let line = std::mem::take(&mut self.begun);
        if !line.trim_ascii().is_empty() {
            lines.push_back(Event::Line(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn lines_of(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut lines = Lines::new(reader.into());
        let mut events = VecDeque::new();
        for piece in pieces {
            writer.write_all(piece).unwrap();
            lines.read(&mut events).unwrap();
        }
        drop(writer);
        lines.read(&mut events).unwrap();
        assert!(matches!(events.pop_back(), Some(Event::InputEnded)));
        events.into_iter().map(|event| if let Event::Line(line) = event { line } else { vec![] }).collect()
    }

    #[test]
    fn lines_do_not_depend_on_the_pieces_they_arrive_in() {
        let expected = vec![b"one".to_vec(), b"two".to_vec(), b"three".to_vec()];
        assert_eq!(lines_of(&[b"one\ntwo\nthree"]), expected);
        assert_eq!(lines_of(&[b"on", b"e\n", b"\ntw", b"o\nthree\n"]), expected);
    }
}

//! Everything the agent can be told, in one place: lines of its caller, messages of nodes, faults of the emulator,
//! signals, and the passing of time. Whoever waits, waits here.

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
pub enum Happening {
    /// A line without its end; cut off at [`LINE_BYTES_MAX`], which makes it unreadable as a request.
    Line(Vec<u8>),
    /// There will be no more lines.
    InputEnded,
    /// Somebody asked the agent to stop.
    Terminated,
    /// The emulator died.
    Fault(String),
    /// The node at this position said something.
    Said(usize, Received<FromInit>),
    /// The init of the node at this position is gone.
    Lost(usize),
    /// The deadline has passed.
    Deadline,
}

/// The sources and what they said already.
pub struct Inbox {
    input: Lines,
    signals: SignalFd,
    faults: UnixDatagram,
    fault_sender: UnixDatagram,
    waiting: VecDeque<Happening>,
}

impl Inbox {
    /// Listens to `input`. The signals that end the agent are blocked from now on, in threads to come as well.
    pub fn new(input: OwnedFd) -> io::Result<Self> {
        let mask = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP]);
        mask.thread_block()?;
        let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        let (faults, fault_sender) = UnixDatagram::pair()?;
        // Whoever reports a fault must not wait for us: we may be waiting for it to stop.
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

    /// Forgets what nodes and emulator said, because they are gone.
    pub fn forget_fabric(&mut self) {
        self.waiting.retain(|happening| {
            matches!(happening, Happening::Line(_) | Happening::InputEnded | Happening::Terminated)
        });
        while let Some(true) = is_readable(&self.faults) {
            let _ = self.faults.recv(&mut [0; 1]);
        }
    }

    /// Waits for something to happen, at most until `deadline`.
    pub fn next(&mut self, nodes: &[Node], deadline: Option<Instant>) -> io::Result<Happening> {
        while self.waiting.is_empty() {
            if !self.listen(nodes, deadline)? {
                return Ok(Happening::Deadline);
            }
        }
        Ok(self.waiting.pop_front().unwrap_or(Happening::Deadline))
    }

    /// Takes in one message of every source that has any. `false` when the deadline came first.
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
            self.waiting.push_back(Happening::Terminated);
        }
        if ready[1] {
            let mut message = [0; FAULT_BYTES_MAX];
            let length = self.faults.recv(&mut message)?;
            self.waiting
                .push_back(Happening::Fault(String::from_utf8_lossy(&message[..length]).into_owned()));
        }
        for (&position, _) in node_positions.iter().zip(&ready[2..]).filter(|(_, ready)| **ready) {
            self.waiting.push_back(match nodes[position].hear() {
                Ok(Some(received)) => Happening::Said(position, received),
                Ok(None) | Err(_) => Happening::Lost(position),
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

    /// Reads once what is there, and appends the lines that it completes.
    fn read(&mut self, lines: &mut VecDeque<Happening>) -> io::Result<()> {
        let mut bytes = [0; 65536];
        let length = match self.file.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            // A terminal that hung up reads as an error; nothing more will come either way.
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
            lines.push_back(Happening::InputEnded);
        }
        Ok(())
    }

    fn extend(&mut self, piece: &[u8]) {
        let room = LINE_BYTES_MAX - self.begun.len();
        self.begun.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// Blank lines are no requests.
    fn complete(&mut self, lines: &mut VecDeque<Happening>) {
        let line = std::mem::take(&mut self.begun);
        if !line.trim_ascii().is_empty() {
            lines.push_back(Happening::Line(line));
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
        let mut happenings = VecDeque::new();
        for piece in pieces {
            writer.write_all(piece).unwrap();
            lines.read(&mut happenings).unwrap();
        }
        drop(writer);
        lines.read(&mut happenings).unwrap();
        assert!(matches!(happenings.pop_back(), Some(Happening::InputEnded)));
        happenings
            .into_iter()
            .map(|happening| if let Happening::Line(line) = happening { line } else { vec![] })
            .collect()
    }

    #[test]
    fn lines_do_not_depend_on_how_they_arrive() {
        let expected = vec![b"one".to_vec(), b"two".to_vec(), b"three".to_vec()];
        assert_eq!(lines_of(&[b"one\ntwo\nthree"]), expected);
        assert_eq!(lines_of(&[b"on", b"e\n", b"\ntw", b"o\nthree\n"]), expected);
    }
}

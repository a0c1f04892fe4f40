//! Messages of chosen sizes, each answered by one of a chosen size.
//!
//! A message is its own length (u64, big-endian, all of it counted), the requested length of the answer (likewise), and padding;
//! an answer is its own length and padding. So sizes are exactly the TCP payload, and a size below a header's length
//! is sent as the header. Unlike `rpc`'s, messages may be as long as a partition of a shuffle, and no operation has a
//! time-out of its own: a connection is lost when nothing moves for [`crate::stop::OPERATION_TIMEOUT`].

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::Arc;

use super::control::{Answer, Load};
use super::cpu::Cpu;
use super::meter::{Counted, Meter, Window};
use super::round_trip::RoundTrip;
use super::size::{Size, BYTES_MAX};
use super::start::Start;
use super::tcp;
use crate::clock::monotonic_ns;
use crate::driver::Session;
use crate::failure::Failure;
use crate::random::{Purpose, Random};
use crate::sample::Operation;
use crate::stream::Stream;

const MESSAGE_HEADER_BYTES: u64 = 16;
const ANSWER_HEADER_BYTES: u64 = 8;
const CHUNK_BYTES: usize = 64 << 10;

/// The result of an asker when its connection is done.
#[derive(Debug)]
pub struct Left {
    pub answers: Counted,
    pub cpu_ns: u64,
    pub retransmits: Option<u32>,
    /// Averaged over the window.
    pub rtt_us: Option<u32>,
}

/// The end that sends messages and waits for their answers.
pub struct Asker {
    number: usize,
    stream: Stream,
    size: Size,
    answer: Answer,
    random: Random,
    chosen: (u64, u64),
    chunk: Vec<u8>,
    load: Load,
    start: Arc<Start>,
    counting: Option<(Meter, Cpu, RoundTrip)>,
    left: Sender<(usize, Left)>,
}

impl Asker {
    /// An asker over a connection that is made; its counts are sent to `left` when it is dropped.
    pub fn new(
        number: usize,
        stream: Stream,
        (size, answer): (Size, Answer),
        load: &Load,
        start: &Arc<Start>,
        left: Sender<(usize, Left)>,
    ) -> Asker {
        Asker {
            number,
            stream,
            size,
            answer,
            random: Random::stream(load.seed, Purpose::Connection, number as u64),
            chosen: (0, 0),
            chunk: vec![0; CHUNK_BYTES],
            load: load.clone(),
            start: Arc::clone(start),
            counting: None,
            left,
        }
    }

    fn send_message(&mut self, bytes: u64, answer_bytes: u64) -> Result<(), Failure> {
        self.chunk[..8].copy_from_slice(&bytes.to_be_bytes());
        self.chunk[8..16].copy_from_slice(&answer_bytes.to_be_bytes());
        let mut left = bytes;
        while left > 0 {
            let part = left.min(CHUNK_BYTES as u64);
            self.stream.begin();
            self.stream.send(&self.chunk[..part as usize])?;
            left -= part;
            if let Some((_, _, round_trip)) = &mut self.counting {
                round_trip.look(monotonic_ns(), self.stream.tcp());
            }
        }
        Ok(())
    }

    fn receive_answer(&mut self, expected: u64) -> Result<(), Failure> {
        let mut header = [0; ANSWER_HEADER_BYTES as usize];
        let mut received = 0;
        while received < expected {
            self.stream.begin();
            let count = self.stream.receive(&mut self.chunk)?;
            for (place, byte) in header.iter_mut().skip(received as usize).zip(&self.chunk[..count]) {
                *place = *byte;
            }
            received += count as u64;
            if let Some((meter, cpu, round_trip)) = &mut self.counting {
                let now_ns = monotonic_ns();
                meter.add(now_ns, count as u64);
                cpu.look(now_ns);
                round_trip.look(now_ns, self.stream.tcp());
            }
        }
        if received == expected && header == expected.to_be_bytes() {
            return Ok(());
        }
        Err(Failure::Lost(format!(
            "answer of {received} bytes announced as {}, expected {expected}",
            u64::from_be_bytes(header)
        )))
    }
}

impl Session for Asker {
    fn addresses(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        self.stream.addresses()
    }

    fn choose(&mut self) -> Operation {
        let size = self.size.draw(&mut self.random).max(MESSAGE_HEADER_BYTES);
        let (answer, operation) = match self.answer {
            Answer::Receipt => (ANSWER_HEADER_BYTES, Operation::Transfer),
            Answer::Same => (size, Operation::Call),
            Answer::Drawn(law) => (law.draw(&mut self.random).max(ANSWER_HEADER_BYTES), Operation::Call),
        };
        self.chosen = (size, answer);
        operation
    }

    fn perform(&mut self) -> Result<(), Failure> {
        if self.counting.is_none() {
            let window = self.load.window(self.start.wait().ok_or(Failure::Stopped)?);
            let meter = Meter::new(window, self.load.part_ns);
            self.counting = Some((meter, Cpu::from(window.from_ns), RoundTrip::new(window)));
        }
        let (size, answer) = self.chosen;
        self.send_message(size, answer)?;
        self.receive_answer(answer)
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        let connection = self.stream.tcp();
        let retransmits = tcp::info(connection).ok().map(|info| info.retransmits);
        let (answers, cpu_ns, rtt_us) = match self.counting.take() {
            Some((meter, cpu, trip)) => (meter.into_counted(), cpu.spent_ns(), trip.mean_us(connection)),
            None => (Counted::default(), 0, None),
        };
        let left = Left { answers, cpu_ns, retransmits, rtt_us };
        // The receiver is gone when the run was called off.
        let _ = self.left.send((self.number, left));
    }
}

/// Answers until the asker closes, and counts its messages.
///
/// Returns why the connection was lost, if it did not end between two messages.
pub fn answer_all(connection: &TcpStream, window: Window, part_ns: u64) -> (Counted, u64, Option<String>) {
    let mut counting =
        Counting { connection, meter: Meter::new(window, part_ns), cpu: Cpu::from(window.from_ns) };
    let lost = answer(&mut counting, connection).err().map(|error| format!("the asker is gone: {error}"));
    let cpu_ns = counting.cpu.spent_ns();
    (counting.meter.into_counted(), cpu_ns, lost)
}

/// Reads of a connection, counted as they come.
struct Counting<R> {
    connection: R,
    meter: Meter,
    cpu: Cpu,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.connection.read(bytes)?;
        if count > 0 {
            let now_ns = monotonic_ns();
            self.meter.add(now_ns, count as u64);
            self.cpu.look(now_ns);
        }
        Ok(count)
    }
}

/// Answers every message until there are no more.
pub(super) fn answer(messages: &mut impl Read, mut answers: impl Write) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Some(header) = read_header(messages)? {
        let (bytes, answer_bytes) = parse_header(header)?;
        let mut left = bytes - MESSAGE_HEADER_BYTES;
        while left > 0 {
            let part = left.min(CHUNK_BYTES as u64) as usize;
            let count = messages.read(&mut chunk[..part])?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            left -= count as u64;
        }
        // Header and first bytes go in one write, so that a small answer is one packet.
        chunk[..ANSWER_HEADER_BYTES as usize].copy_from_slice(&answer_bytes.to_be_bytes());
        let mut left = answer_bytes;
        while left > 0 {
            let part = left.min(CHUNK_BYTES as u64);
            answers.write_all(&chunk[..part as usize])?;
            left -= part;
        }
    }
    Ok(())
}

/// Reads a header; `None` when the asker closed in front of it.
fn read_header(messages: &mut impl Read) -> io::Result<Option<[u8; MESSAGE_HEADER_BYTES as usize]>> {
    let mut header = [0; MESSAGE_HEADER_BYTES as usize];
    let first = messages.read(&mut header)?;
    if first == 0 {
        return Ok(None);
    }
    messages.read_exact(&mut header[first..])?;
    Ok(Some(header))
}

/// Reads lengths and refuses those that no asker sends.
fn parse_header(header: [u8; MESSAGE_HEADER_BYTES as usize]) -> io::Result<(u64, u64)> {
    let [bytes, answer_bytes] =
        [&header[..8], &header[8..]].map(|part| u64::from_be_bytes(part.try_into().expect("eight bytes")));
    let sound = (MESSAGE_HEADER_BYTES..=BYTES_MAX).contains(&bytes)
        && (ANSWER_HEADER_BYTES..=BYTES_MAX).contains(&answer_bytes);
    if sound {
        return Ok((bytes, answer_bytes));
    }
    let complaint = format!("a message of {bytes} bytes that requests {answer_bytes}: no asker sends that");
    Err(io::Error::new(io::ErrorKind::InvalidData, complaint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(bytes: u64, answer_bytes: u64) -> Vec<u8> {
        let mut message = vec![0; bytes as usize];
        message[..8].copy_from_slice(&bytes.to_be_bytes());
        message[8..16].copy_from_slice(&answer_bytes.to_be_bytes());
        message
    }

    #[test]
    fn each_message_gets_an_answer_of_the_size_it_asked_for() {
        let mut said = message(16, 70_000);
        said.extend(message(100_000, 8));
        let mut heard = Vec::new();
        answer(&mut said.as_slice(), &mut heard).unwrap();
        assert_eq!(heard.len(), 70_008);
        assert_eq!(heard[..8], 70_000u64.to_be_bytes());
        assert_eq!(heard[70_000..], 8u64.to_be_bytes());
    }

    #[test]
    fn an_asker_that_breaks_off_in_a_message_is_an_error_and_between_two_is_not() {
        let said = message(100, 8);
        assert!(answer(&mut &said[..60], io::sink()).is_err());
        assert!(answer(&mut &said[..5], io::sink()).is_err());
        answer(&mut said.as_slice(), io::sink()).unwrap();
    }

    proptest! {
        #[test]
        fn hostile_lengths_are_refused_and_honest_ones_survive(bytes: u64, answer_bytes: u64) {
            let mut header = [0; 16];
            header[..8].copy_from_slice(&bytes.to_be_bytes());
            header[8..].copy_from_slice(&answer_bytes.to_be_bytes());
            let honest = (16..=BYTES_MAX).contains(&bytes) && (8..=BYTES_MAX).contains(&answer_bytes);
            prop_assert_eq!(parse_header(header).is_ok(), honest);
        }
    }
}

//! Records packed into datagrams for one peer. Datagrams lie back to back; runs of equal length can leave with one call.

use crate::datagram::{seal_in_place, Header, Key, CODE_BYTES, HEADER_BYTES};
use crate::native::CONTENT_BYTES_MIN;

/// Datagrams that are being filled.
#[derive(Debug, Default)]
pub struct Outgoing {
    bytes: Vec<u8>,
    /// Where each begins.
    starts: Vec<usize>,
}

impl Outgoing {
    /// Whether there is nothing to send.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Bytes that fit into the datagram that is being filled.
    pub fn room(&self, limit: usize) -> usize {
        let filled = self.starts.last().map_or(limit, |start| self.bytes.len() - start + CODE_BYTES);
        limit.saturating_sub(filled)
    }

    /// Begins a datagram. Its header is written when it is sent. A little room that is left in the one before is filled,
    /// so that both are of equal length.
    pub fn begin(&mut self, limit: usize) {
        let room = self.room(limit);
        if !self.starts.is_empty() && room <= PADDING_MAX {
            self.bytes.resize(self.bytes.len() + room, 0);
        }
        self.close();
        self.starts.push(self.bytes.len());
        self.bytes.resize(self.bytes.len() + HEADER_BYTES, 0);
    }

    /// The datagram that is being filled.
    pub fn records(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Ends the datagram that is being filled. Ethernet would fill up a short one behind its code.
    fn close(&mut self) {
        if let Some(start) = self.starts.last() {
            let end = (self.bytes.len() + CODE_BYTES).max(start + CONTENT_BYTES_MIN);
            self.bytes.resize(end, 0);
        }
    }

    /// Completes all datagrams and hands them to `send` in runs: bytes, and the length of each but the last. `header`
    /// is asked for each.
    pub fn send(
        &mut self,
        key: &Key,
        mut header: impl FnMut() -> Header,
        mut send: impl FnMut(&[u8], usize),
    ) {
        self.close();
        let Self { bytes, starts } = self;
        let mut run: Option<(usize, usize)> = None;
        for (place, &start) in starts.iter().enumerate() {
            let end = starts.get(place + 1).copied().unwrap_or(bytes.len());
            header().write(&mut bytes[start..]);
            seal_in_place(key, &mut bytes[start..end]);
            let length = end - start;
            let joins = run.is_some_and(|(begin, each)| {
                length <= each && end - begin <= RUN_BYTES && (end - begin).div_ceil(each) <= RUN
            });
            if let Some((begin, each)) = run.filter(|_| !joins) {
                send(&bytes[begin..start], each);
            }
            let (begin, each) = run.filter(|_| joins).unwrap_or((start, length));
            run = Some((begin, each));
            if length < each {
                // A shorter one ends its run.
                send(&bytes[begin..end], each);
                run = None;
            }
        }
        if let Some((begin, each)) = run {
            send(&bytes[begin..], each);
        }
        self.bytes.clear();
        self.starts.clear();
    }
}

/// Bytes that are wasted rather than a call of the kernel.
const PADDING_MAX: usize = 192;
/// Datagrams that the kernel segments at once (UDP_MAX_SEGMENTS of older kernels), and their bytes.
const RUN: usize = 64;
const RUN_BYTES: usize = 65_000;

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1_472;

    fn runs_of(lengths: &[usize]) -> Vec<(usize, usize)> {
        let mut out = Outgoing::default();
        for &length in lengths {
            out.begin(LIMIT);
            out.records().extend(vec![1; length - HEADER_BYTES - CODE_BYTES]);
        }
        let mut number = 0;
        let header = || {
            number += 1;
            Header { domain: 0, run: 0, generation: 1, number, sent_ns: 0, announced: 0 }
        };
        let mut runs = Vec::new();
        out.send(&Key::of(&[0; 32], 0, 1), header, |bytes, each| runs.push((bytes.len(), each)));
        assert!(out.is_empty());
        runs
    }

    #[test]
    fn datagrams_of_equal_length_leave_together_and_a_shorter_one_with_them() {
        assert_eq!(runs_of(&[LIMIT, LIMIT, 200]), [(2 * LIMIT + 200, LIMIT)]);
        assert_eq!(runs_of(&[200, LIMIT, LIMIT]), [(200, 200), (2 * LIMIT, LIMIT)]);
        assert_eq!(runs_of(&[LIMIT, 200, LIMIT]), [(LIMIT + 200, LIMIT), (LIMIT, LIMIT)]);
    }

    #[test]
    fn a_little_room_is_filled() {
        assert_eq!(runs_of(&[LIMIT - PADDING_MAX, LIMIT]), [(2 * LIMIT, LIMIT)]);
        assert_eq!(runs_of(&[LIMIT, LIMIT - 50]), [(2 * LIMIT - 50, LIMIT)], "the last one stays short");
    }

    #[test]
    fn no_datagram_is_shorter_than_the_content_of_a_frame() {
        assert_eq!(runs_of(&[HEADER_BYTES + CODE_BYTES]), [(CONTENT_BYTES_MIN, CONTENT_BYTES_MIN)]);
        assert_eq!(runs_of(&[CONTENT_BYTES_MIN + 1]), [(CONTENT_BYTES_MIN + 1, CONTENT_BYTES_MIN + 1)]);
    }

    #[test]
    fn a_run_is_not_longer_than_the_kernel_takes() {
        let runs = runs_of(&[LIMIT; 100]);
        assert_eq!(runs, [(44 * LIMIT, LIMIT), (44 * LIMIT, LIMIT), (12 * LIMIT, LIMIT)]);
        assert_eq!(runs_of(&[100; 70]), [(6_400, 100), (600, 100)]);
    }
}

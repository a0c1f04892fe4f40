//! Data as they come: in order, beyond a gap, or a second time; and what a packet says of that (SACK, D-SACK).
//!
//! Four blocks are remembered, the latest first, of which three fit into a packet. A block grows where its neighbour
//! comes, and is forgotten when a fifth begins.
//!
//! Source: RFC 2018, 4; RFC 2883; Linux, `tcp_data_queue_ofo`, `tcp_sack_new_ofo_skb`, `tcp_sack_remove`.

use alloc::vec::Vec;

use crate::segment::{Blocks, Range};

const BLOCKS: usize = 4;

/// Received data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    /// The next byte that is expected.
    pub(crate) next: u64,
    /// Data beyond a gap, in order and apart.
    beyond: Vec<Range>,
    blocks: Vec<Range>,
    duplicate: Option<Range>,
}

/// Where data fell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fell {
    /// They were expected; `closes` where no gap is left behind them and there was one.
    InOrder { closes: bool },
    /// Beyond a gap. `changed` is the place of the block among those remembered.
    Beyond { block: usize },
    /// All of it had come.
    Again,
}

impl Reassembly {
    pub(crate) fn has_gap(&self) -> bool {
        !self.beyond.is_empty()
    }

    /// Bytes beyond the first gap, from the next expected one to the last.
    pub(crate) fn beyond_bytes(&self) -> u64 {
        self.beyond.last().map_or(0, |range| range.to - self.next)
    }

    /// Takes data, which are not empty.
    pub(crate) fn take(&mut self, data: Range) -> Fell {
        self.duplicate = None;
        if data.to <= self.next {
            self.duplicate = Some(data);
            return Fell::Again;
        }
        if data.from > self.next {
            return Fell::Beyond { block: self.take_beyond(data) };
        }
        if data.from < self.next {
            self.duplicate = Some(Range { from: data.from, to: self.next });
        }
        let had_gap = self.has_gap();
        self.next = data.to;
        while let Some(&range) = self.beyond.first().filter(|range| range.from <= self.next) {
            if range.from < self.next {
                self.note_duplicate(Range { from: range.from, to: range.to.min(self.next) });
            }
            self.next = self.next.max(range.to);
            self.beyond.remove(0);
        }
        let next = self.next;
        self.blocks.retain(|block| block.to > next);
        Fell::InOrder { closes: had_gap && !self.has_gap() }
    }

    fn take_beyond(&mut self, data: Range) -> usize {
        let from = self.beyond.partition_point(|known| known.to < data.from);
        let to = self.beyond.partition_point(|known| known.from <= data.to);
        let known = &self.beyond[from..to];
        let joined = known
            .iter()
            .fold(data, |sum, known| Range { from: sum.from.min(known.from), to: sum.to.max(known.to) });
        let overlap = |known: &Range| Range { from: known.from.max(data.from), to: known.to.min(data.to) };
        let came_before: Vec<Range> =
            known.iter().map(overlap).filter(|range| range.from < range.to).collect();
        came_before.into_iter().for_each(|range| self.note_duplicate(range));
        self.beyond.splice(from..to, [joined]);
        self.note_block(data)
    }

    fn note_duplicate(&mut self, range: Range) {
        self.duplicate = Some(match self.duplicate {
            Some(known) => Range { from: known.from.min(range.from), to: known.to.max(range.to) },
            None => range,
        });
    }

    /// Puts the block that data extend, or a new one, in front; returns where it was.
    fn note_block(&mut self, data: Range) -> usize {
        let touches = |block: &Range| data.from <= block.to && block.from <= data.to;
        let at = self.blocks.iter().position(touches).unwrap_or(self.blocks.len());
        let mut front = data;
        if at < self.blocks.len() {
            let known = self.blocks.remove(at);
            front = Range { from: known.from.min(data.from), to: known.to.max(data.to) };
        } else {
            self.blocks.truncate(BLOCKS - 1);
        }
        self.blocks.retain(|block| {
            let apart = block.to < front.from || front.to < block.from;
            if !apart {
                front = Range { from: front.from.min(block.from), to: front.to.max(block.to) };
            }
            apart
        });
        self.blocks.insert(0, front);
        at
    }

    /// What a packet that leaves now says: a duplicate once, and the latest blocks.
    pub(crate) fn report(&mut self) -> (Option<Range>, Blocks) {
        let duplicate = self.duplicate.take();
        let mut blocks = Blocks::default();
        let room = Blocks::MOST - usize::from(duplicate.is_some());
        self.blocks.iter().take(room).for_each(|&block| blocks.push(block));
        (duplicate, blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn range(from: u64, to: u64) -> Range {
        Range { from, to }
    }

    fn blocks(reassembly: &mut Reassembly) -> Vec<Range> {
        reassembly.report().1.as_slice().to_vec()
    }

    #[test]
    fn blocks_are_those_changed_last_and_join() {
        let mut data = Reassembly::default();
        for (from, to) in [(10, 20), (30, 40), (50, 60), (70, 80)] {
            data.take(range(from, to));
        }
        assert_eq!(blocks(&mut data), [range(70, 80), range(50, 60), range(30, 40)]);
        assert_eq!(data.take(range(20, 30)), Fell::Beyond { block: 2 });
        assert_eq!(blocks(&mut data), [range(10, 40), range(70, 80), range(50, 60)]);
        assert_eq!(data.take(range(0, 10)), Fell::InOrder { closes: false });
        assert_eq!((data.next, blocks(&mut data)), (40, vec![range(70, 80), range(50, 60)]));
        data.take(range(40, 50));
        assert_eq!(data.take(range(60, 70)), Fell::InOrder { closes: true });
        assert_eq!((data.next, data.has_gap()), (80, false));
    }

    #[test]
    fn data_that_came_are_reported_once() {
        let mut data = Reassembly::default();
        data.take(range(0, 10));
        assert_eq!(data.take(range(5, 10)), Fell::Again);
        assert_eq!(data.report().0, Some(range(5, 10)));
        assert_eq!(data.report().0, None);
        data.take(range(20, 30));
        data.take(range(15, 25));
        assert_eq!(data.report().0, Some(range(20, 25)));
    }
}

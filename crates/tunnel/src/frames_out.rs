//! Frames that have been sent to another machine, and that it stores while packets of them may follow.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use ahash::AHashMap;

use crate::frames_in::Name;
use crate::message::Passage;

/// Frames that are looked at for each one that is sent: more than one, so that those that live long do not pile up.
const LOOKS: usize = 2;

/// Frames that are at one other machine.
#[derive(Debug, Default)]
pub struct FramesOut {
    by_name: AHashMap<Name, Sent>,
    /// The passages that have packets of them here. A frame that left and came back has two copies, under one name.
    holders: VecDeque<(Name, Weak<Passage>)>,
    looks: usize,
}

#[derive(Debug)]
struct Sent {
    holders: usize,
    latest: Weak<Passage>,
}

impl FramesOut {
    /// A packet of this frame is sent; true if the frame must go before it.
    pub fn note(&mut self, passage: &Arc<Passage>) -> bool {
        let sent = self.by_name.get_mut(&passage.name);
        if sent.as_ref().is_some_and(|sent| std::ptr::eq(sent.latest.as_ptr(), Arc::as_ptr(passage))) {
            return false;
        }
        let holder = Arc::downgrade(passage);
        self.holders.push_back((passage.name, holder.clone()));
        self.looks += LOOKS;
        match sent {
            Some(sent) => {
                sent.holders += 1;
                sent.latest = holder;
                false
            }
            None => {
                self.by_name.insert(passage.name, Sent { holders: 1, latest: holder });
                true
            }
        }
    }

    /// Looks at some frames in turn, as many as a multiple of those sent and `more`; returns those of which no packets
    /// are left here.
    pub fn done(&mut self, more: usize) -> Vec<Name> {
        let looks = (std::mem::take(&mut self.looks) + more).min(self.holders.len());
        let mut done = Vec::new();
        for _ in 0..looks {
            let Some((name, holder)) = self.holders.pop_front() else { break };
            if holder.strong_count() > 0 {
                self.holders.push_back((name, holder));
                continue;
            }
            let Some(sent) = self.by_name.get_mut(&name) else { continue };
            sent.holders -= 1;
            if sent.holders == 0 {
                self.by_name.remove(&name);
                done.push(name);
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use crosswind_wire::{Train, VnetHeader};

    use super::*;

    fn passage(number: u64) -> Arc<Passage> {
        let bytes = vec![0; 60].into_boxed_slice();
        let train = Train::read(VnetHeader::default(), &bytes).unwrap();
        Arc::new(Passage { name: (0, number), train, bytes, from: 0, to: 1 })
    }

    #[test]
    fn a_frame_is_sent_once_and_done_when_nobody_has_it() {
        let mut frames = FramesOut::default();
        let first = passage(1);
        assert!(frames.note(&first));
        assert!(!frames.note(&first));
        assert_eq!(frames.done(0), []);
        drop(first);
        assert_eq!(frames.done(10), [(0, 1)]);
        assert!(frames.note(&passage(1)), "it would have to go again");
    }

    #[test]
    fn a_frame_that_lives_long_holds_up_no_other() {
        let mut frames = FramesOut::default();
        let lives = passage(0);
        frames.note(&lives);
        for number in 1..100 {
            frames.note(&passage(number));
            frames.done(0);
        }
        frames.done(2);
        assert_eq!(frames.by_name.len(), 1);
    }

    #[test]
    fn a_frame_that_came_back_is_not_done_before_both_copies_are() {
        let mut frames = FramesOut::default();
        let (first, again) = (passage(1), passage(1));
        assert!(frames.note(&first));
        assert!(!frames.note(&again));
        drop(first);
        assert_eq!(frames.done(10), []);
        drop(again);
        assert_eq!(frames.done(10), [(0, 1)]);
    }
}

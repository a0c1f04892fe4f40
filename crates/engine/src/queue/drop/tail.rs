//! Tail drop. A new packet without room is refused; waiting packets are never touched. Drop reason: `queue-full`.
//!
//! Source: RFC 7567, section 2 (tail drop and its faults).

use crate::describe::Page;
use crate::queue::drop::policy::DropPolicy;
use crate::queue::Buffer;
use crate::units::Rate;

pub(crate) struct Tail;

impl DropPolicy for Tail {
    type Spec = ();

    const PAGE: Option<Page> = None;
    const IS_EARLY: bool = false;

    fn new((): &(), _: &Buffer, _: Rate) -> Tail {
        Tail
    }
}

//! Head drop. A new packet without room pushes out the packets that have waited longest, until it has room; one that
//! not even an empty buffer could hold is refused. The ends learn of the loss earlier than with tail drop, by the
//! drain time of the queue.
//!
//! Drop reason: `pushed-out`; `queue-full` for a refused packet.
//!
//! Source: Lakshman, Neidhardt and Ott 1996, "The drop from front strategy in TCP and in TCP over ATM".

use crate::describe::{page, Page};
use crate::element::Context;
use crate::outcome::DropReason;
use crate::queue::drop::policy::DropPolicy;
use crate::queue::Buffer;
use crate::slab::SlotId;
use crate::units::Rate;

pub(crate) struct Head;

impl DropPolicy for Head {
    type Spec = ();

    const PAGE: Option<Page> = Some(page!("head.rs"));
    const IS_EARLY: bool = false;
    const CAN_SHARE: bool = false;

    fn new((): &(), _: &Buffer, _: Rate) -> Head {
        Head
    }

    fn make_room(
        &mut self,
        slot: SlotId,
        buffer: &mut Buffer,
        context: &mut Context<'_>,
    ) -> Result<(), DropReason> {
        let packet = context.shared.slab[slot].packet;
        if !buffer.can_ever_hold(&packet) {
            return Err(DropReason::QueueFull);
        }
        while !buffer.has_room(buffer.measure().of(&packet)) {
            let oldest = buffer.pop(&context.shared.slab).expect("an empty buffer has room for it");
            context.shared.discarded.push((oldest, DropReason::PushedOut));
        }
        Ok(())
    }
}

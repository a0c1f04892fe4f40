//! What crosses from one domain to another.

use std::sync::Arc;

use crosswind_engine::Class;
use crosswind_fabric::Crosses;
use crosswind_wire::Train;

/// A frame whose packets cross.
#[derive(Debug)]
pub struct Passage {
    /// The domain in which it entered, and the number of frames that had entered there before.
    pub name: (usize, u64),
    /// Its wire packets.
    pub train: Train,
    /// Its bytes.
    pub bytes: Box<[u8]>,
    /// The sending node, by the fabric's number.
    pub from: usize,
    /// The receiving node, by the fabric's number.
    pub to: usize,
}

/// A message from one domain to another.
#[derive(Debug)]
pub struct Message {
    /// The domain that it comes from.
    pub from: usize,
    /// The item that crosses.
    pub crosses: Crosses,
    /// The frame of a real packet.
    pub passage: Option<Arc<Passage>>,
}

impl Message {
    /// Whether it is a packet of the application.
    pub fn is_real(&self) -> bool {
        matches!(&self.crosses, Crosses::Packet(crossing) if crossing.packet.class == Class::Real)
    }
}

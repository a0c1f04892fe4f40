//! Reordering: packets of a flow that pass after one that was sent later.
//!
//! The order is the one in which the packets entered the network, so retransmissions are never mistaken for it, and UDP has it as
//! well as TCP. The extent of a reordered packet is how many packets before it the first one passed that was sent later (1:
//! neighbours changed places); it is searched for among the last 32 of the flow, and larger extents count as 32.
//!
//! Source: RFC 4737, section 3.3 (reordered singleton) and 4.2.1 (reordering extent); Zilberman et al. 2021, NRG, section V-C.

use crosswind_engine::Histogram;

use crate::segment::Segment;

const REMEMBERED: usize = 32;

/// Of one flow: the orders of its last packets, newest last, and the greatest that there was.
#[derive(Debug, Default)]
pub(crate) struct Order {
    last: std::collections::VecDeque<u64>,
    greatest: u64,
}

/// Of all flows.
#[derive(Clone, Debug)]
pub(crate) struct Reordering {
    pub(crate) extent: Histogram,
    pub(crate) in_order: u64,
    pub(crate) reordered: u64,
}

impl Reordering {
    pub(crate) fn new() -> Self {
        Self { extent: Histogram::logarithmic(), in_order: 0, reordered: 0 }
    }

    pub(crate) fn passed(&mut self, order: &mut Order, segment: &Segment) {
        // Nearly every packet was sent after all before it, and nothing has to be looked for.
        let earliest_later = if segment.order >= order.greatest {
            order.greatest = segment.order;
            None
        } else {
            order.last.iter().position(|&other| other > segment.order)
        };
        match earliest_later {
            None => self.in_order += u64::from(segment.packets),
            Some(position) => {
                self.reordered += u64::from(segment.packets);
                self.extent.record_times((order.last.len() - position) as u64, u64::from(segment.packets));
            }
        }
        if order.last.len() == REMEMBERED {
            order.last.pop_front();
        }
        order.last.push_back(segment.order);
    }
}

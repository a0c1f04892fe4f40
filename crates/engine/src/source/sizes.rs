//! Sizes of a source's packets: all the same, or the simple Internet mix.
//!
//! `Imix` draws each packet's size independently: 40, 576 or 1500 IP bytes with the weights 7 : 4 : 1, which is 340.33 IP
//! bytes on average.
//!
//! Source: the "simple IMIX" of router tests; RFC 6985, section 5, names such mixes. Exception: RFC 6985 prefers a
//! fixed repeating order, which would resonate with round-robin schedulers; here the order is random, with a seed.

use crate::describe::Problem;
use crate::packet::Packet;
use crate::random::Stream;

/// The distribution of a source's packet sizes.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Sizes {
    /// All packets have the same size.
    Fixed {
        /// In [1, 65 535] IP bytes.
        ip_bytes: u32,
    },
    /// The simple Internet mix.
    Imix,
}

/// (IP bytes, weight in twelfths).
const IMIX: [(u32, u32); 3] = [(40, 7), (576, 4), (1500, 1)];
const IMIX_WEIGHTS: u32 = 12;

impl Sizes {
    pub(super) fn check(self) -> Result<(), Problem> {
        match self {
            Sizes::Fixed { ip_bytes } if !(1..=Packet::MAX_IP_BYTES).contains(&ip_bytes) => {
                Err(Problem::new(alloc::format!(
                    "packets of {ip_bytes} IP bytes; an IP packet has 1..=65535: give such a size"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Draws sizes, always one ahead, because the size of the next packet determines when it is due.
pub(super) struct Sizer {
    sizes: Sizes,
    next: Option<u32>,
}

impl Sizer {
    pub(super) fn new(sizes: Sizes) -> Sizer {
        Sizer { sizes, next: None }
    }

    /// The size of the next packet.
    pub(super) fn peek(&mut self, stream: &mut Stream) -> u32 {
        let Sizer { sizes, next } = self;
        *next.get_or_insert_with(|| match *sizes {
            Sizes::Fixed { ip_bytes } => ip_bytes,
            Sizes::Imix => {
                let mut left = stream.below(IMIX_WEIGHTS);
                let drawn = IMIX.iter().find(|&&(_, weight)| {
                    let hit = left < weight;
                    left = left.saturating_sub(weight);
                    hit
                });
                drawn.expect("a number below the sum of weights belongs to one weight").0
            }
        })
    }

    /// Draws the size of the packet after the next; returns the size of the next.
    pub(super) fn take(&mut self, stream: &mut Stream) -> u32 {
        let ip_bytes = self.peek(stream);
        self.next = None;
        ip_bytes
    }

    /// Mean size in IP bits.
    pub(super) fn mean_bits(&self) -> f64 {
        match self.sizes {
            Sizes::Fixed { ip_bytes } => f64::from(ip_bytes) * 8.0,
            Sizes::Imix => {
                let sum: u32 = IMIX.iter().map(|(ip_bytes, weight)| ip_bytes * weight).sum();
                f64::from(sum) * 8.0 / f64::from(IMIX_WEIGHTS)
            }
        }
    }

    /// The largest size.
    pub(super) fn largest(&self) -> u32 {
        match self.sizes {
            Sizes::Fixed { ip_bytes } => ip_bytes,
            Sizes::Imix => IMIX[2].0,
        }
    }
}

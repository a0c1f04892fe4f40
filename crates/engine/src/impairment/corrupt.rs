//! Corruption. Flips one bit of a share of the packets; never delays or drops.
//!
//! `share`: above 0 %. Each packet is chosen on its own; every bit behind its IP header is flipped with the same
//! probability (to one part in 65 535). The engine only notes which bit; the emulator flips it as it hands the packet over,
//! after writing out the transport checksum that the sender had left to its device. So the receiver's checksum decides as on
//! a real line: TCP and UDP discard the packet (one flipped bit never escapes the Internet checksum), UDP without a
//! checksum delivers it damaged. Links do not discard: what a switch's frame check would catch is lost (see `lose`).
//! A packet that is chosen twice has the later bit flipped. Of ghosts it is only counted.
//!
//! New parameters: the share applies to the next packet.
//!
//! Source: tc-netem(8), `corrupt`; RFC 1071 (the checksum). Exception: netem may flip a bit of the headers below the
//! transport too, which a bridge or the IP header's own checksum would turn into a loss.

use crate::describe::{page, parameters, Described, Manual, Parameter};
use crate::element::{Behaviour, Context, Verdict};
use crate::packet::Damage;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::Share;

parameters! {
    /// Flips one bit of some packets, as they are handed over; checksums are the receiver's to check.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct CorruptSpec {
        /// Of the packets.
        share: Share = [Parameter::share("share", "share_ppb")],
    }
}

impl Described for CorruptSpec {
    const MANUAL: Manual = Manual::new("corrupt", page!("corrupt.rs")).short("share", "1%");
}

pub(crate) struct Corrupt {
    share: Share,
    stream: Stream,
}

impl Behaviour for Corrupt {
    type Spec = CorruptSpec;

    fn new(spec: &CorruptSpec, stream: Stream) -> Corrupt {
        Corrupt { share: spec.share, stream }
    }

    fn reconfigure(&mut self, spec: &CorruptSpec, _: &mut Context<'_>) {
        self.share = spec.share;
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        if self.stream.happens(self.share) {
            let place = self.stream.below(u32::from(Damage::PLACES));
            context.shared.slab[slot].packet.damage = Some(Damage::at(place as u16));
            return Verdict::PassedDamaged;
        }
        Verdict::Passed
    }
}

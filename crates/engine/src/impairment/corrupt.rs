//! Corruption. Flips one bit of a share of the packets; never delays or drops.
//!
//! `share`: above 0 %. Each packet is chosen independently; every bit after its IP header is flipped with the same
//! probability (to one part in 65 535). The engine only records which bit. The emulator flips it when it hands the
//! packet over, after it has computed the transport checksum that the sender had left to its device. So the receiver's
//! checksum decides as on a real line: TCP and UDP discard the packet (the Internet checksum detects every single
//! flipped bit), UDP without a checksum delivers it damaged. Links do not discard: a packet that a switch's frame
//! check would discard is a loss (see `lose`). If a packet is chosen twice, the later bit is flipped. Ghosts are only
//! counted.
//!
//! New parameters: the share applies to the next packet.
//!
//! Source: tc-netem(8), `corrupt`; RFC 1071 (the checksum). Exception: netem may also flip a bit of the headers below
//! the transport, which a bridge or the IP header's own checksum would turn into a loss.

use crate::describe::{page, parameters, Described, Manual, Parameter};
use crate::element::{Behaviour, Context, Verdict};
use crate::packet::Damage;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::Share;

parameters! {
    /// Flips one bit of some packets when they are handed over; checksums are verified by the receiver.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct CorruptSpec {
        /// Share of the packets.
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

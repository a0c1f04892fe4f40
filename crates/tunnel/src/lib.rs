//! Packets that cross from one machine to another in datagrams, each with the instant at which it is due.
//!
//! A domain of a fabric may be on another machine. The sender sends a packet at once, with the instant at which it is
//! due at the far end of the cut link. The receiver translates that instant to its own clock, and its engine holds the
//! packet until then. So the delay of the network between the machines, and its jitter, vanish within the delay of the
//! link. What comes later than it was due is entered into the ledger there.
//!
//! * [`message`]: what crosses. `record`: the same as bytes. `datagram`: header and authentication.
//! * `peer`: one other machine. `arrivals`: what of its datagrams was lost or reordered. `sequence`: those that were
//!   overtaken are waited for. [`clock`]: its clock.
//! * `outgoing`: records packed into datagrams. `frames_out`, `frames_in`: frames that are at the other machine, or here.
//! * `corridor`: the lines that exchanges of instants leave.
//! * `socket`: over UDP ([`udp`]), or in frames of Ethernet ([`native`]). [`tunnel`]: what it sends and receives. Everything
//!   else is pure: time is an argument.
//!
//! Nothing is sent again, except announcements: a trial in which a datagram was lost is void. Frames are cut, never
//! shortened: the fabric's MTU does not depend on that of the network between the machines.
//!
//! docs/decisions/0031-machines.md says why.

mod address;
mod arrivals;
mod bytes;
pub mod clock;
mod corridor;
mod datagram;
mod frames_in;
mod frames_out;
#[doc(hidden)]
pub mod hostile;
pub mod message;
pub mod native;
mod outgoing;
mod peer;
mod record;
mod sequence;
mod socket;
pub mod tunnel;
pub mod udp;

pub use address::{Address, HardwareAddress};
pub use clock::ClockReport;
pub use datagram::{seal_in_place, verified, Key, RunKey, CODE_BYTES};
pub use message::{Message, Passage};
pub use peer::{Membership, PeerReport};
pub use socket::{Bound, Network};
pub use tunnel::{Tunnel, TunnelReport};

//! Weighted random early detection (WRED). RED with a profile for each colour of packets: the worse a meter's colour,
//! the earlier and more often packets are dropped.
//!
//! `green`, `yellow`, `red`: each `min_bytes`, `max_bytes` and `probability` as in RED (`queue/drop/red.rs`). The
//! colour is the drop precedence of the DSCP: AFx1 is green, AFx2 yellow, AFx3 red; every other code point is green
//! (`meter/colour.rs`). There is one average, over all packets in the queue, and a count of packets between drops for
//! each colour. `weight`: as in RED. Drop reason: `red`.
//!
//! Source: RFC 2597, section 4 (drop precedence by an active algorithm, the same for all flows of a class); Cisco IOS, "Weighted
//! Random Early Detection" (one average, a profile for each precedence). RIO (Clark and Fang 1998) instead compares packets of
//! profile with an average of their own kind only.

use super::red::{weight, Detector, RedProfile};
use crate::describe::{page, parameters, Page, Parameter};
use crate::meter::Colour;
use crate::outcome::DropReason;
use crate::packet::Packet;
use crate::queue::drop::average::Average;
use crate::queue::drop::policy::{Detected, DropPolicy};
use crate::queue::Buffer;
use crate::random::Stream;
use crate::units::{Instant, Rate, Share};

parameters! {
    /// RED with a profile for each colour, which is the drop precedence of the DSCP.
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
    pub struct WredSpec {
        /// AFx1, and packets without a colour.
        green: RedProfile = [Parameter::group::<RedProfile>("green", "green", "Profile")],
        /// AFx2.
        yellow: RedProfile = [Parameter::group::<RedProfile>("yellow", "yellow", "Profile")],
        /// AFx3.
        red: RedProfile = [Parameter::group::<RedProfile>("red", "red", "Profile")],
        /// Weight of an arrival in the average queue; 0.2% when absent.
        weight: Share = [weight()],
    }
}

pub(crate) struct Wred {
    average: Average,
    /// By colour, best first.
    detectors: [Detector; 3],
}

impl DropPolicy for Wred {
    type Spec = WredSpec;

    const PAGE: Option<Page> = Some(page!("wred.rs"));
    const REASON: DropReason = DropReason::Red;

    fn new(spec: &WredSpec, buffer: &Buffer, rate: Rate) -> Wred {
        let average = Average::new(spec.weight, buffer.measure(), rate);
        Wred { average, detectors: [spec.green, spec.yellow, spec.red].map(Detector::new) }
    }

    fn set_rate(&mut self, buffer: &Buffer, rate: Rate) {
        self.average.set_rate(buffer.measure(), rate);
    }

    fn at_arrival(
        &mut self,
        packet: &Packet,
        buffer: &Buffer,
        now: Instant,
        random: &mut Stream,
    ) -> Detected {
        let detector = &mut self.detectors[Colour::of(packet) as usize];
        detector.judge(self.average.at_arrival(buffer, now), random)
    }

    fn emptied(&mut self, now: Instant) {
        self.average.emptied(now);
    }
}

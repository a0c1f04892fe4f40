//! Pacer by earliest departure time. Stamps every arriving packet with the instant at which it may leave, and drops
//! packets that would leave after a horizon. First in, first out.
//!
//! `rate`: IP bits per second, or unlimited. `horizon`: above 0, default 2 s: a packet that would have to wait this
//! long or longer is dropped (`beyond-horizon`) and spends nothing. There is no other bound on what waits: at most
//! rate x horizon.
//!
//! A packet leaves its own size at the rate after the one before it, or at once where that is past. This is not a
//! token bucket (see `shape`). There is no burst: even after a pause the second of two packets waits, and in every
//! window at most rate x window plus one packet leaves. New parameters apply to later packets: waiting ones retain
//! their stamps, as in the kernel.
//!
//! Source: Cilium's bandwidth manager, bpf/lib/edt.h, `edt_sched_departure`, and the horizon of Linux sch_fq.
//! Exceptions: sizes are IP bytes, without the Ethernet header; fractions of a nanosecond are carried over, where
//! Cilium discards each packet's; every wire packet has a stamp, where there a super-packet has one; a single FIFO,
//! where sch_fq serves flows in turn among packets that are due.

use super::exact_instant::ExactInstant;
use crate::delay::Line;
use crate::describe::{page, parameters, Described, Manual, Parameter};
use crate::element::{Behaviour, Context, Verdict};
use crate::outcome::DropReason;
use crate::packet::Class;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Duration, Instant, Rate};

parameters! {
    /// Stamps each packet with its departure, without bursts; drops packets that would leave after a horizon.
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub struct PaceSpec {
        /// IP bits per second.
        rate: Rate = [Parameter::rate("rate", "rate_bps").or_unlimited()],
        /// A packet that would wait this long is dropped; 2s when absent.
        horizon: Duration = [Parameter::time("horizon", "horizon_ns").or("2s", 2_000_000_000_u64)],
    }
}

impl Described for PaceSpec {
    const MANUAL: Manual = Manual {
        queues: true,
        limits_rate: Some("rate"),
        ..Manual::new("pace", page!("edt.rs")).short("rate", "50Mbit/s")
    };
}

pub(crate) struct Pace {
    spec: PaceSpec,
    /// The stamp of the last packet; none before the first, which leaves at once.
    last: Option<ExactInstant>,
    stamped: Line,
    queued_ip_bytes: [u64; 2],
}

impl Behaviour for Pace {
    type Spec = PaceSpec;

    const LINE_IS_QUEUE: bool = true;

    fn new(spec: &PaceSpec, _: Stream) -> Pace {
        Pace { spec: *spec, last: None, stamped: Line::new(), queued_ip_bytes: [0; 2] }
    }

    fn reconfigure(&mut self, spec: &PaceSpec, _: &mut Context<'_>) {
        self.spec = *spec;
    }

    fn treats_alike(&self, _: Instant) -> bool {
        self.spec.rate == Rate::Unlimited
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        let packet = context.shared.slab[slot].packet;
        let next = self.next(packet.ip_bytes, context.shared.now);
        let wait = match next.rounded_up().checked_duration_since(context.shared.now) {
            // `t_next <= t`: it may leave now.
            None | Some(Duration::ZERO) => {
                self.last = Some(ExactInstant::whole(context.shared.now));
                Duration::ZERO
            }
            // `t_next - now >= t_horizon_drop`: dropped, and the last stamp stays.
            Some(wait) if wait >= self.spec.horizon => {
                return Verdict::Dropped(DropReason::BeyondHorizon);
            }
            Some(wait) => {
                self.last = Some(next);
                wait
            }
        };
        let verdict = self.stamped.enter(slot, wait, context);
        if verdict == Verdict::Held {
            self.queued_ip_bytes[packet.class as usize] += u64::from(packet.ip_bytes);
        }
        verdict
    }

    /// The head may leave.
    #[inline]
    fn wake_line(&mut self, context: &mut Context<'_>) -> Option<SlotId> {
        let slot = self.stamped.wake(context)?;
        let packet = &context.shared.slab[slot].packet;
        self.queued_ip_bytes[packet.class as usize] -= u64::from(packet.ip_bytes);
        Some(slot)
    }

    fn queued_bytes(&self, class: Class) -> u64 {
        self.queued_ip_bytes[class as usize]
    }
}

impl Pace {
    fn next(&self, ip_bytes: u32, now: Instant) -> ExactInstant {
        match (self.last, self.spec.rate) {
            (None, _) => ExactInstant::whole(now),
            (Some(last), Rate::Unlimited) => last,
            (Some(last), Rate::BitsPerSecond(rate)) => last.after(ip_bytes, rate),
        }
    }
}

//! PIE (proportional integral controller, enhanced). Drops arriving packets at random. Every 15 ms it corrects the
//! probability by the difference between the queue's delay and `target`, and by the growth of the delay.
//!
//! `target`: the accepted delay, default 15 ms. `burst`: how long a burst passes after the queue was idle, default 150
//! ms. Every 15 ms the probability changes by 0.125 Hz x (delay - target) + 1.25 Hz x (delay - delay before). The
//! change is scaled down while the probability is small (to a 2048th below one in a million), and is at most 2 % from
//! a probability of 10 % on. While the delay is below half the target, the probability shrinks by 2 %. The delay is
//! the waiting time of the packet that left last, and zero when the queue is empty. Nothing is dropped while the delay
//! was below half the target and the probability is below 20 %, nor while at most two packets wait.
//!
//! Drops are spread: a packet is never dropped before the sum of probabilities since the last drop reaches 0.85, and
//! always from 8.5 on. With ECN, packets whose transport reacts to marks are marked up to a probability of 10 % and
//! dropped above it. Drop reason: `early-drop`. In addition, the buffer's limit refuses new packets (`queue-full`).
//!
//! Source: RFC 8033, sections 4.1 to 5.5 and appendix A (names of variables). Exceptions: it is always active, where
//! the RFC proposes to start at a third of the buffer, because a buffer may have no limit. Corrections that were due
//! while no packet arrived or left are made at the next packet, from the values at their instants.

use crate::describe::{page, parameters, Page, Parameter};
use crate::ecn::Signal;
use crate::element::Context;
use crate::packet::Packet;
use crate::queue::drop::policy::{Detected, DropPolicy};
use crate::queue::Buffer;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Duration, Instant, Rate};

parameters! {
    /// Drops new packets at random, by the difference between the queue's delay and the target and by its growth (RFC
    /// 8033).
    #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
    pub struct PieSpec {
        /// The accepted delay; 15ms when absent.
        target: Duration = [Parameter::time("target", "target_ns").or("15ms", 15_000_000)],
        /// How long a burst passes after the queue was idle; 150ms when absent.
        burst: Duration = [Parameter::time("burst", "burst_ns").or_zero().or("150ms", 150_000_000)],
    }
}

/// "T_UPDATE: a period to update drop probability (e.g., 15 milliseconds)"; in nanoseconds.
const T_UPDATE: u64 = 15_000_000;
/// "alpha: 0.125 Hz", "beta: 1.25 Hz".
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// "MEAN_PKTSIZE", here in the buffer's bytes.
const MEAN_PKTSIZE: u64 = 1500;
/// "PIE->mark_ecnth_: 10%".
const MARK_ECNTH: f64 = 0.1;
/// After this number of corrections of an empty queue the probability is practically zero: 0.98^2000 is 10^-18.
const FORGETS_AFTER: u64 = 2_000;

/// The state of one queue; its fields are the RFC's variables.
pub(crate) struct Pie {
    spec: PieSpec,
    drop_prob: f64,
    /// Seconds, at the last correction.
    qdelay_old: f64,
    /// Seconds: the waiting time of the last packet that left; 0 once the queue is empty.
    current_qdelay: f64,
    burst_allowance_ns: u64,
    accu_prob: f64,
    /// The next correction; `None` before the first packet.
    update_at: Option<Instant>,
}

impl DropPolicy for Pie {
    type Spec = PieSpec;

    const PAGE: Option<Page> = Some(page!("pie.rs"));

    fn new(spec: &PieSpec, _: &Buffer, _: Rate) -> Pie {
        Pie {
            spec: *spec,
            drop_prob: 0.0,
            qdelay_old: 0.0,
            current_qdelay: 0.0,
            burst_allowance_ns: spec.burst.as_nanos(),
            accu_prob: 0.0,
            update_at: None,
        }
    }

    fn at_arrival(&mut self, _: &Packet, buffer: &Buffer, now: Instant, random: &mut Stream) -> Detected {
        self.catch_up(now);
        // "If the burst_allowance_ ... > 0, enqueue the packet".
        if self.burst_allowance_ns > 0 || !self.drop_early(buffer, random) {
            // "if (drop_prob_ == 0 && current_qdelay < QDELAY_REF/2 && qdelay_old_ < QDELAY_REF/2) burst_allowance_ = MAX_BURST".
            if self.drop_prob == 0.0 && self.is_uncongested() {
                self.burst_allowance_ns = self.spec.burst.as_nanos();
            }
            return Detected::Nothing;
        }
        // "if mark_ecnth_ is greater than drop_prob_: mark; else drop".
        if self.drop_prob <= MARK_ECNTH {
            Detected::Early
        } else {
            Detected::Overload
        }
    }

    fn take(&mut self, buffer: &mut Buffer, _: Signal, context: &mut Context<'_>) -> Option<SlotId> {
        let now = context.shared.now;
        self.catch_up(now);
        let slot = buffer.pop(&context.shared.slab)?;
        self.current_qdelay = (now - context.shared.slab[slot].at).as_nanos() as f64 / 1e9;
        Some(slot)
    }

    fn emptied(&mut self, _: Instant) {
        self.current_qdelay = 0.0;
    }
}

impl Pie {
    /// Makes the corrections that were due until now, from the values at their instants.
    fn catch_up(&mut self, now: Instant) {
        let Some(update_at) = self.update_at else {
            self.update_at = Some(now.saturating_add(Duration::from_nanos(T_UPDATE)));
            return;
        };
        let Some(late) = now.checked_duration_since(update_at) else { return };
        let due = late.as_nanos() / T_UPDATE + 1;
        for _ in 0..due.min(FORGETS_AFTER) {
            self.calculate_drop_prob();
        }
        self.update_at = Some(update_at.saturating_add(Duration::from_nanos(due.saturating_mul(T_UPDATE))));
    }

    /// Whether this delay and the one before are below half the target.
    fn is_uncongested(&self) -> bool {
        let half = self.spec.target.as_nanos() as f64 / 2e9;
        self.current_qdelay < half && self.qdelay_old < half
    }

    /// Appendix A, `calculate_drop_prob`.
    fn calculate_drop_prob(&mut self) {
        let target = self.spec.target.as_nanos() as f64 / 1e9;
        let mut p = ALPHA * (self.current_qdelay - target) + BETA * (self.current_qdelay - self.qdelay_old);
        p *= match self.drop_prob {
            low if low < 0.000_001 => 1.0 / 2048.0,
            low if low < 0.000_01 => 1.0 / 512.0,
            low if low < 0.000_1 => 1.0 / 128.0,
            low if low < 0.001 => 1.0 / 32.0,
            low if low < 0.01 => 1.0 / 8.0,
            low if low < 0.1 => 1.0 / 2.0,
            _ => 1.0,
        };
        // "Cap Drop Adjustment": "if (drop_prob_ >= 0.1 && p > 0.02) p = 0.02".
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        // "Exponentially decay drop prob when congestion goes away".
        if self.is_uncongested() {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_allowance_ns = self.burst_allowance_ns.saturating_sub(T_UPDATE);
        self.qdelay_old = self.current_qdelay;
    }

    /// Appendix A, `drop_early`. Makes one draw if the decision is random.
    fn drop_early(&mut self, buffer: &Buffer, random: &mut Stream) -> bool {
        let target = self.spec.target.as_nanos() as f64 / 1e9;
        let is_calm = self.qdelay_old < target / 2.0 && self.drop_prob < 0.2;
        if is_calm || buffer.held_bytes() <= 2 * MEAN_PKTSIZE {
            return false;
        }
        // Section 5.4, "De-randomization": "if drop_prob_ is 0, accu_prob_ is reset".
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        if self.accu_prob < 0.85 {
            return false;
        }
        let drops = self.accu_prob >= 8.5 || random.uniform() <= self.drop_prob;
        if drops {
            self.accu_prob = 0.0;
        }
        drops
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::ecn::Ecn;
    use crate::queue::{BufferSpec, DropSpec, Measure};
    use crate::units::Limit;
    use crate::{DropReason, ElementSpec, Engine, Outcome, ShapeSpec};

    /// The RFC's appendix A as written, one correction after another.
    struct Model {
        drop_prob: f64,
        qdelay_old: f64,
        burst_allowance: f64,
    }

    impl Model {
        fn calculate_drop_prob(&mut self, current_qdelay: f64, qdelay_ref: f64) {
            let mut p = 0.125 * (current_qdelay - qdelay_ref) + 1.25 * (current_qdelay - self.qdelay_old);
            if self.drop_prob < 0.000001 {
                p /= 2048.0;
            } else if self.drop_prob < 0.00001 {
                p /= 512.0;
            } else if self.drop_prob < 0.0001 {
                p /= 128.0;
            } else if self.drop_prob < 0.001 {
                p /= 32.0;
            } else if self.drop_prob < 0.01 {
                p /= 8.0;
            } else if self.drop_prob < 0.1 {
                p /= 2.0;
            }
            if self.drop_prob >= 0.1 && p > 0.02 {
                p = 0.02;
            }
            self.drop_prob += p;
            if current_qdelay < qdelay_ref / 2.0 && self.qdelay_old < qdelay_ref / 2.0 {
                self.drop_prob *= 0.98;
            }
            self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
            self.burst_allowance = (self.burst_allowance - 0.015).max(0.0);
            self.qdelay_old = current_qdelay;
        }
    }

    fn pie() -> (Pie, Buffer) {
        let spec = PieSpec { target: Duration::from_millis(15), burst: Duration::from_millis(150) };
        let buffer = Buffer::new(Limit::Unlimited, Measure::IpBytes, Rate::Unlimited);
        (Pie::new(&spec, &buffer, Rate::Unlimited), buffer)
    }

    proptest! {
        // Delays of 0 to 400 ms, each for some corrections, read at any instant between them.
        #[test]
        fn the_probability_is_that_of_the_rfc(delays in prop::collection::vec((0u32..400, 1u64..20), 1..40)) {
            let (mut pie, _) = pie();
            let mut model = Model { drop_prob: 0.0, qdelay_old: 0.0, burst_allowance: 0.15 };
            let mut now = Instant::ZERO;
            pie.catch_up(now);
            for (delay_ms, corrections) in delays {
                pie.current_qdelay = f64::from(delay_ms) / 1e3;
                now = now.saturating_add(Duration::from_nanos(corrections * T_UPDATE));
                pie.catch_up(now);
                for _ in 0..corrections {
                    model.calculate_drop_prob(f64::from(delay_ms) / 1e3, 0.015);
                }
                prop_assert!((pie.drop_prob - model.drop_prob).abs() < 1e-12);
                prop_assert!((pie.burst_allowance_ns as f64 / 1e9 - model.burst_allowance).abs() < 1e-9);
            }
        }
    }

    /// The fates of full packets that arrive at 12 Mbit/s at a shaper of 6 Mbit/s with PIE, for 60 s: dropped, marked,
    /// delays.
    fn overloaded(signal: Signal) -> (Vec<u64>, usize, Vec<u64>) {
        let spec = PieSpec { target: Duration::from_millis(15), burst: Duration::from_millis(150) };
        let buffer = BufferSpec { limit: Limit::Unlimited, drop: DropSpec::Pie(spec), signal };
        let mut engine = Engine::new(7);
        let rate = Rate::bits_per_second(6_000_000).unwrap();
        let shape = ElementSpec::Shape(ShapeSpec { rate, burst_bytes: 3_000, buffer });
        let path = [engine.add("shape", shape).unwrap()];
        let path = engine.path(&path);
        let (mut dropped, mut marked, mut delays) = (Vec::new(), 0, Vec::new());
        for tag in 0..60_000 {
            let packet = Packet::real(tag, 1500, 0);
            let packet = if signal == Signal::Mark { packet.with_ecn(Ecn::Ect0) } else { packet };
            engine.push(Instant::from_nanos(tag * 1_000_000), path, packet);
            while let Some(outcome) = engine.pop() {
                match outcome {
                    Outcome::Departure { due, packet, .. } => {
                        marked += usize::from(packet.ecn == Ecn::Ce);
                        delays.push((due - packet.entered).as_nanos());
                    }
                    Outcome::Dropped { at, reason, .. } => {
                        assert_eq!(reason, DropReason::Early);
                        dropped.push(at.as_nanos());
                    }
                    Outcome::Duplicated { .. } => unreachable!("nothing duplicates"),
                }
            }
        }
        (dropped, marked, delays)
    }

    #[test]
    fn a_burst_passes_and_then_the_delay_approaches_the_target() {
        let (dropped, marked, delays) = overloaded(Signal::Drop);
        assert!(dropped[0] >= 150_000_000, "the first at {} ns", dropped[0]);
        assert_eq!(marked, 0);
        // Half of the packets must be dropped; over the second half of the run the mean delay is the target, within a
        // third.
        let late = &delays[delays.len() / 2..];
        let mean_ms = late.iter().sum::<u64>() as f64 / late.len() as f64 / 1e6;
        assert!((10.0..20.0).contains(&mean_ms), "{mean_ms} ms");
    }

    #[test]
    fn packets_are_marked_up_to_a_probability_of_a_tenth() {
        // Packets are marked until the probability is 10 %. That is too little here, so drops follow.
        let (dropped, marked, _) = overloaded(Signal::Mark);
        assert!(marked > 0 && dropped.len() > 1000, "{marked} marked, {} dropped", dropped.len());
        let (first_drop, _, _) = overloaded(Signal::Drop);
        assert!(dropped[0] > first_drop[0], "marks come first");
    }
}

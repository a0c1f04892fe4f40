//! The average queue of random early detection: an exponentially weighted moving average over arrivals, which decays
//! while the queue is empty.
//!
//! `weight`: the weight of an arrival, in (0, 1]. At each arrival avg = (1 - weight) avg + weight x (bytes that wait),
//! without the arriving packet. At an arrival that finds the queue empty avg = (1 - weight)^m avg, where m is the
//! number of packets of full size (1500 IP bytes) that the rate could have sent since the queue became empty. The
//! packet on the transmitter does not wait.
//!
//! Source: Floyd and Jacobson 1993, "Random early detection gateways for congestion avoidance", section 4 and figure 2.

use crate::packet;
use crate::queue::{Buffer, Measure};
use crate::units::{Instant, Rate, Share};

const FULL_PACKET_IP_BYTES: u32 = 1500;

pub(crate) struct Average {
    /// In (0, 1].
    weight: f64,
    /// Bytes, in the buffer's measure.
    bytes: f64,
    empty_since: Instant,
    /// Time of a packet of full size, in nanoseconds; 0 without a rate.
    full_packet_ns: f64,
}

impl Average {
    pub(super) fn new(weight: Share, measure: Measure, rate: Rate) -> Average {
        let weight = f64::from(weight.ppb()) / f64::from(Share::WHOLE.ppb());
        let mut average = Average { weight, bytes: 0.0, empty_since: Instant::ZERO, full_packet_ns: 0.0 };
        average.set_rate(measure, rate);
        average
    }

    pub(super) fn set_rate(&mut self, measure: Measure, rate: Rate) {
        let full_bytes = match measure {
            Measure::IpBytes => FULL_PACKET_IP_BYTES,
            Measure::WireBytes => packet::wire_bytes(FULL_PACKET_IP_BYTES),
        };
        self.full_packet_ns = match rate {
            Rate::Unlimited => 0.0,
            Rate::BitsPerSecond(rate) => f64::from(full_bytes) * 8e9 / rate.get() as f64,
        };
    }

    /// Includes an arrival and returns the average in bytes.
    pub(super) fn at_arrival(&mut self, buffer: &Buffer, now: Instant) -> f64 {
        if buffer.front().is_some() {
            self.bytes += self.weight * (buffer.held_bytes() as f64 - self.bytes);
        } else if self.full_packet_ns > 0.0 {
            let packets = (now - self.empty_since).as_nanos() as f64 / self.full_packet_ns;
            self.bytes *= libm::pow(1.0 - self.weight, packets);
        } else {
            self.bytes = 0.0;
        }
        // For consecutive arrivals at an empty queue the average decays only by the time since the arrival before.
        self.empty_since = now;
        self.bytes
    }

    /// The last packet has left.
    pub(super) fn emptied(&mut self, now: Instant) {
        self.empty_since = now;
    }
}

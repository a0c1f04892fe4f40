//! Burst length: packets that follow each other within `burst_gap` of wire time, counted in packets and in IP bytes.
//!
//! `burst_gap`: the longest gap inside a burst, in addition to the smallest gap of the standard (see `gap`); 100 ns by
//! default. A single packet is a burst of one. An unfinished burst counts with its present length when the monitor is
//! read.
//!
//! Source: Zilberman et al. 2021, NRG, section VII, footnote 1 ("two packets are considered a burst if within 100ns from
//! each other") and figure 8; Woodruff, Moore and Zilberman 2019, Measuring burstiness in data center applications.

use super::histogram::Histogram;
use super::report::Readings;
use crate::packet::Packet;
use crate::units::Duration;

#[derive(Clone)]
pub(crate) struct Burst {
    gap_ns: u64,
    /// The present burst; 0 packets before the first.
    packets: u64,
    bytes: u64,
    by_packets: Histogram,
    by_bytes: Histogram,
}

impl Burst {
    pub(crate) fn new(gap: Duration) -> Burst {
        Burst {
            gap_ns: gap.as_nanos(),
            packets: 0,
            bytes: 0,
            by_packets: Histogram::logarithmic(),
            by_bytes: Histogram::logarithmic(),
        }
    }

    #[inline]
    pub(crate) fn passed(&mut self, gap_ns: Option<u64>, packet: &Packet) {
        if gap_ns.is_some_and(|gap_ns| gap_ns > self.gap_ns) {
            self.end();
        }
        self.packets += u64::from(packet.count);
        self.bytes += u64::from(packet.ip_bytes);
    }

    fn end(&mut self) {
        self.by_packets.record(self.packets);
        self.by_bytes.record(self.bytes);
        (self.packets, self.bytes) = (0, 0);
    }

    pub(crate) fn report(&self, readings: &mut Readings) {
        let mut until_now = self.clone();
        if until_now.packets > 0 {
            until_now.end();
        }
        readings.histogram("burst-packets", "packets", "bursts", until_now.by_packets);
        readings.histogram("burst-bytes", "B", "bursts", until_now.by_bytes);
    }
}

//! A place where packets are looked at, in one direction or both.

use std::collections::BTreeMap;

use crosswind_engine::Histogram;

use crate::flow_size::FlowSize;
use crate::flows::Flows;
use crate::reordering::Reordering;
use crate::retransmission::{Retransmissions, Sent};
use crate::rtt::Rtt;
use crate::segment::Segment;
use crate::tcp_window::TcpWindow;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Packets and bytes of each flow.
    FlowSize,
    /// What senders are ready to receive.
    TcpWindow,
    /// To the far end and back; needs both directions.
    Rtt,
    /// Segments that pass again.
    Retransmissions,
    /// Packets that pass after one that was sent later.
    Reordering,
}

/// A direction through the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The only one, or away from the host.
    Forward = 0,
    /// Towards the host.
    Backward = 1,
}

/// What was found in one direction.
#[derive(Clone, Debug, Default)]
pub struct Finding {
    /// What, unit, what is counted, and how often each value occurred.
    pub histograms: Vec<(&'static str, &'static str, &'static str, Histogram)>,
    /// Counts by quantity and kind.
    pub counts: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
}

#[derive(Clone, Debug)]
struct Measured {
    flow_size: FlowSize,
    tcp_window: TcpWindow,
    rtt: Rtt,
    retransmissions: Retransmissions,
    reordering: Reordering,
}

impl Measured {
    fn new() -> Self {
        Self {
            flow_size: FlowSize::new(),
            tcp_window: TcpWindow::new(),
            rtt: Rtt::new(),
            retransmissions: Retransmissions::new(),
            reordering: Reordering::new(),
        }
    }
}

/// The place.
#[derive(Debug)]
pub struct Point {
    what: Vec<Quantity>,
    flows: [Flows; 2],
    measured: [Measured; 2],
}

impl Point {
    /// A place where nothing has passed.
    pub fn new(what: &[Quantity]) -> Self {
        Self { what: what.to_vec(), flows: Default::default(), measured: [Measured::new(), Measured::new()] }
    }

    /// Starts from zero; flows are still followed, so that what continues across the border is recognised.
    pub fn start_window(&mut self) {
        self.measured = [Measured::new(), Measured::new()];
        for flows in &mut self.flows {
            flows.not_followed = 0;
            flows.states().for_each(|state| state.size = Default::default());
        }
    }

    /// A segment passes in one direction.
    pub fn passed(&mut self, side: Side, segment: &Segment) {
        let (here, there) = (side as usize, 1 - side as usize);
        let measured = &mut self.measured[here];
        let Some(state) = self.flows[here].follow(&segment.flow, segment.packets) else { return };
        if let Some((_, _, tcp)) = segment.tcp.filter(|_| segment.is_syn()) {
            // Without the option windows are not shifted.
            state.window_shift = Some(tcp.window_shift.unwrap_or(0));
        }
        for quantity in &self.what {
            match quantity {
                Quantity::FlowSize => measured.flow_size.passed(&mut state.size, segment),
                Quantity::TcpWindow => measured.tcp_window.passed(segment, state.window_shift),
                Quantity::Rtt => state.probes.sent(segment),
                Quantity::Retransmissions => {
                    let length = segment.length();
                    if let Some((sequence, _, tcp)) = segment.tcp.filter(|_| length > 0) {
                        let sent = state.sent.get_or_insert_with(|| Sent::new(sequence));
                        if let Some(again) = sent.passes(sequence, length, tcp.flags, segment.at_ns) {
                            for _ in 0..segment.packets {
                                measured.retransmissions.passed(again);
                            }
                        }
                    }
                }
                Quantity::Reordering => measured.reordering.passed(&mut state.order, segment),
            }
        }
        if self.what.contains(&Quantity::Rtt) {
            if let Some(other) = self.flows[there].find(&segment.flow.reversed()) {
                let rtt = &mut self.measured[there].rtt;
                other.probes.answered(segment, |answer, since_ns| rtt.record(answer, since_ns));
            }
        }
        if segment.ends_flow() {
            self.flows[here].end(&segment.flow);
        }
    }

    /// What has been found in one direction until now.
    pub fn finding(&mut self, side: Side) -> Finding {
        let mut finding = Finding::default();
        let Measured { mut flow_size, tcp_window, rtt, retransmissions, reordering } =
            self.measured[side as usize].clone();
        let flows = &mut self.flows[side as usize];
        let mut count = |what, kinds: &[(&'static str, u64)]| {
            finding.counts.insert(what, kinds.iter().copied().collect());
        };
        for quantity in &self.what {
            match quantity {
                Quantity::FlowSize => {
                    flows.states().for_each(|state| flow_size.end(&state.size));
                    finding.histograms.extend(flow_size.clone().histograms());
                }
                Quantity::TcpWindow => {
                    finding.histograms.push(("tcp-window", "B", "packets", tcp_window.histogram.clone()));
                    count("tcp-window", &[("unknown-scale", tcp_window.unknown_scale)]);
                }
                Quantity::Rtt => {
                    finding.histograms.push(("rtt-handshake", "ns", "handshakes", rtt.handshake.clone()));
                    finding.histograms.push(("rtt-timestamps", "ns", "echoes", rtt.timestamps.clone()));
                }
                Quantity::Retransmissions => {
                    let since = retransmissions.since_first.clone();
                    finding.histograms.push(("retransmission-delay", "ns", "retransmissions", since));
                    count(
                        "retransmissions",
                        &[
                            ("seen-before", retransmissions.seen_before),
                            ("not-seen-before", retransmissions.not_seen_before),
                        ],
                    );
                }
                Quantity::Reordering => {
                    let extent = reordering.extent.clone();
                    finding.histograms.push(("reordering-extent", "packets", "reordered packets", extent));
                    count(
                        "reordering",
                        &[("in-order", reordering.in_order), ("reordered", reordering.reordered)],
                    );
                }
            }
        }
        if flows.not_followed > 0 {
            count("flows", &[("packets-not-followed", flows.not_followed)]);
        }
        finding
    }
}

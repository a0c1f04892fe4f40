//! What monitors that read headers have seen: each sighting of the engine finds its frame again and goes to its place.
//!
//! A monitor at `link` stands in both directions of a host's link; both are one place, so that what goes up can be matched with
//! what comes down. Everywhere else a monitor is a place of its own.

use ahash::AHashMap;
use crosswind_engine::{ElementId, Sighting};
use crosswind_fabric::{Network, What};
use crosswind_monitor::{Finding, Point, Quantity, Segment, Side};
use crosswind_wire::Train;

/// The places, and which monitor is which direction of which.
#[derive(Debug, Default)]
pub struct Sightings {
    points: AHashMap<String, (Vec<What>, Point)>,
}

impl Sightings {
    /// Starts a window: findings from zero; flows are still followed.
    pub fn start_window(&mut self) {
        self.points.values_mut().for_each(|(_, point)| point.start_window());
    }

    /// Wire packets of a train, the `number`-th that entered, have passed a monitor.
    pub fn seen(
        &mut self,
        network: &Network,
        sighting: &Sighting,
        (number, train): (u64, &Train),
        packets: (u32, u32),
    ) {
        let Some(segment) = Segment::of(train, packets, sighting.at.as_nanos(), number) else { return };
        if let Some((point, side)) = self.point(network, sighting.element) {
            point.passed(side, &segment);
        }
    }

    /// What one monitor has found; nothing where it reads no headers or has seen no packet.
    pub fn finding(&mut self, network: &Network, monitor: ElementId) -> Option<Finding> {
        self.point(network, monitor).map(|(point, side)| point.finding(side))
    }

    fn point(&mut self, network: &Network, monitor: ElementId) -> Option<(&mut Point, Side)> {
        let reader = network.header_reader(monitor)?;
        if !self.points.contains_key(&reader.place) {
            let entry = (reader.what.clone(), new_point(&reader.what));
            self.points.insert(reader.place.clone(), entry);
        }
        let (what, point) = self.points.get_mut(&reader.place)?;
        if *what != reader.what {
            // Another condition asks for something else: it starts anew, as the monitor in the engine does.
            (*what, *point) = (reader.what.clone(), new_point(&reader.what));
        }
        Some((point, if reader.towards_host { Side::Backward } else { Side::Forward }))
    }
}

fn new_point(what: &[What]) -> Point {
    let quantities: Vec<Quantity> = what.iter().filter_map(|&what| quantity(what)).collect();
    Point::new(&quantities)
}

/// The quantities that are read from headers; the engine measures the others.
fn quantity(what: What) -> Option<Quantity> {
    match what {
        What::FlowSize => Some(Quantity::FlowSize),
        What::TcpWindow => Some(Quantity::TcpWindow),
        What::Rtt => Some(Quantity::Rtt),
        What::Retransmissions => Some(Quantity::Retransmissions),
        What::Reordering => Some(Quantity::Reordering),
        _ => None,
    }
}

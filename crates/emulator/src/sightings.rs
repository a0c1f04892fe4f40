//! Results of monitors that read headers: finds the frame of each sighting of the engine and passes it to its place.
//!
//! A monitor at `link` covers both directions of a host's link. Both are one place, so that packets in one direction
//! can be matched with those in the other. Elsewhere a monitor is a place of its own.

use crosswind_engine::{ElementId, Sighting};
use crosswind_fabric::{Network, What};
use crosswind_monitor::{Finding, Point, Quantity, Segment, Side};
use crosswind_wire::Train;

/// The places, and the place and direction of each monitor.
#[derive(Debug, Default)]
pub struct Sightings {
    places: Vec<Place>,
    /// By element, filled on first use: its place among `places`, and the direction.
    known: Vec<Option<(usize, Side)>>,
    /// The set of monitors that `known` describes.
    version: u64,
}

#[derive(Debug)]
struct Place {
    name: String,
    what: Vec<What>,
    point: Point,
}

impl Sightings {
    /// Starts a window: results restart at zero; flows are still followed.
    pub fn start_window(&mut self) {
        self.places.iter_mut().for_each(|place| place.point.start_window());
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

    /// The result of one monitor; `None` if it reads no headers or has seen no packet.
    pub fn finding(&mut self, network: &Network, monitor: ElementId) -> Option<Finding> {
        self.point(network, monitor).map(|(point, side)| point.finding(side))
    }

    fn point(&mut self, network: &Network, monitor: ElementId) -> Option<(&mut Point, Side)> {
        if self.version != network.readers_version() {
            self.version = network.readers_version();
            self.known.clear();
        }
        let known = self.known.get(monitor.index()).copied().flatten();
        let (place, side) = match known {
            Some(known) => known,
            None => self.look_up(network, monitor)?,
        };
        Some((&mut self.places[place].point, side))
    }

    fn look_up(&mut self, network: &Network, monitor: ElementId) -> Option<(usize, Side)> {
        let reader = network.header_reader(monitor)?;
        let new = || Place {
            name: reader.place.clone(),
            what: reader.what.clone(),
            point: new_point(&reader.what),
        };
        let place = match self.places.iter().position(|place| place.name == reader.place) {
            Some(place) => place,
            None => {
                self.places.push(new());
                self.places.len() - 1
            }
        };
        if self.places[place].what != reader.what {
            // Under another condition with other quantities the place restarts, as the engine's monitor does.
            self.places[place] = new();
        }
        let found = (place, if reader.towards_host { Side::Backward } else { Side::Forward });
        if self.known.len() <= monitor.index() {
            self.known.resize(monitor.index() + 1, None);
        }
        self.known[monitor.index()] = Some(found);
        Some(found)
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

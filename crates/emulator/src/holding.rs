//! Tracks which ports have slots taken: only these must release some.

/// Slots taken by port.
#[derive(Debug)]
pub struct Holding {
    taken: Vec<u32>,
    /// Ports with slots taken, and the position of each in the list.
    ports: Vec<usize>,
    places: Vec<usize>,
}

impl Holding {
    /// No slots taken, for this number of ports.
    pub fn new(ports: usize) -> Self {
        Self { taken: vec![0; ports], ports: Vec::with_capacity(ports), places: vec![0; ports] }
    }

    /// Ports with slots taken, in no order. When a port releases its last slot, the last port takes its position in
    /// the list.
    pub fn ports(&self) -> &[usize] {
        &self.ports
    }

    /// A slot of a port was taken.
    #[inline]
    pub fn take(&mut self, port: usize) {
        if self.taken[port] == 0 {
            self.places[port] = self.ports.len();
            self.ports.push(port);
        }
        self.taken[port] += 1;
    }

    /// A slot of a port was released.
    #[inline]
    pub fn release(&mut self, port: usize) {
        self.taken[port] -= 1;
        if self.taken[port] == 0 {
            let place = self.places[port];
            self.ports.swap_remove(place);
            if let Some(&moved) = self.ports.get(place) {
                self.places[moved] = place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_the_ports_with_slots_taken() {
        let mut holding = Holding::new(4);
        let listed = |holding: &Holding| {
            let mut ports = holding.ports().to_vec();
            ports.sort_unstable();
            ports
        };
        [2, 0, 2, 3].into_iter().for_each(|port| holding.take(port));
        assert_eq!(listed(&holding), [0, 2, 3]);
        holding.release(2);
        assert_eq!(listed(&holding), [0, 2, 3]);
        holding.release(2);
        assert_eq!(listed(&holding), [0, 3]);
        holding.release(3);
        holding.take(1);
        holding.release(0);
        assert_eq!(listed(&holding), [1]);
        holding.release(1);
        assert!(listed(&holding).is_empty());
    }
}

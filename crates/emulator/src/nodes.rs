//! Numbers of nodes: the fabric's numbers, from which addresses are made, and *places* in this domain. Nodes with a
//! port here come first, in the order of the fabric, so a place is also the number of a port. Nodes of other domains
//! come after them and have no port.
//!
//! With one domain both numbers are the same.

/// Nodes by both numbers.
#[derive(Clone, Debug)]
pub struct Nodes {
    count: usize,
    /// Present if some nodes are in other domains.
    numbers: Option<Box<Numbers>>,
}

#[derive(Clone, Debug)]
struct Numbers {
    /// By the fabric's number.
    places: Vec<usize>,
    /// By place.
    numbers: Vec<usize>,
}

impl Nodes {
    /// For `count` nodes, some of which have a port here.
    pub fn new(count: usize, has_port: impl Fn(usize) -> bool) -> Self {
        let (here, elsewhere): (Vec<usize>, Vec<usize>) = (0..count).partition(|&node| has_port(node));
        if elsewhere.is_empty() {
            return Self { count, numbers: None };
        }
        let numbers = [here, elsewhere].concat();
        let mut places = vec![0; count];
        for (place, &number) in numbers.iter().enumerate() {
            places[number] = place;
        }
        Self { count, numbers: Some(Box::new(Numbers { places, numbers })) }
    }

    /// Number of all nodes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The place of a node.
    #[inline]
    pub fn place(&self, number: usize) -> usize {
        self.numbers.as_ref().map_or(number, |all| all.places[number])
    }

    /// The fabric's number of the node at a place.
    #[inline]
    pub fn number(&self, place: usize) -> usize {
        self.numbers.as_ref().map_or(place, |all| all.numbers[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_with_a_port_come_first_and_all_are_found_again() {
        let nodes = Nodes::new(5, |node| node % 2 == 1);
        let numbers: Vec<usize> = (0..nodes.count()).map(|place| nodes.number(place)).collect();
        assert_eq!(numbers, [1, 3, 0, 2, 4]);
        assert!((0..5).all(|node| nodes.number(nodes.place(node)) == node));
        let all_here = Nodes::new(5, |_| true);
        assert!((0..5).all(|node| all_here.number(node) == node && all_here.place(node) == node));
    }
}

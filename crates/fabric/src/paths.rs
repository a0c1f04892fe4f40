//! The paths that packets have used: by pair of nodes, and by flow where flows of one pair take different paths.
//!
//! Pairs are stored in pages, so memory grows with the pairs that are used, and paths to neighbouring nodes are near
//! each other.

use ahash::AHashMap;
use crosswind_engine::PathId;

/// A path, and whether it treats the packets of a train alike.
pub(crate) type Found = (PathId, bool);

/// Receivers of a page.
const PAGE: usize = 64;

type Page = Box<[Option<Found>; PAGE]>;

/// Paths between nodes, by their positions.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    /// By sender, then by receiver.
    pairs: Vec<Vec<Option<Page>>>,
    /// By sender, receiver and a flow above 0.
    flows: AHashMap<(u32, u32, u32), Found>,
}

impl Paths {
    /// For this number of nodes, without a path.
    pub(crate) fn between(nodes: usize) -> Self {
        Self { pairs: vec![Vec::new(); nodes], flows: AHashMap::new() }
    }

    #[inline]
    pub(crate) fn get(&self, from: usize, to: usize, flow: u32) -> Option<Found> {
        if flow != 0 {
            return self.flows.get(&(from as u32, to as u32, flow)).copied();
        }
        self.pairs[from].get(to / PAGE)?.as_ref()?[to % PAGE]
    }

    pub(crate) fn insert(&mut self, from: usize, to: usize, flow: u32, found: Found) {
        if flow != 0 {
            self.flows.insert((from as u32, to as u32, flow), found);
            return;
        }
        let row = &mut self.pairs[from];
        if row.len() <= to / PAGE {
            row.resize_with(to / PAGE + 1, || None);
        }
        row[to / PAGE].get_or_insert_with(|| Box::new([None; PAGE]))[to % PAGE] = Some(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_engine::{ElementSpec, Engine, MarkSpec};

    #[test]
    fn each_pair_and_flow_has_its_own() {
        let mut engine = Engine::new(1);
        let mut paths = Paths::between(200);
        let pairs = [(0, 1, 0), (1, 0, 0), (0, 65, 0), (0, 199, 0), (0, 1, 7), (0, 1, 8), (199, 198, 0)];
        let mark = engine.add("mark", ElementSpec::Mark(MarkSpec { dscp: 0 })).expect("a valid mark");
        // Each call makes a different path.
        let made: Vec<Found> = (0..pairs.len()).map(|n| (engine.path(&vec![mark; n]), n % 2 == 0)).collect();
        for (&(from, to, flow), &found) in pairs.iter().zip(&made) {
            assert_eq!(paths.get(from, to, flow), None);
            paths.insert(from, to, flow, found);
        }
        for (&(from, to, flow), &found) in pairs.iter().zip(&made) {
            assert_eq!(paths.get(from, to, flow), Some(found));
        }
    }
}

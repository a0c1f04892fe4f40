//! Names of elements and nodes, shared with the thread that renders the measurement.

use std::sync::Arc;

use crosswind_engine::ElementId;
use crosswind_fabric::{ElementAt, Network};

/// The names of a network under the active condition.
#[derive(Clone, Debug)]
pub struct Names {
    /// In the order in which they were made.
    elements: Vec<ElementAt>,
    /// In the order of the fabric.
    pub nodes: Arc<[String]>,
}

impl Names {
    /// The current names. Only references are copied.
    pub fn of(network: &Network, nodes: &Arc<[String]>) -> Self {
        Self { elements: network.elements().to_vec(), nodes: Arc::clone(nodes) }
    }

    /// Every element, in the order in which they were made.
    pub fn elements(&self) -> &[ElementAt] {
        &self.elements
    }

    /// An element with its name and position.
    pub fn element(&self, id: ElementId) -> &ElementAt {
        // The network adds elements to the engine and to its own list at the same time.
        let element = &self.elements[id.index()];
        debug_assert_eq!(element.id, id);
        element
    }
}

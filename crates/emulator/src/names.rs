//! What things are called: elements, nodes, sources and driven links, shared with the thread that renders what was measured.
//!
//! Names change only with a condition or a step of its timeline. So they are listed there, and reading copies none.

use std::sync::Arc;

use crosswind_engine::ElementId;
use crosswind_fabric::{ElementAt, Network};

/// The names of a network under the condition in force.
#[derive(Clone, Debug)]
pub struct Names {
    /// In the order they were made.
    elements: Arc<[ElementAt]>,
    /// In the order of the fabric.
    pub nodes: Arc<[String]>,
    /// In the order of `Network::sources`.
    pub sources: Arc<[String]>,
    /// In the order of `Network::driven_links`.
    pub driven_links: Arc<[String]>,
}

impl Names {
    /// The present names.
    pub fn of(network: &Network) -> Self {
        Self {
            elements: network.elements().into(),
            nodes: network.fabric().nodes.iter().map(|node| node.name.clone()).collect(),
            sources: sources(network),
            driven_links: driven_links(network),
        }
    }

    /// The condition has changed: elements were added, sources and links are others.
    pub fn renew(&mut self, network: &Network) {
        if self.elements.len() != network.elements().len() {
            self.elements = network.elements().into();
        }
        self.sources = sources(network);
        self.driven_links = driven_links(network);
    }

    /// Every element, in the order they were made.
    pub fn elements(&self) -> &[ElementAt] {
        &self.elements
    }

    /// An element and where it stands.
    pub fn element(&self, id: ElementId) -> &ElementAt {
        // The network adds elements to the engine and to its list together.
        let element = &self.elements[id.index()];
        debug_assert_eq!(element.id, id);
        element
    }
}

fn sources(network: &Network) -> Arc<[String]> {
    network.sources().map(|(name, _)| name.to_owned()).collect()
}

fn driven_links(network: &Network) -> Arc<[String]> {
    network.driven_links().map(|(name, _)| name.to_owned()).collect()
}

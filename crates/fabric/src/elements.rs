//! An engine and its elements by name: a name that is known keeps its element, which takes the new parameters.

use std::collections::HashMap;

use crosswind_engine::{ElementId, ElementSpec, Engine, Instant, MemoryId};

use crate::check::FabricError;
use crate::site::Place;

/// An element of the engine and where it stands.
#[derive(Clone, Debug)]
pub struct ElementAt {
    /// In the engine.
    pub id: ElementId,
    /// Such as `h0/switch.ingress/0:police`.
    pub name: String,
    /// Its place.
    pub place: Place,
    /// The node, host or link that it belongs to.
    pub of: String,
}

/// An engine, its elements and its memories.
#[derive(Debug)]
pub(crate) struct Elements {
    engine: Engine,
    list: Vec<ElementAt>,
    by_name: HashMap<String, ElementId>,
    memories: HashMap<String, MemoryId>,
}

impl Elements {
    /// An engine without elements.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            engine: Engine::new(seed),
            list: Vec::new(),
            by_name: HashMap::new(),
            memories: HashMap::new(),
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Every element, in the order they were made.
    pub(crate) fn list(&self) -> &[ElementAt] {
        &self.list
    }

    /// Both, to read what must catch up first.
    pub(crate) fn engine_and_list(&mut self) -> (&mut Engine, &[ElementAt]) {
        (&mut self.engine, &self.list)
    }

    /// The element of that name.
    #[cfg(test)]
    pub(crate) fn named(&self, name: &str) -> ElementId {
        self.by_name[name]
    }

    /// One element per name: a new one, or the old one with new parameters.
    pub(crate) fn ensure(
        &mut self,
        at: Instant,
        name: String,
        place: Place,
        of: &str,
        spec: ElementSpec,
    ) -> Result<ElementId, FabricError> {
        if let Some(&id) = self.by_name.get(&name) {
            self.engine.reconfigure(at, id, spec).map_err(FabricError::of)?;
            return Ok(id);
        }
        let id = self.engine.add(&name, spec).map_err(FabricError::of)?;
        self.list.push(ElementAt { id, name: name.clone(), place, of: of.to_owned() });
        self.by_name.insert(name, id);
        Ok(id)
    }

    /// One memory per name: a new one, or the old one with a new size.
    pub(crate) fn ensure_memory(&mut self, at: Instant, name: String, bytes: u64) -> MemoryId {
        if let Some(&id) = self.memories.get(&name) {
            self.engine.resize_memory(at, id, bytes);
            return id;
        }
        let id = self.engine.add_memory(bytes);
        self.memories.insert(name, id);
        id
    }
}

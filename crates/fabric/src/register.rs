//! All names so far with their latest meaning, so that an unchanged object has the same allocation as before.

use std::collections::HashMap;
use std::sync::atomic::AtomicU32;
use std::sync::Arc;

use crosswind_engine::{ElementSpec, ProcessSpec, Sound, SpecError};

use crate::plan::{About, Key, Wanted};
use crate::site::Place;

/// Elements, memories and processes by name.
#[derive(Debug, Default)]
pub(crate) struct Register {
    keys: HashMap<String, Key>,
    /// By key.
    elements: Vec<Wanted>,
    memories: HashMap<String, usize>,
    /// By number.
    memory_bytes: Vec<u64>,
    /// By the place of its link in the fabric's list.
    processes: HashMap<usize, Arc<Sound<ProcessSpec>>>,
}

impl Register {
    /// The element of that name with these parameters.
    pub(crate) fn element(
        &mut self,
        name: String,
        (place, of, link): (Place, &str, usize),
        spec: ElementSpec,
    ) -> Result<Wanted, SpecError> {
        let key = self.keys.get(&name).copied();
        if let Some(known) = key.map(|key| &mut self.elements[key as usize]) {
            if *known.spec.get() != spec {
                known.spec = Arc::new(Sound::new(&name, spec)?);
            }
            return Ok(known.clone());
        }
        let spec = Arc::new(Sound::new(&name, spec)?);
        let key = Key::try_from(self.elements.len()).expect("fewer than 2^32 elements");
        let about =
            About { name: name.clone(), place, of: of.to_owned(), link, key, made: AtomicU32::new(0) };
        let wanted = Wanted { about: Arc::new(about), spec };
        self.elements.push(wanted.clone());
        self.keys.insert(name, key);
        Ok(wanted)
    }

    /// The latest parameters of an element.
    pub(crate) fn spec(&self, key: Key) -> &ElementSpec {
        self.elements[key as usize].spec.get()
    }

    /// The number of the memory of that name; its size becomes `bytes`.
    pub(crate) fn memory(&mut self, name: String, bytes: u64) -> usize {
        let number = *self.memories.entry(name).or_insert(self.memory_bytes.len());
        if number == self.memory_bytes.len() {
            self.memory_bytes.push(bytes);
        }
        self.memory_bytes[number] = bytes;
        number
    }

    /// Bytes of every memory, by number.
    pub(crate) fn memory_bytes(&self) -> &[u64] {
        &self.memory_bytes
    }

    /// The process of a link.
    pub(crate) fn process(
        &mut self,
        link: usize,
        name: &str,
        spec: &ProcessSpec,
    ) -> Result<Arc<Sound<ProcessSpec>>, SpecError> {
        match self.processes.get(&link) {
            Some(known) if known.get() == spec => Ok(Arc::clone(known)),
            _ => {
                let sound = Arc::new(Sound::new(name, spec.clone())?);
                self.processes.insert(link, Arc::clone(&sound));
                Ok(sound)
            }
        }
    }
}

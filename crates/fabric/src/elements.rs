//! The elements that a network has made: which of the engine's each key of a plan stands for.

use std::mem::MaybeUninit;
use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use crosswind_engine::{ElementId, ElementSpec, Engine, Instant, Prepared, Sound};

use crate::plan::{About, Key, Target, Wanted};

/// An element of the engine, and what it is called.
#[derive(Clone, Debug)]
pub struct ElementAt {
    /// In the engine.
    pub id: ElementId,
    about: Arc<About>,
}

impl Deref for ElementAt {
    type Target = About;

    fn deref(&self) -> &About {
        &self.about
    }
}

/// The elements of an engine.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    /// In the order they were made, which is the engine's.
    list: Vec<ElementAt>,
    /// By key: the element, and the parameters that it has.
    made: Vec<Option<(ElementId, Arc<Sound<ElementSpec>>)>>,
}

impl Elements {
    /// Every element, in the order they were made.
    pub(crate) fn list(&self) -> &[ElementAt] {
        &self.list
    }

    /// The element of a key that was planned.
    pub(crate) fn id(&self, key: Key) -> ElementId {
        self.made[key as usize].as_ref().expect("a plan names what it has made").0
    }

    /// The key of an element.
    pub(crate) fn key(&self, id: ElementId) -> Key {
        self.list[id.index()].key
    }

    /// Makes room for this many elements, and writes to it (see [`Engine::reserve`]).
    pub(crate) fn reserve(&mut self, elements: usize) {
        self.list.reserve(elements);
        self.list.spare_capacity_mut().fill_with(MaybeUninit::zeroed);
        self.made.reserve(elements);
        self.made.spare_capacity_mut().fill_with(MaybeUninit::zeroed);
    }

    /// Makes the elements of a plan, or gives them their new parameters. What is old is left in `spent`.
    pub(crate) fn put(
        &mut self,
        engine: &mut Engine,
        at: Instant,
        target: &Target,
        fresh: &mut [(usize, Option<Prepared>)],
        spent: &mut Vec<Arc<Sound<ElementSpec>>>,
    ) {
        let mut fresh = fresh.iter_mut();
        for (place, wanted) in target.elements.iter().enumerate() {
            if let Some(Some((id, has))) = self.made.get_mut(wanted.about.key as usize) {
                if !Arc::ptr_eq(has, &wanted.spec) {
                    engine.change(at, *id, &wanted.spec).expect("a name has one kind");
                    spent.push(std::mem::replace(has, Arc::clone(&wanted.spec)));
                }
                continue;
            }
            let prepared = fresh.find(|(prepared, _)| *prepared == place);
            let prepared = prepared.and_then(|(_, prepared)| prepared.take());
            self.admit(engine, wanted, prepared.expect("what is new was prepared"));
        }
    }

    /// Makes the elements of a plan that are new, and changes nothing else.
    pub(crate) fn make(
        &mut self,
        engine: &mut Engine,
        target: &Target,
        fresh: &mut [(usize, Option<Prepared>)],
    ) {
        for (place, prepared) in fresh {
            let wanted = &target.elements[*place];
            if !matches!(self.made.get(wanted.about.key as usize), Some(Some(_))) {
                self.admit(engine, wanted, prepared.take().expect("it is made once"));
            }
        }
    }

    fn admit(&mut self, engine: &mut Engine, Wanted { about, spec }: &Wanted, prepared: Prepared) {
        let (id, key) = (engine.admit(prepared), about.key as usize);
        self.list.push(ElementAt { id, about: Arc::clone(about) });
        if self.made.len() <= key {
            self.made.resize(key + 1, None);
        }
        self.made[key] = Some((id, Arc::clone(spec)));
        about.made.fetch_add(1, Ordering::Release);
    }
}

//! The elements that a network has made: the engine's element of each key of a plan.

use std::mem::MaybeUninit;
use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use crosswind_engine::{ElementId, ElementSpec, Engine, Instant, Prepared, Sound};

use crate::plan::{About, Fresh, Key, Target, Wanted};

/// An element of the engine, and its description.
#[derive(Clone, Debug)]
pub struct ElementAt {
    /// Number in the engine.
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
    /// In the order in which they were made, which is the engine's order.
    list: Vec<ElementAt>,
    /// By key: the element and its current parameters.
    made: Vec<Option<(ElementId, Arc<Sound<ElementSpec>>)>>,
    /// Number of elements that have begun; the others wait until the plan that contains them is applied.
    begun: usize,
}

impl Elements {
    /// Every element, in the order in which they were made.
    pub(crate) fn list(&self) -> &[ElementAt] {
        &self.list
    }

    /// Number of elements that have begun.
    pub(crate) fn begun(&self) -> usize {
        self.begun
    }

    /// The element of a planned key.
    pub(crate) fn id(&self, key: Key) -> ElementId {
        self.made[key as usize].as_ref().expect("a plan names elements that exist").0
    }

    /// The key of an element.
    pub(crate) fn key(&self, id: ElementId) -> Key {
        self.list[id.index()].key
    }

    /// Reserves memory for this number of elements, and writes to it (see [`Engine::reserve`]).
    pub(crate) fn reserve(&mut self, elements: usize) {
        self.list.reserve(elements);
        self.list.spare_capacity_mut().fill_with(MaybeUninit::zeroed);
        self.made.reserve(elements);
        self.made.spare_capacity_mut().fill_with(MaybeUninit::zeroed);
    }

    /// Makes the elements of a plan, or gives them their new parameters. Replaced objects are left in `spent`.
    pub(crate) fn put(
        &mut self,
        engine: &mut Engine,
        at: Instant,
        target: &Target,
        fresh: &mut Fresh,
        spent: &mut Vec<Arc<Sound<ElementSpec>>>,
    ) {
        self.make(engine, target, fresh, usize::MAX);
        for Wanted { about, spec } in &target.elements {
            let (id, has) = self.made[about.key as usize].as_mut().expect("missing elements have been made");
            if !Arc::ptr_eq(has, spec) {
                engine.change(at, *id, spec).expect("a name has one kind");
                spent.push(std::mem::replace(has, Arc::clone(spec)));
            }
        }
        for element in &self.list[self.begun..] {
            engine.begin(element.id);
        }
        self.begun = self.list.len();
    }

    /// Makes up to `most` elements of a plan that do not exist yet; they wait until the plan is applied. Returns
    /// whether all exist.
    pub(crate) fn make(
        &mut self,
        engine: &mut Engine,
        target: &Target,
        fresh: &mut Fresh,
        most: usize,
    ) -> bool {
        for (place, prepared) in fresh.next(most) {
            let wanted = &target.elements[*place];
            if !matches!(self.made.get(wanted.about.key as usize), Some(Some(_))) {
                self.admit(engine, wanted, prepared.take().expect("it is made once"));
            }
        }
        fresh.is_done()
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

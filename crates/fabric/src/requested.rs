//! The latest request to a fabric: its condition with the timeline steps so far, and the neighbours that its
//! interference needs.

use std::sync::Arc;

use crate::check::FabricError;
use crate::cuts::Cuts;
use crate::graph::Graph;
use crate::interference::Around;
use crate::labels::{LabelBook, Labels};
use crate::plan::Ghost;
use crate::routes::mix;
use crate::site::{self, Site};
use crate::spec::{Condition, Fabric, Places};

/// A condition, and the state that follows from it and from earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requested {
    pub(crate) condition: Condition,
    /// Places of the condition and the timeline steps so far.
    pub(crate) places: Places,
    /// Cuts of the timeline steps so far.
    pub(crate) cuts: Arc<Cuts>,
    pub(crate) labels: Labels,
    label_book: LabelBook,
    /// Two sites of each neighbour.
    pub(crate) neighbours: Vec<[Site; 2]>,
    /// The host of each neighbour.
    pub(crate) hosts: Arc<[usize]>,
    pub(crate) ghosts: Arc<[Ghost]>,
    /// Each interference started so far had its own number.
    interferences_started: u32,
}

impl Requested {
    /// The state after another condition, which has been checked.
    ///
    /// # Errors
    /// When the engine cannot carry out an interference.
    pub(crate) fn next(
        &self,
        condition: &Condition,
        fabric: &Fabric,
        graph: &Graph,
    ) -> Result<Self, FabricError> {
        let mut label_book = self.label_book.clone();
        let labels = label_book.labels(condition, fabric).ok_or_else(|| {
            FabricError::of(
                "monitors: more than 65536 different matches by headers so far; start a new fabric",
            )
        })?;
        let (condition, before) = (condition.clone(), self.clone());
        let (places, cuts) = (condition.places.clone(), Arc::default());
        let next = Self { places, cuts, condition, labels, label_book, ..before };
        // Neighbours that are the same continue unchanged.
        if next.condition.interference == self.condition.interference {
            return Ok(next);
        }
        let (mut neighbours, mut hosts, mut ghosts) = (Vec::new(), Vec::new(), Vec::new());
        let mut number = self.interferences_started;
        for interference in &next.condition.interference {
            let first = neighbours.len();
            for name in &interference.between {
                let host = fabric.hosts.iter().position(|host| host == name).expect("checked");
                neighbours.push(site::of_node(fabric, graph, &format!("neighbour{number}@{name}"), host));
                hosts.push(host);
            }
            let shared = Arc::new(interference.clone());
            let [a, b] = &interference.between;
            for (from, to, back) in [(a, b, false), (b, a, true)] {
                let name = format!("neighbour{number}:{from}->{to}");
                let (from, to) = (first + usize::from(back), first + usize::from(!back));
                let around = Around::of(fabric, graph, hosts[from]);
                interference.check_source(&name, &around).map_err(FabricError::of)?;
                ghosts.push(Ghost {
                    replay: interference.replay(&name).map_err(FabricError::of)?,
                    name: name.into(),
                    interference: Arc::clone(&shared),
                    from,
                    to,
                    hash: mix(u64::from(number) << 1 | u64::from(back)) as u32,
                });
            }
            number += 1;
        }
        Ok(Self {
            neighbours,
            hosts: hosts.into(),
            ghosts: ghosts.into(),
            interferences_started: number,
            ..next
        })
    }
}

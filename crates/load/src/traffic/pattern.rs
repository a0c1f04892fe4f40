//! Which node sends to which, by position in the list of nodes.

use clap::ValueEnum;
use serde::Serialize;

/// A set of directed pairs of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// The first to the second, the third to the fourth, and so on.
    Pairs,
    /// The first to every other.
    OneToMany,
    /// Every other to the first.
    ManyToOne,
    /// Every node to every other (a shuffle).
    ManyToMany,
    /// Every node to the next, the last to the first.
    Ring,
}

impl Pattern {
    /// The pairs (from, to) among this many nodes, those of one sender next to one another.
    ///
    /// # Errors
    /// With fewer than two nodes, or an odd one out.
    pub fn pairs(self, nodes: usize) -> Result<Vec<(usize, usize)>, String> {
        if nodes < 2 {
            return Err(format!("{nodes} nodes: there is no receiver; give two or more"));
        }
        Ok(match self {
            Pattern::Pairs if nodes % 2 == 1 => {
                return Err(format!("{nodes} nodes in pairs: one is left over; give an even number"));
            }
            Pattern::Pairs => (0..nodes).step_by(2).map(|from| (from, from + 1)).collect(),
            Pattern::OneToMany => (1..nodes).map(|to| (0, to)).collect(),
            Pattern::ManyToOne => (1..nodes).map(|from| (from, 0)).collect(),
            Pattern::ManyToMany => (0..nodes)
                .flat_map(|from| (0..nodes).filter(move |&to| to != from).map(move |to| (from, to)))
                .collect(),
            Pattern::Ring => (0..nodes).map(|from| (from, (from + 1) % nodes)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_those_of_the_name() {
        let pairs = |pattern: Pattern, nodes| pattern.pairs(nodes).unwrap();
        assert_eq!(pairs(Pattern::Pairs, 4), [(0, 1), (2, 3)]);
        assert_eq!(pairs(Pattern::OneToMany, 4), [(0, 1), (0, 2), (0, 3)]);
        assert_eq!(pairs(Pattern::ManyToOne, 4), [(1, 0), (2, 0), (3, 0)]);
        assert_eq!(pairs(Pattern::ManyToMany, 3), [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]);
        assert_eq!(pairs(Pattern::Ring, 3), [(0, 1), (1, 2), (2, 0)]);
    }

    #[test]
    fn no_node_sends_to_itself_and_senders_stay_together() {
        for pattern in Pattern::value_variants() {
            for nodes in [2, 4, 6, 12] {
                let pairs = pattern.pairs(nodes).unwrap();
                assert!(pairs.iter().all(|(from, to)| from != to && *from < nodes && *to < nodes));
                assert!(pairs.is_sorted_by_key(|(from, _)| *from), "{pattern:?}");
            }
        }
    }

    #[test]
    fn a_node_without_a_partner_is_refused() {
        assert!(Pattern::Pairs.pairs(3).unwrap_err().contains("left over"));
        assert!(Pattern::Ring.pairs(1).unwrap_err().contains("no receiver"));
    }
}

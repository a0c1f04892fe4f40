//! Divides a graph into parts: first at long links, then evenly, then so that neighbours stay together.
//!
//! The smallest delay at a cut sets how often parts must wait for each other, so it has the highest priority:
//!
//! 1. Vertices joined by an edge without delay, and vertices that are bound together, form one atom.
//! 2. The threshold is the longest delay for which the graph falls into enough components when all edges of at least
//!    this delay are removed. A delay of 100 us or more qualifies only if no component is heavier than twice an even
//!    share or than three quarters of the total. Parts that wait for each other so rarely gain nothing from a longer
//!    delay, and a part that has all the work gains nothing from division. Below 100 us a longer delay is always
//!    better.
//! 3. Components are merged until the requested number is left. The lightest is merged with the neighbour at the
//!    smallest delay, the lightest of several such neighbours, unless the sum exceeds an even share; then it is merged
//!    with the lightest component of all.
//!
//! So short links are cut only where longer ones do not suffice for the requested number. The result is the same on
//! every machine: in a tie the vertex that comes first wins.
//!
//! Source: Kruskal 1956, "On the shortest spanning subtree" (components by threshold). The balance rule is not from a
//! source.

use std::collections::{BTreeMap, BTreeSet};

/// From this delay on, a longer delay does not justify imbalance: at 10 Gbit/s, 80 full packets of each link pass in
/// this time.
const LONG_NS: u64 = 100_000;

/// A link between two vertices, in either direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) ends: [usize; 2],
    /// 0 if it must not be cut.
    pub(super) delay_ns: u64,
}

/// The part of every vertex, numbered in the order of their first vertices. `together`: pairs that must stay in one
/// part.
pub(super) fn divide(weights: &[u64], edges: &[Edge], together: &[[usize; 2]], wanted: usize) -> Vec<usize> {
    let mut atoms = Sets::of(weights);
    for edge in edges.iter().filter(|edge| edge.delay_ns == 0) {
        atoms.join(edge.ends);
    }
    for &pair in together {
        atoms.join(pair);
    }
    let wanted = wanted.min(atoms.count);
    let mut components = atoms.clone();
    let threshold_ns = threshold(atoms, edges, wanted);
    for edge in edges.iter().filter(|edge| edge.delay_ns < threshold_ns) {
        components.join(edge.ends);
    }
    let total: u64 = weights.iter().sum();
    pack(&mut components, edges, wanted, total.div_ceil(wanted as u64));
    components.numbers()
}

/// The smallest delay of edges that are removed; 0 where no choice is left.
fn threshold(mut components: Sets, edges: &[Edge], wanted: usize) -> u64 {
    let total: u64 = components.weights.iter().sum();
    let heaviest_max = (2 * total / wanted as u64).min(total * 3 / 4);
    let mut ascending: Vec<&Edge> = edges.iter().collect();
    ascending.sort_by_key(|edge| edge.delay_ns);
    let (mut longest_ns, mut balanced_ns) = (0, None);
    let mut at = 0;
    while at < ascending.len() && components.count >= wanted {
        let delay_ns = ascending[at].delay_ns;
        longest_ns = delay_ns;
        if delay_ns >= LONG_NS && components.heaviest <= heaviest_max {
            balanced_ns = Some(delay_ns);
        }
        while at < ascending.len() && ascending[at].delay_ns == delay_ns {
            components.join(ascending[at].ends);
            at += 1;
        }
    }
    balanced_ns.unwrap_or(longest_ns)
}

/// Merges components until `wanted` are left.
fn pack(components: &mut Sets, edges: &[Edge], wanted: usize, share: u64) {
    let roots: BTreeSet<usize> =
        (0..components.parents.len()).map(|vertex| components.root(vertex)).collect();
    let mut by_weight: BTreeSet<(u64, usize)> =
        roots.iter().map(|&root| (components.weights[root], root)).collect();
    // For each component, its neighbours and the smallest delay to each.
    let mut nearest: BTreeMap<usize, BTreeMap<usize, u64>> = BTreeMap::new();
    for edge in edges {
        let [a, b] = edge.ends.map(|end| components.root(end));
        if a != b {
            for (from, to) in [(a, b), (b, a)] {
                note(nearest.entry(from).or_default(), to, edge.delay_ns);
            }
        }
    }
    while by_weight.len() > wanted {
        let (weight, lightest) = by_weight.pop_first().expect("more components than wanted");
        let neighbours = nearest.remove(&lightest).unwrap_or_default();
        let fits = |&&other: &&usize| weight + components.weights[other] <= share;
        let chosen = neighbours
            .keys()
            .filter(fits)
            .min_by_key(|&&other| (neighbours[&other], components.weights[other], other));
        let lightest_other =
            || by_weight.first().map(|&(_, other)| other).expect("at least one component is left");
        let other = chosen.copied().unwrap_or_else(lightest_other);
        by_weight.remove(&(components.weights[other], other));
        components.join([lightest, other]);
        let (kept, gone) =
            if components.root(other) == other { (other, lightest) } else { (lightest, other) };
        by_weight.insert((components.weights[kept], kept));
        let mut both =
            if kept == other { nearest.remove(&other).unwrap_or_default() } else { neighbours.clone() };
        let added = if kept == other { neighbours } else { nearest.remove(&other).unwrap_or_default() };
        for (&third, &delay_ns) in &added {
            note(&mut both, third, delay_ns);
        }
        both.remove(&kept);
        both.remove(&gone);
        for third in added.into_keys().filter(|&third| third != kept) {
            let of_third = nearest.entry(third).or_default();
            if let Some(delay_ns) = of_third.remove(&gone) {
                note(of_third, kept, delay_ns);
            }
        }
        nearest.insert(kept, both);
    }
}

fn note(nearest: &mut BTreeMap<usize, u64>, other: usize, delay_ns: u64) {
    let known = nearest.entry(other).or_insert(delay_ns);
    *known = delay_ns.min(*known);
}

/// Disjoint sets of vertices with their weights.
#[derive(Clone)]
struct Sets {
    /// For each vertex, a vertex of its set; a root points to itself.
    parents: Vec<usize>,
    /// For each root, the weight of its set.
    weights: Vec<u64>,
    sizes: Vec<usize>,
    count: usize,
    heaviest: u64,
}

impl Sets {
    /// Each vertex is its own set.
    fn of(weights: &[u64]) -> Self {
        Self {
            parents: (0..weights.len()).collect(),
            weights: weights.to_vec(),
            sizes: vec![1; weights.len()],
            count: weights.len(),
            heaviest: weights.iter().copied().max().unwrap_or(0),
        }
    }

    fn root(&mut self, mut vertex: usize) -> usize {
        while self.parents[vertex] != vertex {
            self.parents[vertex] = self.parents[self.parents[vertex]];
            vertex = self.parents[vertex];
        }
        vertex
    }

    fn join(&mut self, pair: [usize; 2]) {
        let [a, b] = pair.map(|vertex| self.root(vertex));
        if a == b {
            return;
        }
        let (root, other) = if (self.sizes[a], b) >= (self.sizes[b], a) { (a, b) } else { (b, a) };
        self.parents[other] = root;
        self.sizes[root] += self.sizes[other];
        self.weights[root] += self.weights[other];
        self.heaviest = self.heaviest.max(self.weights[root]);
        self.count -= 1;
    }

    /// The number of each vertex's set, in the order of their first vertices.
    fn numbers(&mut self) -> Vec<usize> {
        let mut numbers = BTreeMap::new();
        (0..self.parents.len())
            .map(|vertex| {
                let next = numbers.len();
                *numbers.entry(self.root(vertex)).or_insert(next)
            })
            .collect()
    }
}

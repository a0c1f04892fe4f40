// What is broken: which nodes are cut off from others, and which are paused, killed, squeezed or on a bad disk, from when to when.
// Nothing here touches the page.

// Faults of nodes that last, as states of their nodes, and what ends them.
const STATES = { pause: "paused", kill: "killed", squeeze: "squeezed", disk: "on a bad disk" };
const ENDS = {
  pause: ["pause"], resume: ["pause"], kill: ["kill", "pause"], restart: ["kill", "pause"],
  squeeze: ["squeeze"], disk: ["disk"], release: ["squeeze", "disk"],
};
const NAMES_MAX = 8;

export class Faults {
  /** `active` are changes and `hits` faults of nodes that hold when the page is opened. */
  constructor(active = [], hits = []) {
    this.cuts = { timeline: [], cut: [] };
    this.hits = []; // Each with the nodes that are still hit, and its band.
    this.bands = []; // From `at_ns` until `until_ns`; two at the same time are in two rows.
    this.cutBand = null;
    for (const change of active) this.change(change);
    for (const hit of hits) this.hit(hit);
  }

  /** Cuts change with the condition, a step of its timeline, and by hand. */
  change({ by, at_ns, cuts }) {
    if (by === "cut") this.cuts.cut = cuts;
    else this.cuts.timeline = cuts ?? (by === "timeline" ? this.cuts.timeline : []);
    const words = cutWords(this.cut);
    if (words === (this.cutBand?.words ?? "")) return;
    if (this.cutBand) this.cutBand.until_ns = at_ns;
    this.cutBand = words ? this.#band("cut", at_ns, words) : null;
  }

  /** Something was done to nodes. A page that is opened gets the last minute again, so it may be known. */
  hit({ at_ns, due_ns, kind, nodes, words }) {
    let isEnd = false;
    for (const each of this.hits.filter((earlier) => ENDS[kind].includes(earlier.kind))) {
      for (const node of nodes) isEnd = each.nodes.delete(node) || isEnd;
      if (!each.nodes.size) each.band.until_ns = at_ns;
    }
    this.hits = this.hits.filter((each) => each.nodes.size);
    if (kind in STATES) this.hits.push({ kind, nodes: new Set(nodes), band: this.#band(kind, at_ns, words) });
    // A restart of nodes that run lasts as long as it takes.
    if (kind === "restart" && !isEnd) this.#band(kind, due_ns, words).until_ns = at_ns;
  }

  /** The network is gone, and what was broken with it. */
  end(at_ns) {
    for (const band of this.bands) band.until_ns = Math.min(band.until_ns, at_ns);
    Object.assign(this, { cuts: { timeline: [], cut: [] }, hits: [], cutBand: null });
  }

  /** Forgets what ended before an instant. */
  forget(since_ns) {
    this.bands = this.bands.filter(({ at_ns, until_ns }) => until_ns >= since_ns && until_ns > at_ns);
  }

  /** All cuts that are active. */
  get cut() {
    return [...this.cuts.timeline, ...this.cuts.cut];
  }

  isCutOff(node) {
    return this.cut.some(({ from, to }) => from.includes(node) || to.includes(node));
  }

  /** `paused`, `killed`, `squeezed`, `on a bad disk`: those of these that a node is. */
  statesOf(node) {
    return this.hits.filter(({ nodes }) => nodes.has(node)).map(({ kind }) => STATES[kind]);
  }

  /** Which nodes are paused, killed, squeezed or on a bad disk, in words. */
  get hitWords() {
    return Object.entries(STATES).flatMap(([kind, state]) => {
      const names = this.hits.filter((hit) => hit.kind === kind).flatMap(({ nodes }) => [...nodes]);
      const more = names.length - NAMES_MAX;
      return names.length ? [`${names.slice(0, NAMES_MAX).join(" ")}${more > 0 ? ` and ${more} more` : ""} ${state}`] : [];
    }).join(", ");
  }

  #band(kind, at_ns, words) {
    const rows = new Set(this.bands.filter((each) => each.at_ns < each.until_ns && each.until_ns > at_ns).map(({ row }) => row));
    let row = 0;
    while (rows.has(row)) row += 1;
    const band = { kind, at_ns, until_ns: Infinity, words, row };
    this.bands.push(band);
    return band;
  }
}

/** Cuts in words; the two of a partition are one. */
export function cutWords(cuts) {
  const ends = cuts.map(({ from, to }) => [from.join(" "), to.join(" ")]);
  const isBack = ([from, to], number) => ends.findIndex(([other, back]) => other === to && back === from) < number;
  const hasBack = ([from, to]) => ends.some(([other, back]) => other === to && back === from);
  const one = ([from, to]) => `${from} ${hasBack([from, to]) ? "|" : "→"} ${to}`;
  return ends.filter((each, number) => !hasBack(each) || !isBack(each, number)).map(one).join(", ");
}

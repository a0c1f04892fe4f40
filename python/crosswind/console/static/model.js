// What the network is and does, from what the server says. Nothing here touches the page.

import { Faults } from "./faults.js";

const UP = new Set(["host.egress", "link.up", "uplink", "switch.ingress"]);

export class Model {
  constructor(network, active = [], hits = []) {
    Object.assign(this, network);
    this.link = new Map(this.links.map((link) => [link.name, link]));
    this.hostOf = new Map(Object.entries(this.nodes));
    this.uplink = new Map(this.links.filter((link) => link.from in this.hosts).map((link) => [link.from, link]));
    this.downlink = new Map(this.links.filter((link) => link.to in this.hosts).map((link) => [link.to, link]));
    this.trunks = this.links.filter((link) => this.isTrunk(link));
    this.condition = { name: "", at_ns: 0, places: {} };
    this.faults = new Faults(active, hits);
    this.known = new Map();
    this.rates = new Map();
    for (const change of active) this.#apply(change);
  }

  /** A condition, or a step of its timeline, is active. */
  change(change) {
    this.faults.change(change);
    this.#apply(change);
  }

  #apply(change) {
    if (change.by === "cut") return;
    const kept = change.by === "timeline" ? this.condition.places : {};
    this.condition = { name: change.condition, at_ns: change.at_ns, places: { ...kept, ...change.places } };
    this.rates.clear();
  }

  /** The link that an element belongs to: the wire in front of which, or behind which, it stands. */
  linkOf(element) {
    if (!this.known.has(element)) {
      const [of, place = ""] = element.split("/");
      const host = this.hostOf.get(of) ?? of;
      const found = this.link.get(of) ?? (UP.has(place) ? this.uplink : this.downlink).get(host);
      this.known.set(element, found?.name ?? null);
    }
    return this.known.get(element);
  }

  nodesOn(host) {
    return Object.keys(this.nodes).filter((node) => this.hostOf.get(node) === host);
  }

  /** The rate of a link under the active condition, in bit/s: null is unlimited, undefined is unknown. */
  rate(link) {
    if (!this.rates.has(link.name)) this.rates.set(link.name, this.#rate(link));
    return this.rates.get(link.name);
  }

  #rate(link) {
    const direction = link.from in this.hosts ? "up" : "down";
    const [drives] = this.#elementsAt(link, "capacity").filter((each) => (each.direction ?? direction) === direction);
    if (!drives) return link.rate_bps;
    const levels = drives.process?.levels?.rate_bps;
    return levels?.length === 1 ? levels[0] : undefined;
  }

  /** Delay of a link and of what stands at it, in ns, under the elements at `places`. */
  delay(link, places) {
    return link.delay_ns + sum(this.#elementsAt(link, "delay", places).map((delay) => delay.time_ns));
  }

  /** Elements of one kind that packets on a link meet on their way over it. */
  #elementsAt(link, kind, places = this.condition.places) {
    const at = (place, names, isEverywhere) => found(places[place], kind, new Set(names), isEverywhere);
    const { name, from, to } = link;
    if (this.isTrunk(link)) return [...at("wan", [name, from], true), ...at("link", [name], false)];
    const port = from in this.hosts ? "switch.ingress" : "switch.egress";
    return [...at("link", [name, from, to], true), ...at(port, [name, from, to], true)];
  }

  isTrunk(link) {
    return !(link.from in this.hosts) && !(link.to in this.hosts);
  }

  /** Delay of a way from node to node, in ns, under the elements at `places`. */
  wayDelay(from, to, links, places) {
    const ends = [["host.egress", from], ["host.ingress", to]];
    const atEnds = ends.flatMap(([place, node]) => found(places[place], "delay", new Set([node, this.hostOf.get(node)])));
    return sum(links.map((name) => this.delay(this.link.get(name), places))) + sum(atEnds.map((delay) => delay.time_ns));
  }

  /** What sliders and charts can be about. */
  places() {
    const both = (host) => [this.uplink.get(host).name, this.downlink.get(host).name];
    const hosts = Object.keys(this.hosts);
    const found = [{ label: "All links of hosts", place: "hosts", on: null, links: hosts.flatMap(both) }];
    for (const host of hosts) {
      const nodes = this.nodesOn(host).join(", ");
      found.push({ label: nodes ? `${host} (${nodes})` : host, place: "hosts", on: host, links: both(host) });
    }
    if (this.trunks.length) {
      const all = this.trunks.map((link) => link.name);
      found.push({ label: "All links between switches", place: "trunks", on: null, links: all });
    }
    for (const link of this.trunks) {
      found.push({ label: `${link.from} → ${link.to}`, place: "trunks", on: link.name, links: [link.name] });
    }
    return found;
  }
}

/** Elements of a kind in a list that are restricted to one of `names`, or to none. */
function found(elements, kind, names, isEverywhere = true) {
  return (elements ?? [])
    .filter((element) => kind in element)
    .map((element) => element[kind])
    .filter(({ on }) => (on ? on.some((name) => names.has(name)) : isEverywhere));
}

const STEP_S = 0.1;
const STEP_NS = 1e8;
const STEPS_KEPT = 600;
const GAP_NS = 5e8;

/** What happened: for each step and link what left it, waited, and was dropped; and what was broken. */
class Steps {
  constructor(model) {
    this.model = model;
    this.steps = [];
    this.changes = [];
    this.stalls = [];
    this.outages = [];
    this.credits = new Set();
    this.applications = new Map();
  }

  /** A step in which nothing has happened so far. */
  step(at_ns) {
    return { at_ns, links: new Map(), credit: new Map(), late: 0, places: this.model.condition.places };
  }

  change(change) {
    this.model.change(change);
    this.changes.push(change);
  }

  /** Adds to a step what an element did in it. */
  count(step, element, departed_bytes, dropped_packets, queued_bytes, step_s = STEP_S) {
    const name = this.model.linkOf(element);
    if (name === null) return;
    const link = this.model.link.get(name);
    if (!step.links.has(name)) {
      step.links.set(name, { sent_bps: 0, queued: 0, dropped: 0, rate_bps: this.rate(link, step), waiting: 0 });
    }
    const at = step.links.get(name);
    at.dropped += dropped_packets;
    at.queued += queued_bytes;
    if (element === link.element) {
      at.sent_bps += (departed_bytes * 8) / step_s;
      at.waiting += queued_bytes;
    }
  }

  rate(link) {
    return this.model.rate(link);
  }
}

/** A trial that has ended, as a whole. */
export class Played extends Steps {
  constructor(model, trial) {
    super(model);
    Object.assign(this, { trial, started_ns: trial.started_ns, length_s: (trial.ended_ns - trial.started_ns) / 1e9 });
    // The model is that of all trials, and these faults are of one.
    this.faults = model.faults = new Faults();
    this.stalls = trial.stalls;
    this.operations = trial.operations;
    this.rates = Map.groupBy(trial.rates, ({ link }) => model.linkOf(link));
    this.outages = [...this.rates.values()].flatMap((each) => outages(each, trial.ended_ns));
    const rows = Map.groupBy(trial.rows, ([number]) => number);
    const buckets = Map.groupBy(trial.buckets, ([number]) => number);
    this.credits = new Set(trial.buckets.map(([, element]) => element));
    const left = new Map(); // A bucket holds what it held until a step changes it.
    for (const hit of trial.faults) this.faults.hit(hit);
    const changes = [...trial.changes];
    const step_s = trial.step_ns / 1e9;
    for (let number = 0; number < this.length_s / step_s; number += 1) {
      const at_ns = trial.started_ns + number * trial.step_ns;
      while (changes.length && (changes[0].at_ns <= at_ns || !number)) this.change(changes.shift());
      const step = { ...this.step(at_ns), number };
      for (const [, ...row] of rows.get(number) ?? []) this.count(step, ...row, step_s);
      for (const [, element, left_bits] of buckets.get(number) ?? []) left.set(element, left_bits);
      if (left.size) step.credit = new Map(left);
      this.steps.push({ ...step, condition: this.model.condition.name });
    }
    // The first one came before the trial, and is no line in its charts.
    this.changes = this.changes.filter((change) => change.at_ns > trial.started_ns);
  }

  /** What was broken at an instant of the trial. */
  faultsAt(at_ns) {
    const before = (all) => all.filter((each) => each.at_ns <= at_ns);
    return new Faults(before(this.trial.changes), before(this.trial.faults));
  }

  /** The rate of a link in a step, also while a process drives it. */
  rate(link, { at_ns }) {
    const driven = this.rates.get(link.name)?.findLast((each) => each.at_ns <= at_ns);
    return driven ? driven.rate_bps : super.rate(link);
  }
}

function outages(rates, ended_ns) {
  return rates
    .map(({ at_ns, rate_bps }, number) => ({ at_ns, rate_bps, length_ns: (rates[number + 1]?.at_ns ?? ended_ns) - at_ns }))
    .filter(({ rate_bps }) => rate_bps === 0);
}

/** The last 60 s of a network that is up. */
export class Live extends Steps {
  constructor(model) {
    super(model);
    this.faults = model.faults;
    this.lateness = new Map();
    this.made = new Map();
  }

  /** Adds a step; with several domains the same step comes once from each. */
  add(event) {
    // Every domain makes the same changes.
    for (const change of event.domain === 0 ? event.changes : []) {
      this.change(change);
    }
    this.stalls.push(...event.stalls);
    let step = this.steps.findLast((each) => each.at_ns === event.at_ns);
    if (!step) {
      const last_ns = this.steps.at(-1)?.at_ns;
      // Between two trials there is no network, and lines end.
      if (event.at_ns > last_ns + GAP_NS) this.steps.push({ ...this.step(last_ns + 1), isGap: true });
      step = this.step(event.at_ns);
      this.steps.push(step);
      if (this.steps.length > 1 && this.steps.at(-2).at_ns > event.at_ns) this.steps.sort((a, b) => a.at_ns - b.at_ns);
    }
    for (const row of event.rows) this.count(step, row.element, row.departed_bytes, row.dropped_packets, row.queued_bytes);
    for (const { element, left_bits } of event.credit) {
      this.credits.add(element);
      step.credit.set(element, left_bits);
    }
    step.late += this.#late(event);
    this.#spent(event);
    this.#forget();
    return step;
  }

  /** Adds what the load of an application did in about 100 ms; the steps of its network begin at other instants. */
  addOperations({ application, at_ns, length_ns, ended, failed, median_ns, p99_ns, slowest_ns }) {
    if (!this.applications.has(application)) this.applications.set(application, new Map());
    const known = this.applications.get(application); // By the number of the 100 ms.
    const [first, end] = [at_ns, at_ns + length_ns].map((ns) => Math.round(ns / STEP_NS));
    const length_s = length_ns / 1e9;
    const found = { ended_s: ended / length_s, failed_s: failed / length_s, median_ns, p99_ns, slowest_ns };
    // Where the load was late with a line, it is about several steps.
    for (let number = first; number < end; number += 1) known.set(number, found);
    for (const [number] of known) {
      if (number >= end - STEPS_KEPT) break;
      known.delete(number);
    }
  }

  /** What the load of an application did in a step of the network. */
  operationsIn(application, { at_ns }) {
    return this.applications.get(application).get(Math.round(at_ns / STEP_NS));
  }

  /** Packets of this step that were late: each domain counts from the begin of the window. */
  #late({ domain, window_started_ns, lateness }) {
    const before = this.lateness.get(domain);
    this.lateness.set(domain, { window_started_ns, ...lateness });
    return lateness.missed - (before?.window_started_ns === window_started_ns ? before.missed : 0);
  }

  /** Notes what the packet threads have spent on these events; a domain of a new network counts from 0 again. */
  #spent({ domain, at_ns, made_ns }) {
    const each = this.made.get(domain)?.filter((before) => before.at_ns > at_ns - 10e9 && before.made_ns <= made_ns) ?? [];
    this.made.set(domain, [...each, { at_ns, made_ns }]);
  }

  /** The share of a core that these events have cost in the last 10 s, of all packet threads together. */
  get spent() {
    return sum([...this.made.values()].map(([first, ...more]) => {
      const last = more.at(-1);
      return last ? (last.made_ns - first.made_ns) / (last.at_ns - first.at_ns) : 0;
    }));
  }

  /** Packets of the window so far, and how many of them were late. */
  get window() {
    const domains = [...this.lateness.values()];
    return { packets: sum(domains.map((each) => each.packets)), missed: sum(domains.map((each) => each.missed)) };
  }

  #forget() {
    if (this.steps.length > STEPS_KEPT) this.steps.splice(0, this.steps.length - STEPS_KEPT);
    const since = this.since_ns;
    while (this.changes.length && this.changes[0].at_ns < since) this.changes.shift();
    this.faults.forget(since);
    while (this.stalls.length && this.stalls[0].at_ns + this.stalls[0].length_ns < since) this.stalls.shift();
  }

  get latest_ns() {
    return this.steps.at(-1)?.at_ns ?? 0;
  }

  get since_ns() {
    return this.latest_ns - 60e9;
  }
}

/** What one link did in a step; nothing where no row came. */
export const IDLE = { sent_bps: 0, queued: 0, dropped: 0, waiting: 0, rate_bps: null };

// The wire carries 1538 bytes for 1500 of IP.
export const used = (at) => (at.rate_bps ? Math.min(1, (at.sent_bps * (1538 / 1500)) / at.rate_bps) : 0);
export const queueDelay_ms = (at) => (at.rate_bps ? (at.waiting * 8e3) / at.rate_bps : 0);
export const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);

// What all pages have: the network as a picture, a place that is chosen, and charts of it.

import { get } from "./api.js";
import { Charts } from "./charts.js";
import { cutWords } from "./faults.js";
import { IDLE, queueDelay_ms, sum } from "./model.js";
import { Picture } from "./picture.js";

export const at = (id) => document.getElementById(id);

/** An element with a text and others in it. */
export function made(tag, { text, ...properties } = {}, ...children) {
  const found = Object.assign(document.createElement(tag), properties);
  if (text !== undefined) found.textContent = text;
  found.append(...children);
  return found;
}

export class View {
  constructor(model, series, axis) {
    Object.assign(this, { model, places: model.places(), onPlace: () => undefined });
    this.picture = new Picture(at("picture"), model.picture, (chosen) => this.#chosen(chosen));
    this.charts = new Charts(at("charts"), model, series, axis);
    at("place").replaceChildren(...this.places.map(({ label }, number) => new Option(label, number)));
    at("place").addEventListener("change", () => this.show(this.places[+at("place").value]));
    // Where there are links between switches, they are what makes the network.
    this.place = this.places.find(({ place }) => place === "trunks") ?? this.places[0];
    this.#pairs();
  }

  get series() {
    return this.charts.series;
  }

  set series(series) {
    this.charts.series = series;
  }

  show(place = this.place) {
    this.place = place;
    this.known = this.#charted();
    at("place").value = this.places.indexOf(place);
    this.picture.mark(place);
    this.charts.show(place);
    at("legend").replaceChildren(...this.charts.lines.map(({ label }, number) => {
      const colour = made("i");
      colour.style.setProperty("--line-colour", `var(${this.charts.colour(number)})`);
      return made("li", {}, colour, label);
    }));
    this.onPlace(place);
  }

  /** Shows what has come since the last call. */
  draw() {
    if (this.#charted() !== this.known) this.show();
    else this.charts.draw();
    if (this.series.steps.length) this.picture.draw(this.series.steps);
  }

  /** Shows who is cut off, and which nodes are paused, killed, squeezed or on a bad disk: in words, and in the picture. */
  broken(faults) {
    for (const [part, words] of [["cuts", cutWords(faults.cut)], ["hit", faults.hitWords]]) {
      at(part).textContent = words;
      at(part).parentElement.hidden = !words;
    }
    this.picture.broken(faults, (host) => this.model.nodesOn(host));
  }

  /** How many buckets and applications have charts. */
  #charted() {
    return this.series.credits.size + this.series.applications.size;
  }

  #chosen({ host, links }) {
    const own = this.places.filter((place) => place.on !== null);
    const found = host
      ? own.filter((place) => place.on === host)
      : own.filter((place) => links.some((name) => place.links.includes(name)));
    // Another click on a link shows its other direction, or everything again.
    const now = found.indexOf(this.place);
    this.show(found[now + 1] ?? (now < 0 ? found[0] : this.places[0]));
  }

  #pairs() {
    const nodes = Object.keys(this.model.nodes);
    for (const [id, first] of [["from", 0], ["to", 1]]) {
      at(id).replaceChildren(...nodes.map((node) => new Option(node, node)));
      at(id).value = nodes[first] ?? nodes[0];
      at(id).addEventListener("change", () => this.#pair());
    }
    this.#pair();
  }

  async #pair() {
    const [from, to] = ["from", "to"].map((id) => at(id).value);
    const way = await get(`/api/way?${new URLSearchParams({ from, to })}`);
    const known = new Map();
    this.charts.roundTrip = (step) => {
      if (!known.has(step.places)) known.set(step.places, this.#declared_us(from, to, way, step.places));
      const queues = [...way.there, ...way.back].map((name) => queueDelay_ms(step.links.get(name) ?? IDLE) * 1e3);
      return known.get(step.places) + sum(queues);
    };
    if (this.charts.place) this.show();
  }

  #declared_us(from, to, { there, back }, places) {
    return (this.model.wayDelay(from, to, there, places) + this.model.wayDelay(to, from, back, places)) / 1e3;
  }
}

export function problem(words) {
  at("problem").textContent = words;
  at("problem").hidden = !words;
}

export function state(word, kind) {
  at("state").textContent = word;
  at("state").className = `state ${kind}`;
}

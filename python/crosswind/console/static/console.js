// The page: what is chosen, what comes from the server, what is shown.

import { get, lines, post } from "./api.js";
import { Charts } from "./charts.js";
import { Model, Series, queueDelay_ms, sum, IDLE } from "./model.js";
import { Picture } from "./picture.js";
import { Sliders } from "./sliders.js";
import * as text from "./text.js";

const BY_HAND = "by-hand";
const AGAIN_MS = 1000;
const at = (id) => document.getElementById(id);

class Console {
  constructor(network) {
    this.model = new Model(network);
    this.series = new Series(this.model);
    this.places = this.model.places();
    at("title").textContent = network.title;
    at("scale").textContent = network.scale === 1 ? "" : ` Rates and buffers are multiplied by the scale ${network.scale}.`;
    this.picture = new Picture(at("picture"), network.picture, (chosen) => this.#chosen(chosen));
    this.charts = new Charts(at("charts"), this.model, this.series);
    this.sliders = new Sliders(at("sliders"), (move) => this.#change(move));
    at("place").replaceChildren(...this.places.map(({ label }, number) => new Option(label, number)));
    at("place").addEventListener("change", () => this.#show(this.places[+at("place").value]));
    at("filter").addEventListener("input", () => this.#conditions());
    at("save").addEventListener("click", () => this.#save());
    this.#pairs();
    this.#done(network);
    // Where there are links between switches, they are what makes the network.
    this.#show(this.places.find(({ place }) => place === "trunks") ?? this.places[0]);
    this.#active();
  }

  /** Takes an event of the stream; what it changes is drawn with the next frame. */
  take(event) {
    if (event.event === "lost") state(`live, ${event.steps} steps lost`, "");
    if (event.event !== "step") return;
    this.series.add(event);
    if (event.changes.length) this.#active();
    if (this.series.credits.size !== this.credits) this.#show(this.place);
    this.isDue ||= requestAnimationFrame(() => {
      this.isDue = 0;
      this.#draw();
    });
  }

  #draw() {
    const step = this.series.steps.at(-1);
    this.charts.draw();
    this.picture.draw(step);
    const { packets, missed } = this.series.window;
    at("late").textContent = `${text.count(missed)} of ${text.count(packets)}`;
  }

  #show(place) {
    this.place = place;
    this.credits = this.series.credits.size;
    at("place").value = this.places.indexOf(place);
    this.picture.mark(place);
    this.charts.show(place);
    at("shown").textContent = place.label;
    at("legend").replaceChildren(...this.charts.lines.map(({ label }, number) => {
      const item = document.createElement("li");
      const colour = document.createElement("i");
      colour.style.setProperty("--line-colour", `var(${this.charts.colour(number)})`);
      item.append(colour, label);
      return item;
    }));
    this.#values();
  }

  #chosen({ host, links }) {
    const own = this.places.filter((place) => place.on !== null);
    const found = host
      ? own.filter((place) => place.on === host)
      : own.filter((place) => links.some((name) => place.links.includes(name)));
    // Another click on a link shows its other direction, or everything again.
    const now = found.indexOf(this.place);
    this.#show(found[now + 1] ?? (now < 0 ? found[0] : this.places[0]));
  }

  async #change(request) {
    try {
      this.#done(await post("/api/set", request));
      problem("");
    } catch (error) {
      problem(error.message);
    }
    this.#values();
  }

  #values() {
    const of = (place, on) => this.values.find((each) => each.place === place && each.on === on);
    const { place, on, links } = this.place;
    this.sliders.show(this.place, of(place, on), of(place, null), this.model.link.get(links[0]));
  }

  #active() {
    const { name } = this.model.condition;
    if (name !== BY_HAND && this.values.length) {
      this.values = [];
      this.#values();
    }
    at("active").textContent = name;
    at("said").textContent = `Condition ${name} is active`;
    this.#conditions();
  }

  #conditions() {
    const { conditions, catalogue } = this.model;
    const words = at("filter").value.toLowerCase();
    const matching = catalogue.filter(({ name, summary }) => `${name} ${summary}`.toLowerCase().includes(words));
    const own = [...new Set(["none", ...conditions])].map((name) => ({ name, summary: "" }));
    for (const [list, found] of [["conditions", own], ["catalogue", matching]]) {
      at(list).replaceChildren(...found.map((condition) => this.#condition(condition)));
    }
  }

  #condition({ name, summary }) {
    const item = document.createElement("li");
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
    button.setAttribute("aria-pressed", name === this.model.condition.name);
    if (summary) button.append(Object.assign(document.createElement("small"), { textContent: summary }));
    button.addEventListener("click", () => this.#change({ condition: name }));
    item.append(button);
    return item;
  }

  #done({ moves, values }) {
    this.values = values;
    const begun = moves[0]?.at_ns ?? 0;
    const items = moves.map(({ at_ns, words }) => {
      const item = document.createElement("li");
      const when = Object.assign(document.createElement("time"), { textContent: `${((at_ns - begun) / 1e9).toFixed(1)} s` });
      const what = Object.assign(document.createElement("span"), { textContent: words });
      item.append(when, what);
      return item;
    });
    const none = Object.assign(document.createElement("li"), { className: "none", textContent: "Nothing yet." });
    at("done").replaceChildren(...(items.length ? items.reverse() : [none]));
    at("save").disabled = !values.length;
  }

  async #save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await get("/api/saved"));
    link.download = `${BY_HAND}.yaml`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), AGAIN_MS);
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
  }

  #declared_us(from, to, { there, back }, places) {
    return (this.model.wayDelay(from, to, there, places) + this.model.wayDelay(to, from, back, places)) / 1e3;
  }
}

function problem(words) {
  at("problem").textContent = words;
  at("problem").hidden = !words;
}

function state(word, kind) {
  at("state").textContent = word;
  at("state").className = `state ${kind}`;
}

async function run() {
  if (!window.uPlot) throw new Error("The charts' library is missing from this installation: run make build.");
  const console = new Console(await get("/api/network"));
  state("live", "live");
  await lines("/api/stream", (event) => console.take(event));
  state("ended", "gone");
}

run().catch((error) => {
  state("not connected", "gone");
  problem(error instanceof TypeError ? "The network has ended, or this machine is out of reach. Reload the page when it is up again." : error.message);
});

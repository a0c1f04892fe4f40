// The hand of the user: sliders, conditions, what was done, and a file of it.

import { get, post } from "./api.js";
import { Sliders } from "./sliders.js";
import * as text from "./text.js";
import { at, made, problem } from "./view.js";

const BY_HAND = "by-hand";
const AGAIN_MS = 1000;

export class Hand {
  /** `live` shows the network that is moved; `hand` is what the server says of it. */
  constructor(live, { scale, conditions, catalogue, done }) {
    Object.assign(this, { live, model: live.model, conditions, catalogue });
    at("scale").textContent = scale === 1 ? "" : ` Rates and buffers are multiplied by the scale ${scale}.`;
    this.sliders = new Sliders(at("sliders"), (move) => this.#change(move));
    at("filter").addEventListener("input", () => this.#conditions());
    at("save").addEventListener("click", () => this.#save());
    this.#done(done);
    live.view.onPlace = () => this.#values();
  }

  /** Shows that another condition is active. The stream begins a minute ago, so it may be older than the last move. */
  active() {
    const { name, at_ns } = this.model.condition;
    if (name !== BY_HAND && at_ns > this.movedAt && this.values.length) this.begin();
    this.#conditions();
  }

  /** Takes the sliders back: nothing has been moved. */
  begin() {
    this.values = [];
    this.#values();
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
    const { place, on, links } = this.live.view.place;
    this.sliders.show(this.live.view.place, of(place, on), of(place, null), this.model.link.get(links[0]));
  }

  #conditions() {
    const words = at("filter").value.toLowerCase();
    const matching = this.catalogue.filter(({ name, summary }) => `${name} ${summary}`.toLowerCase().includes(words));
    const own = [...new Set(["none", ...this.conditions])].map((name) => ({ name, summary: "" }));
    for (const [list, found] of [["conditions", own], ["catalogue", matching]]) {
      at(list).replaceChildren(...found.map((condition) => this.#condition(condition)));
    }
  }

  #condition({ name, summary }) {
    const button = made("button", { type: "button", text: name });
    button.setAttribute("aria-pressed", name === this.model.condition.name);
    if (summary) button.append(made("small", { text: summary }));
    button.addEventListener("click", () => this.#change({ condition: name }));
    return made("li", {}, button);
  }

  #done({ moves, values, saves }) {
    this.values = values;
    this.movedAt = moves.at(-1)?.at_ns ?? 0;
    const begun = moves[0]?.at_ns ?? 0;
    const items = moves.map(({ at_ns, words }) =>
      made("li", {}, made("time", { text: text.seconds((at_ns - begun) / 1e9) }), made("span", { text: words })));
    const none = made("li", { className: "none", text: "Nothing yet." });
    at("done").replaceChildren(...(items.length ? items.reverse() : [none]));
    at("save").disabled = !saves;
  }

  async #save() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await get("/api/saved"));
    link.download = `${BY_HAND}.yaml`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), AGAIN_MS);
  }
}

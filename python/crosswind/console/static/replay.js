// The page of a finished run: one of its trials along its time axis.

import { get } from "./api.js";
import { WHOLE_TRIAL } from "./charts.js";
import { cutWords } from "./faults.js";
import { Model, Played } from "./model.js";
import { operationCharts } from "./operations.js";
import * as text from "./text.js";
import { View, at, made, problem, state } from "./view.js";

export async function replay(page) {
  const shown = new Replay(page);
  const first = page.trials.find(({ stored }) => stored);
  if (!first) throw new Error("No trial of this run has stored what its network did.");
  await shown.choose(first.trial);
}

class Replay {
  constructor({ network, name, folder, application, trials }) {
    Object.assign(this, { trials, application, model: new Model(network) });
    at("title").textContent = `${name}, ${folder}: ${network.title}`;
    this.buttons = new Map(trials.map((trial) => [trial.trial, this.#button(trial)]));
    const conditions = [...new Set(trials.map(({ condition }) => condition))];
    at("of").replaceChildren(new Option("all conditions", ""), ...conditions.map((each) => new Option(each, each)));
    at("of").addEventListener("change", () => this.#list());
    this.#list();
    at("time").addEventListener("input", () => this.#move(+at("time").value));
    at("play").addEventListener("click", () => (this.playing ? this.#pause() : this.#play()));
  }

  async choose(name) {
    this.#pause();
    state("loading", "");
    try {
      this.#show(await get(`/api/trial?${new URLSearchParams({ name })}`));
      problem("");
    } catch (error) {
      problem(error.message);
    }
  }

  #show(trial) {
    const listed = this.trials.find((each) => each.trial === trial.trial);
    this.model.change({ condition: "", places: {}, by: "up" });
    const series = new Played(this.model, trial);
    if (!this.view) {
      this.view = new View(this.model, series, WHOLE_TRIAL);
      this.view.charts.before = () => this.#operations();
      this.view.onPlace = () => this.#move(this.number ?? 0);
      this.view.charts.onPoint((at_ns) => this.#moveTo(at_ns));
    }
    this.view.series = series;
    this.number = 0;
    at("time").max = series.steps.length - 1;
    this.view.show();
    for (const [name, button] of this.buttons) button.setAttribute("aria-pressed", name === trial.trial);
    at("late").textContent = `${text.count(trial.ledger.missed)} of ${text.count(trial.ledger.packets)}`;
    at("trial").textContent = trial.trial;
    state(listed.fidelity ?? listed.status, { faithful: "live", void: "gone" }[listed.fidelity] ?? "");
    at("note").textContent = listed.note ?? "";
    this.#events(series);
  }

  #operations() {
    const { operations, trial } = this.view.series;
    const step_s = trial.step_ns / 1e9;
    const of = ({ number }) => ({
      ended_s: operations.ended[number] / step_s,
      failed_s: operations.failed[number] / step_s,
      median_ns: operations.median_ns[number],
      p99_ns: operations.p99_ns[number],
      slowest_ns: operations.slowest_ns[number],
    });
    return operations ? operationCharts(this.application, of) : [];
  }

  /** What happened in the trial, as a list: a click goes there. */
  #events({ changes, stalls, outages, started_ns, trial: { faults } }) {
    const found = [
      ...faults.map(({ at_ns, words }) => ({ at_ns, words })),
      ...changes.map((change) => ({ at_ns: change.at_ns, words: changeWords(change) })),
      ...outages.map(({ at_ns, length_ns }) => ({ at_ns, words: `outage of ${text.time(length_ns / 1e3)}` })),
      ...stalls.map(({ at_ns, length_ns }) => ({ at_ns, words: `the emulator stalled for ${text.time(length_ns / 1e3)}` })),
    ].sort((one, other) => one.at_ns - other.at_ns);
    const items = found.map(({ at_ns, words }) => {
      const button = made("button", { type: "button" }, made("time", { text: text.seconds((at_ns - started_ns) / 1e9) }), made("span", { text: words }));
      button.addEventListener("click", () => this.#moveTo(at_ns));
      return made("li", {}, button);
    });
    at("events").replaceChildren(...(items.length ? items : [made("li", { className: "none", text: "No change, fault, outage or stall." })]));
  }

  #list() {
    const of = at("of").value;
    const shown = this.trials.filter(({ condition }) => !of || condition === of);
    at("trials").replaceChildren(...shown.map(({ trial }) => made("li", {}, this.buttons.get(trial))));
  }

  #button({ trial, condition, status, fidelity, figures, stored }) {
    const found = made("button", { type: "button", text: condition, disabled: !stored });
    const how = stored ? text.figures(figures) : status;
    found.append(made("small", { text: `${trial.split("-").slice(0, 2).join(" ")} · ${how}${fidelity && fidelity !== "faithful" ? ` · ${fidelity}` : ""}` }));
    found.addEventListener("click", () => this.choose(trial));
    return found;
  }

  #move(number) {
    const { steps, started_ns } = this.view.series;
    this.number = Math.max(0, Math.min(number, steps.length - 1));
    const step = steps[this.number];
    const words = text.seconds((step.at_ns - started_ns) / 1e9);
    at("time").value = this.number;
    at("time").setAttribute("aria-valuetext", words);
    at("clock").textContent = `${words} of ${text.seconds(this.view.series.length_s)}`;
    at("active").textContent = step.condition;
    this.view.picture.draw(steps.slice(0, this.number + 1));
    this.view.broken(this.view.series.faultsAt(step.at_ns + this.view.series.trial.step_ns));
    this.view.charts.showInstant(step.at_ns, this.number);
  }

  #moveTo(at_ns) {
    const { started_ns, trial } = this.view.series;
    this.#move(Math.floor((at_ns - started_ns) / trial.step_ns));
  }

  #play() {
    if (this.number >= this.view.series.steps.length - 1) this.number = 0;
    this.playing = { from: this.number, since: performance.now() };
    this.#say("Pause");
    const frame = (now) => {
      if (!this.playing) return;
      const step_ms = this.view.series.trial.step_ns / 1e6;
      const number = this.playing.from + Math.floor(((now - this.playing.since) * +at("speed").value) / step_ms);
      if (number !== this.number) this.#move(number);
      if (number >= this.view.series.steps.length - 1) this.#pause();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  #pause() {
    this.playing = null;
    this.#say("Play");
  }

  #say(word) {
    at("play").textContent = word;
    at("play").className = word.toLowerCase();
  }
}

/** What a change did, for the list of what happened. */
function changeWords({ by, condition, places, cuts }) {
  const cut = cuts && (cuts.length ? `cut off: ${cutWords(cuts)}` : "no cut");
  if (by === "cut") return `${cut}, by hand`;
  if (by !== "timeline") return `condition ${condition}`;
  return cut && !Object.keys(places).length ? cut : `next step of ${condition}${cut ? `, ${cut}` : ""}`;
}

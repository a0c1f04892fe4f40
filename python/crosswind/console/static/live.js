// A network that is up: the last 60 seconds of it, as its steps come.

import { LAST_MINUTE } from "./charts.js";
import { Live } from "./model.js";
import { operationCharts } from "./operations.js";
import * as text from "./text.js";
import { View, at, state } from "./view.js";

export class LiveView {
  /** `changed` is called when another condition is active. */
  constructor(model, changed) {
    Object.assign(this, { model, changed });
    this.view = new View(model, new Live(model), LAST_MINUTE);
    const late = { title: "Late packets, each 100 ms, whole network", readers: [(step) => step.late], show: text.count, least: 2 };
    this.view.charts.after = () => [late];
    this.view.charts.before = () => {
      const { series } = this.view;
      return [...series.applications.keys()].flatMap((name) => operationCharts(name, (step) => series.operationsIn(name, step)));
    };
    this.#broken();
  }

  /** Takes an event of the stream; what it changes is drawn with the next frame. */
  take(event) {
    if (event.event === "lost") state(`live, ${event.steps} steps lost`, "");
    if (event.event === "operations") this.view.series.addOperations(event);
    if (event.event === "node-fault") this.#hit(event);
    if (event.event === "trial-ended") this.#ended();
    if (event.event !== "step") return;
    this.view.series.add(event);
    if (event.changes.length) {
      this.#broken();
      this.changed();
    }
    this.isDue ||= requestAnimationFrame(() => {
      this.isDue = 0;
      this.#draw();
    });
  }

  #hit(fault) {
    this.model.faults.hit(fault);
    at("said").textContent = fault.words;
    this.#broken();
  }

  #ended() {
    this.model.faults.end(this.view.series.latest_ns);
    this.#broken();
  }

  #broken() {
    this.view.broken(this.model.faults);
  }

  #draw() {
    const { series } = this.view;
    this.view.draw();
    const { packets, missed } = series.window;
    at("late").textContent = `${text.count(missed)} of ${text.count(packets)}`;
    at("spent").textContent = series.spent < 1e-4 ? "less than 0.01 % of a core" : `${text.share(series.spent)} of a core`;
  }
}

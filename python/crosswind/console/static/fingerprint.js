// The page of a fingerprint: what is measured now, what was found so far, and the network meanwhile.

import { lines } from "./api.js";
import { LiveView } from "./live.js";
import { Model } from "./model.js";
import { drawn } from "./drawn.js";
import * as text from "./text.js";
import { at, made, state } from "./view.js";

export async function fingerprint(page) {
  const shown = new Fingerprint(page);
  state("live", "live");
  await lines("/api/stream", (event) => shown.take(event));
  if (!shown.hasEnded) state("ended", "gone");
}

class Fingerprint {
  constructor({ network, active }) {
    if (network) {
      const model = new Model(network, active);
      this.live = new LiveView(model, () => (at("active").textContent = model.condition.name));
      this.live.view.show();
    } else {
      for (const part of document.querySelectorAll(".of-network")) part.hidden = true;
    }
    this.begun = 0;
    this.kinds = {
      "fingerprint-begun": (event) => this.#begun(event),
      "measurement-begun": (event) => this.#measurement(event),
      measured: (event) => this.#found(event),
      "fingerprint-ended": (event) => this.#ended(event),
    };
  }

  take(event) {
    this.live?.take(event);
    this.kinds[event.event]?.(event);
  }

  #begun({ between, condition, measurements }) {
    this.measurements = measurements;
    at("between").textContent = `From ${between[0]} to ${between[1]}${condition ? `, under ${condition}` : ""}`;
    at("measured").max = measurements;
  }

  #measurement({ name }) {
    this.begun += 1;
    at("measured").value = this.begun - 1;
    at("measured-words").textContent = `Measurement ${this.begun} of ${this.measurements}:`;
    at("measuring").textContent = name;
    at("said").textContent = name;
  }

  #found({ name, quantity, unit, value, values }) {
    const show = (number) => text.figure(number, unit);
    const range = `${show(Math.min(...values))} to ${show(Math.max(...values))}`;
    at("found").prepend(made("tr", {},
      made("th", { scope: "row", text: name }),
      made("td", { text: quantity }),
      made("td", { text: show(value) }),
      made("td", { className: "interval" }, series(values), made("small", { text: range }))));
  }

  #ended({ reason }) {
    this.hasEnded = true;
    if (reason === null) at("measured").value = this.measurements;
    at("measured-words").textContent = reason === null ? "All is measured." : `It ended early: ${reason}`;
    at("measuring").textContent = "";
    at("said").textContent = "The fingerprint has ended";
    state(reason === null ? "done" : "ended", reason === null ? "live" : "gone");
  }
}

/** Values in their order, as a line. */
function series(values) {
  const svg = drawn("svg", { viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" });
  const most = Math.max(...values) || 1;
  const x = (number) => (values.length > 1 ? (100 * number) / (values.length - 1) : 50);
  svg.append(drawn("line", { x1: 0, x2: 100, y1: 23, y2: 23, class: "zero" }));
  const points = values.map((value, number) => `${x(number).toFixed(2)},${(23 - (21 * value) / most).toFixed(2)}`);
  // One value is no line.
  if (points.length === 1) points.push(points[0].replace(/^50.00/, "50.5"));
  svg.append(drawn("polyline", { points: points.join(" "), class: "series-line" }));
  return svg;
}

// The page of a run: how far it is, what it knows of each condition, and the network of the trial that runs.

import { lines } from "./api.js";
import { Hand } from "./hand.js";
import { LiveView } from "./live.js";
import { Model } from "./model.js";
import { drawn } from "./drawn.js";
import * as text from "./text.js";
import { at, made, state } from "./view.js";

const REACHED = { up: "the application starts", prepared: "the load runs", measured: "measured" };
const BLOCKS_SHOWN = 8; // Of the intervals that a condition had.

export async function run(page) {
  const shown = new Run(page);
  state("live", "live");
  await lines("/api/stream", (event) => shown.take(event));
  if (!shown.hasEnded) state("ended", "gone");
}

class Run {
  constructor({ network, active, faults, name, summary, hand }) {
    this.model = new Model(network, active, faults);
    at("run-name").textContent = name;
    at("summary").textContent = summary;
    this.live = new LiveView(this.model, () => this.#changed());
    this.hand = new Hand(this.live, hand);
    at("steer").addEventListener("change", () => this.#steer());
    this.#steer();
    this.live.view.show();
    this.#changed();
    this.before = new Map();
    this.kinds = {
      "run-begun": (event) => this.#begun(event),
      "trial-begun": (event) => this.#trialBegun(event),
      "trial-reached": ({ step }) => this.#reached(step),
      "trial-moved": () => this.#moved(),
      "trial-ended": (event) => this.#trialEnded(event),
      "so-far": (event) => this.#soFar(event),
      note: (event) => this.#note(event.text),
      "run-ended": (event) => this.#ended(event),
    };
  }

  take(event) {
    this.live.take(event);
    this.kinds[event.event]?.(event);
  }

  #changed() {
    at("active").textContent = this.model.condition.name;
    this.hand.active();
  }

  /** What moves the network is shown where the user wants it, and works while the load of a trial runs. */
  #steer() {
    for (const part of document.querySelectorAll(".hand")) part.hidden = !at("steer").checked;
    for (const part of document.querySelectorAll("fieldset")) part.disabled = !this.isOpen;
    const again = this.each_s ? `, which takes about ${text.duration(this.each_s)}` : "";
    at("cost").textContent = this.wasMoved
      ? "This attempt was moved: it is void, and the trial is tried again."
      : `The first move makes the attempt that runs void. Its trial is tried again${again}.${this.isOpen ? "" : " You can move it while its load runs."}`;
  }

  #open(isOpen) {
    this.isOpen = isOpen;
    this.#steer();
  }

  #reached(step) {
    at("doing").textContent = REACHED[step];
    this.#open(step === "prepared");
  }

  #moved() {
    this.wasMoved = true;
    this.#steer();
  }

  #begun({ trials, ended, baseline, folder }) {
    this.baseline = baseline;
    at("folder").textContent = folder;
    this.#progress(ended, trials, null);
  }

  #progress(ended, trials, left_s) {
    Object.assign(at("progress"), { value: ended, max: Math.max(1, trials) });
    at("progress-words").textContent = `${ended} of ${trials} trials${left_s === null ? "" : `, ${text.left(left_s)}`}`;
  }

  #trialBegun({ trial, attempt, condition, ended, trials, left_s }) {
    this.#progress(ended, trials, left_s);
    this.each_s = left_s === null ? null : left_s / Math.max(1, trials - ended);
    this.wasMoved = false;
    this.hand.begin();
    this.#open(false);
    at("now").textContent = `${trial}: ${condition}${attempt > 1 ? `, attempt ${attempt}` : ""}`;
    at("doing").textContent = "the network comes up";
  }

  #trialEnded({ trial, condition, status, reason, fidelity, fidelity_reason, figures }) {
    this.#open(false);
    const how = status === "done" ? text.figures(figures) : `${status}: ${reason}`;
    const mark = made("span", { className: `mark ${fidelity ?? status}`, text: fidelity ?? status });
    const item = made("li", {}, made("strong", { text: condition }), mark, made("small", { text: `${trial} · ${how}` }));
    if (fidelity_reason) item.append(made("small", { text: fidelity_reason }));
    at("ended").prepend(item);
  }

  #soFar({ figure, unit, confidence, blocks, blocks_planned, conditions }) {
    at("blocks").textContent = `${blocks} of ${blocks_planned} blocks`;
    at("figure").textContent = `${figure}, median`;
    at("confidence").textContent = `${text.share(confidence)} interval`;
    for (const { condition, low, high } of conditions) {
      const known = this.before.get(condition) ?? [];
      const last = known.at(-1);
      if (low !== null && !(last?.low === low && last?.high === high)) known.push({ low, high });
      this.before.set(condition, known.slice(-BLOCKS_SHOWN));
    }
    const ends = conditions.flatMap(({ condition, value }) => [value, ...this.before.get(condition).flatMap(({ low, high }) => [low, high])]);
    const scale = scaleOf(ends.filter((end) => end !== null && Number.isFinite(end)));
    at("conditions-so-far").replaceChildren(...conditions.map((each) => this.#row(each, unit, scale)));
  }

  #row({ condition, trials, value, low, high, needed, settled }, unit, scale) {
    const show = (number) => (number === null ? "–" : text.figure(number, unit));
    const interval = low === null ? "too few trials" : `${show(low)} to ${show(high)}, ± ${text.share((high - low) / 2 / Math.abs(value), 2)}`;
    const left = settled ? "enough" : needed === null ? "unknown" : needed ? `${needed} more` : "as planned";
    return made("tr", {},
      made("th", { scope: "row", text: condition }, ...(condition === this.baseline ? [made("small", { text: "baseline" })] : [])),
      made("td", { text: trials }),
      made("td", { text: show(value) }),
      made("td", { className: "interval" }, intervals(this.before.get(condition), value, scale), made("small", { text: interval })),
      made("td", { text: left }));
  }

  #note(words) {
    at("notes").append(made("li", { text: words.replace(/^note: /, "") }));
    at("notes-card").hidden = false;
  }

  #ended({ exit, remarks }) {
    this.hasEnded = true;
    at("progress").value = exit === 0 ? at("progress").max : at("progress").value;
    at("now").textContent = "The run has ended.";
    at("doing").textContent = "";
    remarks.forEach((remark) => this.#note(remark));
    state(exit === 0 ? "done" : "ended", exit === 0 ? "live" : "");
    at("said").textContent = "The run has ended";
  }
}

/** A scale from the least to the greatest of some numbers, to 0 … 100; even in the logarithm where they differ much. */
function scaleOf(numbers) {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const by = least > 0 && most > 4 * least ? Math.log : (number) => number;
  const [from, to] = [by(least), by(most)];
  return (number) => (to > from ? 3 + (94 * (by(number) - from)) / (to - from) : 50);
}

/** Intervals, the newest at the bottom: they narrow as trials are added. */
function intervals(known, value, scale) {
  const svg = drawn("svg", { viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" });
  known.forEach(({ low, high }, number) => {
    const isLast = number === known.length - 1;
    const y = isLast ? 19 : 15 - 2.2 * (known.length - 2 - number);
    svg.append(drawn("line", { x1: scale(low), x2: scale(high), y1: y, y2: y, class: isLast ? "newest" : "older" }));
  });
  if (value !== null && Number.isFinite(value)) svg.append(drawn("line", { x1: scale(value), x2: scale(value), y1: 14, y2: 24, class: "estimate" }));
  return svg;
}

// Sliders of a place: delay, jitter, loss, rate and buffer. A move is sent while it is made, the latest value first.

import * as text from "./text.js";

const STEPS = 200;

/** A scale from `least` to `most`, even in the logarithm, of values with two digits; 0 has a place of its own. */
function logarithmic(least, most, isZero) {
  const value = (step) => +(least * (most / least) ** (step / STEPS)).toPrecision(2);
  const step = (amount) => Math.round((STEPS * Math.log(amount / least)) / Math.log(most / least));
  return isZero
    ? { max: STEPS + 1, value: (at) => (at === 0 ? 0 : value(at - 1)), at: (amount) => (amount ? step(amount) + 1 : 0) }
    : { max: STEPS, value, at: step };
}

const SLIDERS = [
  { slider: "delay_us", label: "Delay", scale: logarithmic(100, 1e6, true), show: text.time, rest: () => 0 },
  { slider: "jitter_us", label: "Jitter", scale: logarithmic(10, 5e5, true), show: text.time, rest: () => 0 },
  { slider: "loss_ppm", label: "Loss", scale: logarithmic(10, 5e5, true), show: (ppm) => text.share(ppm / 1e6), rest: () => 0 },
  { slider: "rate_bps", label: "Rate", scale: logarithmic(1e5, 1e10, false), show: text.rate, rest: (link) => link.rate_bps },
  { slider: "buffer_bytes", label: "Buffer", scale: logarithmic(2e3, 2e7, false), show: text.size, rest: (link) => link.buffer_bytes },
];

export class Sliders {
  /** `move` sends a move and resolves when it is active. */
  constructor(root, move) {
    this.move = move;
    this.waiting = new Map();
    this.isSending = false;
    this.sliders = SLIDERS.map((kind) => this.#slider(root, kind));
  }

  /** Shows a place: `values` are its own, `all` those of its kind, `link` stands for what is declared. */
  show(place, values, all, link) {
    this.place = place;
    for (const { kind, row, input, output } of this.sliders) {
      if (document.activeElement === input && this.isSending) continue;
      const own = values?.[kind.slider] ?? null;
      const shown = own ?? (place.on === null ? null : all?.[kind.slider] ?? null) ?? kind.rest(link);
      input.value = shown === null ? kind.scale.max : kind.scale.at(shown);
      this.#say(kind, row, input, output, shown, own !== null);
    }
  }

  #slider(root, kind) {
    const row = Object.assign(document.createElement("div"), { className: "slider" });
    const label = Object.assign(document.createElement("label"), { textContent: kind.label, htmlFor: kind.slider });
    const input = Object.assign(document.createElement("input"), {
      type: "range", id: kind.slider, min: 0, max: kind.scale.max, step: 1,
    });
    const output = Object.assign(document.createElement("output"), { htmlFor: kind.slider });
    const back = Object.assign(document.createElement("button"), { type: "button", textContent: "×", title: "Leave it as it is declared" });
    back.setAttribute("aria-label", `${kind.label}: leave it as it is declared`);
    row.append(label, input, output, back);
    root.append(row);
    input.addEventListener("input", () => {
      const value = kind.scale.value(+input.value);
      this.#say(kind, row, input, output, value, true);
      this.#send(kind.slider, value);
    });
    back.addEventListener("click", () => this.#send(kind.slider, null));
    return { kind, row, input, output };
  }

  #say(kind, row, input, output, value, isMoved) {
    const words = value === null ? "unlimited" : kind.show(value);
    output.textContent = words;
    input.setAttribute("aria-valuetext", words);
    row.classList.toggle("moved", isMoved);
  }

  /** One request at a time; of what was moved meanwhile the latest value counts. */
  async #send(slider, value) {
    const { place, on } = this.place;
    this.waiting.set(`${place} ${on} ${slider}`, { place, on, slider, value: value === null ? null : Math.round(value) });
    if (this.isSending) return;
    this.isSending = true;
    for (const [key, move] of this.waiting) {
      this.waiting.delete(key);
      await this.move(move);
    }
    this.isSending = false;
  }
}

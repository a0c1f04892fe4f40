// Charts over time, by uPlot: one for each measure, a line for each link that is shown.

import * as text from "./text.js";
import { IDLE, queueDelay_ms, sum, used } from "./model.js";

const LINES_MAX = 6;
const COLOURS = ["--s1", "--s2", "--s3", "--s4", "--s5", "--s7"];
const VALUES_MAX = 3; // Beside a title.
const HEIGHT_PX = 150;
// Of the bars and words of faults.
const ROWS_MAX = 4, ROW_PX = 18, BAR_PX = 3;

/** The next number that makes, with its half, a good axis. */
const round = (value, limit = Infinity) => {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.min(limit, [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((each) => each * power >= value) * power);
};
const most = (numbers) => numbers.reduce((greatest, each) => Math.max(greatest, each), 0);

// `of` reads one link in one step, `all` puts several links into one line.
const MEASURES = [
  { title: "Throughput", of: (at) => at.sent_bps, all: sum, show: text.rate, least: 1e4 },
  { title: "Utilisation", of: used, all: most, show: text.share, least: 0.01, most: 1 },
  { title: "Waiting in queues", of: (at) => at.queued, all: sum, show: text.size, least: 1e3 },
  { title: "Queue delay", of: (at) => queueDelay_ms(at) * 1e3, all: most, show: text.time, least: 100 },
  { title: "Dropped packets, each 100 ms", of: (at) => at.dropped, all: sum, show: text.count, least: 2 },
];

/** The last 60 seconds, up to now. */
export const LAST_MINUTE = {
  range: () => [-60, 0],
  splits: () => [-60, -45, -30, -15, 0],
  words: (s) => (s ? `${s} s`.replace("-", "−") : "now"),
  seconds: (at_ns, series) => (at_ns - series.latest_ns) / 1e9,
};
/** A trial from its beginning to its end. */
export const WHOLE_TRIAL = {
  range: (series) => [0, series.length_s],
  words: (s) => `${+s.toPrecision(6)} s`,
  seconds: (at_ns, series) => (at_ns - series.started_ns) / 1e9,
};

/** Lines for a place: one for each link, or one for each direction where there are many. */
export function linesOf(model, place) {
  if (place.links.length <= LINES_MAX) {
    return place.links.map((name) => ({ label: name.replace("->", " → "), links: [name] }));
  }
  if (place.place === "trunks") return [{ label: `${place.links.length} links`, links: place.links }];
  const [up, down] = [model.uplink, model.downlink].map((of) => new Set([...of.values()].map((link) => link.name)));
  return [
    { label: "all uplinks", links: place.links.filter((name) => up.has(name)) },
    { label: "all downlinks", links: place.links.filter((name) => down.has(name)) },
  ];
}

export class Charts {
  /** `axis` is LAST_MINUTE or WHOLE_TRIAL; `series` may be replaced before `show`. */
  constructor(root, model, series, axis) {
    Object.assign(this, { root, model, series, axis, charts: [], roundTrip: () => null });
    // More charts, which are of no place: a title, readers of a step, `show`, `least`.
    this.before = () => [];
    this.after = () => [];
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show(this.place));
    new ResizeObserver(() => this.#fit()).observe(root);
  }

  /** Shows a place. */
  show(place) {
    this.place = place;
    this.lines = linesOf(this.model, place);
    this.charts.forEach(({ plot }) => plot.destroy());
    this.charts.forEach(({ figure }) => figure.remove());
    const links = new Set(place.links);
    const credits = [...this.series.credits].filter((element) => links.has(this.model.linkOf(element))).slice(0, LINES_MAX);
    this.charts = this.before().map((measure) => this.#own(measure));
    this.charts.push(...MEASURES.map((measure) => this.#chart(measure, this.lines.map((line) => this.#reader(measure, line)))));
    if (credits.length) {
      const owners = credits.map((element) => element.split("/")[0]);
      const readers = credits.map((element) => (step) => step.credit.get(element) ?? null);
      this.charts.push(this.#chart({ title: `Credit left: ${owners.join(", ")}`, show: text.bits, least: 1e3 }, readers));
    }
    this.charts.push(...this.after().map((measure) => this.#own(measure)));
    this.charts.push(this.#own({ title: "Round trip of a pair", readers: [(step) => this.roundTrip(step)], show: text.time, least: 100 }));
    this.draw();
  }

  colour(number) {
    return COLOURS[number % COLOURS.length];
  }

  #reader(measure, line) {
    return (step) => measure.all(line.links.map((name) => measure.of(step.links.get(name) ?? IDLE)));
  }

  #own(measure) {
    return this.#chart(measure, measure.readers, measure.readers.length === 1 ? "--s0" : undefined);
  }

  #chart(measure, readers, own) {
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const value = Object.assign(document.createElement("span"), { className: "value", hidden: readers.length > VALUES_MAX });
    value.append(...readers.map((_, number) => this.#value(readers.length > 1 && (own ?? this.colour(number)))));
    caption.append(measure.title, value);
    figure.append(caption);
    this.root.insertBefore(figure, this.root.lastElementChild);
    const css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue(name).trim();
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
    const plot = new uPlot({
      width: this.#width(figure),
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: () => this.axis.range(this.series) },
        y: { range: (_, __, top) => [0, round(Math.max(measure.least, top ?? 0) * 1.02, measure.most)] },
      },
      axes: [
        { ...axis, size: 24, ...(this.axis.splits && { splits: this.axis.splits }), values: (_, at) => at.map(this.axis.words) },
        { ...axis, size: 74, splits: (_, __, ___, top) => [0, top / 2, top], values: (_, at) => at.map((value) => measure.show(value)) },
      ],
      series: [{}, ...readers.map((__, number) => ({
        stroke: colour(own ?? this.colour(number)), width: 1.6, points: { show: false }, spanGaps: false,
      }))],
      hooks: { drawAxes: [(plot) => this.#marks(plot, colour)] },
    }, [[], ...readers.map(() => [])], figure);
    const instant = Object.assign(document.createElement("div"), { className: "instant", hidden: true });
    plot.over.append(instant);
    return { figure, plot, readers, measure, value, instant, known: new WeakMap(), found: [] };
  }

  /** The latest value of a line, after a dot of its colour where there are several. */
  #value(colour) {
    const found = document.createElement("span");
    if (colour) {
      const dot = document.createElement("i");
      dot.style.setProperty("--line-colour", `var(${colour})`);
      found.append(dot);
    }
    found.append("");
    return found;
  }

  #width(figure) {
    return Math.max(160, figure.clientWidth - 26);
  }

  #fit() {
    for (const { figure, plot } of this.charts) {
      const width = this.#width(figure);
      if (width !== plot.width) plot.setSize({ width, height: HEIGHT_PX });
    }
    if (this.at_ns !== undefined) this.showInstant(this.at_ns);
  }

  /** Changes of condition as lines; stalls, outages and faults as bands. */
  #marks(plot, colour) {
    const { ctx, bbox } = plot;
    const x = (at_ns) => plot.valToPos(this.axis.seconds(at_ns, this.series), "x", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const [bands, shade] of [[this.series.outages, "--bad-bg"], [this.series.stalls, "--wary-bg"]]) {
      ctx.fillStyle = colour(shade);
      for (const { at_ns, length_ns } of bands) {
        ctx.fillRect(x(at_ns), bbox.top, Math.max(2, x(at_ns + length_ns) - x(at_ns)), bbox.height);
      }
    }
    for (const band of this.series.faults.bands) this.#fault(ctx, bbox, x, band, colour(band.kind === "cut" ? "--bad" : "--s9"));
    ctx.strokeStyle = colour("--soft");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const { at_ns } of this.series.changes) {
      ctx.beginPath();
      ctx.moveTo(x(at_ns), bbox.top);
      ctx.lineTo(x(at_ns), bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  /** A fault as a pale band with a bar, and with its words where they have room; another at the same time is lower. */
  #fault(ctx, { left, top, width, height }, x, { at_ns, until_ns, words, row }, colour) {
    const [from, to] = [Math.max(left, x(at_ns)), Math.min(left + width, until_ns === Infinity ? Infinity : x(until_ns))];
    if (until_ns <= at_ns || to < left || from > left + width) return;
    const long = Math.max(2 * devicePixelRatio, to - from);
    ctx.fillStyle = colour;
    ctx.globalAlpha = 0.12;
    ctx.fillRect(from, top, long, height);
    ctx.globalAlpha = 1;
    if (row >= ROWS_MAX) return;
    const y = top + row * ROW_PX * devicePixelRatio;
    // Two that follow each other at once are two bars.
    ctx.fillRect(from, y, Math.max(devicePixelRatio, long - 2 * devicePixelRatio), BAR_PX * devicePixelRatio);
    Object.assign(ctx, { font: `${11 * devicePixelRatio}px system-ui`, textBaseline: "top", textAlign: "left" });
    const next = this.series.faults.bands.find((band) => band.row === row && band.at_ns > at_ns);
    const room = Math.min(left + width, next ? x(next.at_ns) : Infinity) - from;
    if (ctx.measureText(words).width + 8 * devicePixelRatio < room) ctx.fillText(words, from + 4 * devicePixelRatio, y + 5 * devicePixelRatio);
  }

  draw() {
    const { steps } = this.series;
    const at = steps.map((step) => this.axis.seconds(step.at_ns, this.series));
    // A step that another one follows changes no more, but for those that its domains report late.
    const settled = steps.length - 5;
    for (const chart of this.charts) {
      chart.found = chart.readers.map(() => new Array(steps.length));
      steps.forEach((step, number) => {
        let values = chart.known.get(step);
        if (!values) {
          values = chart.readers.map((reader) => (step.isGap ? null : reader(step)));
          if (number < settled) chart.known.set(step, values);
        }
        values.forEach((value, line) => (chart.found[line][number] = value));
      });
      chart.plot.setData([at, ...chart.found]);
      this.#say(chart, steps.length - 1);
    }
  }

  #say({ found, measure, value }, number) {
    [...value.children].forEach((each, line) => {
      const now = found[line][number] ?? null;
      each.lastChild.data = now === null ? "–" : measure.show(now);
    });
  }

  /** Marks an instant, and shows the values of its step. */
  showInstant(at_ns, number) {
    this.at_ns = at_ns;
    for (const chart of this.charts) {
      chart.instant.hidden = false;
      chart.instant.style.setProperty("--x", `${chart.plot.valToPos(this.axis.seconds(at_ns, this.series), "x")}px`);
      if (number !== undefined) this.#say(chart, number);
    }
  }

  /** Calls `moved` with the instant, in ns, at which the user points in a chart. */
  onPoint(moved) {
    this.root.addEventListener("pointerdown", (event) => {
      const chart = this.charts.find(({ plot }) => plot.over.contains(event.target));
      if (!chart) return;
      const left = event.clientX - chart.plot.over.getBoundingClientRect().left;
      moved(this.series.started_ns + chart.plot.posToVal(left, "x") * 1e9);
    });
  }
}

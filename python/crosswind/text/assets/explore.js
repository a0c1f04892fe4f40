"use strict";
// One trial over its time, and two conditions compared in a range that the reader selects. Both are made of the
// same counts: operations by time step and latency bin (crosswind.report.over_time).
(() => {
  const element = document.getElementById("over-time-data");
  if (!element) return;
  const { specs, redraw } = window.report;
  const run = JSON.parse(element.textContent);
  const at = (id) => document.getElementById(id);
  const latency = (bin) => run.lowest_ms * 10 ** (bin / run.per_decade);
  const four = (value) => Number(value.toPrecision(4));
  const stepsOf = (trial) => [...Array(trial.steps).keys()];
  const lengthOf = (trial, step) => (step === trial.steps - 1 ? trial.length - step * run.step : run.step);

  // step -> bins and their numbers of operations, in the order of latency
  const decode = (trial) => {
    const rows = stepsOf(trial).map(() => []);
    let cell = 0;
    for (let place = 0; place < trial.cells.length; place += 2) {
      cell += trial.cells[place];
      rows[Math.floor(cell / run.bins)].push([cell % run.bins, trial.cells[place + 1]]);
    }
    return rows;
  };
  const decoded = new Map();
  const rowsOf = (trial) => decoded.get(trial) ?? decoded.set(trial, decode(trial)).get(trial);

  const total = (row) => row.reduce((sum, [, count]) => sum + count, 0);
  const together = (rows) => {
    const counts = new Map();
    for (const row of rows) for (const [bin, count] of row) counts.set(bin, (counts.get(bin) ?? 0) + count);
    return [...counts].sort(([a], [b]) => a - b);
  };
  const quantile = (row, share) => {
    let rest = share * total(row);
    for (const [bin, count] of row) {
      if (rest <= count) return four(latency(bin + rest / count));
      rest -= count;
    }
    return null;
  };
  const median = (values) => {
    const known = values.filter((value) => value !== null).sort((a, b) => a - b);
    const middle = Math.floor(known.length / 2);
    return known.length === 0 ? null : known.length % 2 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
  };

  // As the axes that Python makes (crosswind.text.picture): powers of ten, and 2 and 5 where there are few.
  const logAxis = (values, more) => {
    const known = values.filter((value) => value > 0).map(Math.log10);
    const [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 0];
    const room = 0.04 * (high - low) + 0.03, span = high - low + 2 * room;
    return { type: "log", tickformat: ",~r", range: [low - room, high + room], ...(high - low > 2 ? { dtick: 1 } : span > 1 ? { dtick: "D2" } : {}), ...more };
  };
  const valuesOf = (traces, name) => traces.flatMap((trace) => trace[name]);

  // ---- One trial over its time

  const seconds = { title: { text: "s since the measurement began" } };
  const line = (x, y, name, series, more = {}) => ({
    type: "scatter", mode: "lines", x, y, name, legendgroup: name, line: { shape: "hv", width: 1.5 }, meta: { series },
    hovertemplate: `${name}: %{y:.4g} ${more.unit ?? ""}<extra></extra>`, ...more,
  });
  const panelsOf = (trial) => {
    const rows = rowsOf(trial), steps = stepsOf(trial);
    // The last value is drawn to the end of its step.
    const x = [...steps.map((step) => four(step * run.step)), trial.length];
    const drawn = (values) => [...values, values.at(-1)];
    const centres = steps.map((step) => four(step * run.step + lengthOf(trial, step) / 2));
    const panels = [];
    if (trial.cells.length) {
      const rate = rows.map((row, step) => four(total(row) / lengthOf(trial, step)));
      panels.push({ title: "Throughput", unit: "operations per second", traces: [line(x, drawn(rate), "throughput", 1, { showlegend: false, fill: "tozeroy", unit: "per second" })] });
      const quantiles = [["P50", 0.5, 1], ["P99", 0.99, 2], ["slowest", 1, 0]];
      const traces = quantiles.map(([name, share, series]) => line(centres, rows.map((row) => quantile(row, share)), name, series, { unit: "ms", mode: "lines+markers", line: { width: 1.2 }, marker: { size: 5 } }));
      panels.push({ title: "Latency", unit: "ms, logarithmic", axis: logAxis(valuesOf(traces, "y")), traces });
    }
    const links = Object.entries(trial.links);
    const colours = [3, 4, 5, 6, 8, 9];
    if (links.some(([, link]) => link.waiting.some((ms) => ms))) {
      panels.push({ title: "Queue delay", unit: "ms, of the busiest links", traces: links.map(([name, link], place) => line(x, drawn(link.waiting), name, colours[place], { showlegend: false, unit: "ms" })) });
    }
    const drops = Object.entries(trial.drops);
    if (drops.length) {
      panels.push({ title: "Packets dropped", unit: "per step", traces: drops.map(([name, counts], place) => ({
        type: "bar", x: counts.map(([step]) => four((step + 0.5) * run.step)), y: counts.map(([, count]) => count), width: run.step,
        name: `dropped, ${name}`, legendgroup: name, meta: { series: 7 + place }, hovertemplate: `${name}: %{y} packets<extra></extra>`,
      })) });
    }
    if (links.length) {
      panels.push({ title: "Utilisation", unit: "%, of the busiest links", axis: { range: [0, 104] }, traces: links.map(([name, link], place) => line(x, drawn(link.used), name, colours[place], { unit: "%" })) });
    }
    return panels;
  };
  const trialSpec = (trial) => {
    const panels = panelsOf(trial), gap = 0.26 / Math.max(panels.length, 1);
    const layout = {
      xaxis: { ...seconds, range: [0, trial.length], anchor: `y${panels.length}` }, hovermode: "x unified", hoversubplots: "axis",
      barmode: "stack", showlegend: true, legend: { orientation: "h", y: -0.09, yanchor: "top" }, annotations: [], shapes: [],
    };
    panels.forEach((panel, place) => {
      const top = 1 - place / panels.length - gap * 0.55, name = place ? place + 1 : "";
      layout[`yaxis${name}`] = { rangemode: "tozero", nticks: 4, ...panel.axis, domain: [1 - (place + 1) / panels.length + gap * 0.45, top] };
      layout.annotations.push({ text: `<b>${panel.title}</b>  ${panel.unit}`, xref: "paper", yref: "paper", x: 0, y: top, xanchor: "left", yanchor: "bottom", showarrow: false });
      panel.traces.forEach((trace) => { trace.yaxis = `y${name}`; });
    });
    for (const [begin, length] of trial.stalls) {
      layout.shapes.push({ name: "stall", type: "rect", xref: "x", yref: "paper", x0: begin, x1: begin + length, y0: 0, y1: 1, layer: "below" });
    }
    trial.faults.forEach(([begin, end, name, words], place) => {
      layout.shapes.push({ name, type: "rect", xref: "x", yref: "paper", x0: begin, x1: end, y0: 0, y1: 1, layer: "below" });
      if (trial.faults.length <= 6) layout.annotations.push({ text: words, xref: "x", yref: "paper", x: begin, y: 1, yshift: 12 * (place % 2), xanchor: "left", yanchor: "bottom", showarrow: false });
    });
    trial.changes.forEach(([begin, where], place) => {
      layout.shapes.push({ type: "line", xref: "x", yref: "paper", x0: begin, x1: begin, y0: 0, y1: 1, line: { dash: "dash", width: 1.2 } });
      layout.annotations.push({ text: where, xref: "x", yref: "paper", x: begin, y: 1, yshift: 12 * (place % 2), xanchor: "left", yanchor: "bottom", showarrow: false });
    });
    // Above the panels are two rows of labels, where anything changed or broke.
    const labelled = trial.changes.length || (trial.faults.length && trial.faults.length <= 6) ? 24 : 0;
    layout.margin = { t: 14 + labelled };
    return { data: panels.flatMap((panel) => panel.traces), layout, height: 135 * panels.length + 90 + labelled };
  };
  const events = (trial) => {
    const of = (many, one) => `${many} ${one}${many === 1 ? "" : "s"}`;
    const changes = trial.changes.map(([begin, where]) => `${begin} s (${where})`).join(", ");
    const broken = trial.faults.length ? `Bands: ${trial.faults.map(([begin, , , words]) => `${words} at ${begin} s`).join(", ")}. ` : "";
    const longest = Math.max(0, ...trial.stalls.map(([, length]) => length));
    const stalled = trial.stalls.length ? `Shaded: ${of(trial.stalls.length, "stall")} of the emulator, the longest ${four(1000 * longest)} ms.` : "No stall of the emulator.";
    const changed = changes ? `Dashed: the condition changed at ${changes}.` : broken ? "No other change." : "The condition did not change.";
    return `${broken}${changed} ${stalled}`;
  };
  const picker = at("over-time-trial");
  const label = (trial) => `${trial.trial} (${trial.verdict})`;
  run.conditions.forEach((condition, number) => {
    const group = Object.assign(document.createElement("optgroup"), { label: condition });
    run.trials.forEach((trial, place) => { if (trial.condition === number) group.append(new Option(label(trial), place)); });
    if (group.children.length) picker.append(group);
  });
  const show = () => {
    const trial = run.trials[picker.value];
    specs["over-time"] = trialSpec(trial);
    at("over-time-name").textContent = label(trial);
    at("over-time-events").textContent = events(trial);
    redraw("over-time");
  };
  picker.addEventListener("change", show);
  const turn = (by) => {
    picker.selectedIndex = (picker.selectedIndex + by + picker.options.length) % picker.options.length;
    show();
  };
  at("over-time-before").addEventListener("click", () => turn(-1));
  at("over-time-next").addEventListener("click", () => turn(1));
  document.querySelectorAll("a[data-trial]").forEach((link) => link.addEventListener("click", () => {
    picker.value = run.trials.findIndex((trial) => trial.trial === link.dataset.trial);
    show();
  }));
  // The trial with the slowest operation is the one that a reader looks for.
  const slowest = (trial) => (trial.cells.length ? together(rowsOf(trial)).at(-1)[0] : -1);
  const measured = run.trials.filter((trial) => trial.counted);
  const first = (measured.length ? measured : run.trials).reduce((worst, trial) => (slowest(trial) > slowest(worst) ? trial : worst));
  picker.value = run.trials.indexOf(first);
  show();

  // ---- Two conditions, in a range

  const sides = ["compare-a", "compare-b"].map(at);
  if (!sides[0]) return;
  const counted = (number) => run.trials.filter((trial) => trial.counted && trial.condition === number && trial.cells.length);
  const compared = run.conditions.map((_, number) => number).filter((number) => counted(number).length);
  sides.forEach((side) => compared.forEach((number) => side.append(new Option(run.conditions[number], number))));
  sides[0].value = compared[0];
  sides[1].value = compared.includes(first.condition) && first.condition !== compared[0] ? first.condition : compared[1];
  const chosen = () => sides.map((side) => Number(side.value));
  const range = { time: null, latency: null };
  const within = (bounds, value) => !bounds || (bounds[0] <= value && value <= bounds[1]);
  const inTime = (trial) => rowsOf(trial).filter((_, step) => within(range.time, (step + 0.5) * run.step));
  const inLatency = (row) => row.filter(([bin]) => within(range.latency, latency(bin + 0.5)));

  const figures = (number) => {
    const trials = counted(number).map((trial) => {
      const all = together(inTime(trial)), found = inLatency(all);
      const span = stepsOf(trial).filter((step) => within(range.time, (step + 0.5) * run.step)).reduce((sum, step) => sum + lengthOf(trial, step), 0);
      return { operations: total(found), share: total(all) ? total(found) / total(all) : null, rate: span ? total(found) / span : null,
               ...Object.fromEntries([0.5, 0.95, 0.99, 1].map((share) => [share, quantile(found, share)])) };
    });
    const over = (key) => median(trials.map((trial) => trial[key]));
    return { trials: trials.length, operations: trials.reduce((sum, trial) => sum + trial.operations, 0), share: over("share"), rate: over("rate"),
             p50: over(0.5), p95: over(0.95), p99: over(0.99), slowest: over(1) };
  };
  const three = (value) => Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 }).replaceAll(",", "\u202f");
  const whole = (value) => Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");
  const time = (ms) => (ms < 1 ? `${three(1000 * ms)} us` : ms < 1000 ? `${three(ms)} ms` : `${three(ms / 1000)} s`);
  const rowsShown = [
    ["Operations selected", "operations", whole], ["Share of operations", "share", (value) => `${three(100 * value)} %`],
    ["Throughput", "rate", (value) => `${whole(value)} per s`], ["P50", "p50", time], ["P95", "p95", time], ["P99", "p99", time], ["Slowest", "slowest", time],
  ];
  const change = (a, b) => {
    if (!a || !b) return "-";
    const ratio = b / a, more = Math.max(ratio, 1 / ratio);
    if (more < 1.005) return "same";
    const much = more >= 2 ? `${three(more)} \u00d7` : `${three(100 * Math.abs(ratio - 1))} %`;
    return `${much} ${ratio > 1 ? "higher" : "lower"}`;
  };
  const fields = { time: ["time-from", "time-to"].map(at), latency: ["latency-from", "latency-to"].map(at) };
  const tell = () => {
    const [a, b] = chosen().map(figures);
    const heads = [...chosen().map((number) => run.conditions[number]), "Difference"];
    at("compare-head-a").textContent = heads[0];
    at("compare-head-b").textContent = heads[1];
    const rows = rowsShown.map(([title, key, text]) => {
      const row = document.createElement("tr"), head = document.createElement("th");
      head.scope = "row";
      head.textContent = title;
      row.append(head, ...[a, b].map((side) => (side[key] === null ? "-" : text(side[key]))).concat(change(a[key], b[key])).map((content, column) => {
        const cell = document.createElement("td");
        cell.className = "num";
        cell.textContent = content;
        cell.dataset.column = heads[column];
        return cell;
      }));
      return row;
    });
    at("compare-rows").replaceChildren(...rows);
    const part = (bounds, unit, what) => (bounds ? `${four(bounds[0])} to ${four(bounds[1])} ${unit}` : what);
    at("compare-range").textContent = `Selected: ${part(range.time, "s", "the whole time")}, ${part(range.latency, "ms", "all latencies")}.`;
  };

  const PER_BIN = run.per_decade / 10;
  const COMPARED_STEPS = 40;
  const coarse = (number) => {
    const trials = counted(number), steps = Math.max(...trials.map((trial) => trial.steps));
    const wide = Math.ceil(steps / COMPARED_STEPS);
    return [...Array(Math.ceil(steps / wide)).keys()].map((place) => {
      const parts = trials.map((trial) => together(rowsOf(trial).slice(place * wide, (place + 1) * wide))).filter((row) => row.length);
      return [four(place * wide * run.step), median(parts.map((row) => quantile(row, 0.99)))];
    });
  };
  const shapes = (bounds) => (bounds ? [{ name: "range", type: "rect", xref: "x", yref: "paper", x0: bounds[0], x1: bounds[1], y0: 0, y1: 1, layer: "below" }] : []);
  const brushed = { dragmode: "select", selectdirection: "h", showlegend: true, legend: { orientation: "h", y: 1.02, yanchor: "bottom" }, selections: [] };
  const outline = () => {
    const latencies = chosen().map((number) => {
      const counts = new Map();
      for (const [bin, count] of together(counted(number).flatMap((trial) => rowsOf(trial)))) {
        const place = Math.floor(bin / PER_BIN);
        counts.set(place, (counts.get(place) ?? 0) + count);
      }
      const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const [low, high] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
      const places = [...Array(high - low + 1).keys()].map((step) => low + step);
      const share = (place) => (counts.has(place) ? four(counts.get(place) / all) : null);
      // Both edges of a bin: one without neighbours would have no line.
      return line(places.flatMap((place) => [place, place + 1].map((edge) => four(latency(edge * PER_BIN)))), places.flatMap((place) => [share(place), share(place)]),
        run.conditions[number], number, { line: { width: 1.6 }, hovertemplate: `${run.conditions[number]}: %{y:.3~%} of operations<extra></extra>` });
    });
    const times = chosen().map((number) => {
      const points = coarse(number);
      return line(points.map(([x]) => x), points.map(([, y]) => y), run.conditions[number], number, { unit: "ms" });
    });
    specs["compare-latency"] = { data: latencies, layout: { ...brushed, xaxis: logAxis(valuesOf(latencies, "x"), { title: { text: "latency (ms, logarithmic)" } }), yaxis: logAxis(valuesOf(latencies, "y"), { title: { text: "share of operations" }, tickformat: "~%" }), shapes: shapes(range.latency) } };
    specs["compare-time"] = { data: times, layout: { ...brushed, xaxis: seconds, yaxis: logAxis(valuesOf(times, "y"), { title: { text: "P99 of a step (ms, logarithmic)" } }), shapes: shapes(range.time) } };
  };
  const drawBoth = () => { outline(); tell(); redraw("compare-latency"); redraw("compare-time"); };
  const select = (kind, bounds) => {
    range[kind] = bounds;
    fields[kind].forEach((field, place) => { field.value = bounds ? four(bounds[place]) : ""; });
    drawBoth();
  };
  for (const [kind, pair] of Object.entries(fields)) {
    pair.forEach((field) => field.addEventListener("change", () => {
      const [from, to] = pair.map((each) => (each.value === "" ? null : Number(each.value)));
      select(kind, from === null && to === null ? null : [from ?? 0, to ?? (kind === "time" ? Math.max(...run.trials.map((trial) => trial.length)) : four(latency(run.bins)))]);
    }));
    const canvas = document.querySelector(`.canvas[data-figure="compare-${kind}"]`);
    canvas.addEventListener("drawn", () => canvas.on("plotly_selected", (found) => {
      if (found?.range) select(kind, found.range.x.map((value) => Math.max(value, 0)).sort((a, b) => a - b));
    }), { once: true });
  }
  sides.forEach((side) => side.addEventListener("change", drawBoth));
  at("compare-clear").addEventListener("click", () => { select("time", null); select("latency", null); });
  drawBoth();
})();

"use strict";
// Draws each figure when it comes near the screen: thirty pictures at once would keep a small machine busy for seconds.
(() => {
  // plotly.js is unpacked and run after the first paint: tables can be read in the meantime.
  const unpack = async () => {
    await new Promise((painted) => { requestAnimationFrame(() => setTimeout(painted)); setTimeout(painted, 300); });
    const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), (letter) => letter.charCodeAt(0));
    const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(plain).text();
    document.head.append(script);
  };
  const ready = unpack();
  const specs = JSON.parse(document.getElementById("figure-data").textContent);
  const canvases = [...document.querySelectorAll(".canvas")];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Figures come without colours; the page's own are put in, so that light and dark need one copy of the data.
  const trace = (plain) => {
    if (plain.colorscale || (plain.marker || {}).colorscale) return plain;  // coloured by value, alike in both themes
    const own = colour(`--s${plain.meta.series % 10}`);
    const copy = { ...plain };
    if (plain.type === "box") return { ...copy, line: { color: own, width: 1.6 }, fillcolor: `${own}33` };
    if (plain.type === "bar") return { ...copy, marker: { color: own } };
    if (plain.mode === "lines") Object.assign(copy, { line: { ...plain.line, color: own }, ...(plain.fill ? { fillcolor: `${own}38` } : {}) });
    else if (plain.mode === "lines+markers") Object.assign(copy, { line: { ...plain.line, color: own }, marker: { ...plain.marker, color: own } });
    else copy.marker = { ...plain.marker, color: own, line: { ...(plain.marker.line || {}), color: own } };
    return copy;
  };
  const axis = (plain) => ({
    gridcolor: colour("--grid"), zeroline: false, linecolor: colour("--line"), automargin: true, exponentformat: "none",
    ...plain, title: { ...plain?.title, font: { size: 12 }, standoff: 8 },
  });
  const shape = (plain) => {
    if (plain.name === "range") return { ...plain, fillcolor: `${colour("--first")}2b`, line: { width: 1, color: colour("--first") } };
    if (plain.name === "stall") return { ...plain, fillcolor: `${colour("--bad")}40`, line: { width: 1, color: `${colour("--bad")}80` } };
    if (plain.name === "cut") return { ...plain, fillcolor: `${colour("--bad")}24`, line: { width: 1, color: `${colour("--bad")}70` } };
    if (plain.name === "hit") return { ...plain, fillcolor: `${colour("--wary")}2b`, line: { width: 1, color: `${colour("--wary")}80` } };
    return { ...plain, line: { ...plain.line, color: colour("--soft") } };
  };
  const axes = (plain) => ({ xaxis: axis(plain.xaxis), yaxis: axis(plain.yaxis), ...Object.fromEntries(Object.keys(plain).filter((name) => /^[xy]axis\d/.test(name)).map((name) => [name, axis(plain[name])])) });
  const space = (plain) => ({
    ...plain,
    ...Object.fromEntries(["xaxis", "yaxis", "zaxis"].map((name) => [name, { gridcolor: colour("--line"), zeroline: false, showbackground: false, color: colour("--soft"), ...plain[name] }])),
  });
  const layout = (plain, width, fixed) => ({
    ...plain, ...(fixed ? { width: fixed } : { autosize: true }), paper_bgcolor: "transparent", plot_bgcolor: "transparent", separators: ".\u202f",
    font: { family: getComputedStyle(document.body).fontFamily, size: width < 500 ? 11 : 13, color: colour("--soft") },
    ...(plain.scene ? { scene: space(plain.scene) } : { margin: { l: 56, r: 16, t: 14, b: 46, ...plain.margin }, ...axes(plain) }),
    shapes: (plain.shapes || []).map(shape),
    hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--ink") } },
  });
  // Pages are narrower than most windows, and nothing can be measured on paper: there the width is given.
  const paperWidth = (canvas) => (canvas.closest(".small-multiples:not(.wide)") ? 298 : 640);
  const root = document.documentElement;
  const names = ({ data }) => data.filter((t) => t.legendgroup && t.showlegend !== false).length;
  const draw = (canvas) => {
    const printing = root.classList.contains("printing");
    const spec = specs[canvas.dataset.figure];
    // On a narrow screen every name of a legend takes a line; the picture must not pay for it.
    const narrow = canvas.clientWidth < 600 && names(spec) > 1;
    if (narrow || spec.height) canvas.style.height = `${(spec.height ?? 330) + (narrow ? 21 * names(spec) : 0)}px`;
    Plotly.react(canvas, spec.data.map(trace), layout(spec.layout, canvas.clientWidth, printing && paperWidth(canvas)), {
      displaylogo: false, displayModeBar: false,
    });
    if (canvas.dataset.drawn) return;
    canvas.dataset.drawn = "yes";
    canvas.dispatchEvent(new Event("drawn"));
    performance.mark("figure");  // the tests read how soon the first one is there
  };
  // Not plotly's own `responsive`: that hears of the window only, not of a fold that opens or of a print page.
  const sizes = new ResizeObserver((entries) => {
    if (root.classList.contains("printing")) return;
    for (const { target } of entries) if (target.dataset.drawn && target.clientWidth) Plotly.Plots.resize(target);
  });
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      ready.then(() => {
        draw(entry.target);
        sizes.observe(entry.target);
      });
    }
  }, { rootMargin: "600px" });
  canvases.forEach((canvas) => near.observe(canvas));
  dark.addEventListener("change", () => canvases.filter((canvas) => canvas.dataset.drawn).forEach(draw));
  const print = (on) => {
    root.classList.toggle("printing", on);
    document.querySelectorAll("details.more").forEach((fold) => { fold.open ||= on; });
    // Paper has no folds to open: what a reader needs to believe the numbers is printed.
    document.querySelectorAll("details.on-paper").forEach((fold) => {
      if (on) fold.dataset.open = fold.open;
      fold.open = on || fold.dataset.open === "true";
    });
    if (window.Plotly) canvases.forEach(draw);
    else ready.then(() => canvases.forEach(draw));
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));

  const save = (name, type, content) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };

  // For figures that another script makes: it changes their data, and they are drawn anew where they have been drawn.
  window.report = { specs, redraw: (key) => canvases.filter((canvas) => canvas.dataset.figure === key && canvas.dataset.drawn).forEach(draw) };

  // On a narrow screen a row becomes a card, and every number in it needs the name of its column.
  for (const table of document.querySelectorAll("table.summary, table.trials-table, table.tail, table.causes, table.compared")) {
    const heads = [...table.tHead.rows[0].cells].map((head) => [...head.childNodes].map((part) => part.textContent.trim()).filter(Boolean).join(", "));
    for (const row of table.tBodies[0].rows) for (const cell of row.cells) cell.dataset.column = heads[cell.cellIndex];
    table.classList.add("cards");
  }

  // A figure's data as a table: a line per point, or per box.
  const cell = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : value);
  const text = (value) => String(value).replaceAll("<br>", "");
  const rows = (data) => data.flatMap((t) => t.type === "box"
    ? ["lowerfence", "q1", "median", "q3", "upperfence"].map((part) => [text(t.name), part, t[part][0]])
    : Array.isArray((t.z || [])[0]) ? t.z.flatMap((row, j) => row.map((z, i) => [t.x[i], t.y[j], z]))
    : t.z ? t.z.map((z, i) => [t.x[i], t.y[i], z])
    : t.x.map((x, i) => [text(t.legendgroup || t.name), x, text(t.customdata ? t.customdata[i] : t.y[i])]));
  document.querySelectorAll("button.csv").forEach((button) => button.addEventListener("click", () => {
    const key = button.dataset.figure;
    const lines = [["series", "x", "y"], ...rows(specs[key].data)].map((row) => row.map(cell).join(","));
    save(`${key}.csv`, "text/csv", lines.join("\n") + "\n");
  }));

  // A picture that is taken away has the colours of paper, whatever the screen.
  const svgWidth = (canvas) => (canvas.closest(".small-multiples, .pair") ? 560 : 900);
  document.querySelectorAll("button.svg").forEach((button) => button.addEventListener("click", async () => {
    const key = button.dataset.figure;
    const spec = specs[key];
    const canvas = button.closest("figure").querySelector(".canvas");
    const was = root.classList.contains("printing");
    root.classList.add("printing");
    const width = svgWidth(canvas);
    const plain = { data: spec.data.map(trace), layout: { ...layout(spec.layout, width, width), paper_bgcolor: "white" } };
    root.classList.toggle("printing", was);
    const height = spec.height ?? Math.max(canvas.clientHeight, 200);
    await ready;
    const picture = await Plotly.toImage(plain, { format: "svg", width, height });
    save(`${key}.svg`, "image/svg+xml", decodeURIComponent(picture.slice(picture.indexOf(",") + 1)));
  }));

  // What a reader of results seldom needs takes the place of the results, so that no table is wider than the page.
  document.querySelectorAll("input.view").forEach((box) => box.addEventListener("change", () => {
    box.closest(".views").classList.toggle("rare", box.checked);
  }));

  const conditions = [...document.querySelectorAll("details.condition")];
  const openAll = (open) => conditions.forEach((details) => { details.open = open; });
  document.getElementById("open-all")?.addEventListener("click", () => openAll(true));
  document.getElementById("close-all")?.addEventListener("click", () => openAll(false));
  const openTarget = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();
})();

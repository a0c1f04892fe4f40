// Charts of an application: how many operations end, and how long they take.

import * as text from "./text.js";

const LATENCIES = ["median_ns", "p99_ns", "slowest_ns"];

/** `of` gives what the application did in a step: operations per second, and latencies in ns; nothing where that is unknown. */
export function operationCharts(name, of) {
  const value = (key) => (step) => of(step)?.[key] ?? null;
  return [
    { title: `Operations of ${name}: all, failed`, readers: ["ended_s", "failed_s"].map(value), show: text.perSecond, least: 10 },
    { title: "Latency: median, P99, slowest", readers: LATENCIES.map(value), show: (ns) => text.time(ns / 1e3), least: 1e5 },
  ];
}

// Quantities as a person reads them.

export const scaled = (value, units, digits = 3) => {
  const [factor, unit] = units.find(([each]) => Math.abs(value) >= each) ?? units.at(-1);
  return `${+(value / factor).toPrecision(digits)} ${unit}`;
};

const RATES = [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]];
const SIZES = [[1e6, "MB"], [1e3, "kB"], [1, "B"]];
const TIMES = [[1e6, "s"], [1e3, "ms"], [1, "µs"]];
const BITS = [[1e9, "Gbit"], [1e6, "Mbit"], [1e3, "kbit"], [1, "bit"]];

export const rate = (bps) => (bps ? scaled(bps, RATES) : "0");
export const size = (bytes) => (bytes ? scaled(bytes, SIZES) : "0");
export const time = (us) => (us ? scaled(us, TIMES) : "0");
export const bits = (count) => (count ? scaled(count, BITS) : "0");
export const share = (part, digits = 3) => `${+(part * 100).toPrecision(digits)} %`;
export const count = (number) => (Number.isInteger(number) ? Math.round(number).toLocaleString("en").replaceAll(",", "\u202f") : "");

const SHARES = [[0.01, "%"]];
const COUNTS = [[1, ""]];
const PER_SECOND = [[1e6, "million/s"], [1, "per second"]];
const FINE_TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const UNITS = { ns: FINE_TIMES, "bit/s": RATES, bit: BITS, B: SIZES, "1/s": PER_SECOND, share: SHARES, count: COUNTS, 1: COUNTS };

/** A figure in the unit of its metric, such as `107 ms`. */
export const figure = (value, unit) => scaled(value, UNITS[unit] ?? [[1, unit]]).trim();
export const figures = (found) => found.map(({ name, value, unit }) => `${name} ${figure(value, unit)}`).join(", ");
export const seconds = (s) => `${s.toFixed(1)} s`;
export const perSecond = (number) => (number ? `${+number.toPrecision(3)}/s` : "0");

/** A time that is estimated, in one unit. */
export function duration(s) {
  if (s < 90) return `${Math.max(1, Math.round(s))} s`;
  return s < 5400 ? `${Math.round(s / 60)} min` : `${(s / 3600).toFixed(1)} h`;
}
export const left = (s) => `${duration(s)} left`;

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
export const share = (part) => `${+(part * 100).toPrecision(3)} %`;
export const count = (number) => (Number.isInteger(number) ? Math.round(number).toLocaleString("en").replaceAll(",", "\u202f") : "");

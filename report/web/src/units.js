// Numbers for readers: three significant digits, in the unit in which the largest is at
// least 1.
const scales = {
  "bit/s": [["Tbit/s", 1e12], ["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3], ["bit/s", 1]],
  s: [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]],
  "1/s": [["M/s", 1e6], ["k/s", 1e3], ["1/s", 1]],
  bytes: [["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["bytes", 1]],
  ratio: [["%", 0.01]],
  count: [["", 1]],
};

export function scaleFor(unit, values) {
  const known = scales[unit] ?? [[unit, 1]];
  const largest = Math.max(0, ...values.filter(Number.isFinite).map(Math.abs));
  return known.find(([, size]) => largest >= 0.9995 * size) ?? known[known.length - 1];
}

export function figure(value, digits = 3) {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size >= 6 || size < -5) return value.toExponential(digits - 1);
  return value.toFixed(Math.max(0, digits - 1 - size));
}

// alike writes values that are compared with each other: with as many decimals as give the
// largest of them three digits.
export function alike(...values) {
  const largest = Math.max(0, ...values.filter(Number.isFinite).map(Math.abs));
  if (largest >= 1e6) return figure;
  const decimals = largest > 0 ? Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(largest)))) : 0;
  return (value) => (Number.isFinite(value) ? value.toFixed(decimals).replace(/^-(0(\.0*)?)$/, "$1") : "-");
}

export const withUnit = (value, unit) => {
  const [name, size] = scaleFor(unit, [value]);
  return `${figure(value / size)} ${name}`.trim();
};

// percent is a ratio in percent; with its sign if signed is set.
export function percent(ratio, signed = false) {
  if (!Number.isFinite(ratio)) return "-";
  const value = 100 * ratio;
  const text = Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1);
  return (signed && value > 0 && Number(text) !== 0 ? "+" : "") + text;
}

export const interval = (low, high) => (low === undefined || high === undefined ? "" : `[${percent(low)}, ${percent(high)}]`);

import { farApart, lines } from "./lines.js";

// sizes draws the throughput of a sweep over message sizes with the most that the wire
// can carry; sizeTrips its round trips.
export const sizes = (t, view, group) => over(t, group, t("sizes_title"), "value", "bit/s", (row) => row.metric?.ceiling?.value);
export const sizeTrips = (t, view, group) => over(t, group, t("size_trips_title"), "rtt", "s", () => undefined);

function over(t, group, title, what, unit, limit) {
  const series = group.rows.map((r) => ({
    name: r.label, limit: limit(r), points: (r.sizes ?? []).filter((s) => s[what] !== undefined).map((s) => ({ x: s.size, y: s[what], n: s.n })),
  })).filter((s) => s.points.length > 1);
  if (series.length === 0) return undefined;
  return lines(t, { title, x: { name: t("size_bytes"), key: "size (bytes)", log: true, base: 2, label: bytes, ticks: ticks(series) }, unit, log: farApart(series), series });
}

// ticks are at every second power of two, if there are any.
function ticks(series) {
  const even = series.flatMap((s) => s.points.map((p) => p.x)).filter((x) => Math.log2(x) % 2 === 0);
  return even.length > 1 ? even : undefined;
}

// bytes writes sizes in units of 1024, as they are powers of two: 64K.
const bytes = (v) => (v >= 1024 && v % 1024 === 0 ? `${v / 1024}K` : String(Math.round(v)));

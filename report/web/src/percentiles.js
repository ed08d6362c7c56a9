import { farApart, lines } from "./lines.js";

// The x axis counts nines, so that the tail has space: 90 % is 1, 99 % is 2.
const nines = (share) => -Math.log10(1 - share);
const shares = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 };
const label = (x) => `${Number((100 * (1 - 10 ** -x)).toFixed(2))} %`;

// percentiles draws the latency percentiles of each network.
export function percentiles(t, view, group) {
  const series = group.rows.map((r) => ({ name: r.label, points: points(r) })).filter((s) => s.points.length > 1);
  if (series.length === 0) return undefined;
  return lines(t, { title: t("percentiles_title"), x: { name: t("percentile"), key: t("percentile"), label, ticks: series.flatMap((s) => s.points.map((p) => p.x)) }, unit: "s", log: farApart(series), series });
}

function points(row) {
  const found = [];
  for (const m of [row.metric, ...row.others]) {
    const [, of] = m?.name.match(/^(?:rtt|latency)_(p\d+)$/) ?? [];
    if (of in shares) found.push({ x: nines(shares[of]), y: m.value, low: m.low, high: m.high, n: m.n });
  }
  return found.sort((a, b) => a.x - b.x);
}

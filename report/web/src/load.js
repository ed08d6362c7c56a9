import { inUnit } from "./axes.js";
import { lines } from "./lines.js";

// load draws the received over the offered rate, and the softirq share of the
// receiver's busiest CPU.
export function load(t, view, group) {
  const rows = group.rows.filter((r) => r.load?.length > 1);
  if (rows.length === 0) return undefined;
  const points = (r, what) => r.load.filter((l) => l[what] !== undefined).map((l) => ({ x: l.offered, y: l[what], n: l.n }));
  const busy = rows.map((r) => ({ name: r.label, points: points(r, "softirq") })).filter((s) => s.points.length > 1);
  return lines(t, {
    title: t("load_title"), x: { name: t("offered"), key: "offered (1/s)", label: (v) => inUnit(v, "1/s") }, log: false, unit: "1/s",
    series: [...rows.map((r) => ({ name: r.label, points: points(r, "received") })), { name: t("all_received"), guide: true, points: diagonal(rows) }],
    second: busy.length > 0 ? { name: t("softirq"), unit: "ratio", series: busy } : undefined,
  });
}

// diagonal is where everything offered is received.
const diagonal = (rows) => {
  const all = rows.flatMap((r) => r.load.map((l) => l.offered));
  return [Math.min(...all), Math.max(...all)].map((x) => ({ x, y: x }));
};

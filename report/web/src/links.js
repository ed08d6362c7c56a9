import { inUnit } from "./axes.js";
import { lines } from "./lines.js";

// links draws the toll over the rate of the link between hosts.
export function links(t, view, group) {
  if (!group.links?.length) return undefined;
  const series = group.links.map((s) => ({ name: s.label, points: s.dots.map((d) => ({ x: d.at, y: d.toll.value, low: d.toll.low, high: d.toll.high, n: d.n })) }));
  return lines(t, { title: t("links_title"), x: { name: t("link"), key: "link (bit/s)", log: true, label: (v) => inUnit(v, "bit/s"), ticks: series.flatMap((s) => s.points.map((p) => p.x)) }, unit: "ratio", series });
}

import { lines } from "./lines.js";

// blocks draws the metric of a group block by block, so that drift is visible.
export function blocks(t, view, group) {
  const series = group.rows.filter((r) => r.blocks.length > 1)
    .map((r) => ({ name: r.label, points: r.blocks.map(([block, value]) => ({ x: block + 1, y: value })) }));
  if (series.length === 0) return undefined;
  return lines(t, { title: t("values_title"), x: { name: t("block"), whole: true }, log: false, unit: group.unit, series });
}

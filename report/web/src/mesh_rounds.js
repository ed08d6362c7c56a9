import { lines } from "./lines.js";

// rounds draws the middle of the pairs of each round, so that drift is visible.
export function rounds(t, mesh, metric, language) {
  const points = (dense) => metric.rounds.filter((r) => r.dense === dense).map((r) => ({ x: r.round + 1, y: r.value, n: r.n }));
  const series = [{ name: t("mesh_sparse"), points: points(false) }, { name: t("mesh_dense"), points: points(true) }].filter((s) => s.points.length > 1);
  if (series.length === 0) return undefined;
  return lines(t, { title: t("mesh_rounds", { metric: metric.heads[language] }), x: { name: t("mesh_round"), whole: true }, log: false, unit: metric.unit, series });
}

import { bars } from "./bars.js";

// hopTolls draws how long each kind of hop takes, next to the same of the baseline.
export const hopTolls = (t, view, group) => group.rows.filter((r) => r.trace?.tolls?.length).map((r) => {
  const rows = r.trace.tolls.map((h) => ({ label: h.name, parts: { [r.label]: h.value, [view.baseline]: h.baseline } }));
  return bars(t, { title: `${r.label}: ${t("hop_tolls_title", { baseline: view.baseline })}`, first: t("hop"), names: [r.label, view.baseline], unit: "s", rows, apart: true });
});

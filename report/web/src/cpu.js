import { bars } from "./bars.js";

// cpu draws the CPU time of both ends, for each Gbit or transaction.
export const cpu = (t, view, group) => ["cpu_per_gbit", "cpu_per_transaction"].map((name) => {
  const rows = group.rows.map((r) => ({ r, m: r.others.find((m) => m.name === name) })).filter(({ m }) => m)
    .map(({ r, m }) => ({ label: r.label, parts: { [name]: m.value }, low: m.low, high: m.high, n: m.n }));
  if (rows.length === 0) return undefined;
  return bars(t, { title: t(name), first: t("network"), names: [name], unit: view.units[name], rows, log: false });
});

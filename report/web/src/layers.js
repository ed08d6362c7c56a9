import { bars } from "./bars.js";

// layers draws the CPU time of each layer of the kernel, for each traced network.
export function layers(t, view, group) {
  const traced = group.rows.filter((r) => r.trace?.cpu?.layers?.length);
  if (traced.length === 0) return undefined;
  const most = new Map();
  for (const r of traced) for (const l of r.trace.cpu.layers) most.set(l.name, Math.max(most.get(l.name) ?? 0, l.share));
  const names = [...most.keys()].sort((a, b) => most.get(b) - most.get(a));
  const rows = traced.map((r) => ({ label: r.label, parts: Object.fromEntries(r.trace.cpu.layers.map((l) => [l.name, l.share])) }));
  return bars(t, { title: t("layers_title"), first: t("network"), names, unit: "ratio", rows });
}

import { el } from "./dom.js";
import { table } from "./table.js";
import { interval, percent } from "./units.js";

// pairs shows the tolls on each pair of machines, where several were measured.
export function pairs(t, view) {
  if (view.pairs.length === 0) return undefined;
  return el("section", {}, el("h2", {}, t("by_pairs")),
    [...new Set(view.pairs.map((r) => r.where))].map((where) => {
      const rows = view.pairs.filter((r) => r.where === where).flatMap((r) => r.tolls.map((one) => ({ ...one, network: r.network })));
      return el("article", {}, el("h3", {}, where), table(where, columns(t), rows));
    }));
}

function columns(t) {
  return [
    { name: t("network"), text: (r) => r.network },
    { name: t("machines"), text: (r) => r.machines },
    { name: t("toll_percent"), right: true, text: (r) => percent(r.toll.value, true) },
    { name: t("interval"), text: (r) => interval(r.toll.low, r.toll.high) },
    { name: t("verdict"), text: (r) => t(r.toll.verdict) },
  ];
}

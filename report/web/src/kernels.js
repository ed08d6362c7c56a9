import { el } from "./dom.js";
import { table } from "./table.js";
import { figure, interval, percent, scaleFor } from "./units.js";

// kernels shows how each kernel differs from the first, for each path and workload.
export function kernels(t, view) {
  const all = view.kernels;
  if (!all) return undefined;
  return el("section", {},
    all.emulated && el("p", { class: "strong" }, t("kernels_emulated")),
    all.lost.map((m) => el("p", { class: "strong" }, t("kernels_lost", { kernel: m.release, image: m.image, reason: m.reason }))),
    all.compared.map((c) => [el("h2", {}, t("kernels_title", c)), el("p", {}, t("kernels_are", c)),
      [...new Set(c.rows.map((r) => r.where))].map((where) => {
        const rows = c.rows.filter((r) => r.where === where);
        return el("article", {}, el("h3", {}, where), table(where, columns(t), rows));
      })]));
}

function columns(t) {
  const scaled = (row, value) => { const [unit, size] = scaleFor(row.metric.unit, [row.metric.old, row.metric.new]); return `${figure(value / size)} ${unit}`; };
  return [
    { name: t("network"), text: (r) => r.network },
    { name: t("metric"), text: (r) => r.metric.name },
    { name: t("old"), right: true, text: (r) => scaled(r, r.metric.old) },
    { name: t("new"), right: true, text: (r) => scaled(r, r.metric.new) },
    { name: t("change_percent"), right: true, text: (r) => (r.metric.change ? percent(r.metric.change.value, true) : "") },
    { name: t("interval"), text: (r) => interval(r.metric.change?.low, r.metric.change?.high) },
    { name: t("again_percent"), text: (r) => interval(r.metric.again?.low, r.metric.again?.high) },
    { name: t("verdict"), text: (r) => t(r.metric.change?.verdict ?? "") },
  ];
}

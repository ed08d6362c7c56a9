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
    all.compared.map((c) => [el("h2", {}, t("kernels_title", c)), el("p", {}, t("kernels_are", c)), tables(t, c, t("old"), t("new"))]));
}

// versus shows comparisons of a result's own cells: IPv6 with IPv4, a network with a passenger with itself.
export function versus(t, view, language) {
  return view.versus.map((c) => el("section", {}, el("h2", {}, c.titles[language]), el("p", {}, c.about[language]), tables(t, c, c.old, c.new)));
}

// tables has one for each path and workload.
function tables(t, compared, old, recent) {
  return [...new Set(compared.rows.map((r) => r.where))].map((where) => {
    const rows = compared.rows.filter((r) => r.where === where);
    return el("article", {}, el("h3", {}, where), table(where, columns(t, old, recent).filter((c) => rows.some((r) => c.text(r) !== "")), rows));
  });
}

function columns(t, old, recent) {
  const scaled = (row, value) => { const [unit, size] = scaleFor(row.metric.unit, [row.metric.old, row.metric.new]); return `${figure(value / size)} ${unit}`; };
  return [
    { name: t("network"), text: (r) => r.network },
    { name: t("metric"), text: (r) => r.metric.name },
    { name: old, right: true, text: (r) => scaled(r, r.metric.old) },
    { name: recent, right: true, text: (r) => scaled(r, r.metric.new) },
    { name: t("change_percent"), right: true, text: (r) => (r.metric.change ? percent(r.metric.change.value, true) : "") },
    { name: t("interval"), text: (r) => interval(r.metric.change?.low, r.metric.change?.high) },
    { name: t("again_percent"), text: (r) => interval(r.metric.again?.low, r.metric.again?.high) },
    { name: t("verdict"), text: (r) => t(r.metric.change?.verdict ?? "") },
  ];
}

import { el } from "./dom.js";
import { table } from "./table.js";
import { figure, interval, percent, scaleFor } from "./units.js";

// compared shows a result's own cells compared with each other, for each path and workload: kernel with
// kernel, IPv6 with IPv4, each network with one of them.
export function compared(t, view, language) {
  return [
    view.notes[language].length > 0 && el("section", {}, view.notes[language].map((text) => el("p", { class: "strong" }, text))),
    ...view.compared.map((c) => el("section", {}, el("h2", {}, c.titles[language]), el("p", {}, c.about[language]), tables(t, c, c.old[language], c.new[language]))),
  ];
}

// tables has one for each path and workload.
function tables(t, c, old, recent) {
  return [...new Set(c.rows.map((r) => r.where))].map((where) => {
    const rows = c.rows.filter((r) => r.where === where);
    return el("article", {}, el("h3", {}, where), table(where, columns(t, old, recent).filter((one) => rows.some((r) => one.text(r) !== "")), rows));
  });
}

function columns(t, old, recent) {
  const scaled = (row, value) => { const [unit, size] = scaleFor(row.metric.unit, [row.metric.old, row.metric.new]); return `${figure(value / size)} ${unit}`; };
  return [
    { name: t("network"), text: (r) => r.network },
    { name: t("metric"), text: (r) => t(r.metric.name) },
    { name: old, right: true, text: (r) => scaled(r, r.metric.old) },
    { name: recent, right: true, text: (r) => scaled(r, r.metric.new) },
    { name: t("change_percent"), right: true, text: (r) => (r.metric.change ? percent(r.metric.change.value, true) : "") },
    { name: t("interval"), text: (r) => interval(r.metric.change?.low, r.metric.change?.high) },
    { name: t("again_percent"), text: (r) => interval(r.metric.again?.low, r.metric.again?.high) },
    { name: t("verdict"), text: (r) => (r.metric.change?.verdict ? t(r.metric.change.verdict) : "") },
  ];
}

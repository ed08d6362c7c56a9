import { el } from "./dom.js";
import { lines } from "./lines.js";

// history shows who was named when, and the nodes that were worst at some time, over several
// meshes.
export function history(t, of, language) {
  const when = (n) => of.at[Math.round(n)] ?? "";
  return el("section", { "aria-labelledby": "history" },
    el("h2", { id: "history" }, t("history_title")),
    el("p", {}, of.heads[language]),
    el("ul", {}, of.named[language].map((text) => el("li", {}, text))),
    el("div", { class: "charts" }, of.metrics.filter((m) => m.nodes.length > 0).map((m) => lines(t, {
      title: m.titles[language], x: { name: t("history_time"), key: "time", whole: true, label: when, value: when }, log: undefined, unit: "ratio",
      series: m.nodes.map((node) => ({ name: node.name, points: node.values.flatMap((y, x) => (y === null ? [] : [{ x, y }])) })),
    }))),
    el("p", { class: "quiet" }, t("history_text")));
}

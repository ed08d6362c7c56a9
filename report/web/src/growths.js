import { el } from "./dom.js";
import { farApart, lines } from "./lines.js";
import { withUnit } from "./units.js";

// growths shows how metrics grow with the parameters that were swept, each with its sentences
// and a line for each network.
export const growths = (t, view, language) =>
  view.growths.map((g) => el("section", {}, el("h2", {}, g.titles[language]),
    el("ul", {}, g.texts[language].map((text) => el("li", {}, text))),
    el("div", { class: "charts" }, g.charts.map((c) => grown(t, c, g, language)))));

function grown(t, of, { axis, unit }, language) {
  const series = of.series.map((s) => ({ name: s.name, points: s.points.map((p) => ({ x: p.at, y: p.value, low: p.low, high: p.high })) }));
  const at = series.flatMap((s) => s.points.map((p) => p.x));
  return lines(t, { title: of.titles[language], x: { name: axis, label: unit && ((v) => withUnit(v, unit)), log: Math.min(...at) > 0 && Math.max(...at) > 10 * Math.min(...at), ticks: at }, log: farApart(series), unit: of.unit, series });
}

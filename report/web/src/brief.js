import { trim } from "./axes.js";
import { verdicts } from "./chart.js";
import { el, svg } from "./dom.js";
import { kindOf, verdictText } from "./tolls.js";
import { figure, interval, percent } from "./units.js";

// brief is the answer on one screen: what each network costs on each path, and what follows from it.
export function brief(t, view, language) {
  const a = view.answer;
  if (!a) return undefined;
  const axis = axisOf(a.rows.flatMap((row) => row.fields.map((f) => f.toll)).filter((toll) => Number.isFinite(toll?.value)));
  return el("section", { class: "brief" },
    a.leads[language]?.map((text) => el("p", {}, el("strong", {}, text))),
    el("h2", {}, a.titles[language]),
    el("div", { class: "dots" }, a.columns.map((c, n) => onPath(t, c, a.rows.map((row) => ({ ...row, ...row.fields[n] })).filter((row) => row.ratio || row.added), axis))),
    el("p", { class: "quiet" }, axis && `${t("answer_picture", { margin: `${percent(axis.margin)} %` })} `, a.marks[language]),
    el("ul", {}, a.sentences[language].map((text) => el("li", {}, text))));
}

// mostMargin is what the axis has room for of a margin. An inconclusive interval is cut too where it is longer.
const mostMargin = 0.05;

// axisOf is the one axis of all paths, {at, ticks, margin}: at is where a ratio is on it, as of an SVG, margin the least of all.
function axisOf(tolls) {
  if (tolls.length === 0) return undefined;
  const margin = Math.min(...tolls.map((toll) => toll.margin));
  const shown = Math.min(margin, mostMargin);
  const all = [-shown, shown, ...tolls.flatMap((toll) => [toll.value, ...(kindOf(toll) === "inconclusive" ? [] : [toll.low, toll.high])])].filter(Number.isFinite);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const room = 0.03 * (most - least); // so that a dot at an end is whole
  const size = 10 ** Math.floor(Math.log10((most - least) / 6));
  const step = size * [1, 2, 5, 10].find((n) => (most - least) / (n * size) <= 6);
  const ticks = Array.from({ length: 7 }, (_, n) => (Math.ceil(least / step) + n) * step).filter((tick) => tick <= most);
  return { margin, ticks, at: (ratio) => `${(100 * (ratio - least + room)) / (most - least + 2 * room)}%` };
}

// onPath are the networks on a path, the cheapest first.
const onPath = (t, { path, under, unit }, rows, axis) => el("table", {},
  el("thead", {}, el("tr", {}, el("th", { scope: "col", colspan: 2 }, path, under && el("span", { class: "quiet" }, ` ${under}`)),
    ["%", unit.replace("%", "").trim()].map((one) => (one && unit.includes(one) ? el("th", { scope: "col", class: "right quiet" }, one) : el("td", {}))))),
  el("tbody", {}, rows.sort((a, b) => (a.toll?.value ?? Infinity) - (b.toll?.value ?? Infinity)).map((row) =>
    el("tr", {}, el("th", { scope: "row" }, row.label, row.stand_in && "*"), el("td", {}, axis && dot(t, row, axis)),
      [row.ratio, row.added].map((text) => el("td", { class: "right" }, text))))),
  axis && el("tfoot", { "aria-hidden": "true" }, el("tr", {}, el("td", {}), el("td", {}, svg("svg", {}, axis.ticks.map((tick) =>
    svg("text", { x: axis.at(tick), y: 14 }, trim(figure(100 * tick)))))), el("td", { colspan: 2 }))));

// dot is a toll on the axis, with its interval; pale where it is inconclusive.
function dot(t, { label, toll }, { at, ticks, ...axis }) {
  const margin = toll?.margin ?? axis.margin;
  const line = (x1, x2, more) => svg("line", { x1, x2, y1: "50%", y2: "50%", ...more });
  const marks = [
    svg("rect", { class: "margin", x: at(-margin), width: `${parseFloat(at(margin)) - parseFloat(at(-margin))}%`, height: "100%" }),
    ticks.map((tick) => line(at(tick), at(tick), { y1: 0, y2: "100%" })),
    line(at(0), at(0), { y1: 0, y2: "100%", class: "zero" }),
  ];
  if (!Number.isFinite(toll?.value)) return svg("svg", {}, marks.flat());
  const kind = kindOf(toll);
  const ends = Number.isFinite(toll.low) && Number.isFinite(toll.high);
  return svg("svg", { role: "img" }, svg("title", {}, `${label}: ${percent(toll.value, true)} % ${interval(toll.low, toll.high)}, ${verdictText(t, toll)}`), marks.flat(),
    svg("g", { class: kind === "inconclusive" ? "pale" : "", style: `stroke: ${verdicts[kind]}; fill: ${verdicts[kind]}` },
      ends ? line(at(toll.low), at(toll.high), { class: "interval" }) : "", svg("circle", { cx: at(toll.value), cy: "50%", r: 4 })));
}

import { errorBars, escape, legend, namesAxis, rowTip, valueAxis, zoom } from "./axes.js";
import { barStyle, dashedItem } from "./bar_style.js";
import { chart } from "./chart.js";
import { figureWithTable } from "./table.js";
import { alike, figure, percent, scaleFor } from "./units.js";

// ladder draws what each network adds to its parent: a bar from the parent's level to
// its own, in the unit of the metric.
export function ladder(t, view, group) {
  if (!group.ladder?.length) return undefined;
  const rungs = group.ladder;
  const [unit, size] = scaleFor(group.unit, rungs.map((r) => r.level));
  const title = t("ladder_title", { metric: t(group.metric) });
  const words = rungs.map((r) => `${r.label} ${added(group, r)}`).join("; ");
  const kinds = [["adds", "#d55e00"], ["gives_back", "#009e73"], ["unclear", "#7a7a7a"]].filter(([kind]) => rungs.some((r) => r.step && kindOf(r.step) === kind));
  const room = 20 + Math.ceil(6.8 * Math.max(...rungs.map((r) => added(group, r).length))); // px, for the longest label
  const drawing = chart(`${title}: ${words}`, 110 + 24 * rungs.length, (page) => ({
    grid: { left: 8, right: page.narrow ? 20 : room, top: 34, bottom: page.paper ? 36 : 56, containLabel: true },
    legend: legend(page, kinds.map(([kind, colour]) => (kind === "unclear" ? { name: t(kind), itemStyle: dashedItem(colour) } : t(kind)))), dataZoom: zoom(page),
    tooltip: rowTip((rung) => tip(t, group, rung)),
    xAxis: valueAxis(page, `${t(group.metric)}${t("comma")}${unit}`, { scale: true }),
    yAxis: namesAxis(page, rungs.map((r) => `${r.label}${r.fidelity === "stand-in" ? " ○" : ""}`)),
    series: [
      ...kinds.map(([kind, colour]) => ({
        type: "custom", name: t(kind), clip: false, itemStyle: { color: colour }, encode: { x: [0, 1], y: 2 },
        data: rungs.map((rung, n) => ({ of: rung, value: [rung.step?.from / size, rung.level / size, n, rungs.findIndex((r) => r.label === rung.parent)] })).filter(({ of }) => of.step && kindOf(of.step) === kind),
        renderItem: (p, api) => bar(p, api, page, barStyle(colour, { sure: kind !== "unclear" }), page.narrow ? "" : added(group, group.ladder[api.value(2)])),
      })),
      { type: "scatter", silent: true, data: [], markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { type: "dashed", color: page.text }, data: [{ xAxis: rungs[0].level / size }] } },
      { ...dots(rungs.map((rung, n) => ({ of: rung, value: [rung.level / size, n] })).filter(({ of }) => !of.step)), color: page.text },
      errorBars(rungs.map((r, at) => ({ at, low: r.step?.to_low / size, high: r.step?.to_high / size })).filter((r) => Number.isFinite(r.low)), page.text),
    ],
  }));
  const drawn = figureWithTable(t, title, drawing, columns(t, group, rungs, unit, size), rungs);
  drawn.classList.add("half");
  return drawn;
}

// kindOf classifies a step by its interval.
const kindOf = (step) => (step.low > 0 ? "adds" : step.high < 0 ? "gives_back" : "unclear");

// dots are the rungs without a bar: the baseline, and those that no block pairs.
const dots = (data) => ({ type: "scatter", symbol: "diamond", symbolSize: 10, data });

// bar is a step with the line that connects it to its parent, clipped to the view.
function bar(p, api, page, style, words) {
  const { x: left, width } = p.coordSys;
  const clip = (x) => Math.min(Math.max(x, left), left + width);
  const [from, y] = api.coord([api.value(0), api.value(2)]);
  const [to] = api.coord([api.value(1), api.value(2)]);
  const [x1, x2] = [clip(Math.min(from, to)), clip(Math.max(from, to))];
  const children = [{ type: "rect", shape: { x: x1, y: y - 6, width: Math.max(x2 - x1, 1), height: 12 }, style }];
  if (from === clip(from)) children.push({ type: "line", shape: { x1: from, y1: api.coord([0, api.value(3)])[1] + 6, x2: from, y2: y }, style: { stroke: page.text, lineDash: [2, 2], opacity: 0.6 } });
  if (words) children.push({ type: "text", style: { text: words, x: left + width + 10, y, textVerticalAlign: "middle", fill: page.text, fontSize: 12 } });
  return { type: "group", children };
}

// added is the text of a step, as a time or in percent.
function added(group, rung) {
  if (!rung.step) return "";
  const { value, low, high } = rung.step;
  if (group.unit !== "s") return `${percent(value, true)} % ${low === undefined ? "" : `[${percent(low)}, ${percent(high)}]`}`.trim();
  const [unit, size] = scaleFor("s", group.ladder.map((r) => r.step?.value)); // one unit for all, so that they can be compared
  const shown = (v) => alike(...[value, low, high].map((end) => end / size))(v / size);
  return `${Number(shown(value)) > 0 ? "+" : ""}${shown(value)} ${unit} ${low === undefined ? "" : `[${shown(low)}, ${shown(high)}]`}`.trim();
}

const tip = (t, group, rung) => [
  `<b>${escape(rung.label)}</b>`, rung.parent && `${escape(t("upon"))} ${escape(rung.parent)}`, escape(added(group, rung)),
  rung.step ? `n = ${rung.step.n}` : "", rung.fidelity === "stand-in" ? escape(t("stand-in")) : "",
].filter(Boolean).join("<br>");

function columns(t, group, rungs, unit, size) {
  const time = group.unit === "s";
  return [
    { name: t("network"), key: "network", text: (r) => r.label },
    { name: t("upon"), key: "built upon", text: (r) => r.parent },
    { name: t("added"), key: time ? "added (s)" : "added (ratio)", text: (r) => added(group, r), value: (r) => r.step?.value },
    { csvOnly: true, key: "low", value: (r) => r.step?.low },
    { csvOnly: true, key: "high", value: (r) => r.step?.high },
    { name: t("blocks"), key: "n", right: true, text: (r) => r.step?.n ?? "" },
    { name: `${t("level")}, ${unit}`, key: `level (${group.unit})`, right: true, text: (r) => figure(r.level / size), value: (r) => r.level },
    { name: t("fidelity"), key: "fidelity", text: (r) => r.fidelity },
  ];
}

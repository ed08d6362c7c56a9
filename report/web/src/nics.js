import { errorBar, escape, legend, namesAxis, rowTip, valueAxis, zoom } from "./axes.js";
import { chart } from "./chart.js";
import { figureWithTable } from "./table.js";
import { tollAxis, verdictText } from "./tolls.js";
import { interval, percent } from "./units.js";

// nics draws the range of a network's tolls over the models of the interface, with a
// dot for each.
export function nics(t, view, group) {
  if (!group.nics?.length) return undefined;
  const spans = group.nics;
  const dots = spans.flatMap((s, row) => s.dots.map((d) => ({ ...d, row, label: s.label })));
  const models = [...new Set(dots.map((d) => d.at))];
  const title = t("nics_title");
  const drawing = chart(`${title}: ${dots.map((d) => `${d.label} ${d.at} ${percent(d.toll.value, true)} %`).join("; ")}`, 96 + 30 * spans.length, (page) => ({
    grid: { left: 8, right: 20, top: 34, bottom: page.paper ? 36 : 56, containLabel: true },
    legend: legend(page, models), dataZoom: zoom(page),
    tooltip: rowTip((dot) => tip(t, dot)),
    xAxis: valueAxis(page, t("toll_percent"), tollAxis(group)), yAxis: namesAxis(page, spans.map((s) => s.label)),
    series: [
      { type: "custom", silent: true, clip: true, z: 1, data: spans.map(range), encode: { x: [0, 1], y: 2 }, renderItem: (p, api) => span(api, page) },
      ...models.map((at) => marks(dots.filter((d) => d.at === at), at)),
    ],
  }));
  return figureWithTable(t, title, drawing, [
    { name: t("network"), key: "network", text: (d) => d.label },
    { name: t("nic"), key: "nic", text: (d) => d.at },
    { name: t("toll_percent"), key: "toll", right: true, text: (d) => percent(d.toll.value, true), value: (d) => d.toll.value },
    { name: t("interval"), key: "toll_low", text: (d) => interval(d.toll.low, d.toll.high), value: (d) => d.toll.low },
    { csvOnly: true, key: "toll_high", value: (d) => d.toll.high },
    { name: t("verdict"), key: "verdict", text: (d) => verdictText(t, d.toll), value: (d) => d.toll.verdict },
    { name: t("blocks"), key: "n", right: true, text: (d) => d.n },
  ], dots);
}

const range = (s, row) => {
  const all = s.dots.map((d) => 100 * d.toll.value);
  return [Math.min(...all), Math.max(...all), row];
};

function span(api, page) {
  const [x1, y] = api.coord([api.value(0), api.value(2)]);
  const [x2] = api.coord([api.value(1), api.value(2)]);
  return { type: "line", shape: { x1, y1: y, x2, y2: y }, style: { stroke: page.line, lineWidth: 10, lineCap: "round" } };
}

// marks are the dots of one model, each with its interval.
const marks = (dots, at) => ({
  type: "custom", name: at, clip: true, z: 5, encode: { x: [0, 2, 3], y: 1 },
  data: dots.map((d) => ({ value: [100 * d.toll.value, d.row, 100 * (d.toll.low ?? NaN), 100 * (d.toll.high ?? NaN)], of: d })),
  renderItem: (p, api) => {
    const [cx, cy] = api.coord([api.value(0), api.value(1)]);
    const colour = api.visual("color");
    return { type: "group", children: [...errorBar(api, api.value(1), api.value(2), api.value(3), colour), { type: "circle", shape: { cx, cy, r: 5 }, style: { fill: colour } }] };
  },
});

const tip = (t, d) => [
  `<b>${escape(d.label)}</b>, nic ${escape(d.at)}`, `${escape(t("toll"))} ${percent(d.toll.value, true)} % ${interval(d.toll.low, d.toll.high)}`,
  `${escape(verdictText(t, d.toll))}, n = ${d.n}`,
].join("<br>");

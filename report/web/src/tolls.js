import { escape, legend, namesAxis, rowTip, valueAxis, zoom } from "./axes.js";
import { barStyle, dashedItem } from "./bar_style.js";
import { chart, verdicts } from "./chart.js";
import { el } from "./dom.js";
import { figureWithTable } from "./table.js";
import { interval, percent, scaleFor, figure } from "./units.js";

export function verdictText(t, toll) {
  if (!toll) return t("not_paired");
  if (toll.verdict === "inconclusive" && toll.blocks_needed) return t("inconclusive_blocks", { n: toll.blocks_needed });
  return t(toll.verdict);
}

// measuredRows are the networks of a group with a toll, the smallest first, without
// the baseline.
export const measuredRows = (group, baseline) =>
  group.rows.filter((r) => r.network !== baseline && r.metric?.toll).sort((a, b) => a.metric.toll.value - b.metric.toll.value);

// marks show the fidelity of a network's data path: the fuller, the closer to the real
// one.
const marks = { "product": "●", "same-path": "◐", "stand-in": "○" };

// tollAxis is the ends of an axis of tolls in percent, the same for all groups of a kind.
export function tollAxis({ scale: [low, high] }) {
  const end = (ratio) => Number((100 * ratio).toFixed(6)); // so that a label is at the upper one
  return low < high ? { min: end(low), max: end(high) } : {};
}

// tolls draws what each network costs: a bar to the estimate, an outline of dashes where it is
// inconclusive, a line over the interval, a dot at the estimate; behind them the band in which the machine detects no
// difference, and at the right a bracket around those that cannot be distinguished.
export function tolls(t, view, group) {
  const rows = measuredRows(group, view.baseline);
  if (rows.length === 0) return undefined;
  const brackets = alike(group, view.baseline).map((set) => set.map((r) => rows.indexOf(r)));
  const drawing = chart(
    `${t("tolls_title")}: ${rows.map((r) => `${r.label} ${percent(r.metric.toll.value, true)} % ${verdictText(t, r.metric.toll)}`).join("; ")}`,
    100 + 26 * rows.length,
    (page) => option(t, group, rows, brackets, page),
  );
  const drawn = figureWithTable(t, t("tolls_title"), drawing, columns(t, view, group), group.rows);
  drawn.classList.add("half");
  return drawn;
}

// fidelities explains the marks of a group's rows, and alikes the brackets.
export const fidelities = (t, view, group) => {
  const met = Object.keys(marks).filter((f) => group.rows.some((r) => r.fidelity === f && r.metric?.toll && r.network !== view.baseline));
  return met.length > 0 && el("p", { class: "quiet" }, met.map((f) => `${marks[f]} ${t(f)}`).join(t("semicolon")));
};
export const alikes = (t, view, group) => alike(group, view.baseline)
  .map((set) => el("p", { class: "quiet" }, `] ${t("alike", { names: set.map((r) => r.label).join(t("listed")) })}`));

const step = 8; // between adjacent brackets, in pixels

function option(t, group, rows, sets, page) {
  const brackets = page.narrow ? sets.slice(0, 4) : sets;
  const margin = 100 * group.margin;
  const kinds = Object.keys(verdicts).filter((kind) => rows.some((r) => kindOf(r.metric.toll) === kind));
  return {
    grid: { left: 8, right: room(page) + step * Math.max(brackets.length - 1, 0), top: 34, bottom: page.paper ? 36 : 56, containLabel: true },
    legend: legend(page, kinds.map((kind) => (kind === "inconclusive" ? { name: t(kind), itemStyle: dashedItem(verdicts[kind]) } : t(kind)))), dataZoom: zoom(page),
    tooltip: rowTip((row) => tip(t, row)),
    xAxis: valueAxis(page, t("toll_percent"), tollAxis(group)),
    yAxis: namesAxis(page, rows.map((r) => `${r.label} ${marks[r.fidelity] ?? ""}`)),
    series: [
      ...kinds.map((kind) => {
        const own = rows.map((row, n) => ({ row, n })).filter(({ row }) => kindOf(row.metric.toll) === kind);
        return whiskers(t, kind, own, page);
      }),
      { type: "scatter", silent: true, data: [], markArea: { silent: true, itemStyle: { color: page.line, opacity: 0.35 }, data: [[{ xAxis: -margin }, { xAxis: margin }]] } },
      { type: "custom", silent: true, clip: false, data: brackets.map((_, n) => [0, n]), encode: { y: [] }, renderItem: (p, api) => bracket(p, api, brackets, page) },
    ],
  };
}

// unsure reports whether the toll of a row has no verdict.
export const unsure = (row) => kindOf(row.metric.toll) === "inconclusive";

export const kindOf = (toll) => (toll.verdict in verdicts ? toll.verdict : "inconclusive");

const whiskers = (t, kind, own, page) => ({
  type: "custom", name: t(kind), clip: false, z: 5, encode: { x: [0, 2, 3, 4], y: 1 }, itemStyle: { color: verdicts[kind] },
  data: own.map(({ row, n }) => ({ of: row, value: [100 * row.metric.toll.value, n, 100 * (row.metric.toll.low ?? NaN), 100 * (row.metric.toll.high ?? NaN), 0] })), // the bar begins at zero
  renderItem: (p, api) => whisker(p, api, { row: own[p.dataIndex].row, stroke: verdicts[kind], sure: kind !== "inconclusive", words: !page.narrow && label(t, own[p.dataIndex].row, page), text: page.text }),
});

const label = (t, row, page) => `${percent(row.metric.toll.value, true)} %  ${page.paper ? t(kindOf(row.metric.toll)) : verdictText(t, row.metric.toll)}`;

// room is for the words and brackets at the right, in pixels.
const room = (page) => (page.narrow ? 30 : page.paper ? 150 : 240);

// whisker is a bar to the estimate, pale for a stand-in, and the interval over it, with
// its text to the right if there is space. Where it is not sure the bar and its dot are hollow.
function whisker(p, api, { row, stroke, sure, words, text }) {
  const { x: left, width } = p.coordSys;
  const clip = (x) => Math.min(Math.max(x, left), left + width);
  const [x, y] = api.coord([api.value(0), api.value(1)]);
  const [from, to] = [api.coord([0, 0])[0], x].map(clip);
  const children = [{ type: "rect", shape: { x: Math.min(from, to), y: y - 6, width: Math.abs(to - from), height: 12 }, style: barStyle(stroke, { sure, opacity: row.fidelity === "stand-in" ? 0.15 : 0.35 }) }];
  if (Number.isFinite(api.value(2)) && Number.isFinite(api.value(3))) {
    for (const end of [2, 3]) {
      const [at] = api.coord([api.value(end), api.value(1)]);
      if (at === clip(at)) children.push({ type: "line", shape: { x1: at, y1: y - 5, x2: at, y2: y + 5 }, style: { stroke, lineWidth: 2 } });
    }
    const [low, high] = [2, 3].map((end) => clip(api.coord([api.value(end), api.value(1)])[0]));
    children.push({ type: "line", shape: { x1: low, y1: y, x2: high, y2: y }, style: { stroke, lineWidth: 2 } });
  }
  if (x === clip(x)) children.push({ type: "circle", shape: { cx: x, cy: y, r: 4 }, style: sure ? { fill: stroke } : { fill: "none", stroke, lineWidth: 2 } });
  if (words) {
    const [right] = api.coord([Math.max(0, api.value(0), api.value(3) || 0), api.value(1)]);
    children.push({ type: "text", style: { text: words, x: clip(right) + 10, y, textVerticalAlign: "middle", fill: text, fontSize: 12 } });
  }
  return { type: "group", children };
}

// bracket joins the rows of a set, with a tick at each.
function bracket(p, api, brackets, page) {
  const x = p.coordSys.x + p.coordSys.width + room(page) - 16 + step * p.dataIndex;
  const ys = brackets[p.dataIndex].map((n) => api.coord([0, n])[1]);
  const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: page.text, lineWidth: 1.5 } });
  return { type: "group", children: [line(x, Math.min(...ys) - 5, x, Math.max(...ys) + 5), ...ys.map((y) => line(x - 5, y, x, y))] };
}

function tip(t, row) {
  const { metric } = row;
  const [name, size] = scaleFor(metric.unit, [metric.value]);
  const lines = [
    `<b>${escape(row.label)}</b>`, `${figure(metric.value / size)} ${escape(name)}`,
    `${escape(t("toll"))} ${percent(metric.toll.value, true)} % ${interval(metric.toll.low, metric.toll.high)}`,
    `${escape(verdictText(t, metric.toll))}, n = ${metric.n}`,
  ];
  if (row.fidelity in marks) lines.push(escape(t(row.fidelity)));
  for (const warning of metric.warnings ?? []) lines.push(`<span class="tipnote">${escape(warning)}</span>`);
  return lines.join("<br>");
}

// columns are those of the table of a group: its metric, its toll, and all other
// metrics.
function columns(t, view, group) {
  const [unit, size] = scaleFor(group.unit, group.rows.map((r) => r.metric?.value));
  const all = [
    { name: t("network"), key: "network", text: (r) => r.label },
    { name: `${t(group.metric)}${t("comma")}${unit}`, key: `${group.metric} (${group.unit})`, right: true, text: (r) => (r.metric ? figure(r.metric.value / size) : t(r.status)), value: (r) => r.metric?.value, title: (r) => (r.metric ? r.metric.warnings?.join("; ") : r.reason) },
    { name: t("toll_percent"), key: "toll", right: true, text: (r) => (r.network === view.baseline ? t("baseline") : percent(r.metric?.toll?.value, true)), value: (r) => (r.network === view.baseline ? undefined : r.metric?.toll?.value) },
    { name: t("interval"), key: "toll_low", text: (r) => interval(r.metric?.toll?.low, r.metric?.toll?.high), value: (r) => r.metric?.toll?.low },
    { csvOnly: true, key: "toll_high", value: (r) => r.metric?.toll?.high },
    { name: t("verdict"), key: "verdict", text: (r) => (r.network === view.baseline || !r.metric ? "" : verdictText(t, r.metric.toll)), value: (r) => r.metric?.toll?.verdict },
    { name: t("blocks"), key: "n", right: true, text: (r) => r.metric?.n ?? "" },
    { name: t("fidelity"), key: "fidelity", text: (r) => r.fidelity },
  ];
  const others = [...new Set(group.rows.flatMap((r) => r.others.map((m) => m.name)))];
  for (const name of others) {
    const of = (r) => r.others.find((m) => m.name === name);
    const [shown, by] = scaleFor(view.units[name] ?? "", group.rows.map((r) => of(r)?.value));
    all.push({ name: shown ? `${name}, ${shown}` : name, key: `${name} (${view.units[name] ?? ""})`, right: true, text: (r) => (of(r) ? figure(of(r).value / by) : ""), value: (r) => of(r)?.value, title: (r) => of(r)?.warnings?.join("; ") });
  }
  return all;
}

// alike lists the sets of networks whose intervals all overlap: those that cannot be
// distinguished. A network may be in several sets.
function alike(group, baseline) {
  const rows = measuredRows(group, baseline).filter((r) => r.metric.toll.low !== undefined && r.fidelity !== "stand-in");
  const at = (x) => rows.filter(({ metric: { toll } }) => toll.low <= x && x <= toll.high);
  const sets = rows.map((r) => at(r.metric.toll.low)).filter((set) => set.length > 1);
  const within = (set, other) => set.length < other.length && set.every((r) => other.includes(r));
  const same = (set, other) => set.length === other.length && set.every((r) => other.includes(r));
  return sets.filter((set, n) => !sets.some((other, m) => within(set, other) || (m < n && same(set, other))));
}

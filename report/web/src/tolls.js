import { chart, colourOf } from "./chart.js";
import { figureWithTable } from "./table.js";
import { interval, percent, scaleFor, figure } from "./units.js";

export function verdictText(t, toll) {
  if (!toll) return t("not_paired");
  if (toll.verdict === "inconclusive" && toll.blocks_needed) return t("inconclusive_blocks", { n: toll.blocks_needed });
  return t(toll.verdict);
}

// measuredRows are the networks of a group with a toll, the least first; the
// baseline is what they are reckoned against, not one of them.
export const measuredRows = (group, baseline) =>
  group.rows.filter((r) => r.network !== baseline && r.metric?.toll).sort((a, b) => a.metric.toll.value - b.metric.toll.value);

// tolls draws what each network costs: a bar to the estimate, a line over the
// interval, a dot at the estimate; behind them what the machine can't tell.
export function tolls(t, view, group) {
  const rows = measuredRows(group, view.baseline);
  if (rows.length === 0) return undefined;
  const reversed = [...rows].reverse(); // the axis counts from below
  const drawing = chart(
    `${t("tolls_title")}: ${rows.map((r) => `${r.label} ${percent(r.metric.toll.value, true)} % ${verdictText(t, r.metric.toll)}`).join("; ")}`,
    60 + 30 * rows.length,
    (page) => option(t, group, reversed, page),
  );
  return figureWithTable(t, t("tolls_title"), drawing, columns(t, view, group), group.rows);
}

function option(t, group, rows, page) {
  const margin = 100 * group.margin;
  return {
    grid: { left: 8, right: page.narrow ? 24 : 210, top: 8, bottom: 36, containLabel: true },
    tooltip: { trigger: "item", formatter: ({ dataIndex }) => tip(t, rows[dataIndex]) },
    xAxis: {
      type: "value", name: t("toll_percent"), nameLocation: "middle", nameGap: 24,
      splitLine: { lineStyle: { color: page.line } }, axisLabel: { formatter: (v) => figure(v, 2) },
    },
    yAxis: { type: "category", data: rows.map((r) => r.label), axisTick: { show: false }, axisLine: { show: false } },
    series: [
      {
        type: "bar", barWidth: 12, data: rows.map((r) => ({ value: 100 * r.metric.toll.value, itemStyle: { color: colourOf(r.metric.toll.verdict) + (r.fidelity === "stand-in" ? "22" : "59") } })),
        markArea: { silent: true, itemStyle: { color: page.line, opacity: 0.35 }, data: [[{ xAxis: -margin }, { xAxis: margin }]] },
      },
      { type: "custom", data: rows.map((r, n) => [100 * r.metric.toll.value, n, 100 * (r.metric.toll.low ?? NaN), 100 * (r.metric.toll.high ?? NaN)]), renderItem: (p, api) => whisker(api, rows[p.dataIndex], page.narrow ? undefined : label(t, rows[p.dataIndex]), page.text), encode: { x: [0, 2, 3], y: 1 }, z: 5 },
    ],
  };
}

const label = (t, row) => `${percent(row.metric.toll.value, true)} %  ${verdictText(t, row.metric.toll)}${row.fidelity === "stand-in" ? " *" : ""}`;

// whisker is the interval and its estimate, with words beside it where there is
// room.
function whisker(api, row, words, colour) {
  const [x, y] = api.coord([api.value(0), api.value(1)]);
  const stroke = colourOf(row.metric.toll.verdict);
  const children = [{ type: "circle", shape: { cx: x, cy: y, r: 4 }, style: { fill: stroke } }];
  if (Number.isFinite(api.value(2)) && Number.isFinite(api.value(3))) {
    const [low] = api.coord([api.value(2), api.value(1)]);
    const [high] = api.coord([api.value(3), api.value(1)]);
    children.push({ type: "line", shape: { x1: low, y1: y, x2: high, y2: y }, style: { stroke, lineWidth: 2 } });
    for (const end of [low, high]) children.push({ type: "line", shape: { x1: end, y1: y - 5, x2: end, y2: y + 5 }, style: { stroke, lineWidth: 2 } });
  }
  if (words) {
    const [right] = api.coord([Math.max(0, api.value(0), api.value(3) || 0), api.value(1)]);
    children.push({ type: "text", style: { text: words, x: right + 10, y, textVerticalAlign: "middle", fill: colour, fontSize: 12 } });
  }
  return { type: "group", children };
}

function tip(t, row) {
  const { metric } = row;
  const [name, size] = scaleFor(metric.unit, [metric.value]);
  const lines = [
    `<b>${escape(row.label)}</b>`, `${figure(metric.value / size)} ${escape(name)}`,
    `${escape(t("toll"))} ${percent(metric.toll.value, true)} % ${interval(metric.toll.low, metric.toll.high)}`,
    `${escape(verdictText(t, metric.toll))}, n = ${metric.n}`,
  ];
  if (row.fidelity === "stand-in") lines.push(escape(t("stand-in")));
  for (const warning of metric.warnings ?? []) lines.push(`<span class="tipnote">${escape(warning)}</span>`);
  return lines.join("<br>");
}

export const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

// columns are those of the table of a group: its metric, its toll, and all that
// was measured beside it.
function columns(t, view, group) {
  const [unit, size] = scaleFor(group.unit, group.rows.map((r) => r.metric?.value));
  const all = [
    { name: t("network"), key: "network", text: (r) => r.label },
    { name: `${group.metric}, ${unit}`, key: `${group.metric} (${group.unit})`, right: true, text: (r) => (r.metric ? figure(r.metric.value / size) : t(r.status)), value: (r) => r.metric?.value, title: (r) => (r.metric ? r.metric.warnings?.join("; ") : r.reason) },
    { name: t("toll_percent"), key: "toll", right: true, text: (r) => (r.network === view.baseline ? t("baseline") : percent(r.metric?.toll?.value, true)), value: (r) => (r.network === view.baseline ? undefined : r.metric?.toll?.value) },
    { name: t("interval"), key: "toll_low", text: (r) => interval(r.metric?.toll?.low, r.metric?.toll?.high), value: (r) => r.metric?.toll?.low },
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

// alike lists the networks whose intervals meet: those that nobody can tell apart
// by them.
export function alike(group, baseline) {
  const sets = [];
  for (const row of measuredRows(group, baseline)) {
    const { low, high } = row.metric.toll;
    if (low === undefined || row.fidelity === "stand-in") continue;
    const last = sets.at(-1);
    if (last && low <= last.high) {
      last.rows.push(row);
      last.high = Math.min(last.high, high);
    } else sets.push({ rows: [row], high });
  }
  return sets.filter((s) => s.rows.length > 1).map((s) => s.rows.map((r) => r.label));
}

import { chart } from "./chart.js";
import { el } from "./dom.js";
import { figureWithTable } from "./table.js";
import { escape } from "./tolls.js";
import { figure, percent, scaleFor, withUnit } from "./units.js";

// hops draws the way of a packet as a waterfall: each hop begins where the one
// before it ends.
export function hops(t, row) {
  const { trace } = row;
  const known = (trace?.hops ?? []).filter((h) => h.clean !== undefined && h.clean !== null);
  if (known.length === 0) return undefined;
  const [unit, size] = scaleFor("s", known.map((h) => h.clean));
  let at = 0;
  const rows = known.map((h) => {
    const begin = at;
    at += h.clean / size;
    return { ...h, begin, long: h.clean / size, label: [h.name, h.at, h.device].filter(Boolean).join(" ") };
  });
  const title = `${row.label}: ${t("hops_title")}`;
  const drawing = chart(`${title}. ${rows.map((r) => `${r.label} ${figure(r.long)} ${unit}`).join(", ")}`, 60 + 18 * rows.length, (page) => ({
    grid: { left: 8, right: 16, top: 8, bottom: 36, containLabel: true },
    tooltip: { trigger: "item", formatter: ({ dataIndex }) => { const r = rows[dataIndex]; return `<b>${escape(r.label)}</b><br>${figure(r.long)} ${unit}, ${percent(r.share)} %`; } },
    xAxis: { type: "value", name: unit, nameLocation: "middle", nameGap: 24, splitLine: { lineStyle: { color: page.line } } },
    yAxis: { type: "category", inverse: true, data: rows.map((r) => r.label), axisTick: { show: false }, axisLabel: { interval: 0, fontSize: 11, width: page.narrow ? 110 : 220, overflow: "truncate" } },
    series: [
      { type: "bar", stack: "way", silent: true, itemStyle: { color: "transparent" }, data: rows.map((r) => r.begin) },
      { type: "bar", stack: "way", barWidth: 10, data: rows.map((r) => ({ value: r.long, itemStyle: { color: r.direction === "request" ? "#0072b2" : "#56b4e9" } })) },
    ],
  }));
  const columns = [
    { name: t("hop"), key: "hop", text: (r) => r.name },
    { name: t("at"), key: "at", text: (r) => [r.at, r.device].filter(Boolean).join(" ") },
    { name: `${t("clean")}, ${unit}`, key: "clean (s)", right: true, text: (r) => figure(r.long), value: (r) => r.clean },
    { name: `${t("share")}, %`, key: "share", right: true, text: (r) => percent(r.share), value: (r) => r.share },
    { name: "p50", key: "p50 (s)", right: true, text: (r) => figure(r.p50 / size), value: (r) => r.p50 },
    { name: "p99", key: "p99 (s)", right: true, text: (r) => figure(r.p99 / size), value: (r) => r.p99 },
  ];
  const told = t("hops_text", { sum: withUnit(trace.sum, "s"), total: withUnit(trace.traced, "s") });
  return el("div", {}, figureWithTable(t, title, drawing, columns, rows), el("p", { class: "quiet" }, told));
}

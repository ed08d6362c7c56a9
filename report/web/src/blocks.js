import { chart } from "./chart.js";
import { el } from "./dom.js";
import { figureWithTable } from "./table.js";
import { figure, scaleFor } from "./units.js";
import { escape } from "./tolls.js";

// lines draws rows of [x, y] points, one line a network, with a switch between a
// linear and a logarithmic axis and a zoom.
function lines(t, { title, xName, unit, xLog, series }) {
  const [name, size] = scaleFor(unit, series.flatMap((s) => s.points.map(([, y]) => y)));
  let log = xLog;
  const drawing = chart(title, 300, (page) => ({
    grid: { left: 8, right: 16, top: 44, bottom: 64, containLabel: true },
    legend: { type: "scroll", top: 0, textStyle: { color: page.text }, pageTextStyle: { color: page.text } },
    tooltip: { trigger: "axis", valueFormatter: (v) => `${figure(v)} ${name}`, formatter: (all) => tip(all, name) },
    dataZoom: [{ type: "inside" }, { type: "slider", height: 16, bottom: 8, borderColor: page.line, textStyle: { color: page.text } }],
    xAxis: { type: xLog ? "log" : "value", name: xName, nameLocation: "middle", nameGap: 24, min: "dataMin", max: "dataMax", minInterval: xLog ? undefined : 1, splitLine: { show: false }, axisLabel: { hideOverlap: true } },
    yAxis: { type: log ? "log" : "value", name, scale: true, splitLine: { lineStyle: { color: page.line } }, axisLabel: { formatter: (v) => figure(v, 4).replace(/\.?0+$/, "") } },
    series: series.map((s) => ({
      type: "line", name: s.name, showSymbol: s.points.length < 40, data: s.points.map(([x, y]) => [x, y / size]),
      markLine: s.limit ? { silent: true, symbol: "none", lineStyle: { type: "dashed" }, data: [{ yAxis: s.limit / size }] } : undefined,
    })),
  }));
  const toggle = el("button", { type: "button", class: "small", "aria-pressed": String(log) }, t("log"));
  toggle.addEventListener("click", () => {
    log = !log;
    toggle.setAttribute("aria-pressed", String(log));
    drawing.redraw();
  });
  const reset = el("button", { type: "button", class: "small", onclick: () => drawing.zoomOut() }, t("reset"));
  const xs = [...new Set(series.flatMap((s) => s.points.map(([x]) => x)))].sort((a, b) => a - b);
  const rows = xs.map((x) => ({ x, of: new Map(series.map((s) => [s.name, s.points.find(([at]) => at === x)?.[1]])) }));
  const columns = [
    { name: xName, text: (r) => r.x, value: (r) => r.x, right: true },
    ...series.map((s) => ({
      name: `${s.name}, ${name}`, key: `${s.name} (${unit})`, right: true,
      text: (r) => (r.of.get(s.name) === undefined ? "" : figure(r.of.get(s.name) / size)), value: (r) => r.of.get(s.name),
    })),
  ];
  return figureWithTable(t, title, drawing, columns, rows, [toggle, reset]);
}

const tip = (all, unit) =>
  [escape(all[0]?.axisValueLabel ?? ""), ...all.map((p) => `${p.marker}${escape(p.seriesName)} ${figure(p.value[1])} ${escape(unit)}`)].join("<br>");

// blocks draws the metric of a group block by block, so that drift can be seen.
export function blocks(t, group) {
  const series = group.rows.filter((r) => r.blocks.length > 1).map((r) => ({ name: r.label, points: r.blocks.map(([block, value]) => [block + 1, value]) }));
  if (series.length === 0) return undefined;
  return lines(t, { title: t("values_title"), xName: t("block"), unit: group.unit, xLog: false, series });
}

// sizes draws throughput against the size of messages.
export function sizes(t, group) {
  const series = group.rows.filter((r) => r.sizes?.length > 1).map((r) => ({
    name: r.label, points: r.sizes.map(({ size, value }) => [size, value]), limit: r.metric?.ceiling?.value,
  }));
  if (series.length === 0) return undefined;
  return lines(t, { title: t("sizes_title"), xName: t("size_bytes"), unit: "bit/s", xLog: true, series });
}

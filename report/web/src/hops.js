import { escape, legend, namesAxis, rowTip, valueAxis, zoom } from "./axes.js";
import { chart } from "./chart.js";
import { el } from "./dom.js";
import { figureWithTable } from "./table.js";
import { figure, percent, scaleFor, withUnit } from "./units.js";

// hops draws the path of a packet through each network as a waterfall: each hop begins
// where the one before it ends. All have the same scale, the baseline first.
export function hops(t, view, group) {
  const ways = group.rows.map((r) => ({ row: r, hops: way(r.trace) })).filter((w) => w.hops.length > 0);
  const longest = Math.max(...ways.map((w) => w.hops.at(-1).begin + w.hops.at(-1).long));
  return ways.length > 0 && el("div", { class: "charts whole" }, ways.map((w) => waterfall(t, w.row, w.hops, longest)));
}

// way is the hops with where they begin: with the times without tracing or, if those
// are not known for all hops, with the times while traced.
function way(trace) {
  const known = trace?.hops ?? [];
  const clean = known.every((h) => h.clean !== undefined);
  let at = 0;
  return known.map((h) => {
    const begin = at;
    const long = clean ? h.clean : h.mean;
    at += long;
    return { ...h, begin, long, scaled: clean, label: [h.name, h.at, h.device].filter(Boolean).join(" ") };
  });
}

const colours = { request: "#0072b2", response: "#56b4e9" };

function waterfall(t, row, all, longest) {
  const [unit, size] = scaleFor("s", [longest]);
  const title = `${row.label}: ${t("hops_title")}`;
  const ways = [...new Set(all.map((h) => h.direction))];
  const drawing = chart(`${title}: ${all.map((h) => `${h.label} ${figure(h.long / size)} ${unit}`).join(", ")}`, 92 + 18 * all.length, (page) => ({
    grid: { left: 8, right: 20, top: 34, bottom: page.paper ? 36 : 56, containLabel: true },
    legend: legend(page, ways), dataZoom: zoom(page),
    tooltip: rowTip((hop) => tip(hop, unit, size)),
    xAxis: valueAxis(page, unit, { min: 0, max: longest / size }),
    yAxis: { ...namesAxis(page, all.map((h) => h.label), page.narrow ? 120 : 200) },
    series: [
      { type: "bar", stack: "way", silent: true, itemStyle: { color: "transparent" }, data: all.map((h) => h.begin / size) },
      ...ways.map((direction) => ({
        type: "bar", stack: "way", name: direction, barWidth: 10, itemStyle: { color: colours[direction] },
        data: all.map((h) => (h.direction === direction ? { value: h.long / size, of: h } : "-")),
      })),
    ],
  }));
  const columns = [
    { name: t("hop"), key: "hop", text: (h) => h.name },
    { name: t("at"), key: "at", text: (h) => [h.at, h.device].filter(Boolean).join(" ") },
    { name: `${t(all[0].scaled ? "clean" : "followed")}, ${unit}`, key: `${all[0].scaled ? "clean" : "traced"} (s)`, right: true, text: (h) => figure(h.long / size), value: (h) => h.long },
    { name: `${t("share")}, %`, key: "share", right: true, text: (h) => percent(h.share), value: (h) => h.share },
    { name: "p50", key: "p50 (s)", right: true, text: (h) => figure(h.p50 / size), value: (h) => h.p50 },
    { name: "p99", key: "p99 (s)", right: true, text: (h) => figure(h.p99 / size), value: (h) => h.p99 },
  ];
  const { sum, traced, ways: n } = row.trace;
  const note = all[0].scaled ? t("hops_text", { sum: withUnit(sum, "s"), total: withUnit(traced, "s"), n }) : t("hops_followed", { sum: withUnit(sum, "s"), n });
  return el("div", {}, figureWithTable(t, title, drawing, columns, all), el("p", { class: "quiet" }, note));
}

const tip = (h, unit, size) =>
  `<b>${escape(h.label)}</b><br>${figure(h.long / size)} ${unit}, ${percent(h.share)} %<br>p50 ${withUnit(h.p50, "s")}, p99 ${withUnit(h.p99, "s")}`;

import { escape, legend, logButton, trim, valueAxis, zoom } from "./axes.js";
import { chart, palette } from "./chart.js";
import { figureWithTable } from "./table.js";
import { figure, scaleFor, withUnit } from "./units.js";

// lines draws networks over x, a line each. A series is {name, points, limit, guide}:
// its points are {x, y, low, high, n}, of which only x and y are required; limit is a
// value that it cannot exceed, drawn dashed; a guide is a line that is no network, and
// is not in the table. x is {name, key, label, value}: label is how a value of it is shown, and
// value how it is copied. log is whether y is logarithmic at first; undefined if y may be
// below zero. second are series of the same names in another unit, {name, unit,
// series}, on their own axis: thin and dotted, or as bars.
export function lines(t, { title, x, unit, log, series, second }) {
  const [name, size] = scaleFor(unit, series.flatMap((s) => s.points.map((p) => p.y)));
  const scale = { log };
  const names = series.map((s) => s.name);
  const drawing = chart(summary(title, series, unit), 290, (page) => {
    const upper = { unit: name, size, log: scale.log };
    const axes = [valueAxis(page, name, { log: scale.log, scale: true, nameGap: 48, ...(scale.log && { min: floor(series, size) }) })];
    const all = series.flatMap((s, n) => [drawn(t, s, n, upper, page), intervals(s, upper)]);
    if (second) {
      const [by, per] = scaleFor(second.unit, second.series.flatMap((s) => s.points.map((p) => p.y)));
      axes.push(valueAxis(page, [second.name, by].filter(Boolean).join(", "), { nameGap: 40, min: 0, splitLine: { show: false } }));
      all.push(...second.series.map((s, n) => secondary(s, n, second, { unit: by, size: per })));
    }
    return {
      grid: { left: 34, right: second ? 34 : 20, top: 40, bottom: 62, containLabel: true },
      legend: legend(page, names), dataZoom: zoom(page),
      tooltip: { trigger: "axis", formatter: (points) => tip(points, x) },
      xAxis: valueAxis(page, x.name, { log: x.log, logBase: x.base ?? 10, min: "dataMin", max: "dataMax", minInterval: x.whole ? 1 : undefined, splitLine: { show: false }, axisLabel: { color: page.text, hideOverlap: true, formatter: x.label ?? ((v) => trim(figure(v, 4))), customValues: x.ticks && [...new Set(x.ticks)] }, axisTick: { customValues: x.ticks && [...new Set(x.ticks)] } }),
      yAxis: axes, series: all,
    };
  });
  return figureWithTable(t, title, drawing, [
    { name: x.name, key: x.key ?? x.name, text: (r) => (x.label ? x.label(r.x) : r.x), value: (r) => (x.value ? x.value(r.x) : r.x), right: true },
    ...series.filter((s) => !s.guide).flatMap((s) => columns(t, s, s.name, unit)),
    ...(second?.series ?? []).flatMap((s) => columns(t, s, `${s.name}, ${second.name}`, second.unit)),
  ], rowsOf([...series, ...(second?.series ?? [])]), [log !== undefined && logButton(t, scale, drawing)]);
}

const summary = (title, series, unit) =>
  `${title}: ${series.map((s) => `${s.name} ${withUnit(s.points[0].y, unit)} – ${withUnit(s.points.at(-1).y, unit)}`).join("; ")}`;

// farApart reports whether values span so much that a logarithmic axis shows them
// better.
export function farApart(series) {
  const all = series.flatMap((s) => s.points.map((p) => p.y)).filter((y) => y > 0);
  return Math.max(...all) > 10 * Math.min(...all);
}

// floor is the power of ten below all values above zero: a logarithmic axis has no
// zero.
const floor = (series, size) => {
  const above = series.flatMap((s) => s.points.map((p) => p.y / size)).filter((y) => y > 0);
  return above.length ? 10 ** Math.floor(Math.log10(Math.min(...above))) : undefined;
};

// drawn is a network's line; those beyond the palette's end are dashed.
function drawn(t, s, n, upper, page) {
  return {
    type: "line", name: s.name, showSymbol: s.points.length < 40 && !s.guide, lineStyle: { type: n < 8 && !s.guide ? "solid" : "dashed" }, color: s.guide && page.text,
    data: s.points.filter((p) => !upper.log || p.y > 0).map((p) => ({ value: [p.x, p.y / upper.size], point: { ...p, ...upper } })),
    markLine: s.limit ? {
      silent: true, symbol: "none", lineStyle: { type: "dashed", color: palette[n % palette.length] }, data: [{ yAxis: s.limit / upper.size }],
      label: { show: n === 0, formatter: t("ceiling"), position: "insideEndTop", color: page.text },
    } : undefined,
  };
}

// intervals are those of a line's points, drawn vertically.
const intervals = (s, upper) => ({
  type: "custom", name: s.name, silent: true, clip: true,
  data: s.points.filter((p) => p.low !== undefined && (!upper.log || p.low > 0)).map((p) => [p.x, p.low / upper.size, p.high / upper.size]), encode: { x: 0, y: [1, 2] },
  renderItem: (p, api) => {
    const [x, from] = api.coord([api.value(0), api.value(1)]);
    const [, to] = api.coord([api.value(0), api.value(2)]);
    return { type: "line", shape: { x1: x, y1: from, x2: x, y2: to }, style: { stroke: api.visual("color"), lineWidth: 1.5 } };
  },
});

// secondary is a series on the second axis.
const secondary = (s, n, second, by) => ({
  type: second.bars ? "bar" : "line", name: s.name, yAxisIndex: 1, showSymbol: false, lineStyle: { type: "dotted", width: 1.5 }, barMaxWidth: 6, itemStyle: { opacity: 0.6 },
  data: s.points.map((p) => ({ value: [p.x, p.y / by.size], point: { ...p, ...by, what: second.name } })),
});

function tip(all, x) {
  const points = all.filter((p) => p.data?.point);
  const at = points[0]?.data.point.x;
  return [escape(x.label ? x.label(at) : at), ...points.map(({ marker, seriesName, data: { point: p } }) => {
    const shown = (v) => trim(figure(v / p.size));
    const ends = p.low === undefined ? "" : ` [${shown(p.low)}, ${shown(p.high)}]`;
    return `${marker}${escape(seriesName)}${p.what ? `, ${escape(p.what)}` : ""}: ${shown(p.y)} ${escape(p.unit)}${ends}${p.n ? `, n = ${p.n}` : ""}`;
  })].join("<br>");
}

function rowsOf(series) {
  const rows = new Map();
  for (const s of series) {
    for (const p of s.points) {
      if (!rows.has(p.x)) rows.set(p.x, { x: p.x, of: new Map() });
      rows.get(p.x).of.set(s, p);
    }
  }
  return [...rows.values()].sort((a, b) => a.x - b.x);
}

// columns are those of a series: its values, and its intervals where it has any.
function columns(t, s, label, unit) {
  const [name, size] = scaleFor(unit, s.points.map((p) => p.y));
  const key = unit ? `${label} (${unit})` : label;
  const text = (v) => (v === undefined ? "" : figure(v / size));
  const of = (r) => r.of.get(s);
  const values = { name: [label, name].filter(Boolean).join(", "), key, right: true, text: (r) => text(of(r)?.y), value: (r) => of(r)?.y };
  if (s.limit) return [values, { name: `${label}, ${t("ceiling")}`, key: `${label} ceiling (${unit})`, right: true, text: () => text(s.limit), value: () => s.limit }];
  if (s.points.every((p) => p.low === undefined)) return [values];
  return [
    values,
    { name: t("interval"), text: (r) => (of(r)?.low === undefined ? "" : `[${text(of(r).low)}, ${text(of(r).high)}]`), key: `${key} low`, value: (r) => of(r)?.low },
    { csvOnly: true, key: `${key} high`, value: (r) => of(r)?.high },
    { csvOnly: true, key: `${label} n`, value: (r) => of(r)?.n },
  ];
}

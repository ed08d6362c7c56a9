import { errorBars, escape, legend, logButton, namesAxis, trim, valueAxis, zoom } from "./axes.js";
import { dashedItem } from "./bar_style.js";
import { chart, palette } from "./chart.js";
import { figureWithTable } from "./table.js";
import { figure, scaleFor } from "./units.js";

// bars draws a bar for each row, {label, parts, at, low, high, n, unsure}: its parts by name,
// stacked, and the interval of their sum. names are those of the parts, in order. With
// apart the parts are side by side. log is as for lines. ends are those of the axis, {min, max}.
// counted is what n are.
export function bars(t, { title, first, names, unit, rows, apart, log, ends, counted = t("blocks") }) {
  const [name, size] = scaleFor(unit, rows.flatMap((r) => [r.high, ...names.map((n) => r.parts[n])]));
  const scale = { log };
  const thick = apart ? 8 : 14;
  const drawing = chart(summary(title, names, rows, name, size), 96 + (apart ? 14 + thick * names.length : 24) * rows.length, (page) => ({
    grid: { left: 8, right: 20, top: 34, bottom: page.paper ? 36 : 56, containLabel: true },
    legend: legend(page, names), dataZoom: zoom(page),
    tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, formatter: (of) => tip(of, rows, names, name, size) },
    xAxis: valueAxis(page, name, { log: scale.log, ...(scale.log ? { min: least(rows, names, size) } : ends) }), yAxis: namesAxis(page, rows.map((r) => r.label)),
    series: [
      ...names.map((part, n) => ({
        type: "bar", name: part, stack: apart ? undefined : "all", barWidth: thick,
        data: rows.map((r) => (r.parts[part] === undefined ? "-" : { value: r.parts[part] / size, itemStyle: r.unsure ? dashedItem(palette[n]) : {} })),
      })),
      errorBars(rows.map((r) => ({ low: r.low / size, high: r.high / size })), page.text),
    ],
  }));
  return figureWithTable(t, title, drawing, columns(t, first, names, unit, rows, name, size, counted), rows, [log !== undefined && logButton(t, scale, drawing)]);
}

const summary = (title, names, rows, unit, size) =>
  `${title}: ${rows.map((r) => `${r.label} ${names.filter((n) => r.parts[n] !== undefined).map((n) => `${n} ${figure(r.parts[n] / size)} ${unit}`).join(", ")}`).join("; ")}`;

// least is the power of ten below all bars: a logarithmic axis has no zero.
const least = (rows, names, size) => {
  const above = rows.flatMap((r) => [r.low, ...names.map((n) => r.parts[n])]).filter((v) => v > 0);
  return above.length ? 10 ** Math.floor(Math.log10(Math.min(...above) / size)) : undefined;
};

function tip(of, rows, names, unit, size) {
  const row = rows[of[0].dataIndex];
  const shown = (v) => trim(figure(v / size));
  return [
    `<b>${escape(row.label)}</b>`,
    ...of.filter((p) => names.includes(p.seriesName) && row.parts[p.seriesName] !== undefined)
      .map((p) => `${p.marker}${escape(p.seriesName)} ${shown(row.parts[p.seriesName])} ${escape(unit)}`),
    [row.low !== undefined && `[${shown(row.low)}, ${shown(row.high)}]`, row.n && `n = ${row.n}`].filter(Boolean).join(", "),
  ].filter(Boolean).join("<br>");
}

function columns(t, first, names, unit, rows, name, size, counted) {
  const number = (v) => (v === undefined ? "" : figure(v / size));
  const all = [
    { name: first, key: first, text: (r) => r.label },
    ...names.map((n) => ({ name: [n, name].filter(Boolean).join(", "), key: `${n} (${unit})`, right: true, text: (r) => number(r.parts[n]), value: (r) => r.parts[n] })),
  ];
  if (rows.some((r) => r.low !== undefined)) {
    all.push(
      { name: t("interval"), key: "low", text: (r) => (r.low === undefined ? "" : `[${number(r.low)}, ${number(r.high)}]`), value: (r) => r.low },
      { csvOnly: true, key: "high", value: (r) => r.high });
  }
  if (rows.some((r) => r.n)) all.push({ name: counted, key: "n", right: true, text: (r) => r.n ?? "" });
  return all;
}

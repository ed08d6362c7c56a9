import { errorBars, escape, legend, namesAxis, rowTip, valueAxis, zoom } from "./axes.js";
import { chart, palette } from "./chart.js";
import { el } from "./dom.js";
import { lines } from "./lines.js";
import { figureWithTable, table } from "./table.js";
import { figure, interval, percent, scaleFor } from "./units.js";

// published compares a published measurement with the measured one: a verdict on each
// claim, the recommendations, and the tolls figure by figure.
export function published(t, view) {
  const one = view.case;
  if (!one) return undefined;
  return el("section", {}, el("h2", {}, t("published", { title: one.title })),
    el("p", {}, one.recommends ? t("article_recommends", { text: one.recommends }) : t("article_nothing"), " ",
      t(one.ours ? "ours" : "ours_nothing", { name: one.ours, because: one.because })),
    el("h3", {}, t("claims")), el("ul", { class: "claims" }, one.claims.map((c) => claim(t, c))),
    list(t("odd"), one.odd), list(t("defects"), one.defects),
    tablesOf(one.figures).map((f) => figures(t, f)));
}

const claim = (t, c) => el("li", { class: `claim ${c.verdict.split(" ")[0]}` },
  el("b", {}, t(c.verdict)), ` ${c.text}`, c.note && el("span", { class: "quiet" }, ` (${c.note})`), el("p", { class: "quiet" }, c.because));

const list = (title, texts) => (texts?.length ? [el("h3", {}, title), el("ul", {}, texts.map((text) => el("li", {}, text)))] : undefined);

// tablesOf groups figures by experiment, workload and metric.
function tablesOf(all) {
  const tables = new Map();
  for (const f of all) {
    const title = `${f.experiment}: ${f.workload}, ${f.metric}`;
    if (!tables.has(title)) tables.set(title, []);
    tables.get(title).push(f);
  }
  return [...tables].map(([title, rows]) => ({ title, rows }));
}

const label = (f) => [f.network, f.setting].filter(Boolean).join(", ");

// figures draws a table's tolls: over the message size if there are more than two.
function figures(t, { title, rows }) {
  const compared = rows.filter((f) => f.published_toll !== undefined);
  if (compared.length === 0) return el("article", {}, el("p", { class: "caption" }, title), table(title, columns(t, rows), rows));
  const against = [...new Set(compared.map((f) => f.against))].join(", ");
  const note = el("p", { class: "quiet" }, t("figures_text", { against }));
  if (new Set(compared.map((f) => f.size)).size > 2) {
    return el("article", {}, note, bySize(t, title, compared), el("details", {}, el("summary", {}, t("table")), table(title, columns(t, rows), rows)));
  }
  const words = compared.map((f) => `${label(f)} ${t("as_published")} ${percent(f.published_toll, true)} %, ${t("here")} ${percent(f.toll?.value, true)} %`);
  const drawing = chart(`${title}: ${words.join("; ")}`, 100 + 26 * compared.length, (page) => dots(t, compared, page));
  return el("article", {}, note, figureWithTable(t, title, drawing, columns(t, rows), rows));
}

// bySize draws each network twice: as published, and as measured with intervals.
function bySize(t, title, rows) {
  const sized = rows.filter((f) => f.size).sort((a, b) => a.size - b.size);
  const series = [...new Set(sized.map((f) => f.network))].flatMap((name) => {
    const own = sized.filter((f) => f.network === name);
    return [
      { name: `${name}, ${t("as_published")}`, points: own.map((f) => ({ x: f.size, y: f.published_toll })) },
      { name: `${name}, ${t("here")}`, points: own.filter((f) => f.toll).map((f) => ({ x: f.size, y: f.toll.value, low: f.toll.low, high: f.toll.high })) },
    ];
  }).filter((s) => s.points.length > 0);
  return lines(t, { title, x: { name: t("size_bytes"), key: "size (bytes)", log: true, base: 2 }, unit: "ratio", series });
}

// dots draws the two tolls of each figure in one row: a ring as published, a dot with
// its interval as measured.
function dots(t, rows, page) {
  const mark = (ratio, f) => ({ value: [100 * ratio, label(f)], of: f, itemStyle: { opacity: f.fidelity === "stand-in" ? 0.4 : 1 } });
  return {
    grid: { left: 8, right: 24, top: 36, bottom: 52, containLabel: true },
    legend: legend(page, [t("as_published"), t("here")]), tooltip: rowTip((f) => tip(t, f)), dataZoom: zoom(page),
    xAxis: valueAxis(page, t("toll_percent")), yAxis: namesAxis(page, rows.map(label)),
    series: [
      { name: t("as_published"), type: "scatter", symbol: "emptyCircle", symbolSize: 11, color: palette[1], data: rows.map((f) => mark(f.published_toll, f)) },
      { name: t("here"), type: "scatter", symbolSize: 9, color: palette[0], data: rows.map((f) => mark(f.toll?.value ?? NaN, f)) },
      errorBars(rows.map((f) => ({ low: 100 * (f.toll?.low ?? NaN), high: 100 * (f.toll?.high ?? NaN) })), palette[0]),
    ],
  };
}

function tip(t, f) {
  const measured = f.toll ? `${percent(f.toll.value, true)} % ${interval(f.toll.low, f.toll.high)}` : f.reason || "-";
  const here = f.as === f.network ? t("here") : `${t("here_as")} ${f.as}`;
  return [`<b>${escape(label(f))}</b>`, `${escape(t("as_published"))}: ${percent(f.published_toll, true)} %`, `${escape(here)}: ${escape(measured)}`,
    f.fidelity === "stand-in" && escape(t("stand-in"))].filter(Boolean).join("<br>");
}

function columns(t, rows) {
  const [unit, size] = scaleFor(rows[0].unit, rows.flatMap((f) => [f.published, f.measured]));
  const number = (key, value) => ({ key, right: true, text: (f) => (value(f) === undefined ? "" : figure(value(f) / size)), value });
  const share = (key, value) => ({ key, right: true, text: (f) => (value(f) === undefined ? "" : percent(value(f), key.includes("toll"))), value });
  return [
    { name: t("network"), key: "network", text: (f) => f.network },
    { name: t("here_as"), key: "as", text: (f) => f.as },
    { name: t("setting"), key: "setting", text: (f) => f.setting || f.path },
    { name: `${t("as_published")}, ${unit}`, ...number(`published (${rows[0].unit})`, (f) => f.published) },
    { name: `${t("as_published")}: ${t("toll_percent")}`, ...share("published_toll", (f) => f.published_toll) },
    { name: `${t("as_published")}: ${t("ceiling_share")}`, ...share("published_ceiling", (f) => f.ceiling?.published) },
    { name: t("framing_percent"), ...share("framing", (f) => f.ceiling?.framing) },
    { name: `${t("here")}, ${unit}`, ...number(`measured (${rows[0].unit})`, (f) => f.measured), title: (f) => f.reason },
    { name: `${t("here")}: ${t("toll_percent")}`, ...share("toll", (f) => f.toll?.value) },
    { name: t("interval"), key: "toll_low", text: (f) => interval(f.toll?.low, f.toll?.high), value: (f) => f.toll?.low },
    { name: `${t("here")}: ${t("ceiling_share")}`, ...share("ceiling", (f) => f.ceiling?.measured) },
    { name: t("fidelity"), key: "fidelity", text: (f) => f.fidelity },
  ];
}

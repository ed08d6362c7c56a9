import { chart, palette } from "./chart.js";
import { el } from "./dom.js";
import { figureWithTable, table } from "./table.js";
import { escape } from "./tolls.js";
import { figure, interval, percent, scaleFor } from "./units.js";

// published sets a published measurement beside what was measured: a verdict on
// each claim, the recommendations, and figure by figure the tolls.
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

// tablesOf sorts figures by experiment, workload and metric.
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

function figures(t, { title, rows }) {
  const compared = rows.filter((f) => f.published_toll !== undefined);
  if (compared.length === 0) return el("article", {}, el("p", { class: "caption" }, title), table(title, columns(t, rows), rows));
  const against = [...new Set(compared.map((f) => f.against))].join(", ");
  const swept = compared.every((f) => f.size) && new Set(compared.map((f) => f.size)).size > 2;
  const words = compared.slice(0, 40).map((f) => `${label(f)} ${t("as_published")} ${percent(f.published_toll, true)} %, ${t("here")} ${percent(f.toll?.value, true)} %`);
  const drawing = swept
    ? chart(`${title}: ${words.join("; ")}`, 320, (page) => lines(t, compared, page))
    : chart(`${title}: ${words.join("; ")}`, 70 + 26 * compared.length, (page) => dots(t, [...compared].reverse(), page));
  return el("article", {}, el("p", { class: "quiet" }, t("figures_text", { against })), figureWithTable(t, title, drawing, columns(t, rows), rows));
}

// dots draws each figure's two tolls on a line of its own: a ring as published, a
// dot with its interval as measured.
function dots(t, rows, page) {
  const mark = (n, f) => ({ value: [100 * n, label(f)], itemStyle: { opacity: f.fidelity === "stand-in" ? 0.4 : 1 } });
  return {
    ...axes(t, page, { type: "category", data: rows.map(label), axisLabel: { width: page.narrow ? 110 : 260, overflow: "truncate" } }),
    tooltip: { trigger: "item", formatter: ({ dataIndex }) => tip(t, rows[dataIndex]) },
    series: [
      { name: t("as_published"), type: "scatter", symbol: "emptyCircle", symbolSize: 11, color: palette[1], data: rows.map((f) => mark(f.published_toll, f)) },
      { name: t("here"), type: "scatter", symbolSize: 9, color: palette[0], data: rows.map((f) => mark(f.toll?.value ?? NaN, f)) },
      { type: "custom", silent: true, data: rows.map((f, n) => [100 * (f.toll?.low ?? NaN), n, 100 * (f.toll?.high ?? NaN)]), encode: { x: [0, 2], y: 1 }, renderItem: (_, api) => whisker(api) },
    ],
  };
}

function whisker(api) {
  const [low, y] = api.coord([api.value(0), api.value(1)]);
  const [high] = api.coord([api.value(2), api.value(1)]);
  if (!Number.isFinite(low) || !Number.isFinite(high)) return undefined;
  return { type: "line", shape: { x1: low, y1: y, x2: high, y2: y }, style: { stroke: palette[0], lineWidth: 2 } };
}

// lines draws the tolls over the message size: broken as published, whole as
// measured.
function lines(t, rows, page) {
  const names = [...new Set(rows.map((f) => f.network))];
  const series = names.flatMap((name, n) => {
    const own = rows.filter((f) => f.network === name).sort((a, b) => a.size - b.size);
    const base = { type: "line", color: palette[n % palette.length], symbolSize: 7 };
    return [
      { ...base, name: `${name}, ${t("as_published")}`, symbol: "emptyCircle", lineStyle: { type: "dashed" }, data: own.map((f) => ({ value: [f.size, 100 * f.published_toll], f })) },
      { ...base, name: `${name}, ${t("here")}`, symbol: "circle", data: own.filter((f) => f.toll).map((f) => ({ value: [f.size, 100 * f.toll.value], f })) },
    ];
  });
  return {
    grid: { left: 8, right: 24, top: 60, bottom: 64, containLabel: true },
    legend: { type: "scroll", top: 0, textStyle: { color: page.text } },
    tooltip: { trigger: "item", formatter: ({ data }) => tip(t, data.f) },
    dataZoom: [{ type: "inside" }, { type: "slider", bottom: 4, height: 18 }],
    xAxis: { type: "log", name: t("size_bytes"), nameLocation: "middle", nameGap: 26, splitLine: { lineStyle: { color: page.line } } },
    yAxis: { type: "value", name: t("toll_percent"), splitLine: { lineStyle: { color: page.line } } },
    series,
  };
}

const axes = (t, page, yAxis) => ({
  grid: { left: 8, right: 24, top: 36, bottom: 36, containLabel: true },
  legend: { top: 0, data: [t("as_published"), t("here")], textStyle: { color: page.text } },
  xAxis: { type: "value", name: t("toll_percent"), nameLocation: "middle", nameGap: 24, splitLine: { lineStyle: { color: page.line } } },
  yAxis: { axisTick: { show: false }, axisLine: { show: false }, ...yAxis },
});

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

import { el } from "./dom.js";
import { figure, scaleFor } from "./units.js";

export const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

// legend switches series off and on.
export const legend = (page, names) => ({
  type: "scroll", top: 0, left: 0, right: 0, data: names, itemWidth: 16, itemHeight: 10,
  textStyle: { color: page.text }, pageTextStyle: { color: page.text }, pageIconColor: page.text, inactiveColor: page.line,
});

// zoom is by the slider that is below while the pointer is there, by dragging, and by the wheel with Ctrl, so that the
// wheel alone scrolls the page. What is beyond an end is clipped, not left out.
export const zoom = (page) => [
  { type: "inside", xAxisIndex: 0, filterMode: "none", zoomOnMouseWheel: "ctrl" },
  { type: "slider", show: page.pointed && !page.paper, xAxisIndex: 0, filterMode: "none", height: 14, bottom: 4, borderColor: page.line, showDetail: false, showDataShadow: false, brushSelect: false, textStyle: { color: page.text } },
];

// valueAxis is an axis of numbers; label writes one of them. A lower end that was chosen is seldom
// a round number, and has no label below zero.
export const valueAxis = (page, name, { log = false, label = tick, ...more } = {}) => ({
  type: log ? "log" : "value", name, nameLocation: "middle", nameGap: 26, nameTextStyle: { color: page.text },
  splitLine: { lineStyle: { color: page.line } }, axisLine: { lineStyle: { color: page.line } },
  axisLabel: { color: page.text, formatter: label, hideOverlap: true, showMinLabel: more.min < 0 ? false : undefined }, ...more,
});

const tick = (v) => trim(figure(v, 4));

// trim removes trailing zeros of a fraction.
export const trim = (text) => (text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text);

// inUnit writes a value of an axis that spans many powers of ten, each in its own
// unit.
export function inUnit(value, unit) {
  const [name, size] = scaleFor(unit, [value]);
  return `${trim(figure(value / size))} ${name}`.trim();
}

// logButton switches a drawing's scale, {log}, between linear and logarithmic.
export function logButton(t, scale, drawing) {
  const button = el("button", { type: "button", class: "small", "aria-pressed": String(scale.log) }, t("log"));
  button.addEventListener("click", () => {
    scale.log = !scale.log;
    button.setAttribute("aria-pressed", String(scale.log));
    drawing.redraw();
  });
  return button;
}

// namesAxis is an axis of names from top to bottom.
export const namesAxis = (page, names, width = page.narrow ? 120 : 260) => ({
  type: "category", inverse: true, data: names, axisTick: { show: false }, axisLine: { lineStyle: { color: page.line } },
  axisLabel: { interval: 0, color: page.text, width, overflow: "truncate" },
});

// rowTip is a tooltip for a whole row, since the marks in it may be thin; text writes
// it from the data of a mark.
export const rowTip = (text) => ({
  trigger: "axis", axisPointer: { type: "shadow" },
  formatter: (points) => [...new Set(points.filter((p) => p.data?.of).map((p) => text(p.data.of)))].join("<br>"),
});

// errorBar is an interval with its ends, in the row at.
export function errorBar(api, at, low, high, stroke) {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [];
  const [from, y] = api.coord([low, at]);
  const [to] = api.coord([high, at]);
  const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth: 2 } });
  return [line(from, y, to, y), line(from, y - 4, from, y + 4), line(to, y - 4, to, y + 4)];
}

// errorBars are the intervals of rows, on top of everything. Each is {at, low, high}.
export const errorBars = (rows, colour) => ({
  type: "custom", silent: true, clip: true, z: 6, data: rows.map((r, n) => [r.low ?? NaN, r.high ?? NaN, r.at ?? n]), encode: { x: [0, 1], y: 2 },
  renderItem: (p, api) => ({ type: "group", children: errorBar(api, api.value(2), api.value(0), api.value(1), colour) }),
});

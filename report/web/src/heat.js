import { painted } from "./chart.js";
import { el } from "./dom.js";
import { figureWithTable } from "./table.js";
import { percent, withUnit } from "./units.js";

// The classes of fields: how much worse than the middle each begins, and its colour.
const classes = [{ from: 1, colour: "--heat-4" }, { from: 0.4, colour: "--heat-3" }, { from: 0.15, colour: "--heat-2" }, { from: 0.05, colour: "--heat-1" }, { from: -0.05, colour: "--heat-0" }, { from: -Infinity, colour: "--heat-better" }];
const mostLabels = 40; // nodes whose names have room
const mostRows = 500; // of the table

// heat draws how each pair of nodes compares with the middle of all, the worst nodes first. Where
// there are more nodes than fields have room, or few of the pairs were asked for, a field is the
// worst pair of several nodes.
export function heat(t, mesh, metric, language) {
  const title = t("mesh_map", { metric: metric.heads[language], middle: withUnit(metric.middle, metric.unit) });
  const read = el("p", { class: "quiet", "aria-live": "polite" }, t("mesh_hint"));
  const coarse = el("p", { class: "quiet" });
  const canvas = el("canvas", { tabindex: "0", role: "application", "aria-label": `${title}. ${t("mesh_hint")}` });
  const box = el("div", { class: "heat" }, canvas, coarse, read, legend(t));
  const map = { at: undefined };
  painted(box, (style) => {
    Object.assign(map, layout(box, metric, mesh));
    coarse.textContent = map.each > 1 ? t("mesh_worst_of", { n: map.each }) : "";
    paint(canvas, map, style);
  });
  const go = (row, column) => {
    if (!map.fields || row < 0 || column < 0 || row >= map.side || column >= map.side) return;
    map.at = [row, column];
    read.textContent = fieldText(t, mesh, metric, map, row, column);
    box.redraw();
  };
  canvas.addEventListener("pointermove", (e) => {
    const edge = canvas.getBoundingClientRect();
    go(Math.floor((e.clientY - edge.top - map.margin) / map.cell), Math.floor((e.clientX - edge.left - map.margin) / map.cell));
  });
  canvas.addEventListener("keydown", (e) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
    if (!by) return;
    e.preventDefault();
    go(...(map.at ? [map.at[0] + by[0], map.at[1] + by[1]] : [0, Math.min(1, map.side - 1)]));
  });
  return figureWithTable(t, title, box, columns(t, metric), rowsOf(mesh, metric), [], mostRows);
}

const rowsOf = ({ nodes }, { pairs }) => pairs.a.map((a, n) => ({
  a: nodes[a], b: nodes[pairs.b[n]], n: pairs.n[n], ...(pairs.n[n] > 0 && { value: pairs.value[n], worse: pairs.worse[n] }),
}));

const columns = (t, metric) => [
  { name: t("mesh_node_head"), key: "node", text: (r) => r.a },
  { name: t("mesh_other_node"), key: "other node", text: (r) => r.b },
  { name: metric.name, key: `${metric.name} (${metric.unit})`, right: true, text: (r) => (r.n ? withUnit(r.value, metric.unit) : t("mesh_not_measured")), value: (r) => r.value },
  { name: t("mesh_against"), key: "worse (ratio)", right: true, text: (r) => (r.n ? percent(r.worse, true) : ""), value: (r) => r.worse },
  { name: t("mesh_values"), key: "n", right: true, text: (r) => r.n },
];

// layout is where fields are: side by side of them, each of so many nodes, with the worst of its
// pairs by its place in the columns; -1: none was asked for.
function layout(box, { order, pairs }, { nodes }) {
  const labels = nodes.length <= mostLabels;
  const longest = Math.max(...nodes.map((n) => short(n).length));
  let margin = labels ? Math.min(120, 8 + 7.5 * longest) : 0;
  const width = Math.max(120, Math.min(box.clientWidth, 900));
  if ((width - margin) / nodes.length < 13) margin = 0;
  const asked = (2 * pairs.a.length) / nodes.length ** 2; // a share of all
  const each = Math.max(Math.ceil(nodes.length / (width - margin)), Math.round(Math.sqrt(1 / asked)));
  const side = Math.ceil(nodes.length / each);
  const cell = Math.min(36, (width - margin) / side);
  const place = new Array(nodes.length);
  order.forEach((node, n) => { place[node] = Math.floor(n / each); });
  const fields = new Int32Array(side * side).fill(-1);
  for (let n = pairs.a.length - 1; n >= 0; n--) { // the worst last
    const a = place[pairs.a[n]], b = place[pairs.b[n]];
    fields[a * side + b] = n;
    fields[b * side + a] = n;
  }
  return { margin, each, side, cell, fields, colour: (n) => (pairs.n[n] > 0 ? classes.find((c) => pairs.worse[n] > c.from).colour : "--heat-lost"), names: order.map((node) => short(nodes[node])) };
}

const short = (name) => (name.length > 16 ? `${name.slice(0, 15)}…` : name);

// paint draws the fields as pixels of a small picture, and enlarges it.
function paint(canvas, map, style) {
  const size = map.margin + map.cell * map.side, dense = devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(size * dense);
  canvas.style.width = canvas.style.height = `${size}px`;
  const pen = canvas.getContext("2d");
  pen.scale(dense, dense);
  pen.imageSmoothingEnabled = false;
  pen.drawImage(picture(map, style), map.margin, map.margin, size - map.margin, size - map.margin);
  const text = style.getPropertyValue("--text").trim();
  if (map.cell >= 8) grid(pen, map, size, style.getPropertyValue("--card").trim());
  if (map.margin > 0) names(pen, map, text, style);
  if (map.at && map.at.every((n) => n < map.side)) {
    pen.strokeStyle = text;
    pen.lineWidth = 2;
    const wide = Math.max(map.cell, 5), half = (wide - map.cell) / 2;
    pen.strokeRect(map.margin + map.at[1] * map.cell - half, map.margin + map.at[0] * map.cell - half, wide, wide);
  }
}

function picture({ side, fields, colour }, style) {
  const small = el("canvas", { width: side, height: side });
  const pen = small.getContext("2d"), image = pen.createImageData(side, side);
  const shades = new Map();
  const shade = (name) => {
    if (!shades.has(name)) shades.set(name, parseInt(style.getPropertyValue(name).trim().slice(1), 16));
    return shades.get(name);
  };
  fields.forEach((n, at) => {
    if (n < 0) return;
    const rgb = shade(colour(n));
    image.data.set([rgb >> 16, (rgb >> 8) & 255, rgb & 255, 255], 4 * at);
  });
  pen.putImageData(image, 0, 0);
  return small;
}

function grid(pen, { margin, cell, side }, size, colour) {
  pen.fillStyle = colour;
  for (let n = 0; n <= side; n++) {
    pen.fillRect(margin + n * cell - 0.5, margin, 1, size - margin);
    pen.fillRect(margin, margin + n * cell - 0.5, size - margin, 1);
  }
}

function names(pen, { margin, cell, names: all }, colour, style) {
  pen.fillStyle = colour;
  pen.font = `12px ${style.fontFamily}`;
  pen.textBaseline = "middle";
  all.forEach((name, n) => {
    pen.textAlign = "right";
    pen.fillText(name, margin - 6, margin + (n + 0.5) * cell, margin - 8);
    pen.save();
    pen.translate(margin + (n + 0.5) * cell, margin - 6);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "left";
    pen.fillText(name, 0, 0, margin - 8);
    pen.restore();
  });
}

function fieldText(t, { nodes }, { order, pairs, unit }, map, row, column) {
  const n = map.fields[row * map.side + column];
  if (n < 0) return t("mesh_unasked", { a: nodes[order[row * map.each]], b: nodes[order[column * map.each]] });
  let ends = [nodes[pairs.a[n]], nodes[pairs.b[n]]];
  if (map.each === 1 && ends[0] !== nodes[order[row]]) ends = ends.reverse();
  const [a, b] = ends;
  if (pairs.n[n] === 0) return t("mesh_lost", { a, b });
  return t("mesh_field", { a, b, value: withUnit(pairs.value[n], unit), worse: percent(pairs.worse[n], true), n: pairs.n[n] });
}

function legend(t) {
  const entry = (colour, text) => el("li", {}, el("span", { class: "swatch", style: `background:var(${colour})` }), text);
  return el("ul", { class: "swatches" },
    classes.slice(0, 4).map((c) => entry(c.colour, t("mesh_worse", { share: 100 * c.from }))),
    entry("--heat-0", t("mesh_near", { share: 5 })), entry("--heat-better", t("mesh_better", { share: 5 })), entry("--heat-lost", t("mesh_not_measured")));
}

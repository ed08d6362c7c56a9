import * as echarts from "echarts/core";
import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts";
import {
  DataZoomComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent,
} from "echarts/components";
import { SVGRenderer } from "echarts/renderers";
import { el } from "./dom.js";

echarts.use([
  BarChart, CustomChart, DataZoomComponent, GridComponent, LegendComponent, LineChart, MarkAreaComponent,
  MarkLineComponent, ScatterChart, SVGRenderer, TooltipComponent,
]);

// Colours that remain distinguishable with colour blindness (Okabe and Ito, 2008).
export const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d00", "#7a7a7a"];

// tints follow if a chart has more parts.
const tints = ["#80b8d9", "#eaae80", "#80ceb9", "#e5bcd3", "#f2cf80", "#aad9f4", "#c5b680", "#bcbcbc"];

// verdicts are in the order of the legend, each with its colour.
export const verdicts = { slower: "#d55e00", equal: "#0072b2", faster: "#009e73", inconclusive: "#7a7a7a" };

const root = document.documentElement;
const alive = new Set();

// chart draws an option once it comes into view, and again when the page's colours or
// width change. option receives the colours of the page.
export function chart(label, height, option) {
  const box = el("div", { class: "chart", role: "img", "aria-label": label, style: `--height:${height}px` });
  const one = { box, drawn: undefined, draw: undefined, pointed: false };
  one.draw = () => {
    const style = getComputedStyle(root);
    const text = style.getPropertyValue("--text").trim();
    const line = style.getPropertyValue("--line").trim();
    one.drawn ??= echarts.init(box, null, { renderer: "svg" });
    const { tooltip, ...rest } = option({ text, line, ...shapeOf(box), pointed: one.pointed });
    one.drawn.setOption({
      animation: false, backgroundColor: "transparent", textStyle: { color: text, fontFamily: getComputedStyle(box).fontFamily }, color: [...palette, ...tints],
      tooltip: { confine: true, backgroundColor: style.getPropertyValue("--card").trim(), borderColor: line, textStyle: { color: text }, ...tooltip },
      ...rest,
    }, true);
  };
  alive.add(one);
  watch.observe(box);
  const point = (pointed) => {
    one.pointed = pointed;
    one.drawn?.setOption({ dataZoom: [{}, { show: pointed }] });
  };
  box.addEventListener("pointerenter", () => point(true));
  box.addEventListener("pointerleave", () => point(false));
  box.zoomOut = () => one.drawn?.dispatchAction({ type: "dataZoom", start: 0, end: 100 });
  box.redraw = () => one.drawn && one.draw();
  return box;
}

// shapeOf says how a chart is drawn: on a narrow box without words, but on paper, where no pointer shows them.
function shapeOf(box) {
  const paper = root.classList.contains("printing");
  return { paper, narrow: box.clientWidth < (paper ? 320 : 520) };
}

// painted draws by paint, once it comes into view, and again when a chart would be. paint
// receives the page's style.
export function painted(box, paint) {
  const one = { box, drawn: undefined };
  one.draw = () => {
    one.drawn ??= { dispose: () => {}, resize: () => {} };
    paint(getComputedStyle(root));
  };
  alive.add(one);
  watch.observe(box);
  box.redraw = () => one.drawn && one.draw();
}

const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    watch.unobserve(target);
    for (const one of alive) if (one.box === target) setTimeout(() => one.box.isConnected && one.draw());
  }
}, { rootMargin: "300px" });

// forget disposes of all charts before the page is drawn again.
export function forget() {
  alive.forEach((one) => one.drawn?.dispose());
  alive.clear();
}

let width = 0;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  alive.forEach((one) => {
    one.drawn?.resize();
    if (one.drawn) one.draw();
  });
});

// Paper is white and has its own width: before printing all charts are drawn for it,
// also those not yet scrolled into view, and afterwards for the screen again.
let theme;
function refit() {
  for (const one of alive) {
    one.drawn?.resize({ width: one.box.clientWidth || "auto" });
    one.draw();
  }
}
addEventListener("beforeprint", () => {
  theme = root.dataset.theme;
  root.dataset.theme = "light";
  root.classList.add("printing");
  refit();
});
addEventListener("afterprint", () => {
  root.classList.remove("printing");
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  refit();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => alive.forEach((one) => one.drawn && one.draw()));
export const redraw = () => alive.forEach((one) => one.drawn && one.draw());

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

// Colours that keep apart for those who see few (Okabe and Ito, 2008).
export const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d00", "#7a7a7a"];

export const colourOf = (verdict) => ({ slower: "#d55e00", faster: "#009e73", equal: "#009e73" })[verdict] ?? "#7a7a7a";

const alive = new Set();

// chart draws an option once it comes into view, and anew when the page's colours
// or width change. option is given the colours of the page.
export function chart(label, height, option) {
  const box = el("div", { class: "chart", role: "img", "aria-label": label, style: `height:${height}px` });
  const one = { box, drawn: undefined, draw: undefined };
  one.draw = () => {
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--text").trim();
    const line = style.getPropertyValue("--line").trim();
    one.drawn ??= echarts.init(box, null, { renderer: "svg" });
    one.drawn.setOption({
      animation: false, backgroundColor: "transparent", textStyle: { color: text, fontFamily: "inherit" }, color: palette,
      tooltip: { confine: true, backgroundColor: style.getPropertyValue("--card").trim(), borderColor: line, textStyle: { color: text } },
      ...option({ text, line, narrow: box.clientWidth < 520 }),
    }, true);
  };
  alive.add(one);
  watch.observe(box);
  box.zoomOut = () => one.drawn?.dispatchAction({ type: "dataZoom", start: 0, end: 100 });
  box.redraw = () => one.drawn && one.draw();
  return box;
}

const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    watch.unobserve(target);
    for (const one of alive) if (one.box === target) one.draw();
  }
}, { rootMargin: "300px" });

// drawAll draws those that were not come upon yet too: to print them.
const drawAll = () => alive.forEach((one) => one.draw());

// forget lets go of all charts, before the page is drawn anew.
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
addEventListener("beforeprint", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => alive.forEach((one) => one.drawn && one.draw()));
export const redraw = () => alive.forEach((one) => one.drawn && one.draw());

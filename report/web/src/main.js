import "./report.css";
import { about, machine } from "./about.js";
import { blocks } from "./blocks.js";
import { brief } from "./brief.js";
import { published } from "./cases.js";
import { forget, redraw } from "./chart.js";
import { el } from "./dom.js";
import { cpu } from "./cpu.js";
import { findings, rankings } from "./findings.js";
import { gradually } from "./gradually.js";
import { growths } from "./growths.js";
import { hopTolls } from "./hop_tolls.js";
import { hops } from "./hops.js";
import { ladder } from "./ladder.js";
import { compared } from "./compared.js";
import { mesh } from "./mesh.js";
import { pairs } from "./pairs.js";
import { layers } from "./layers.js";
import { links } from "./links.js";
import { load } from "./load.js";
import { nics } from "./nics.js";
import { parts } from "./parts.js";
import { percentiles } from "./percentiles.js";
import { sizes, sizeTrips } from "./sizes.js";
import { alikes, fidelities, tolls } from "./tolls.js";
import { within } from "./within.js";
import { other, preferred, wordsOf } from "./words.js";

// The charts of a group, in this order: each takes (t, view, group) and returns what it
// draws, or undefined if the group has no data for it. The wide ones need the page's
// whole width; paper leaves the details out.
const wide = [tolls, ladder, fidelities, alikes];
const details = [percentiles, cpu, within, blocks];
const charts = [
  nics,
  links,
  parts,
  sizes,
  sizeTrips,
  load,
  hops,
  hopTolls,
  layers,
];

const views = JSON.parse(document.getElementById("view").textContent);
const shown = { language: preferred(), path: "", workload: "" };

// page draws everything in the chosen language.
function page() {
  const t = wordsOf(shown.language);
  document.documentElement.lang = shown.language;
  document.title = views[0]?.titles[shown.language] ?? "tare";
  forget();
  const main = document.getElementById("report");
  main.replaceChildren(
    el("a", { class: "skip", href: "#answer" }, t("skip")),
    el("header", {}, el("h1", {}, document.title), el("div", { class: "controls" }, languageButton(t), themeButton(t))),
    ...views.flatMap((view, n) => [
      n > 0 && el("h1", {}, view.titles[shown.language]),
      ...(view.mesh ? mesh(t, view, shown.language, answerID(n)) : networks(t, view, n)),
    ].filter(Boolean)),
    about(t, views),
  );
}

// networks shows what was weighed: what each network costs.
const networks = (t, view, n) => [
  brief(t, view, shown.language),
  machine(t, view, shown.language),
  recommended(t, view),
  published(t, view),
  ...compared(t, view, shown.language),
  pairs(t, view),
  answer(t, view, answerID(n)),
  ...growths(t, view, shown.language),
  el("section", { "aria-labelledby": `findings${n}` }, el("h2", { id: `findings${n}` }, t("findings")), findings(t, view, shown.language)),
];

const answerID = (n) => (n === 0 ? "answer" : `answer${n}`);

function languageButton(t) {
  const button = el("button", { type: "button", id: "language", lang: other(shown.language) }, t("other"));
  button.addEventListener("click", () => {
    shown.language = other(shown.language);
    page();
    document.getElementById("language").focus();
  });
  return button;
}

function themeButton(t) {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const button = el("button", { type: "button", id: "theme" }, t(dark() ? "light" : "dark"));
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    button.textContent = t(dark() ? "light" : "dark");
    redraw();
  });
  return button;
}

function recommended(t, view) {
  if (!view.rankings?.length) return undefined;
  return el("section", {}, el("h2", {}, t("recommended", { needs: view.needs.join(", ") })), rankings(t, view));
}

// answer is what readers look for first: what each network costs, on each path.
function answer(t, view, id) {
  const groups = el("div", {});
  const fill = () => gradually(groups, view.groups
    .filter((g) => (!shown.path || g.path === shown.path) && (!shown.workload || g.workload === shown.workload))
    .map((g) => () => group(t, view, g)));
  fill();
  return el("section", { "aria-labelledby": id },
    el("h2", { id }, t("answer")), el("p", {}, t("answer_text", { baseline: view.baseline })),
    el("div", { class: "controls" },
      choice(t("path"), t("all_paths"), [...new Set(view.groups.map((g) => g.path))], shown.path, (value) => { shown.path = value; fill(); }),
      choice(t("workload"), t("all_workloads"), [...new Set(view.groups.map((g) => g.workload))], shown.workload, (value) => { shown.workload = value; fill(); })),
    groups);
}

function choice(name, all, values, chosen, change) {
  if (values.length < 2) return undefined;
  const select = el("select", {}, el("option", { value: "" }, all), values.map((v) => el("option", { value: v, selected: v === chosen }, v)));
  select.addEventListener("change", () => change(select.value));
  return el("label", {}, `${name} `, select);
}

function group(t, view, g) {
  const failed = g.rows.filter((r) => r.status !== "ok");
  return el("article", {},
    el("h3", {}, `${g.path}: ${g.title}`), el("p", { class: "quiet" }, `${g.setting}${t("semicolon")}${t(g.metric)}${t("comma")}${t(g.better === "lower" ? "lower" : "higher")}`),
    wide.map((draw) => draw(t, view, g)),
    failed.map((r) => el("p", { class: "strong" }, `${r.label}: ${t(r.status)}: ${r.reason ?? ""}`)),
    el("div", { class: "charts" }, charts.map((draw) => draw(t, view, g)), details.flatMap((draw) => draw(t, view, g)).filter(Boolean).map((figure) => el("div", { class: "screen" }, figure))));
}

page();

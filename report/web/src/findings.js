import { copyButton, el } from "./dom.js";
import { interval, percent } from "./units.js";

// findings lists the causes, the worst first, with evidence and fix.
export function findings(t, view, language) {
  if (view.findings.length === 0) return el("p", {}, t("no_findings"));
  return el("ol", { class: "findings" }, view.findings.map((f) => el("li", { class: f.severity === "error" ? "error" : "warning" },
    el("h3", {}, f.named?.[language] ?? f.id),
    el("p", {}, f.cause),
    el("p", { class: "quiet" }, [t("confidence", { value: `${percent(f.confidence)} %` }), f.share > 0 && t("explains", { value: `${percent(f.share)} %` })].filter(Boolean).join(t("comma"))),
    f.where?.length > 0 && el("p", { class: "quiet" }, `${t("where")}${t("colon")}${f.where.join(t("semicolon"))}`),
    f.evidence?.length > 0 && el("details", {}, el("summary", {}, t("evidence")),
      el("ul", {}, f.evidence.map((e) => el("li", {}, `${e.name}: ${written(e.value)}`, e.source && el("span", { class: "quiet" }, ` (${e.source})`))))),
    f.fix && f.does?.[language] && el("p", {}, `${t("fix")}${t("colon")}${f.does[language]}`),
    f.fix && el("div", { class: "fix" }, el("code", { tabindex: "0" }, f.fix), copyButton(t("copy"), t("copied"), () => f.fix)),
    f.verified?.before !== undefined && f.verified?.after !== undefined && el("p", {}, t("verified", { metric: f.verified.metric, before: `${percent(f.verified.before)} %`, after: `${percent(f.verified.after)} %` })))));
}

// written is a value of evidence, of whatever kind.
const written = (value) => typeof value === "object" ? JSON.stringify(value ?? "") : value;

// rankings lists the networks that meet the demands, by rank.
export function rankings(t, view) {
  return view.rankings?.map((r) => el("div", {},
    el("h3", {}, `${r.path}: ${r.workload}${t("comma")}${t(r.metric)}`),
    el("ul", { class: "places" }, r.ranked.map((one, n) => {
      const shared = n > 0 && r.ranked[n - 1].place === one.place;
      const change = one.behind && `${percent(one.behind.value, true)} % ${interval(one.behind.low, one.behind.high)}`;
      return el("li", {}, el("b", {}, `${one.place}. ${one.network}`), ` ${percent(one.toll.value, true)} % ${interval(one.toll.low, one.toll.high)}`,
        change && `; ${t(shared ? "alike_to" : "worse_than", { name: one.than, change })}`);
    }), r.unranked.map((u) => el("li", { class: "quiet" }, `${u.network}: ${t("without_place")}, ${u.reason}`)))));
}

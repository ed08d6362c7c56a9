import { el } from "./dom.js";
import { heat } from "./heat.js";
import { history } from "./mesh_history.js";
import { effects } from "./mesh_effects.js";
import { incast } from "./mesh_incast.js";
import { rounds } from "./mesh_rounds.js";
import { table } from "./table.js";

// The charts of a mesh, in this order: each takes (t, mesh, metric, language) and returns what
// it draws, or undefined if there is no data for it.
const charts = [heat, effects, incast, rounds];

const mostListed = 100;

// mesh shows which node, link or group is slow, what each pair measured, and what was not
// measured.
export function mesh(t, view, language, id) {
  const m = view.mesh;
  return [m.history && history(t, m.history, language), el("section", { "aria-labelledby": id },
    el("h2", { id }, t("mesh_who")),
    !view.finished && el("p", { class: "strong" }, t("interrupted")),
    el("ul", { class: "findings" }, m.nobody && el("li", {}, m.nobody[language]), m.named.map((n) => named(t, n, language)), m.unjudged && el("li", {}, m.unjudged[language])),
    el("p", { class: "quiet" }, t("mesh_text")),
    m.metrics.filter((one) => one.pairs.a.length > 0).map((one) => el("article", {}, el("h3", {}, one.heads[language]), charts.map((draw) => draw(t, m, one, language)))),
    list(t, t("mesh_suspects"), m.suspects[language]), list(t, t("mesh_unmeasured"), m.unmeasured[language]))];
}

const named = (t, n, language) => el("li", { class: "error" }, el("p", {}, el("strong", {}, n.texts[language])),
  n.evidence.length > 0 && el("details", {}, el("summary", {}, t("evidence")), table(t("evidence"), [
    { name: t("evidence"), text: (e) => e.name }, { name: t("value"), right: true, text: (e) => e.value }, { name: t("mesh_source"), text: (e) => e.source },
  ], n.evidence)));

const list = (t, title, texts) => texts.length > 0 && [el("h2", {}, title), el("ul", {}, texts.slice(0, mostListed).map((text) => el("li", {}, text))),
  texts.length > mostListed && el("p", { class: "quiet" }, t("mesh_more", { n: texts.length - mostListed }))];

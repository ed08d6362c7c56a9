import { el } from "./dom.js";

// brief is the answer on one screen: what each network costs on each path, shaded by how
// much, and what follows from it.
export function brief(view, language) {
  const a = view.answer;
  if (!a) return undefined;
  return el("section", { class: "brief" },
    el("h2", {}, a.titles[language]),
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": a.titles[language] },
      el("table", { class: "matrix" },
        el("thead", {}, el("tr", {}, el("td", {}), a.columns.map((c) =>
          el("th", { scope: "col" }, c.path, c.under && el("span", { class: "quiet" }, ` ${c.under}`), el("br"), el("span", { class: "quiet" }, c.unit))))),
        el("tbody", {}, a.rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row.label, row.stand_in && "*"), row.fields.map(field)))))),
    el("p", { class: "quiet" }, a.marks[language]),
    el("ul", {}, a.sentences[language].map((text) => el("li", {}, text))));
}

// field is darker the more a network costs: to a third where nothing is left.
function field({ ratio, added, toll }) {
  const cell = el("td", {}, `${ratio} `, el("span", {}, added));
  if (toll > 0) cell.style.setProperty("background", `color-mix(in srgb, var(--bad) ${Math.round(5 + 28 * toll)}%, transparent)`);
  return cell;
}

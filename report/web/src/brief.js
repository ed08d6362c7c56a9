import { el } from "./dom.js";

// mostColumns is how many columns fit into the page. More are folded, as on a narrow screen or paper.
const mostColumns = 9;

// brief is the answer on one screen: what each network costs on each path, shaded by how
// much, and what follows from it.
export function brief(view, language) {
  const a = view.answer;
  if (!a) return undefined;
  return el("section", { class: a.columns.length > mostColumns ? "brief many" : "brief" },
    el("h2", {}, a.titles[language]),
    el("div", { class: "folded" }, a.columns.map((c, n) => folded(c, a.rows.filter((row) => row.fields[n].ratio || row.fields[n].added), n))),
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": a.titles[language] },
      el("table", { class: "matrix" },
        el("thead", {}, el("tr", {}, el("td", {}), a.columns.map((c) =>
          el("th", { scope: "col" }, c.path, c.under && el("span", { class: "quiet" }, ` ${c.under}`), el("br"), el("span", { class: "quiet" }, c.unit))))),
        el("tbody", {}, a.rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row.label, row.stand_in && "*"), row.fields.map(field)))))),
    el("p", { class: "quiet" }, a.marks[language]),
    el("ul", {}, a.sentences[language].map((text) => el("li", {}, text))));
}

// folded is one column of the matrix, for itself.
const folded = (column, rows, n) => el("table", {},
  el("thead", {}, el("tr", {}, el("th", { scope: "col" }, column.path, column.under && el("span", { class: "quiet" }, ` ${column.under}`)), el("th", { scope: "col", class: "right quiet" }, column.unit))),
  el("tbody", {}, rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row.label, row.stand_in && "*"), field(row.fields[n])))));

// field is darker the more a network costs: to a third where nothing is left.
function field({ ratio, added, toll }) {
  const cell = el("td", {}, `${ratio} `, el("span", {}, added));
  if (toll > 0) cell.style.setProperty("background", `color-mix(in srgb, var(--bad) ${Math.round(5 + 28 * toll)}%, transparent)`);
  return cell;
}

import { copyButton, el } from "./dom.js";

// table shows rows of texts and numbers; csv has the same with unrounded numbers, each
// in its own column.
export function table(caption, all, rows) {
  const columns = all.filter((c) => !c.csvOnly);
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
    el("table", {},
      el("caption", { class: "hidden" }, caption),
      el("thead", {}, el("tr", {}, columns.map((c) => el("th", { scope: "col", class: c.right && "right" }, c.name)))),
      el("tbody", {}, rows.map((row) => el("tr", { class: row.class },
        columns.map((c, n) => {
          const text = c.text(row);
          const cell = n === 0 ? el("th", { scope: "row" }, text) : el("td", { class: c.right && "right" }, text);
          const note = c.title?.(row);
          if (note) cell.append(" ", el("span", { class: "note", title: note, tabindex: "0", "aria-label": note }, "*"));
          return cell;
        }))))));
}

export function csv(columns, rows) {
  const field = (value) => {
    let text = value === undefined || value === null ? "" : String(value);
    if (typeof value === "string" && /^[=+\-@]/.test(text)) text = `'${text}`; // a spreadsheet must not run it as a formula
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns.map((c) => c.key ?? c.name), ...rows.map((row) => columns.map((c) => (c.value ?? c.text)(row)))]
    .map((line) => line.map(field).join(",")).join("\n") + "\n";
}

// figureWithTable is a chart that can be replaced by the table of its numbers: of the first most
// of them.
export function figureWithTable(t, title, drawing, columns, rows, controls = [], most = Infinity) {
  let numbers; // created on demand: a page may hold hundreds
  const toggle = el("button", { type: "button", class: "small", "aria-pressed": "false" }, t("table"));
  toggle.addEventListener("click", () => {
    if (!numbers) drawing.after((numbers = el("div", {}, table(title, columns, rows.slice(0, most)), rows.length > most && el("p", { class: "quiet" }, t("table_more", { n: rows.length - most })))));
    const shows = !drawing.hidden; // the chart, until now
    drawing.hidden = shows;
    numbers.hidden = !shows;
    toggle.setAttribute("aria-pressed", String(shows));
    toggle.textContent = shows ? t("chart") : t("table");
    if (!shows) drawing.redraw?.();
  });
  const reset = drawing.zoomOut && el("button", { type: "button", class: "small", onclick: () => drawing.zoomOut() }, t("reset"));
  return el("figure", {},
    el("figcaption", {}, el("span", { class: "caption" }, title),
      el("span", { class: "controls" }, controls, reset, toggle, copyButton(t("copy_csv"), t("copied"), () => csv(columns, rows)))),
    drawing);
}

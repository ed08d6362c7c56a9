import { bars } from "./bars.js";
import { el } from "./dom.js";

// incast draws what nodes serve to one and to many at once, the worst first.
export function incast(t, mesh, metric, language) {
  const of = metric.incast;
  if (!of) return undefined;
  const names = [t("mesh_one"), t("mesh_all"), t("mesh_worst_sender")];
  return [
    bars(t, {
      title: of.titles[language], first: t("mesh_node_head"), names, unit: metric.unit, apart: true, log: false, counted: t("mesh_senders"),
      rows: of.rows.map((r) => ({ label: r.of, parts: { [names[0]]: r.one, [names[1]]: r.all, [names[2]]: r.worst }, n: r.senders })),
    }),
    of.more > 0 && el("p", { class: "quiet" }, t("mesh_more", { n: of.more })),
  ];
}

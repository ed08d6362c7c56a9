import { bars } from "./bars.js";
import { el } from "./dom.js";

// effects draws how much worse each node, link or group is, kind by kind, the worst first.
export const effects = (t, mesh, metric, language) => metric.effects.map((of) => [
  bars(t, {
    title: t("mesh_effects_of", { metric: metric.heads[language], kind: kindOf(t, of.kind) }), first: t("mesh_node_head"), names: [t("mesh_effect")], unit: "ratio",
    rows: of.rows.map((r) => ({ label: r.labels[language], parts: { [t("mesh_effect")]: r.value }, low: r.low, high: r.high, n: r.n })), counted: t("mesh_values"),
  }),
  of.more > 0 && el("p", { class: "quiet" }, t("mesh_more", { n: of.more })),
]);

function kindOf(t, kind) {
  switch (kind) {
    case "node": return t("mesh_kind_node");
    case "group": return t("mesh_kind_group");
    case "uplink": return t("mesh_kind_uplink");
    case "between": return t("mesh_kind_between");
    case "oversubscribed": return t("mesh_kind_oversubscribed");
  }
  return kind;
}

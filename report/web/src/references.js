import { el } from "./dom.js";

// references holds paths against one of them, where no host was there to be the baseline.
export function references(t, view) {
  if (view.references.length === 0) return undefined;
  return el("section", {}, el("h2", {}, t("by_reference", { path: view.about.plan.reference })),
    el("ul", {}, view.references.map((text) => el("li", {}, text))));
}

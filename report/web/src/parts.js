import { bars } from "./bars.js";
import { measuredRows, tollAxis, unsure } from "./tolls.js";

// parts splits tolls into an explained part and the rest: explained by headers if there
// is a ceiling, by layer 4 if an application is weighed.
export const parts = (t, view, group) => [
  { title: t("parts_title"), explained: t("framing"), rest: t("processing"), of: ({ toll_parts: p }) => p && [p.framing, p.processing] },
  { title: t("layer4_title"), explained: t("layer4"), rest: t("rest"), of: ({ layer4: l }) => l && [l.predicted, l.rest] },
].map(({ title, explained, rest, of }) => {
  const rows = measuredRows(group, view.baseline).filter((r) => of(r.metric)).map((r) => {
    const [one, other] = of(r.metric);
    return { label: r.label, parts: { [explained]: one, [rest]: other }, low: r.metric.toll.low, high: r.metric.toll.high, n: r.metric.n, unsure: unsure(r) };
  });
  if (rows.length === 0) return undefined;
  return bars(t, { title, first: t("network"), names: [explained, rest], unit: "ratio", rows, ends: tollAxis(group) });
});

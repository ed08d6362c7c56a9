import { lines } from "./lines.js";

// within draws the values of the windows interval by interval, one window after the
// other, and the retransmits in each.
export function within(t, view, group) {
  const rows = group.rows.filter((r) => r.within);
  if (rows.length === 0) return undefined;
  const { metric } = rows[0].within;
  const points = (r, values) => values.map((y, n) => ({ x: Number(((n + 1) * r.within.step).toPrecision(9)), y }));
  const again = rows.filter((r) => r.within.retransmits?.some((n) => n > 0));
  return lines(t, {
    title: t("within_title"), x: { name: t("time_measured"), key: "time (s)" }, log: false, unit: view.units[metric],
    series: rows.flatMap((r) => [
      { name: r.label, points: points(r, r.within.values) },
      ...(r.within.p90 ? [{ name: `${r.label}, p90`, points: points(r, r.within.p90) }] : []),
    ]),
    second: again.length > 0 ? { name: t("retransmits"), unit: "count", bars: true, series: again.map((r) => ({ name: r.label, points: points(r, r.within.retransmits) })) } : undefined,
  });
}

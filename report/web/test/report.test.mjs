// Opens pages that tare wrote in Chromium, as their readers do: compares their numbers
// with the result, clicks every control, in both languages, narrow and wide.
//
//   TARE_PAGES=FOLDER node --test test/
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { allThere, cellOf, drawn, folder, judged, leavesNobodyOut, metricOf, middle, names, numbers, open, openMap, overflow, result, showTables, untilTrue } from "../pages.mjs";

// shared opens a page once for all tests that leave it as it is.
const opened = new Map();
async function shared(name) {
  if (!opened.has(name)) opened.set(name, await open(name));
  return opened.get(name).page;
}

test("the charts of a sweep show its numbers", async () => {
  const page = await shared("sweep");
  const [nics] = await numbers(page, "Toll by model of the interface (--nic)");
  for (const row of nics) {
    const { toll } = metricOf(cellOf("sweep", row.network, "tcp_stream", { nic: row.nic }), "throughput");
    assert.deepEqual([row.toll, row.toll_low, row.toll_high].map(Number), [toll.value, toll.low, toll.high]);
  }
  assert.deepEqual([...new Set(nics.map((r) => r.nic))], ["full", "tso", "plain"]);

  const swept = cellOf("sweep", "vxlan", "tcp_sizes");
  for (const [caption, key, of] of [["By message size", "vxlan (bit/s)", "throughput"], ["Round trip by message size", "vxlan (s)", "rtt_p50"]]) {
    for (const row of (await numbers(page, caption))[0]) {
      const at = swept.samples[0].series.size.indexOf(Number(row["size (bytes)"]));
      assert.equal(Number(row[key]), middle(swept.samples.map((s) => s.series[of][at])), `${caption} ${at}`);
    }
  }

  const rr = cellOf("sweep", "vxlan", "tcp_rr", { nic: "full" });
  for (const row of (await numbers(page, "Latency percentiles"))[0]) {
    const percent = Number((100 * (1 - 10 ** -Number(row.percentile))).toFixed(2));
    const m = metricOf(rr, `rtt_p${percent}`.replace(".", ""));
    assert.deepEqual([row["vxlan (s)"], row["vxlan (s) low"], row["vxlan (s) high"]].map(Number), [m.value, m.low, m.high]);
  }

  const cpu = (await numbers(page, "CPU time per Gbit, both ends"))[0].find((r) => r.network === "vxlan");
  const m = metricOf(cellOf("sweep", "vxlan", "tcp_stream", { nic: "full" }), "cpu_per_gbit");
  assert.deepEqual([cpu["cpu_per_gbit (s)"], cpu.low, cpu.high, cpu.n].map(Number), [m.value, m.low, m.high, m.n]);

  const [within] = await numbers(page, "Interval by interval");
  const { samples } = cellOf("sweep", "vxlan", "tcp_stream", { nic: "full" });
  assert.deepEqual(within.map((r) => Number(r["vxlan (bit/s)"])), samples.flatMap((s) => s.series.throughput));
  assert.deepEqual(within.map((r) => Number(r["vxlan, retransmits (count)"])), samples.flatMap((s) => s.series.retransmits));
  assert.deepEqual(within.map((r) => Number(r["time (s)"])), within.map((_, n) => Number(((n + 1) / 10).toFixed(1))));
});

test("the ladder takes each network from its parent's level to its own", async () => {
  const page = await shared("sweep");
  const all = await numbers(page, "Ladder: what each network adds to its parent (round trip p50)");
  const [rows] = all;
  const host = metricOf(cellOf("sweep", "host", "tcp_rr", { nic: "full" }), "rtt_p50");
  assert.equal(Number(rows.find((r) => r.network === "host")["level (s)"]), host.value);
  const vxlan = rows.find((r) => r.network === "vxlan");
  assert.equal(vxlan["built upon"], "bridge (as route)");
  const below = rows.find((r) => r.network === vxlan["built upon"]);
  assert.ok(Math.abs(Number(vxlan["level (s)"]) - Number(below["level (s)"]) - Number(vxlan["added (s)"])) < 1e-12);
});

test("networks whose intervals all overlap are shown as indistinguishable, others are not", async () => {
  const page = await shared("sweep");
  const article = page.locator("article", { hasText: "cross-host: tcp_stream" }).first();
  const sets = (await article.getByText("Cannot be distinguished: ").allInnerTexts()).map((text) => text.split(": ")[1].split(", "));
  const tollOf = (network) => metricOf(cellOf("sweep", network, "tcp_stream", { nic: "full" }), "throughput").toll;
  const real = ["route", "vxlan"]; // tun-udp is a stand-in
  const [a, b] = real.map(tollOf);
  const meet = a.low <= b.high && b.low <= a.high;
  assert.deepEqual(sets.map((set) => set.sort()), meet ? [real] : []);
});

test("a load's curve is that of its trials", async () => {
  const page = await shared("load");
  const [rows] = await numbers(page, "Received over offered");
  const trials = cellOf("load", "vxlan", "udp_load").samples.flatMap((s) => s.series.offered.map((offered, n) => [offered, s.series.received[n]])).sort((a, b) => a[0] - b[0]);
  const shown = rows.filter((r) => r["vxlan (1/s)"] !== "");
  assert.equal(shown.length, 24);
  const first = trials.slice(0, Math.floor(trials.length / 24));
  assert.equal(Number(shown[0]["offered (1/s)"]), middle(first.map(([o]) => o)));
  assert.equal(Number(shown[0]["vxlan (1/s)"]), middle(first.map(([, r]) => r)));
  assert.ok(shown.some((r) => { const busy = Number(r["vxlan, softirq of the busiest CPU (ratio)"]); return busy > 0 && busy < 1; }));
});

test("hops, their tolls and layers are those of the trace", async () => {
  const page = await shared("traced");
  const { trace } = cellOf("traced", "vxlan", "tcp_rr");
  const [tolls] = await numbers(page, "vxlan: hops compared with those of host");
  assert.deepEqual(tolls.map((r) => [r.hop, Number(r["vxlan (s)"]), Number(r["host (s)"])]), trace.tolls.map((h) => [h.name, h.value, h.baseline]));
  const hops = await numbers(page, "vxlan: Hop by hop");
  assert.ok(hops.some((rows) => rows.length === trace.hops.length && rows.every((r, n) => Number(r["clean (s)"]) === trace.hops[n].clean)));
  const layers = (await numbers(page, "CPU time by layer")).map((rows) => rows.find((r) => r.network === "vxlan"));
  assert.ok(layers.some((row) => trace.cpu.layers.every((l) => Number(row[`${l.name} (ratio)`]) === l.share)));
});

test("tolls over the link's rate, and what headers explain of them", async () => {
  const page = await shared("links");
  const [over] = await numbers(page, "Toll over the link's rate");
  assert.deepEqual(over.map((r) => Number(r["link (bit/s)"])), [1e8, 1e9, 4e9]);
  for (const row of over) {
    const { toll } = metricOf(cellOf("links", "vxlan", "tcp_stream", { link: Number(row["link (bit/s)"]) }), "throughput");
    assert.deepEqual([row["vxlan (ratio)"], row["vxlan (ratio) low"], row["vxlan (ratio) high"]].map(Number), [toll.value, toll.low, toll.high]);
  }
  const [sizes] = await numbers(page, "By message size");
  const { ceiling } = metricOf(cellOf("links", "vxlan", "tcp_sizes"), "throughput");
  assert.ok(sizes.every((r) => Number(r["vxlan ceiling (bit/s)"]) === ceiling.value && Number(r["vxlan (bit/s)"]) < ceiling.value));
  const parts = (await numbers(page, "Toll: framing and processing"))[0].find((r) => r.network === "vxlan");
  const of = metricOf(cellOf("links", "vxlan", "tcp_stream", { link: 1e8 }), "throughput").toll_parts;
  assert.deepEqual([Number(parts["framing (ratio)"]), Number(parts["processing (ratio)"])], [of.framing, of.processing]);
});

test("a chart shows details under the pointer, and hides a series that is switched off", async () => {
  const { page, close } = await open("sweep");
  const chart = page.locator("figure", { has: page.getByText("CPU time per Gbit, both ends", { exact: true }) }).locator(".chart").first();
  await chart.scrollIntoViewIfNeeded();
  const shows = () => page.evaluate(() => [...document.querySelectorAll(".chart > div")].some((d) => /n = 6/.test(d.innerText)));
  await untilTrue(page, "details are under the pointer", shows, async (n) => { // charts above are drawn as they come into view, and may move this one
    const box = await chart.boundingBox();
    await page.mouse.move(box.x + box.width / 2 + (n % 2), box.y + 45);
  });
  const bars = () => chart.locator('path[fill="#0072b2"]').count();
  const before = await bars();
  await chart.getByText("cpu_per_gbit", { exact: true }).click();
  await untilTrue(page, "the series is hidden", async () => await bars() < before);
  await close();
});

test("a published measurement is shown with the measured one, with its verdicts", async () => {
  const { page, close } = await open("case");
  const { claims, figures, recommends, odd } = result("case").case;
  const shown = await page.locator(".claim").allInnerTexts();
  assert.equal(shown.length, claims.length);
  claims.forEach((c, n) => assert.ok(shown[n].startsWith(`${c.verdict} ${c.text}`) && shown[n].includes(c.because), shown[n]));
  const section = page.locator("section", { hasText: "Published: " });
  const text = await section.innerText();
  for (const line of [`The article recommends: ${recommends}.`, ...odd]) assert.ok(text.includes(line), line);
  await showTables(page);
  for (const summary of await section.locator("summary").all()) await summary.click();
  const rows = await section.locator("tbody tr").allInnerTexts();
  for (const f of figures.filter((one) => one.toll)) {
    const percent = (v) => (v > 0 ? "+" : "") + (100 * v).toFixed(1);
    assert.ok(rows.some((row) => row.startsWith(f.network) && row.includes(percent(f.published_toll)) && row.includes(percent(f.toll.value))), `${f.network} ${f.size}`);
  }
  await close();
});

// dots are the rows of each path in the picture at the top: the network, its dot and its numbers.
const dots = (page) => page.locator(".dots table").evaluateAll((all) => all.map((table) => ({
  path: table.querySelector("thead th").firstChild.textContent,
  rows: [...table.querySelectorAll("tbody tr")].map((tr) => ({
    network: tr.firstChild.textContent, texts: [...tr.querySelectorAll(".right")].map((td) => td.textContent),
    at: parseFloat(tr.querySelector("circle")?.getAttribute("cx")), pale: tr.querySelector(".pale") !== null, says: tr.querySelector("title")?.textContent,
  })),
})));

// A dot is further to the right the more a network costs; what its row says is what the cell of the result does.
test("the page begins with the answer, as a picture", async () => {
  const page = await shared("quick");
  const paths = await dots(page);
  const tolls = [];
  for (const cell of result("quick").cells.filter((c) => c.workload === "tcp_stream" && c.network !== "host")) {
    const row = paths.find(({ path }) => path === cell.path).rows.find(({ network }) => network === cell.network);
    const { toll } = metricOf(cell, "throughput");
    const text = { equal: "=", inconclusive: "·" }[toll.verdict] ?? `+${(100 * toll.value).toFixed(toll.value < 0.0995 ? 1 : 0)}`;
    const name = `${cell.network} ${cell.path}`;
    assert.equal(row.texts[0], text, name);
    assert.equal(row.pale, toll.verdict === "inconclusive", name);
    assert.ok(row.says.includes(`${(100 * toll.value).toFixed(1)} % [${(100 * toll.low).toFixed(1)}, ${(100 * toll.high).toFixed(1)}]`), `${name}: ${row.says}`);
    tolls.push({ toll: toll.value, at: row.at });
  }
  assert.equal(paths.flatMap(({ rows }) => rows).length, tolls.length);
  tolls.sort((a, b) => a.toll - b.toll);
  assert.deepEqual(tolls.map(({ at }) => at), tolls.map(({ at }) => at).sort((a, b) => a - b));
  assert.ok(tolls.every(({ at }) => at > 0 && at < 100));
  for (const { path, rows } of paths) assert.deepEqual(rows.map(({ at }) => at), rows.map(({ at }) => at).sort((a, b) => a - b), path);
  assert.ok((await page.locator(".brief li").count()) >= 3);
});

// pairsOf are the middles of the pairs of a mesh, in the rounds of all, few at a time.
function pairsOf({ mesh: { nodes, rounds } }, metric) {
  const values = new Map();
  for (const r of rounds.filter((one) => !one.dense && !one.check)) {
    r.clients.forEach((client, n) => {
      const pair = [client, r.servers[n]].sort((a, b) => a - b).map((node) => nodes[node].name).join(" ");
      values.set(pair, [...(values.get(pair) ?? []), ...[r.values[metric][n]].filter((v) => v > 0)]);
    });
  }
  return values;
}

test("a mesh shows who is named, each pair, and what was not measured", async () => {
  const page = await shared("mesh");
  const res = result("mesh"), { named, unmeasured, effects } = res.mesh;
  const shown = await page.locator(".findings > li").allInnerTexts();
  const unjudged = unmeasured.filter((u) => u.of.length === 1);
  assert.equal(shown.length, named.length + 1);
  assert.ok(unjudged.length > 0 && unjudged.every((u) => shown.at(-1).includes(u.of[0])), shown.at(-1));
  named.forEach((n, at) => assert.ok(shown[at].includes(n.of.join(" - ")) && shown[at].includes(`${(100 * n.value).toFixed(1)} %`), shown[at]));
  for (const summary of await page.locator(".findings summary").all()) await summary.click();
  assert.ok((await page.locator(".findings tbody tr").count()) === named.flatMap((n) => n.evidence).length);
  assert.ok((await page.locator("section").first().innerText()).includes(unmeasured[0].reason));

  const [map] = (await numbers(page, (await page.locator("figure .caption").first().innerText())));
  const pairs = pairsOf(res, "throughput");
  assert.equal(map.length, pairs.size);
  for (const row of map) {
    const [value] = pairs.get(`${row.node} ${row["other node"]}`);
    assert.equal(row["throughput (bit/s)"], value ? String(value) : "");
  }
  const worse = map.map((r) => r["worse (ratio)"]).filter(Boolean).map(Number);
  assert.deepEqual(worse, [...worse].sort((a, b) => b - a));
  const [nodes] = await numbers(page, "Against the middle, throughput; + is worse: nodes");
  assert.equal(nodes.length, effects.filter((e) => e.kind === "node").length);
  const [many] = await numbers(page, "Many to 1: throughput of all senders against one alone; + is worse");
  assert.deepEqual([many.length, many[0].node, Number(many[0]["all (bit/s)"])], [11, "node-6", 6e9]);
});

test("several meshes have a time line, and the newest is shown", async () => {
  const page = await shared("history");
  const named = await page.locator("section[aria-labelledby=history] li").allInnerTexts();
  assert.ok(named[0].startsWith("2026-11-26 12:00: Node node-3") && named[1].startsWith("2026-11-26 12:10: Node node-3"), named.join("; "));
  const [over] = await numbers(page, "Nodes over time, throughput, against the middle of all; + is worse");
  assert.deepEqual(over.map((r) => r.time), ["2026-11-26 12:00", "2026-11-26 12:10", "2026-11-26 12:20"]);
  assert.ok(over.every((r) => Number(r["node-3 (ratio)"]) > 0.2));
  assert.equal(await page.locator("section h2", { hasText: "Who is slow" }).count(), 1);
});

test("what was swept has sentences and a line for each network", async () => {
  const page = await shared("services");
  const section = page.locator("section", { has: page.locator("h2", { hasText: "How it grows with services" }) });
  assert.match((await section.locator("li").allInnerTexts())[0], /each 1000 services add \+40\.0 us \[30\.0, 50\.0\] to the mean latency/);
  const [points] = await numbers(page, "cluster-ip tcp_crr: mean latency");
  assert.deepEqual(points.map((r) => r.services), ["1", "1000", "30000"]);
  assert.deepEqual(points.map((r) => Number(r["service-iptables service_at=last (s)"])), [331e-6, 389e-6, 1524e-6]);
  assert.deepEqual(points.map((r) => Number(r["service-nftables service_at=last (s)"])), [310e-6, 312e-6, 315e-6]);
});

test("the map of a mesh is read by the pointer and by keys", async () => {
  const { page, close } = await openMap("mesh");
  const canvas = page.locator(".heat canvas"), read = page.locator(".heat [aria-live]");
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  const first = await read.innerText();
  assert.match(first, /^node-3 - node-\d+: [\d.]+ Gbit\/s, \+[\d.]+ % against the middle, windows: 1$/);
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await read.innerText(), first);
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width - 4, box.y + box.height - 40); // the last node was not reached
  assert.match(await read.innerText(), /^node-\d+ - node-10: not measured$/);
  await close();
});

test("a map of hundreds of nodes fits a narrow window", async () => {
  const { page, close } = await openMap("hundreds", { width: 380 });
  assert.ok((await overflow(page)) <= 0);
  assert.match(await page.locator(".heat").innerText(), /A field is the worst of 8 by 8 nodes/);
  await page.getByRole("button", { name: "Table" }).first().click();
  assert.equal(await page.locator("figure tbody tr").count(), 500);
  await close();
});

test("the page is in the browser's language", async () => {
  const { page, close } = await open(names[0], { locale: "zh-CN" });
  assert.equal(await page.locator("html").getAttribute("lang"), "zh");
  await close();
});

test("a page opens in the language that it was written in, until its reader switches", async () => {
  const from = mkdtempSync(join(tmpdir(), "tare-page-"));
  try {
    const english = readFileSync(`${folder}/quick.html`, "utf8");
    writeFileSync(join(from, "zh.html"), english.replace('<html lang="en">', '<html lang="en" data-lang="zh">'));
    const { page, close } = await open("zh", { from });
    const language = () => page.locator("html").getAttribute("lang");
    assert.equal(await language(), "zh");
    assert.match(await page.locator("h1").first().innerText(), /种网络/);
    await page.locator("#language").click();
    assert.equal(await language(), "en");
    await close();
    const asked = await open("zh", { from, query: "?lang=en" });
    assert.equal(await asked.page.locator("html").getAttribute("lang"), "en");
    await asked.close();
  } finally {
    rmSync(from, { recursive: true });
  }
});

for (const width of [400, 800, 1200, 1600]) {
  test(`at ${width} pixels the picture of the answer is whole, and path by path where it is narrow`, async () => {
    const { page, close } = await open("quick", { width });
    assert.ok((await overflow(page)) <= 0, "it is wider than the window");
    const { lefts, out } = await page.locator(".dots").evaluate((all) => {
      const box = all.getBoundingClientRect();
      const tables = [...all.querySelectorAll("table")];
      return {
        lefts: new Set(tables.map((one) => one.getBoundingClientRect().left)).size,
        out: tables.flatMap((table) => [...table.querySelectorAll("th, td, text, circle")].filter((one) => {
          const { left, right } = one.getBoundingClientRect();
          return left < box.left - 1 || right > box.right + 1 || one.scrollWidth > one.clientWidth + 1;
        })).map((one) => one.textContent),
      };
    });
    assert.deepEqual(out, []);
    assert.equal(lefts, width < 900 ? 1 : 2);
    await close();
  });
}

test("paper has a quick run on few pages of A4, and nothing on them is cut off", async () => {
  const { page, close } = await open("quick");
  const pdf = await page.pdf({ preferCSSPageSize: true });
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g).length;
  assert.ok(pages <= 5, `${pages} pages, where a run with its findings has eight`);
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const cut = await page.evaluate(() => [...document.querySelectorAll("main, main *")].filter((e) => getComputedStyle(e).overflowX === "auto" && e.scrollWidth > e.clientWidth + 1).map((e) => e.className || e.tagName));
  assert.deepEqual(cut, []);
  await close();
});

test("a chart has its zoom bar while the pointer is there", async () => {
  const { page, close } = await open("sweep");
  const chart = page.locator("article .chart").first();
  await chart.scrollIntoViewIfNeeded();
  const marks = () => chart.locator("path, rect").count();
  await untilTrue(page, "it is drawn", async () => await marks() > 3);
  await page.mouse.move(1, 1);
  const before = await marks();
  await chart.hover();
  await untilTrue(page, "the bar is there", async () => await marks() > before);
  await page.mouse.move(1, 1);
  await untilTrue(page, "the bar is gone", async () => await marks() <= before);
  await close();
});

test("a long page is small, and is printed whole", async () => {
  assert.ok(readFileSync(`${folder}/thousand.html`).length < 5e6);
  const { page, close } = await open("thousand");
  const whole = await page.locator("article").count();
  await page.evaluate(() => document.getElementById("language").click());
  const atOnce = await page.evaluate(() => {
    document.getElementById("language").click();
    const few = document.querySelectorAll("article").length;
    dispatchEvent(new Event("beforeprint"));
    return few;
  });
  assert.ok(atOnce < whole, "all was drawn at once");
  assert.equal(await page.locator("article").count(), whole);
  assert.equal(await page.locator("main [aria-busy]").count(), 0);
  await close();
});

// kinds are a page of each kind: deep/access.test.mjs looks at all.
const kinds = ["case", "hostile", "mesh"];

for (const name of names) {
  if (result(name).ip_versions)
    test(`${name}: one version of IP is held against the other`, async () => {
      const page = await shared(name);
      const section = page.locator("section", { has: page.locator("h2", { hasText: "IPv6 against IPv4" }) });
      const rows = await section.locator("tbody tr").allInnerTexts();
      assert.ok(rows.some((row) => /^vxlan\s.*\+5\.0/.test(row)), rows.join("\n"));
      assert.deepEqual((await section.locator("thead").first().innerText()).match(/IPv\d/g), ["IPv4", "IPv6"]);
    });

  test(`${name}: a chart is shown if the result has its numbers, and only then`, async () => {
    const captions = await (await shared(name)).locator("figure .caption").allInnerTexts();
    for (const [caption, holds] of Object.entries(name === "hostile" ? {} : drawn)) {
      assert.equal(captions.includes(caption), Boolean(holds(result(name))), caption);
    }
  });

  // The last of the tests that share a page: it changes it.
  test(`${name}: every control does its work, and tables show the numbers of the result`, async () => {
    const page = await shared(name);
    assert.ok((await overflow(page)) <= 0, "it is wider than the window");
    await switches(page);
    await selects(page);
    await charts(page);
    await saves(page, name);
    await showTables(page);
    const text = await page.locator("#report").innerText();
    assert.deepEqual(text.match(/.{0,60}(\[object |undefined|NaN).{0,60}/g) ?? [], []);
    for (const { network, toll } of judged(result(name))) {
      const value = 100 * toll;
      const written = (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1)).replace(/^-0(\.0)?$/, "0$1");
      const plain = /^[\w-]{1,30}$/.test(network); // longer names are cut
      const rows = text.split("\n").filter((line) => !plain || line.trim().startsWith(network));
      assert.ok(rows.some((row) => row.includes(written)), `${network}: ${written} in none of ${rows.length} rows`);
    }
    if (kinds.includes(name)) await leavesNobodyOut(page);
    await opened.get(name).close();
  });
}

for (const name of kinds) {
  test(`${name}: a narrow window in the dark holds it`, async () => {
    const { page, close } = await open(name, { width: 380, colorScheme: "dark" });
    assert.ok((await overflow(page)) <= 0, "it is wider than the window");
    await showTables(page);
    await leavesNobodyOut(page);
    await close();
  });
}

// switches clicks the language and the theme, there and back.
async function switches(page) {
  const english = await page.locator("h2").first().innerText();
  await page.locator("#language").click();
  assert.equal(await page.locator("html").getAttribute("lang"), "zh");
  assert.notEqual(await page.locator("h2").first().innerText(), english);
  assert.match(await page.locator("#report").innerText(), /代价|节点/);
  await page.locator("#language").click();
  assert.equal(await page.locator("h2").first().innerText(), english);
  for (const theme of ["dark", "light"]) {
    await page.locator("#theme").click();
    assert.equal(await page.locator("html").getAttribute("data-theme"), theme);
  }
}

// selects chooses one of each list, and all again.
async function selects(page) {
  const articles = await page.locator("article").count();
  for (const select of await page.locator("select").all()) {
    const options = await select.locator("option").count();
    assert.ok(options > 2);
    await select.selectOption({ index: 1 });
    assert.ok((await page.locator("article").count()) < articles);
    await select.selectOption({ index: 0 });
    await allThere(page);
    assert.equal(await page.locator("article").count(), articles);
  }
}

// charts clicks what is around a chart.
async function charts(page) {
  for (const summary of await page.locator("summary").all()) await summary.click();
  for (const name of ["Table", "Chart", "Table"]) {
    const button = page.getByRole("button", { name, exact: true }).first();
    if (await button.count()) await button.click();
  }
  for (const kind of ["Logarithmic", "Reset zoom"]) {
    for (const button of (await page.getByRole("button", { name: kind }).all()).slice(0, 2)) await button.click();
  }
  for (const button of (await page.getByRole("button", { name: "Copy as CSV" }).all()).slice(0, 2)) {
    await button.click();
    const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\n");
    assert.ok(lines.length > 1 && lines[0].includes(","));
  }
}

// saves downloads the result.
async function saves(page, name) {
  const [saved] = await Promise.all([page.waitForEvent("download"), page.locator("#download").click()]);
  const [first] = readFileSync(await saved.path(), "utf8").split(/^(?=\{)/m); // a page of several results has them one after the other
  assert.deepEqual(JSON.parse(first).cells.length, (result(name).cells ?? []).length);
}

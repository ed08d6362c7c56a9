// What the tests of pages share: a browser, the pages that tare wrote, and their results.
//
// TARE_PAGES names a folder of pairs NAME.html and NAME.json, CHROMIUM the browser.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before } from "node:test";
import { chromium } from "playwright-core";

export const folder = process.env.TARE_PAGES;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const large = ["thousand", "hundreds"];
export const names = readdirSync(folder).filter((f) => f.endsWith(".html")).map((f) => f.slice(0, -5)).filter((n) => !large.includes(n)).sort();
export const result = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));

// patience is more than anything takes on a machine that is not stuck, in ms.
const patience = 120_000;

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(() => browser.close());

// allThere waits until the whole of a page is there.
export const allThere = (page) => page.waitForSelector("main:has(h1):not(:has([aria-busy]))");

// open opens a page. Closing it fails on any error, message of the console or request
// to the network.
export async function open(name, { width = 1400, locale = "en-GB", colorScheme = "light", from = folder, query = "" } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, locale, colorScheme, permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const wrong = [];
  page.on("console", (m) => wrong.push(`console ${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => wrong.push(`error: ${e.message}`));
  page.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url())) wrong.push(`request: ${r.url()}`); });
  await page.goto(`file://${from}/${name}.html${query}`);
  await allThere(page);
  return { page, close: async () => { await context.close(); assert.deepEqual(wrong, []); } };
}

// showTables replaces every chart by its table: the buttons are then labelled "Chart".
// Another test checks that they can be clicked.
export const showTables = (page) => page.evaluate(() => {
  for (const button of document.querySelectorAll("figure button")) if (button.textContent === "Table") button.click();
});

// untilTrue waits until a condition holds; act is what may bring it about.
export async function untilTrue(page, what, holds, act = () => {}) {
  const begun = Date.now();
  for (let n = 0; !(await holds()); n++) {
    assert.ok(Date.now() - begun < patience, `waited in vain until ${what}`);
    await act(n);
    await page.evaluate(() => new Promise(requestAnimationFrame)); // a chart is drawn in the next frame
  }
}

export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

// leavesNobodyOut fails on what axe finds in a page.
export async function leavesNobodyOut(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`), []);
}

// openMap opens the page of a mesh, and waits until its map is drawn.
export async function openMap(name, more) {
  const opened = await open(name, more);
  await opened.page.locator(".heat").scrollIntoViewIfNeeded();
  await opened.page.locator(".heat canvas[style]").waitFor();
  return opened;
}

// numbers returns the CSV of each chart with a caption, a list of rows for each, in the
// units of files.
export async function numbers(page, caption) {
  const all = [];
  for (const figure of await page.locator("figure").filter({ has: page.getByText(caption, { exact: true }) }).all()) {
    await figure.getByRole("button", { name: "Copy as CSV" }).click();
    const [head, ...lines] = (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\n").map(fields);
    all.push(lines.map((line) => Object.fromEntries(head.map((key, n) => [key, line[n]]))));
  }
  assert.ok(all.length > 0, `no chart ${caption}`);
  return all;
}

// fields are those of a line of CSV.
const fields = (line) => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);

export const cellOf = (name, network, workload, more = {}) => result(name).cells
  .find((c) => c.network === network && c.workload === workload && Object.entries(more).every(([k, v]) => c.params[k] === v));
export const metricOf = (cell, name) => cell.metrics.find((m) => m.name === name);
export const middle = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

// judged are the tolls of a result that a table must show, in percent as the page
// writes them.
export function judged(res) {
  const found = [];
  for (const cell of res.cells ?? []) {
    for (const m of cell.metrics ?? []) {
      if (cell.status === "ok" && cell.network !== "host" && m.toll && ["throughput", "rtt_p50"].includes(m.name)) {
        if (m.name === "throughput" || cell.workload.endsWith("_rr")) found.push({ network: cell.network, path: cell.path, toll: m.toll.value });
      }
    }
  }
  return found;
}

// drawn are the charts of a page in addition to the tolls, each with what a result must
// hold for it; if the result does not, the chart must be absent.
const series = (c, name) => (c.samples ?? []).some((s) => s.series?.[name]?.length > 0);
const measured = (res) => res.cells.filter((c) => c.status === "ok");
const traced = (res, what) => measured(res).some((c) => what(c.trace ?? {}));
const several = (res, param) => new Set(measured(res).map((c) => c.params[param])).size > 1;
export const drawn = {
  "Toll by model of the interface (--nic)": (res) => several(res, "nic"),
  "Toll over the link's rate": (res) => several(res, "link"),
  "Toll: framing and processing": (res) => measured(res).some((c) => c.metrics.some((m) => m.toll_parts)),
  "Latency percentiles": (res) => measured(res).some((c) => c.metrics.filter((m) => /^(rtt|latency)_p\d+$/.test(m.name)).length > 1),
  "By message size": (res) => measured(res).some((c) => series(c, "size")),
  "Round trip by message size": (res) => measured(res).some((c) => series(c, "size") && series(c, "rtt_p50")),
  "Received over offered": (res) => measured(res).some((c) => series(c, "offered")),
  "CPU time per Gbit, both ends": (res) => measured(res).some((c) => c.metrics.some((m) => m.name === "cpu_per_gbit")),
  "CPU time per transaction, both ends": (res) => measured(res).some((c) => c.metrics.some((m) => m.name === "cpu_per_transaction")),
  "Interval by interval": (res) => measured(res).some((c) => !series(c, "size") && (series(c, "throughput") || series(c, "rate"))),
  "host: Hop by hop": (res) => traced(res, (t) => t.hops?.length > 0),
  "vxlan: hops compared with those of host": (res) => traced(res, (t) => t.tolls?.length > 0),
  "CPU time by layer": (res) => traced(res, (t) => t.cpu?.layers?.length > 0),
};

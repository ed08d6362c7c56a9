// Opens pages that tare wrote in Chromium, as their readers do: reads numbers off
// them and sets them against the result, clicks every control, in both languages,
// narrow and wide.
//
//   TARE_PAGES=FOLDER node --test test/
//
// FOLDER holds pairs NAME.html and NAME.json. CHROMIUM names the browser.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const folder = process.env.TARE_PAGES;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const names = readdirSync(folder).filter((f) => f.endsWith(".html")).map((f) => f.slice(0, -5)).sort();

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(() => browser.close());

// open gives a page on which nothing may go wrong unsaid, and which may ask nobody
// for anything.
async function open(name, { width = 1400, locale = "en-GB", colorScheme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, locale, colorScheme, permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  page.setDefaultTimeout(5000);
  const wrong = [];
  page.on("console", (m) => wrong.push(`console ${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => wrong.push(`error: ${e.message}`));
  page.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url())) wrong.push(`request: ${r.url()}`); });
  await page.goto(`file://${folder}/${name}.html`);
  await page.waitForSelector("h1");
  return { page, close: async () => { await context.close(); assert.deepEqual(wrong, []); } };
}

// showTables has every chart replaced by its table: the buttons then say "Chart".
async function showTables(page) {
  const buttons = page.getByRole("button", { name: "Table", exact: true });
  while (await buttons.count()) await buttons.first().click();
}

const result = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));

// judged are the tolls of a result that a table must show, in percent as the page
// writes them.
function judged(res) {
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

for (const name of names.filter((n) => n !== "thousand")) {
  test(`${name}: the numbers are those of the result`, async () => {
    const { page, close } = await open(name);
    await showTables(page);
    const text = await page.locator("#report").innerText();
    for (const { network, toll } of judged(result(name))) {
      const value = 100 * toll;
      const written = (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1)).replace(/^-0(\.0)?$/, "0$1");
      const plain = /^[\w-]{1,30}$/.test(network); // longer names are cut
      const rows = text.split("\n").filter((line) => !plain || line.trim().startsWith(network));
      assert.ok(rows.some((row) => row.includes(written)), `${network}: ${written} in none of ${rows.length} rows`);
    }
    await close();
  });

  test(`${name}: every control does its work, in both languages`, async () => {
    const { page, close } = await open(name);
    const english = await page.locator("h2").first().innerText();
    await page.locator("#language").click();
    assert.equal(await page.locator("html").getAttribute("lang"), "zh");
    assert.notEqual(await page.locator("h2").first().innerText(), english);
    assert.match(await page.locator("#report").innerText(), /代价/);
    await page.locator("#language").click();
    assert.equal(await page.locator("h2").first().innerText(), english);

    await page.locator("#theme").click();
    assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
    await page.locator("#theme").click();
    assert.equal(await page.locator("html").getAttribute("data-theme"), "light");

    const articles = await page.locator("article").count();
    for (const select of await page.locator("select").all()) {
      const options = await select.locator("option").count();
      assert.ok(options > 2);
      await select.selectOption({ index: 1 });
      assert.ok((await page.locator("article").count()) < articles);
      await select.selectOption({ index: 0 });
      assert.equal(await page.locator("article").count(), articles);
    }
    for (const summary of await page.locator("summary").all()) await summary.click();
    for (const kind of ["Logarithmic", "Reset zoom"]) {
      for (const button of (await page.getByRole("button", { name: kind }).all()).slice(0, 2)) await button.click();
    }
    for (const button of (await page.getByRole("button", { name: "Copy as CSV" }).all()).slice(0, 2)) {
      await button.click();
      const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\n");
      assert.ok(lines.length > 1 && lines[0].includes(","));
    }
    const [saved] = await Promise.all([page.waitForEvent("download"), page.locator("#download").click()]);
    assert.deepEqual(JSON.parse(readFileSync(await saved.path(), "utf8")).cells.length, (result(name).cells ?? []).length);
    await close();
  });

  for (const [width, colorScheme] of [[1400, "light"], [380, "dark"]]) {
    test(`${name}: fits ${width} pixels, ${colorScheme}, and leaves nobody out`, async () => {
      const { page, close } = await open(name, { width, colorScheme });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${over} pixels wider than the window`);
      await showTables(page);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
      assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`), []);
      await close();
    });
  }
}

test("the browser's language is taken", async () => {
  const { page, close } = await open(names[0], { locale: "zh-CN" });
  assert.equal(await page.locator("html").getAttribute("lang"), "zh");
  await close();
});

// What a page of 1,000 cells may take. Other work on the machine only makes it
// slower: the best of three is what the page takes.
const limits = { bytes: 5e6, paint: 1000, interaction: 100 };

test("1,000 cells are quick", async () => {
  assert.ok(readFileSync(`${folder}/thousand.html`).length < limits.bytes);
  const best = { paint: Infinity, click: Infinity };
  for (let n = 0; n < 3 && (best.paint >= limits.paint || best.click >= limits.interaction); n++) {
    const { page, close } = await open("thousand");
    best.paint = Math.min(best.paint, await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    best.click = Math.min(best.click, await medianClick(page));
    await close();
  }
  assert.ok(best.paint < limits.paint, `first paint after ${best.paint} ms`);
  assert.ok(best.click < limits.interaction, `a click takes ${best.click} ms`);
});

// medianClick is how long it takes from a click to the next picture.
const medianClick = (page) => page.evaluate(async () => {
  const button = [...document.querySelectorAll("figure button")].find((b) => b.textContent === "Table");
  const took = [];
  for (let n = 0; n < 7; n++) {
    const start = performance.now();
    button.click();
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    took.push(performance.now() - start);
  }
  return took.sort((a, b) => a - b)[3];
});

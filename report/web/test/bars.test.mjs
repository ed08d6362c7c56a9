// Bars are not read as more than they are: an inconclusive toll has another bar than a certain one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { barStyle } from "../src/bar_style.js";
import { open, result, untilTrue } from "../pages.mjs";

test("an inconclusive bar is an outline of dashes, also that of a stand-in", () => {
  for (const opacity of [1, 0.35, 0.15]) {
    const [certain, unsure] = [true, false].map((sure) => barStyle("#123456", { sure, opacity }));
    assert.deepEqual([certain.fill, certain.lineDash, unsure.fill, unsure.lineDash?.length], ["#123456", undefined, "none", 2]);
  }
});

test("bars of a chart are dashed where the toll is inconclusive, and its axis is that of the others", async () => {
  const { page, close } = await open("quick");
  const ends = new Set();
  for (const path of ["same-host", "cross-host", "published-port"]) {
    const tolls = result("quick").cells.filter((c) => c.path === path && c.workload === "tcp_stream").map((c) => c.metrics.find((m) => m.name === "throughput").toll?.verdict);
    const article = page.locator("article").filter({ has: page.getByRole("heading", { name: `${path}: tcp_stream`, exact: true }) });
    const chart = article.locator(".chart").first();
    await chart.scrollIntoViewIfNeeded();
    await untilTrue(page, `${path} is drawn`, async () => (await chart.locator("svg text").count()) > 3);
    const dashed = await chart.locator('svg path[fill="none"][stroke="#7a7a7a"][stroke-dasharray]').count();
    assert.equal(dashed, tolls.filter((verdict) => verdict === "inconclusive").length, path);
    ends.add((await chart.locator("svg text").allInnerTexts()).filter((text) => /^\d+$/.test(text)).join(" "));
  }
  assert.equal(ends.size, 1, [...ends].join("; "));
  await close();
});

test("a page says what its numbers are from, in the language that it is read in", async () => {
  const { page, close } = await open("services");
  const machine = page.locator(".machine");
  assert.match(await machine.innerText(), /pods of a running cluster.*The machine described here is node-a, the first of 2\./s);
  await page.locator("#language").click();
  assert.match(await machine.innerText(), /正在运行的集群/);
  await close();
});

// Measures how long pages take to be drawn. Other work on the machine only makes them
// slower: the best of three is the page's own time, and all three are printed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, openMap } from "../pages.mjs";

// Limits in ms.
const limits = { paint: 1000, interaction: 100 };

// best opens a page three times, and prints and judges the least of what was measured.
async function best(what, limit, opens, measure) {
  const took = [];
  for (let n = 0; n < 3; n++) {
    const { page, close } = await opens();
    took.push(await measure(page));
    await close();
  }
  console.log(`${what}: ${took.map((ms) => ms.toFixed(1)).join(", ")} ms`);
  assert.ok(Math.min(...took) < limit, `${what}: ${took} ms`);
}

test("first paint of 1,000 cells", () => best("first paint", limits.paint, () => open("thousand"),
  (page) => page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime)));

test("a click in 1,000 cells", () => best("click", limits.interaction, () => open("thousand"), medianClick));

test("a map of hundreds of nodes", () => best("map", limits.interaction, () => openMap("hundreds"), (page) => page.evaluate(() => {
  const start = performance.now();
  document.querySelector(".heat").redraw();
  document.querySelector(".heat canvas").getContext("2d").getImageData(0, 0, 1, 1);
  return performance.now() - start;
})));

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

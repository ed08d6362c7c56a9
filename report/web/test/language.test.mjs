// Opens a page that was written in Chinese, as an English reader does.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chromium } from "playwright-core";

test("a page opens in the language that it was written in, until its reader switches", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tare-page-"));
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const english = readFileSync(join(process.env.TARE_PAGES, "quick.html"), "utf8");
    writeFileSync(join(folder, "zh.html"), english.replace('<html lang="en">', '<html lang="en" data-lang="zh">'));
    const page = await (await browser.newContext({ locale: "en-GB" })).newPage();
    await page.goto(`file://${folder}/zh.html`);
    await page.waitForSelector("h1");
    const language = () => page.locator("html").getAttribute("lang");
    assert.equal(await language(), "zh");
    assert.match(await page.locator("h1").first().innerText(), /种网络/);
    await page.locator("#language").click();
    assert.equal(await language(), "en");
    await page.goto(`file://${folder}/zh.html?lang=en`);
    await page.waitForSelector("h1");
    assert.equal(await language(), "en");
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
});

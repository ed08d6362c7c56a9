// Looks whether every page fits its window, and at it with axe: wide in the light and narrow in the dark.
import assert from "node:assert/strict";
import { test } from "node:test";
import { leavesNobodyOut, names, open, overflow, showTables } from "../pages.mjs";

for (const name of names) {
  for (const [width, colorScheme] of [[1400, "light"], [380, "dark"]]) {
    test(`${name}: at ${width} pixels, ${colorScheme}, it leaves nobody out`, async () => {
      const { page, close } = await open(name, { width, colorScheme });
      assert.ok((await overflow(page)) <= 0, "it is wider than the window");
      await showTables(page);
      await leavesNobodyOut(page);
      await close();
    });
  }
}

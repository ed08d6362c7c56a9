// Looks at every page with axe, wide in the light and narrow in the dark.
import { test } from "node:test";
import { leavesNobodyOut, names, open, showTables } from "../pages.mjs";

for (const name of names) {
  for (const [width, colorScheme] of [[1400, "light"], [380, "dark"]]) {
    test(`${name}: at ${width} pixels, ${colorScheme}, it leaves nobody out`, async () => {
      const { page, close } = await open(name, { width, colorScheme });
      await showTables(page);
      await leavesNobodyOut(page);
      await close();
    });
  }
}

// Numbers in labels: what is compared has as many decimals.
import assert from "node:assert/strict";
import { test } from "node:test";
import { alike } from "../src/units.js";

test("a step and its interval are written alike, and a rounding error as zero", () => {
  const shown = (...values) => values.map(alike(...values)).join(" ");
  assert.equal(shown(5.72e-16, -0.368, 2.2), "0.00 -0.37 2.20");
  assert.equal(shown(-1e-9, -12.34, 3), "0.0 -12.3 3.0");
  assert.equal(shown(1234, 1000, 1500), "1234 1000 1500");
  assert.equal(shown(0, 0, 0), "0 0 0");
  assert.equal(shown(0.0123), "0.0123");
});

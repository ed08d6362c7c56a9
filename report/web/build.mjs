// Builds dist/report.js and dist/report.css, which are kept in the repository: the
// page's script with the parts of ECharts that it uses, and its style.
import { build } from "esbuild";

const out = process.argv[2] ?? "dist";
await build({
  entryPoints: { report: "src/main.js" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "inline",
  banner: { js: "/*! Contains Apache ECharts (Apache-2.0), zrender (BSD-3-Clause) and tslib (0BSD): report/web/NOTICE has their notices. */" },
});
